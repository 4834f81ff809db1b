import { element, iconButton } from './element';
import type { Words } from './words';

/** What the user should know, above the composer, each with a button that puts it away. */
export class Notices {
  readonly element: HTMLElement;
  private readonly words: Words;
  private readonly onDismiss: () => void;
  private readonly problems = new Map<string, HTMLElement>();
  private dismissed = new Set<string>();

  /** `onDismiss` takes the focus that a notice had. */
  constructor(words: Words, onDismiss: () => void) {
    this.words = words;
    this.onDismiss = onDismiss;
    this.element = element('div', {
      class: 'am-chat-notices',
      role: 'region',
      'aria-label': words('Notices'),
      hidden: true
    });
  }

  /** Something failed just now. The same words are not shown twice. */
  addError(text: string): void {
    for (const old of this.element.querySelectorAll('.am-chat-error')) {
      if (old.firstChild?.textContent === text) {
        old.remove();
      }
    }
    this.add(text, 'am-chat-notice am-chat-error', 'alert');
  }

  /** Something to know about what has just been done. */
  addNote(text: string): void {
    this.add(text, 'am-chat-notice am-chat-note', 'status');
  }

  /** Take away errors and notes, because what the user does next answers them. */
  clear(): void {
    this.element.querySelectorAll('.am-chat-error, .am-chat-note').forEach(notice => notice.remove());
    this.showIfAny();
  }

  /** The problems that the agent has now. One that was dismissed stays away until it has been solved. */
  setProblems(problems: readonly string[]): void {
    const present = new Set(problems);
    this.dismissed = new Set([...this.dismissed].filter(text => present.has(text)));
    for (const [text, notice] of this.problems) {
      if (!present.has(text)) {
        this.problems.delete(text);
        notice.remove();
      }
    }
    for (const text of present) {
      if (!this.problems.has(text) && !this.dismissed.has(text)) {
        const forget = () => {
          this.dismissed.add(text);
          this.problems.delete(text);
        };
        this.problems.set(text, this.add(text, 'am-chat-notice', 'status', forget));
      }
    }
    this.showIfAny();
  }

  private add(text: string, name: string, role: 'alert' | 'status', forget?: () => void): HTMLElement {
    const notice = element('div', { class: name }, element('div', { class: 'am-chat-notice-text', role }, text));
    notice.append(
      iconButton('close', this.words('Dismiss'), () => {
        notice.remove();
        forget?.();
        this.showIfAny();
        this.onDismiss();
      })
    );
    this.element.append(notice);
    this.showIfAny();
    return notice;
  }

  private showIfAny(): void {
    this.element.hidden = this.element.childElementCount === 0;
  }
}
