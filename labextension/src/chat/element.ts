/** Attributes by name; true is an attribute without a value, false and undefined one that is not there. */
export type Attributes = Record<string, string | boolean | undefined>;

/** A new element; strings among `children` become text. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : value);
    }
  }
  made.append(...children);
  return made;
}

/** A button; `content` that is no text needs an `aria-label` among `attributes`. */
export function button(
  content: Node | string,
  onClick: (event: MouseEvent) => void,
  attributes: Attributes = {}
): HTMLButtonElement {
  const made = element('button', { type: 'button', class: 'am-chat-button', ...attributes }, content);
  made.addEventListener('click', onClick);
  return made;
}

/** A button that shows an icon and says `label` to a screen reader and as its tooltip. */
export function iconButton(
  name: IconName,
  label: string,
  onClick: (event: MouseEvent) => void,
  attributes: Attributes = {}
): HTMLButtonElement {
  return button(icon(name), onClick, {
    'aria-label': label,
    title: label,
    ...attributes,
    class: `am-chat-button am-chat-quiet am-chat-icon-button ${attributes['class'] ?? ''}`.trim()
  });
}

// Lines on a field of 16 by 16.
const ICONS = {
  sessions: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  add: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6.5l4 4 4-4',
  toEnd: 'M8 3v9M4 8.5l4 4 4-4',
  edit: 'M10.5 3l2.5 2.5-7.5 7.5H3v-2.5z',
  retry: 'M12.5 8a4.5 4.5 0 1 1-1.3-3.2M12.8 2.5v2.8H10',
  undo: 'M5.5 3.5L2.5 6.5l3 3M2.5 6.5h7a3.5 3.5 0 0 1 0 7H7',
  insert: 'M2.5 3h11v5h-11zM8 10v4M6 12h4',
  fork: 'M5 3v10M5 9c0-3 6-1.500 6-5M3.500 3h3M9.500 3h3'
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'am-chat-icon');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(path);
  return svg;
}
