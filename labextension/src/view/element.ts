type Child = Node | string | null | undefined | false;

/** A new element with a class (or none) and children; texts become text nodes. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = '',
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  made.append(...children.filter((child): child is Node | string => !!child));
  return made;
}

export function button(label: string, className: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', `am-button ${className}`.trim(), label);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
}

/** Set the text of an element only where it differs: what stands still is not touched. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) {
    target.textContent = text;
  }
}

let ids = 0;

/** An id that no other element of the page has. */
export function uniqueId(): string {
  return `am-${Date.now().toString(36)}-${++ids}`;
}

/** Make `target` hold the nodes of `wanted` in that order, and move only those that are not there already. */
export function arrange(target: Element, wanted: readonly Node[]): void {
  let place = target.firstChild;
  for (const node of wanted) {
    if (place === node) {
      place = place.nextSibling;
    } else {
      target.insertBefore(node, place);
    }
  }
  while (place) {
    const next: ChildNode | null = place.nextSibling;
    place.remove();
    place = next;
  }
}
