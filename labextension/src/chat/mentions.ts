import type { VariableInfo } from '../protocol/messages';
import { element } from './element';
import { Options } from './options';
import type { Words } from './words';

// A mention that is being written: the name is what stands before the cursor, after an @ that begins a word.
const BEGUN = /(?:^|[\s([{,;:"'])@([\p{L}_][\p{L}\p{N}_]*)?$/u;
const SHOWN = 8;

/** Completes the names of variables after an `@` in a text field. The focus stays in the field. */
export class Mentions {
  readonly element: HTMLElement;
  private readonly field: HTMLTextAreaElement;
  private readonly load: () => Promise<VariableInfo[]>;
  private readonly options: Options<VariableInfo>;
  private readonly count: HTMLElement;
  private readonly words: Words;
  private variables: Promise<VariableInfo[]> | null = null;

  /** `load` asks for the variables that there are; it is called once for each mention that is begun. */
  constructor(field: HTMLTextAreaElement, words: Words, load: () => Promise<VariableInfo[]>) {
    this.field = field;
    this.words = words;
    this.load = load;
    this.options = new Options(field, words('Variables'), variable => this.complete(variable));
    this.count = element('div', { class: 'am-chat-hidden', role: 'status' });
    this.element = element('div', { class: 'am-chat-popup am-chat-mentions', hidden: true }, this.options.element);
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
    if (event.key === 'Escape') {
      event.preventDefault();
      this.close();
    } else if (!this.options.takeKey(event, ['Enter', 'Tab'])) {
      return false;
    }
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

  private show(found: VariableInfo[], begun: string): void {
    const matches = found.slice(0, SHOWN);
    if (matches.length === 0 || (matches.length === 1 && matches[0]!.name === begun)) {
      this.close();
      return;
    }
    this.element.hidden = false;
    this.count.textContent = this.words('%1 variables; choose by the arrow keys and Enter', matches.length);
    this.options.show(matches, ({ name, summary, type }) => ({ name: `@${name}`, note: summary || type }));
  }

  private close(): void {
    this.element.hidden = true;
    this.count.textContent = '';
    this.options.clear();
  }

  private complete({ name }: VariableInfo): void {
    const begun = this.begun();
    if (begun !== null) {
      const end = this.field.selectionStart;
      this.field.setRangeText(`${name} `, end - begun.length, end, 'end');
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
