import type { VariableInfo } from '../protocol/messages';
import { uniqueId } from '../view/element';
import { element } from './element';
import type { Words } from './words';

// A mention that is being written: the name is what stands before the cursor, after an @ that begins a word.
const BEGUN = /(?:^|[\s([{,;:"'])@([\p{L}_][\p{L}\p{N}_]*)?$/u;
const SHOWN = 8;

/** Completes the names of variables after an `@` in a text field. The focus stays in the field. */
export class Mentions {
  readonly element: HTMLElement;
  private readonly field: HTMLTextAreaElement;
  private readonly load: () => Promise<VariableInfo[]>;
  private readonly list: HTMLElement;
  private readonly count: HTMLElement;
  private readonly words: Words;
  private variables: Promise<VariableInfo[]> | null = null;
  private matches: VariableInfo[] = [];
  private active = 0;

  /** `load` asks for the variables that there are; it is called once for each mention that is begun. */
  constructor(field: HTMLTextAreaElement, words: Words, load: () => Promise<VariableInfo[]>) {
    this.field = field;
    this.words = words;
    this.load = load;
    this.list = element('div', { role: 'listbox', id: uniqueId(), 'aria-label': words('Variables') });
    this.count = element('div', { class: 'am-chat-hidden', role: 'status' });
    this.element = element('div', { class: 'am-chat-popup am-chat-mentions', hidden: true }, this.list);
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', this.list.id);
    field.after(this.count);
    field.addEventListener('input', () => void this.update());
    field.addEventListener('click', () => void this.update());
    field.addEventListener('blur', () => this.close());
    // The press on a name must not take the focus away, which would close the list before the click.
    this.element.addEventListener('pointerdown', event => event.preventDefault());
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** Take a key of the field, if it is for the list: true if it was. */
  takeKey(event: KeyboardEvent): boolean {
    if (!this.isOpen) {
      return false;
    }
    switch (event.key) {
      case 'ArrowDown':
        this.activate(this.active + 1);
        break;
      case 'ArrowUp':
        this.activate(this.active - 1);
        break;
      case 'Enter':
      case 'Tab':
        this.choose(this.active);
        break;
      case 'Escape':
        this.close();
        break;
      default:
        return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  async update(): Promise<void> {
    const begun = this.begun();
    if (begun === null) {
      this.variables = null;
      this.close();
      return;
    }
    let variables: VariableInfo[];
    try {
      variables = await (this.variables ??= this.load());
    } catch {
      // Without names the user writes on; the next @ asks again.
      this.variables = null;
      return;
    }
    // The user may have written on meanwhile.
    if (this.begun() === begun) {
      this.show(matching(variables, begun), begun);
    }
  }

  private begun(): string | null {
    const { selectionStart, selectionEnd, value } = this.field;
    const found = selectionStart === selectionEnd ? BEGUN.exec(value.slice(0, selectionStart)) : null;
    return found ? (found[1] ?? '') : null;
  }

  private show(matches: VariableInfo[], begun: string): void {
    this.matches = matches.slice(0, SHOWN);
    if (this.matches.length === 0 || (this.matches.length === 1 && this.matches[0]!.name === begun)) {
      this.close();
      return;
    }
    this.list.replaceChildren(
      ...this.matches.map((variable, place) => {
        const option = element(
          'div',
          { role: 'option', id: uniqueId(), class: 'am-chat-option' },
          element('span', { class: 'am-chat-option-name' }, `@${variable.name}`),
          element('span', { class: 'am-chat-option-note' }, variable.summary || variable.type)
        );
        option.addEventListener('click', () => this.choose(place));
        return option;
      })
    );
    this.element.hidden = false;
    this.count.textContent = this.words('%1 variables; choose by the arrow keys and Enter', this.matches.length);
    this.activate(0);
  }

  private close(): void {
    this.element.hidden = true;
    this.count.textContent = '';
    this.field.removeAttribute('aria-activedescendant');
  }

  private activate(place: number): void {
    this.active = (place + this.matches.length) % this.matches.length;
    [...this.list.children].forEach((option, other) => {
      option.setAttribute('aria-selected', String(other === this.active));
      if (other === this.active) {
        this.field.setAttribute('aria-activedescendant', option.id);
        option.scrollIntoView?.({ block: 'nearest' });
      }
    });
  }

  private choose(place: number): void {
    const begun = this.begun();
    const variable = this.matches[place];
    if (begun !== null && variable) {
      const end = this.field.selectionStart;
      this.field.setRangeText(`${variable.name} `, end - begun.length, end, 'end');
      this.field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    this.close();
  }
}

/** Those that begin so first, then those that contain it. */
function matching(variables: VariableInfo[], begun: string): VariableInfo[] {
  const sought = begun.toLowerCase();
  const begins = (variable: VariableInfo) => variable.name.toLowerCase().startsWith(sought);
  const contains = (variable: VariableInfo) => !begins(variable) && variable.name.toLowerCase().includes(sought);
  return [...variables.filter(begins), ...variables.filter(contains)];
}
