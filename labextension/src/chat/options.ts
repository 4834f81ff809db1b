import { uniqueId } from '../view/element';
import { element } from './element';

/** How a value is shown: its name and what else is to be told of it. */
export interface Option {
  name: string;
  note: string;
  /** Whether it is the one in use. */
  isCurrent?: boolean;
}

/** A listbox that the arrow keys move through while the focus stays in a text field. */
export class Options<Value> {
  readonly element: HTMLElement;
  private readonly field: HTMLElement;
  private readonly choose: (value: Value) => void;
  private values: readonly Value[] = [];
  private active = -1;

  /** `choose` is called with what was clicked, or taken by a key. */
  constructor(field: HTMLElement, label: string, choose: (value: Value) => void) {
    this.field = field;
    this.choose = choose;
    this.element = element('div', { role: 'listbox', id: uniqueId(), class: 'am-chat-list', 'aria-label': label });
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', this.element.id);
  }

  /** Show these; Enter would choose the one at `active`, or the first. */
  show(values: readonly Value[], draw: (value: Value) => Option, active = 0): void {
    this.values = values;
    this.element.replaceChildren(
      ...values.map((value, place) => {
        const { name, note, isCurrent = false } = draw(value);
        const option = element(
          'div',
          { role: 'option', id: uniqueId(), class: 'am-chat-option' },
          element('span', { class: 'am-chat-option-name' }, name),
          element('span', { class: 'am-chat-option-note' }, note)
        );
        option.classList.toggle('am-chat-current', isCurrent);
        option.addEventListener('click', () => this.choose(value));
        option.addEventListener('pointermove', () => this.activate(place, false));
        return option;
      })
    );
    this.activate(Math.max(0, active));
  }

  /** The list is not seen any more. */
  clear(): void {
    this.values = [];
    this.element.replaceChildren();
    this.activate(0);
  }

  /** Take an arrow key, or Enter or another of `choosing`: true if it was one and there is something to choose. */
  takeKey(event: KeyboardEvent, choosing: readonly string[] = ['Enter']): boolean {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (this.values.length === 0 || (step === undefined && !choosing.includes(event.key))) {
      return false;
    }
    if (step === undefined) {
      this.choose(this.values[this.active]!);
    } else {
      this.activate(this.active + step);
    }
    event.preventDefault();
    return true;
  }

  private activate(place: number, scroll = true): void {
    const count = this.values.length;
    this.active = count === 0 ? -1 : (place + count) % count;
    [...this.element.children].forEach((option, other) => {
      option.setAttribute('aria-selected', String(other === this.active));
    });
    const active = this.element.children[this.active];
    if (!active) {
      this.field.removeAttribute('aria-activedescendant');
      return;
    }
    this.field.setAttribute('aria-activedescendant', active.id);
    if (scroll) {
      active.scrollIntoView?.({ block: 'nearest' });
    }
  }
}
