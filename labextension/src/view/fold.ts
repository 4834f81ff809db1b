import { Card } from './card';
import { arrange } from './element';
import type { Item } from './record';
import { WORDS, count, duration, oneLine } from './wording';

/** Several finished calls in one line: how many, their names, whether all went well, and the time they took. */
export class CallFold {
  readonly element: HTMLElement;
  private readonly card = new Card('am-fold', () => undefined);

  constructor() {
    this.element = this.card.element;
  }

  update(items: readonly Item[], drawn: readonly HTMLElement[]): void {
    const others = items.filter(item => item.state !== 'done');
    const state = others[0]?.state ?? 'done';
    const word = others.every(item => item.state === state) ? WORDS[state] : 'not done';
    const seconds = items.reduce((sum, item) => sum + (item.seconds ?? 0), 0);
    const time = seconds > 0 ? duration(seconds) : 'done';
    this.card.setLine(count(items.length, 'call'), items.map(item => oneLine(item.name ?? '')).join(', '));
    this.card.setState(state, others.length === 0 ? time : `${others.length} ${word} · ${time}`);
    // What was open when it came in here stays to be seen.
    if (drawn.some(each => each.parentElement !== this.card.body && each.querySelector('details[open]'))) {
      this.card.element.open = true;
    }
    arrange(this.card.body, drawn);
  }
}
