import type { Attachment } from '../protocol/messages';
import { element, iconButton } from './element';
import type { Words } from './words';

/** What goes with the next message, a chip each. */
export class Attachments {
  readonly element: HTMLElement;
  private readonly words: Words;
  private readonly onRemove: () => void;
  private list: Attachment[] = [];

  /** `onRemove` takes the focus that a chip had. */
  constructor(words: Words, onRemove: () => void) {
    this.words = words;
    this.onRemove = onRemove;
    this.element = element('ul', { class: 'am-chat-chips', 'aria-label': words('Attached'), hidden: true });
  }

  get value(): readonly Attachment[] {
    return this.list;
  }

  add(attachment: Attachment): void {
    if (!this.list.some(other => JSON.stringify(other) === JSON.stringify(attachment))) {
      this.set([...this.list, attachment]);
    }
  }

  set(attachments: readonly Attachment[]): void {
    this.list = [...attachments];
    this.element.hidden = this.list.length === 0;
    this.element.replaceChildren(...this.list.map(attachment => this.chip(attachment)));
  }

  private chip(attachment: Attachment): HTMLElement {
    const name = nameOf(attachment, this.words);
    const chip = element('li', { class: 'am-chat-chip' });
    if (attachment.kind === 'image') {
      chip.append(element('img', { src: `data:${attachment.mime};base64,${attachment.data}`, alt: '' }));
    }
    chip.append(
      element('span', { class: 'am-chat-chip-name', title: titleOf(attachment) }, name),
      iconButton('close', this.words('Remove %1', name), () => {
        this.set(this.list.filter(other => other !== attachment));
        this.onRemove();
      })
    );
    return chip;
  }
}

export function nameOf(attachment: Attachment, words: Words): string {
  switch (attachment.kind) {
    case 'cell':
      return words('cell: %1', firstLine(attachment.source) || words('empty'));
    case 'selection':
      return attachment.name;
    case 'variable':
      return `@${attachment.name}`;
    case 'image':
      return words('image');
  }
}

function titleOf(attachment: Attachment): string | undefined {
  return attachment.kind === 'cell' ? attachment.source : attachment.kind === 'selection' ? attachment.text : undefined;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]!.trim();
}
