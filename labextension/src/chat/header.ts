import { element, iconButton } from './element';
import type { Requests } from './requests';
import { Sessions } from './sessions';
import type { Words } from './words';

/** Title, what the chat talks to, the list of conversations, a new conversation. */
export class Header {
  readonly element: HTMLElement;
  private readonly place: HTMLElement;
  private readonly sessions: Sessions;
  private readonly newButton: HTMLButtonElement;

  constructor(words: Words, requests: Requests, actions: { switched(note: string): void; begin(): void }) {
    this.element = element('header', { class: 'am-chat-header' });
    this.place = element('span', { class: 'am-chat-place' });
    this.newButton = iconButton('add', words('New conversation'), () => actions.begin());
    this.sessions = new Sessions(this.element, words, requests, actions.switched);
    this.element.prepend(
      element('h2', { class: 'am-chat-title' }, words('Agent')),
      this.place,
      this.sessions.button,
      this.newButton
    );
  }

  setPlace(place: string): void {
    this.place.textContent = place;
    this.place.title = place;
  }

  /** Whether there is an agent whose conversations these are. */
  setConnected(connected: boolean): void {
    this.sessions.button.hidden = !connected;
    this.newButton.hidden = !connected;
  }

  dispose(): void {
    this.sessions.dispose();
  }
}
