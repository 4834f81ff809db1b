import type { SessionInfo } from '../protocol/messages';
import { element, iconButton } from './element';
import { ago } from './figures';
import { moveFocusByArrows, Popup } from './popup';
import type { Requests } from './requests';
import { Search } from './search';
import { messageOf, type Words } from './words';

/** The button and the list of earlier conversations: one click resumes one, another goes on in a copy of it. */
export class Sessions {
  readonly button: HTMLButtonElement;
  private readonly words: Words;
  private readonly requests: Requests;
  private readonly popup: Popup;
  private readonly search: Search<{ sessions: SessionInfo[] }>;
  private readonly list: HTMLElement;
  private readonly onSwitch: (note: string) => void;

  /** `onSwitch` is called when the agent talks in another conversation, with what the kernel says about that. */
  constructor(root: HTMLElement, words: Words, requests: Requests, onSwitch: (note: string) => void) {
    this.words = words;
    this.requests = requests;
    this.onSwitch = onSwitch;
    this.button = iconButton('sessions', words('Conversations'), () => undefined);
    this.popup = new Popup(this.button, root, 'dialog', words('Conversations'), () => this.search.start());
    this.popup.panel.classList.add('am-chat-below');
    this.search = new Search(
      words('Search conversations'),
      words,
      filter => requests.request('sessions', { filter }),
      found => this.show(found.sessions)
    );
    this.list = element('ul', { class: 'am-chat-list', 'aria-label': words('Conversations') });
    this.popup.panel.append(this.search.field, this.list, this.search.message);
    moveFocusByArrows(this.popup.panel, '.am-chat-session');
  }

  dispose(): void {
    this.popup.dispose();
  }

  private show(sessions: SessionInfo[]): void {
    this.list.replaceChildren(...sessions.map(session => this.row(session)));
    if (sessions.length === 0) {
      const sought = this.search.field.value.trim();
      this.search.tell(
        sought ? this.words('No conversation has “%1”.', sought) : this.words('No conversation has been kept yet.')
      );
    }
  }

  private row(session: SessionInfo): HTMLElement {
    const { words } = this;
    const title = session.title || words('Without a title');
    const facts = [
      session.current ? words('this one') : '',
      words('%1 messages', session.messages),
      ago(session.modified, Date.now(), words),
      session.notebook?.split(/[\\/]/).pop() ?? ''
    ];
    const resume = element(
      'button',
      { type: 'button', class: 'am-chat-option am-chat-session', 'aria-current': session.current && 'true' },
      element('span', { class: 'am-chat-option-name' }, title),
      element('span', { class: 'am-chat-option-note' }, facts.filter(Boolean).join(' · '))
    );
    resume.title = [session.current ? title : words('Resume: %1', title), session.notebook].filter(Boolean).join('\n');
    resume.addEventListener('click', () => {
      if (session.current) {
        this.popup.close();
      } else {
        void this.switchBy('resume', session.id);
      }
    });
    const fork = iconButton(
      'fork',
      words('Go on in a copy of %1', title),
      () => void this.switchBy('fork', session.id)
    );
    return element('li', { class: session.current ? 'am-chat-row am-chat-current' : 'am-chat-row' }, resume, fork);
  }

  private async switchBy(method: 'resume' | 'fork', session: string): Promise<void> {
    this.search.tell(this.words('Opening…'));
    try {
      const { note } = await this.requests.request(method, { session });
      this.popup.close();
      this.onSwitch(note ?? '');
    } catch (error) {
      this.search.tell(messageOf(error));
    }
  }
}
