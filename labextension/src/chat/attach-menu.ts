import { element, iconButton } from './element';
import type { AttachmentSource, ChatHost } from './host';
import type { Attachment } from '../protocol/messages';
import { moveFocusByArrows, Popup } from './popup';
import { messageOf, type Words } from './words';

/** The button "Attach" and its menu: what the page offers, an image of the disk, a variable. */
export class AttachMenu {
  readonly button: HTMLButtonElement;
  private readonly popup: Popup;
  private readonly words: Words;
  private readonly host: ChatHost;
  private readonly files: HTMLInputElement;
  private readonly actions: AttachActions;

  constructor(root: HTMLElement, words: Words, host: ChatHost, actions: AttachActions) {
    this.words = words;
    this.host = host;
    this.actions = actions;
    this.button = iconButton('add', words('Attach'), () => undefined);
    this.popup = new Popup(this.button, root, 'menu', words('Attach'), () => this.fill());
    this.popup.panel.classList.add('am-chat-menu');
    moveFocusByArrows(this.popup.panel, '[role=menuitem]');
    this.files = element('input', { type: 'file', accept: 'image/*', multiple: true, hidden: true });
    this.files.addEventListener('change', () => {
      void this.actions.attachFiles([...(this.files.files ?? [])]);
      this.files.value = '';
    });
    root.append(this.files);
  }

  dispose(): void {
    this.popup.dispose();
    this.files.remove();
  }

  private fill(): void {
    const sources = this.host.attachments?.() ?? [];
    this.popup.panel.replaceChildren(
      ...sources.map(source => this.item(source.label, source.description, () => void this.read(source))),
      this.item(this.words('Image…'), undefined, () => this.files.click()),
      this.item(this.words('Variable…'), this.words('or write @ in the message'), () => this.actions.mention())
    );
    this.popup.panel.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }

  private item(label: string, description: string | undefined, choose: () => void): HTMLElement {
    const item = element(
      'button',
      { type: 'button', role: 'menuitem', tabindex: '-1', class: 'am-chat-option' },
      element('span', { class: 'am-chat-option-name' }, label)
    );
    if (description) {
      item.append(element('span', { class: 'am-chat-option-note' }, description));
    }
    item.addEventListener('click', () => {
      this.popup.close();
      choose();
    });
    return item;
  }

  private async read(source: AttachmentSource): Promise<void> {
    try {
      const attachment = await source.read();
      if (attachment) {
        this.actions.attach(attachment);
      }
    } catch (error) {
      this.actions.fail(messageOf(error));
    }
  }
}

export interface AttachActions {
  attach(attachment: Attachment): void;
  attachFiles(files: File[]): Promise<void>;
  /** Begin a mention in the message. */
  mention(): void;
  fail(text: string): void;
}
