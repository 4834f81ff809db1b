import { element, setText } from './element';
import type { ItemState } from './record';
import { SYMBOLS, WORDS } from './wording';

/** The sign of a state, with its word for those who do not see it. */
export function stateSign(state: ItemState): HTMLElement {
  const sign = element('span', 'am-sign', SYMBOLS[state] ?? '·');
  sign.setAttribute('aria-hidden', 'true');
  return sign;
}

/** One line that opens: a name, words, and a state at the right end. What is inside is drawn when it is opened. */
export class Card {
  readonly element: HTMLDetailsElement;
  readonly body = element('div', 'am-body');
  private readonly name = element('span', 'am-name');
  private readonly words = element('span', 'am-words');
  private readonly state = element('span', 'am-state');
  private readonly stateText = element('span', 'am-state-text');
  private readonly hidden = element('span', 'am-hidden');
  private shownState: ItemState | null = null;

  constructor(kind: string, onOpen: () => void) {
    const summary = element('summary', '', this.name, this.words, this.state);
    this.element = element('details', `am-card ${kind}`, summary, this.body);
    this.element.addEventListener('toggle', () => this.element.open && onOpen());
  }

  setLine(name: string, words = ''): void {
    setText(this.name, name);
    setText(this.words, words);
    if (this.words.title !== words) {
      this.words.title = words;
    }
  }

  setState(state: ItemState, text: string): void {
    if (state !== this.shownState) {
      this.shownState = state;
      this.element.dataset.state = state;
      this.hidden.textContent = `${WORDS[state] ?? state} `;
      this.state.replaceChildren(stateSign(state), this.hidden, this.stateText);
    }
    // The word is there for all to see already.
    this.hidden.hidden = text.startsWith(WORDS[state] ?? state);
    if (this.stateText.title !== text) {
      this.stateText.title = text;
      setText(this.stateText, text);
    }
  }
}
