import { element } from './element';

const KEPT = 8;

/**
 * Reads words to those who listen to the page: each once, when they are finished, and never again. The text that
 * streams is not itself announced, or it would be read from its start whenever it grows.
 */
export class Announcer {
  readonly element = element('div', 'am-hidden');

  constructor() {
    this.element.setAttribute('aria-live', 'polite');
    this.element.setAttribute('aria-relevant', 'additions');
    this.element.setAttribute('aria-atomic', 'false');
  }

  say(words: string): void {
    if (words.trim()) {
      this.element.append(element('p', '', words));
    }
    while (this.element.childElementCount > KEPT) {
      this.element.firstElementChild!.remove();
    }
  }
}
