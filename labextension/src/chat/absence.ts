import { button, element } from './element';
import type { ConnectionAction } from './host';
import { messageOf } from './words';

/** What stands in the place of the conversation where there is none: words, and a button if something can be done. */
export class Absence {
  readonly element: HTMLElement;
  private wantsFocus = false;

  constructor() {
    this.element = element('div', { class: 'am-chat-absent', hidden: true });
  }

  show(text: string, action?: ConnectionAction): void {
    this.element.replaceChildren(element('p', { role: 'status' }, text));
    this.element.hidden = false;
    if (action) {
      const run = async () => {
        // A disabled button loses the focus: it goes to the message then, or back.
        this.wantsFocus = true;
        act.disabled = true;
        failure.textContent = '';
        try {
          await action.run();
        } catch (error) {
          failure.textContent = messageOf(error);
          act.disabled = false;
          act.focus();
          this.wantsFocus = false;
        }
      };
      const act = button(action.label, () => void run(), { class: 'am-chat-button am-chat-primary' });
      const failure = element('p', { class: 'am-chat-absent-failure', role: 'alert' });
      this.element.append(act, failure);
    }
  }

  hide(): void {
    this.element.hidden = true;
  }

  /** Put the cursor on the button; false where none is shown. */
  focus(): boolean {
    const action = this.element.querySelector<HTMLElement>('button');
    if (this.element.hidden || !action) {
      return false;
    }
    action.focus();
    return true;
  }

  /** Whether the focus that the button had should go to what is shown instead of it; asked once. */
  takeFocus(): boolean {
    const { wantsFocus } = this;
    this.wantsFocus = false;
    return wantsFocus;
  }
}
