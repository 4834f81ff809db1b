import type { Item, RunRecord } from '../protocol/messages';
import { RecordView, type RunActions, type ViewHost } from '../view/view';
import { bubble } from './bubble';
import { button, element, iconButton } from './element';
import type { Words } from './words';

/** What the kernel would do about a turn: while a run goes on, it only reads what was. */
export type Possible = 'nothing' | 'reading' | 'all';

export interface TurnActions {
  /** Rejections have been shown to the user. */
  edit(run: string, text: string): Promise<void>;
  /** Whether a key that is pressed in the edited message sends it. */
  sends(event: KeyboardEvent): boolean;
  retry(): void;
  undo(run: string): void;
  /** Absent where records cannot be put into a notebook. */
  insert?(run: string): void;
}

/** One run in the log: what the user said, what the agent did, and what can be done about it. */
export class Turn {
  readonly element: HTMLElement;
  private readonly words: Words;
  private readonly actions: TurnActions;
  private readonly host: ViewHost;
  private readonly said: HTMLElement;
  private readonly footer: HTMLElement;
  private readonly view: RecordView;
  private prompt: Item | undefined;
  private current: RunRecord;
  private possible: Possible = 'nothing';
  private isLast = false;

  constructor(record: RunRecord, words: Words, actions: TurnActions, runActions: RunActions, host: ViewHost) {
    this.current = record;
    this.words = words;
    this.actions = actions;
    this.host = host;
    this.said = element('div', { class: 'am-chat-said' });
    this.footer = element('div', { class: 'am-chat-turn-actions', role: 'group', 'aria-label': words('This answer') });
    const drawn = element('div', { class: 'am-chat-drawn' });
    this.view = new RecordView(drawn, { actions: runActions, host, compact: true, prompt: true });
    this.element = element('article', { class: 'am-chat-turn' }, this.said, drawn, this.footer);
    this.update(record);
    this.showActions();
  }

  get record(): RunRecord {
    return this.current;
  }

  /** What the user said, also while the run went on. */
  get prompts(): string[] {
    return this.current.items.filter(item => item.kind === 'user' && item.text).map(item => item.text!);
  }

  /** Whether a question to the user is open. */
  get isAsking(): boolean {
    return this.current.items.some(item => item.kind === 'approval' && item.state === 'pending');
  }

  update(record: RunRecord): void {
    const wasRunning = this.current.state === 'running';
    this.current = record;
    const prompt = record.items.find(item => item.kind === 'user');
    const isSame = prompt?.text === this.prompt?.text && prompt?.outputs?.length === this.prompt?.outputs?.length;
    this.prompt = prompt;
    // What was opened in it stays open.
    if (!isSame) {
      this.showPrompt();
    }
    // The first thing said stands above; what was said in between stays where it was said.
    this.view.update(prompt ? { ...record, items: record.items.filter(item => item !== prompt) } : record);
    if (wasRunning !== (record.state === 'running')) {
      this.showActions();
    }
  }

  setPlace(possible: Possible, isLast: boolean): void {
    if (possible !== this.possible || isLast !== this.isLast) {
      this.possible = possible;
      this.isLast = isLast;
      this.showActions();
    }
  }

  dispose(): void {
    this.view.dispose();
    this.element.remove();
  }

  private showPrompt(): void {
    // An editor that is open keeps its text.
    if (this.said.querySelector('.am-chat-edit')) {
      return;
    }
    const { text = '', outputs = [] } = this.prompt ?? {};
    this.said.hidden = text === '' && outputs.length === 0;
    this.said.replaceChildren(bubble(text, this.host, outputs));
    this.showEditButton();
  }

  private showEditButton(): void {
    const shown = this.said.querySelector('.am-chat-edit-button');
    const isOffered =
      this.possible === 'all' && this.current.state !== 'running' && !this.said.querySelector('.am-chat-edit');
    if (isOffered && !shown) {
      this.said.append(
        iconButton('edit', this.words('Edit and send again'), () => this.edit(), { class: 'am-chat-edit-button' })
      );
    } else if (!isOffered) {
      shown?.remove();
    }
  }

  private edit(): void {
    const { words } = this;
    const field = element('textarea', {
      class: 'am-chat-field',
      'aria-label': words('Edit the message'),
      rows: '3',
      dir: 'auto'
    });
    field.value = this.prompt?.text ?? '';
    const close = () => {
      editor.remove();
      this.showPrompt();
    };
    const cancel = () => {
      close();
      this.said.querySelector<HTMLElement>('.am-chat-edit-button')?.focus();
    };
    const send = async () => {
      if (field.value.trim() === '') {
        return;
      }
      field.disabled = sendButton.disabled = true;
      try {
        await this.actions.edit(this.current.run, field.value.trim());
        close();
      } catch {
        field.disabled = sendButton.disabled = false;
        field.focus();
      }
    };
    const sendButton = button(words('Send again'), () => void send(), { class: 'am-chat-button am-chat-primary' });
    const editor = element(
      'div',
      { class: 'am-chat-edit', role: 'group', 'aria-label': words('Edit the message') },
      field,
      element(
        'p',
        { class: 'am-chat-edit-note' },
        words('What came after it stays in another branch of the conversation.')
      ),
      element('div', { class: 'am-chat-buttons' }, sendButton, button(words('Cancel'), cancel))
    );
    editor.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.preventDefault();
        event.stopPropagation();
        cancel();
      } else if (event.target === field && this.actions.sends(event)) {
        event.preventDefault();
        void send();
      }
    });
    this.said.replaceChildren(editor);
    field.focus();
    editor.scrollIntoView?.({ block: 'nearest' });
  }

  private showActions(): void {
    const { words, actions } = this;
    const isDone = this.current.state !== 'running';
    const shown: HTMLElement[] = [];
    if (isDone && this.possible === 'all' && this.isLast) {
      shown.push(
        iconButton('retry', words('Try again'), () => actions.retry()),
        iconButton('undo', words('Undo: take this message and its answer back'), () => actions.undo(this.current.run))
      );
    }
    if (isDone && this.possible !== 'nothing' && actions.insert) {
      shown.push(iconButton('insert', words('Insert as a cell'), () => actions.insert!(this.current.run)));
    }
    this.footer.replaceChildren(...shown);
    this.footer.hidden = shown.length === 0;
    this.footer.classList.toggle('am-chat-last', this.isLast);
    this.showEditButton();
  }
}
