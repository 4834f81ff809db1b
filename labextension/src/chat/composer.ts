import type { Attachment, VariableInfo } from '../protocol/messages';
import { AttachMenu } from './attach-menu';
import { Attachments } from './attachments';
import { setText, uniqueId } from '../view/element';
import { button, element } from './element';
import type { ChatHost, SendKey } from './host';
import { attachImages, takeFiles } from './images';
import { Mentions } from './mentions';
import { ModelPicker } from './picker';
import type { Requests } from './requests';
import { Status } from './status';
import { ToolSwitches } from './tools';
import { messageOf, type Words } from './words';

export type When = 'now' | 'next';

export interface ComposerActions {
  send(text: string, attachments: readonly Attachment[], when: When): void;
  stop(): void;
  /** Escape: the user wants to be elsewhere. */
  leave(): void;
  /** What the user said before, the oldest first. */
  earlier(): string[];
  fail(text: string): void;
}

/** Where the user writes: the message, what goes with it, what sends or stops, and with which model and tools. */
export class Composer {
  readonly element: HTMLElement;
  readonly attachments: Attachments;
  readonly model: ModelPicker;
  readonly tools: ToolSwitches;
  readonly status: Status;
  private readonly words: Words;
  private readonly actions: ComposerActions;
  private readonly field: HTMLTextAreaElement;
  private readonly hint: HTMLElement;
  private readonly mentions: Mentions;
  private readonly menu: AttachMenu;
  private readonly choices: HTMLElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly stopAdvice: HTMLElement;
  private readonly queueButton: HTMLButtonElement;
  private readonly sendButton: HTMLButtonElement;
  private isConnected = false;
  private isRunning = false;
  private isSlow = false;
  private sendKey: SendKey = 'Enter';
  private recalled: string | null = null;

  constructor(words: Words, host: ChatHost, requests: Requests, actions: ComposerActions) {
    this.words = words;
    this.actions = actions;
    this.element = element('div', { class: 'am-chat-composer', role: 'group', 'aria-label': words('Message') });
    this.attachments = new Attachments(words, () => this.changed(true));
    this.hint = element('span', { class: 'am-chat-hint', role: 'status', id: uniqueId() });
    this.field = element('textarea', {
      class: 'am-chat-field am-chat-message',
      rows: '2',
      dir: 'auto',
      'aria-label': words('Message to the agent'),
      'aria-describedby': this.hint.id,
      placeholder: words('Ask about this notebook; @ names a variable')
    });
    this.sendButton = button(words('Send'), () => this.send('now'), { class: 'am-chat-button am-chat-primary' });
    this.queueButton = button(words('Queue'), () => this.send('next'), {
      title: words('Sent when the run has ended (Alt+Enter)')
    });
    this.stopButton = button(words('Stop'), () => actions.stop(), { class: 'am-chat-button am-chat-stop' });
    this.stopAdvice = element('div', { class: 'am-chat-stop-advice', role: 'status', hidden: true });
    this.model = new ModelPicker(this.element, words, requests);
    this.tools = new ToolSwitches(this.element, words, requests);
    this.menu = new AttachMenu(this.element, words, host, {
      attach: attachment => this.attach(attachment),
      attachFiles: files => this.attachFiles(files),
      mention: () => this.beginMention(),
      fail: actions.fail
    });
    this.status = new Status(words);
    this.choices = element('div', { class: 'am-chat-choices' }, this.menu.button, this.model.button, this.tools.button);
    this.element.append(
      element('div', { class: 'am-chat-above' }, this.attachments.element, this.hint),
      this.field,
      this.stopAdvice,
      this.choices,
      element(
        'div',
        { class: 'am-chat-last-row' },
        this.status.element,
        this.stopButton,
        this.queueButton,
        this.sendButton
      )
    );
    this.mentions = new Mentions(this.field, words, () => this.variables(requests));
    this.element.append(this.mentions.element);
    this.field.addEventListener('input', () => this.changed(false));
    this.field.addEventListener('keydown', event => this.takeKey(event));
    takeFiles(this.element, files => this.attachFiles(files));
    this.show();
  }

  get text(): string {
    return this.field.value;
  }

  set text(text: string) {
    this.field.value = text;
    this.changed(false);
  }

  focus(): void {
    this.field.focus();
  }

  attach(attachment: Attachment): void {
    this.attachments.add(attachment);
    this.changed(true);
  }

  /** Put a message back that could not be sent, before what has been written since. */
  restore(text: string, attachments: readonly Attachment[]): void {
    this.text = [text, this.text].filter(Boolean).join('\n');
    attachments.forEach(attachment => this.attachments.add(attachment));
    this.show();
  }

