import { element } from './element';
import { PATIENCE } from './requests';
import { messageOf, type Words } from './words';

// So long after the last key the kernel is asked (milliseconds).
const PAUSE = 200;

/** A search field over a list that the kernel answers with. Late answers to an earlier text are dropped. */
export class Search<Found> {
  readonly field: HTMLInputElement;
  readonly message: HTMLElement;
  private readonly words: Words;
  private readonly load: (filter: string) => Promise<Found>;
  private readonly show: (found: Found) => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;

  constructor(label: string, words: Words, load: (filter: string) => Promise<Found>, show: (found: Found) => void) {
    this.words = words;
    this.load = load;
    this.show = show;
    this.field = element('input', {
      type: 'search',
      class: 'am-chat-field am-chat-search',
      placeholder: label,
      'aria-label': label,
      autocomplete: 'off',
      spellcheck: 'false'
    });
    this.message = element('div', { class: 'am-chat-list-message', role: 'status' });
    this.field.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.ask(), PAUSE);
    });
  }

  /** Empty the field, look for everything and put the cursor there. */
  start(): void {
    this.field.value = '';
    this.field.focus();
    void this.ask();
  }

  async ask(): Promise<void> {
    clearTimeout(this.timer);
    const question = ++this.asked;
    this.tell(this.words('Looking…'));
    const slow = setTimeout(() => {
      if (question === this.asked) {
        this.tell(this.words('The kernel is busy; this is shown when it is free.'));
      }
    }, PATIENCE);
    try {
      const found = await this.load(this.field.value.trim());
      if (question === this.asked) {
        this.tell('');
        this.show(found);
      }
    } catch (error) {
      if (question === this.asked) {
        this.tell(messageOf(error));
      }
    } finally {
      clearTimeout(slow);
    }
  }

  /** A line below the list; empty: none. */
  tell(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === '';
  }
}