  setConnected(connected: boolean): void {
    this.isConnected = connected;
    this.show();
  }

  setRunning(running: boolean): void {
    // The button goes away: who has just pressed it goes on in the message.
    if (!running && document.activeElement === this.stopButton) {
      this.focus();
    }
    this.isRunning = running;
    this.stopAdvice.hidden = true;
    this.show();
  }

  /** Whether a key sends what is written, here or where an earlier message is edited. */
  sends(event: KeyboardEvent): boolean {
    const isBare = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isPlain = event.key === 'Enter' && !event.shiftKey && !event.isComposing;
    return isPlain && (this.sendKey === 'Enter' || !isBare);
  }

  setSendKey(key: SendKey): void {
    this.sendKey = key;
    this.show();
  }

  /** Whether the kernel takes long over an answer. */
  setSlow(slow: boolean): void {
    this.isSlow = slow;
    this.show();
  }

  /** Stop was pressed and nothing came of it: `advice` takes the button's place. */
  adviseStop(advice: string): void {
    if (this.isRunning) {
      this.stopAdvice.textContent = advice;
      this.stopAdvice.hidden = false;
      this.stopButton.hidden = true;
      this.focus();
    }
  }

  dispose(): void {
    this.menu.dispose();
    this.model.dispose();
    this.tools.dispose();
  }

  private show(): void {
    const { words } = this;
    const isEmpty = this.text.trim() === '' && this.attachments.value.length === 0;
    this.stopButton.hidden = !this.isRunning || !this.stopAdvice.hidden;
    this.queueButton.hidden = !this.isRunning;
    setText(this.sendButton, this.isRunning ? words('Steer') : words('Send'));
    this.sendButton.title = this.isRunning
      ? words('Told to the agent at its next step (%1)', this.sendKey)
      : words('Send the message (%1)', this.sendKey);
    this.queueButton.disabled = this.sendButton.disabled = isEmpty || !this.isConnected;
    this.choices.hidden = !this.isConnected;
    this.status.element.classList.toggle('am-chat-unknown', !this.isConnected);
    const hint = !this.isConnected
      ? words('Not connected')
      : this.isSlow
        ? words('The kernel is busy; this is sent when it is free')
        : this.isRunning
          ? words('%1 steers the run', this.sendKey)
          : words('%1 sends', this.sendKey);
    setText(this.hint, hint);
  }

  private changed(focus: boolean): void {
    if (this.field.value !== this.recalled) {
      this.recalled = null;
    }
    // The style sheet says how far it may grow.
    this.field.style.height = 'auto';
    this.field.style.height = `${this.field.scrollHeight + 2}px`;
    this.show();
    if (focus) {
      this.focus();
    }
  }

  private takeKey(event: KeyboardEvent): void {
    // While an input method composes, its keys are its own.
    if (event.isComposing || this.mentions.takeKey(event)) {
      return;
    }
    if (this.sends(event)) {
      event.preventDefault();
      this.send(event.altKey && this.isRunning ? 'next' : 'now');
    } else if (event.key === 'Escape') {
      event.preventDefault();
      this.actions.leave();
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      this.recall(event);
    }
  }

  /** Arrows go through earlier messages, from an empty field and as long as what they brought is unchanged. */
  private recall(event: KeyboardEvent): void {
    if (this.text !== '' && this.recalled === null) {
      return;
    }
    const earlier = this.actions.earlier();
    const place = this.recalled === null ? earlier.length : earlier.lastIndexOf(this.recalled);
    const next = event.key === 'ArrowUp' ? place - 1 : place + 1;
    if (next < 0 || (next >= earlier.length && this.recalled === null)) {
      return;
    }
    event.preventDefault();
    this.recalled = earlier[next] ?? null;
    this.field.value = this.recalled ?? '';
    this.changed(false);
  }

  private send(when: When): void {
    if (this.sendButton.disabled) {
      return;
    }
    const { text } = this;
    const attachments = this.attachments.value;
    this.attachments.set([]);
    this.text = '';
    this.focus();
    this.actions.send(text.trim(), attachments, when);
  }

  private beginMention(): void {
    this.focus();
    const before = this.text.slice(0, this.field.selectionStart);
    const mention = before === '' || /\s$/.test(before) ? '@' : ' @';
    this.field.setRangeText(mention, this.field.selectionStart, this.field.selectionEnd, 'end');
    this.field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  private async attachFiles(files: File[]): Promise<void> {
    await attachImages(files, this.words, attachment => this.attach(attachment), this.actions.fail);
  }

  private async variables(requests: Requests): Promise<VariableInfo[]> {
    try {
      return (await requests.request('variables', {})).variables;
    } catch (error) {
      this.actions.fail(messageOf(error));
      throw error;
    }
  }
}
