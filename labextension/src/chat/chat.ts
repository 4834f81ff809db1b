import type { Client } from '../protocol/client';
import type { AgentState, AttachResult, Attachment, RunState } from '../protocol/messages';
import { stopRun } from '../view/stop';
import type { RunActions } from '../view/view';
import { Absence } from './absence';
import { Composer, type When } from './composer';
import { element } from './element';
import { Header } from './header';
import type { ChatControl, ChatHost, Connection, ConnectionAction, SendKey } from './host';
import { Log } from './log';
import { Notices } from './notices';
import { Outbox } from './outbox';
import { Questions } from './questions';
import { Requests } from './requests';
import { messageOf, wordsOf, type Words } from './words';

export type { AttachmentSource, ChatControl, ChatHost, Connection, ConnectionAction } from './host';

// So long the chat waits for the kernel before it says that it does (milliseconds).
const CONNECTING = 400;
const NO_ANSWER = 5000;

/** The conversation with the agent of a kernel: drawn into an element, and steered from there. */
export class Chat implements ChatControl {
  private readonly client: Client;
  private readonly host: ChatHost;
  private readonly words: Words;
  private readonly root: HTMLElement;
  private readonly requests: Requests;
  private readonly questions: Questions;
  private readonly header: Header;
  private readonly log: Log;
  private readonly outbox: Outbox;
  private readonly absence: Absence;
  private readonly notices: Notices;
  private readonly composer: Composer;
  private readonly live: HTMLElement;
  private readonly stopListening: (() => void)[];
  private state: AgentState | null = null;
  private history = 0;
  /** Whether the log lacks what was said while nobody saw it. */
  private isBehind = false;
  /** Whether Stop was pressed here, and the run has not ended. */
  private isStopping = false;
  private attaching: Promise<AttachResult> | null = null;
  private attempt = 0;
  private isAttached = false;

  constructor(element_: HTMLElement, client: Client, host: ChatHost = {}) {
    this.client = client;
    this.host = host;
    const words = (this.words = wordsOf(host));
    this.root = element('section', { class: 'am-chat' });
    this.requests = new Requests(client, slow => this.composer.setSlow(slow));
    this.questions = new Questions(this.requests, () => host.isSeen?.() ?? true);
    this.header = new Header(words, this.requests, {
      switched: note => {
        this.notices.clear();
        this.switched();
        if (note) {
          this.notices.addNote(note);
        }
      },
      begin: () => void this.do(() => this.requests.request('new', {}))
    });
    this.log = new Log(
      words,
      host,
      {
        edit: (run, text) => this.do(() => this.requests.request('edit', { run, text }), true),
        sends: event => this.composer.sends(event),
        retry: () => void this.do(() => this.requests.request('retry', {})),
        undo: run => void this.do(() => this.requests.request('undo', { run })),
        ...(host.insertRecord ? { insert: (run: string) => void this.insert(run) } : {})
      },
      run => this.runActions(run)
    );
    this.outbox = new Outbox(words, this.log);
    this.absence = new Absence();
    this.notices = new Notices(words, () => this.focus());
    this.composer = new Composer(words, host, this.requests, {
      send: (text, attachments, when) => void this.send(text, attachments, when),
      stop: () => void this.stop(),
      leave: () => (host.leave ? host.leave() : (document.activeElement as HTMLElement | null)?.blur()),
      earlier: () => [...this.log.prompts, ...this.outbox.texts],
      fail: text => this.notices.addError(text)
    });
    this.live = element('div', { class: 'am-chat-hidden', role: 'status' });
    this.root.append(
      this.header.element,
      this.log.element,
      this.absence.element,
      this.notices.element,
      this.composer.element,
      this.live
    );
    element_.append(this.root);
    this.stopListening = [client.onState(state => this.takeState(state)), client.onRun(run => this.takeRun(run))];
    this.setConnection({ state: 'ready' });
  }

  focus(): void {
    if (!this.absence.focus()) {
      this.composer.focus();
    }
  }

  setPlace(place: string): void {
    this.header.setPlace(place);
  }

  setSendKey(key: SendKey): void {
    this.composer.setSendKey(key);
  }

  attach(attachment: Attachment): void {
    this.composer.attach(attachment);
  }

  draft(text: string): void {
    this.composer.restore(text, []);
    this.composer.focus();
  }

  setConnection(connection: Connection): void {
    this.requests.giveUp(this.words('The connection to the kernel was lost before it answered.'));
    this.attempt += 1;
    this.isAttached = false;
    this.isStopping = false;
    // A run that is followed again is no news, and a new kernel has none.
    this.live.textContent = '';
    this.showConnected();
    if (connection.state === 'ready') {
      void this.connect();
    } else if (connection.state === 'waiting') {
      this.showWaiting(connection.text);
    } else {
      this.log.setRuns([], null, 0);
      this.showInstead(connection.text, false, connection.action);
    }
  }

  dispose(): void {
    this.attempt += 1;
    this.stopListening.forEach(stop => stop());
    this.requests.giveUp(this.words('The chat was closed.'));
    this.header.dispose();
    this.log.dispose();
    this.composer.dispose();
    this.root.remove();
  }

  // Reaching the kernel -----------------------------------------------------------------------------------------------

  private async connect(): Promise<void> {
    const { attempt } = this;
    const say = (text: string): void => {
      if (attempt === this.attempt) {
        this.showWaiting(text);
      }
    };
    const timers = [
      setTimeout(() => say(this.words('Connecting…')), CONNECTING),
      setTimeout(
        () => say(this.words('The kernel does not answer yet: it may be busy. The chat opens when it is free.')),
        NO_ANSWER
      )
    ];
    try {
      await this.load();
      if (attempt === this.attempt) {
        this.showConversation();
        this.isAttached = true;
        this.showConnected();
        if (this.absence.takeFocus()) {
          this.composer.focus();
        }
      }
    } catch (error) {
      if (attempt === this.attempt) {
        this.showInstead(messageOf(error), false);
      }
    } finally {
      timers.forEach(clearTimeout);
    }
  }

  /** Ask the kernel for the whole conversation and show it. */
  private async load(): Promise<void> {
    const { attempt } = this;
    // One attempt repeats itself, also while there is nobody to hear it.
    this.attaching ??= this.client.attach().finally(() => (this.attaching = null));
    const result = await this.attaching;
    if (attempt === this.attempt) {
      const { state, runs = [], earlier = 0 } = result;
      this.history = state ? state.history : 0;
      this.isBehind = false;
      this.log.setRuns(runs, state?.run ?? null, earlier);
      this.showMessages();
    }
  }

  private showWaiting(text: string): void {
    // What was said stays on the page.
    if (this.log.last) {
      this.showConversation();
      this.notices.setProblems([text]);
    } else {
      this.showInstead(text, true);
    }
  }

  private showConversation(): void {
    this.absence.hide();
    this.log.element.hidden = false;
    this.composer.element.hidden = false;
  }

  /** The user sees the chat now, which was hidden. */
  seen(): void {
    this.questions.seen();
    this.catchUp();
  }

  /** Show `text` where the conversation stands. What has been written is kept, also while it is not shown. */
  private showInstead(text: string, canWrite: boolean, action?: ConnectionAction): void {
    this.notices.setProblems([]);
    this.absence.show(text, action);
    this.log.element.hidden = true;
    this.composer.element.hidden = !canWrite;
  }

  private showConnected(): void {
    this.header.setConnected(this.isAttached);
    this.composer.setConnected(this.isAttached);
    this.showState();
  }

  // What the kernel tells ---------------------------------------------------------------------------------------------

  private takeState(state: AgentState): void {
    const ended = this.state?.run !== state.run ? this.state?.run : null;
    const isMissing = ended != null && !this.log.records.some(({ run, state }) => run === ended && state !== 'running');
    this.state = state;
    this.showState();
    this.tellOfQuestions(state);
    if (this.isStopping && !state.busy) {
      this.isStopping = false;
      if (state.queue.length > 0) {
        void this.takeBack();
      }
    }
    if (state.history !== this.history || isMissing) {
      this.history = state.history;
      this.isBehind = true;
      this.catchUp();
    }
  }

  private catchUp(): void {
    if (this.isBehind && this.isAttached && this.client.looks) {
      this.isBehind = false;
      void this.reload();
    }
  }

  /** A question of a run that is not drawn here now may still be answered here. */
  private tellOfQuestions({ run, questions }: AgentState): void {
    if (run !== null && !this.client.looks) {
      this.questions.undrawn(run, questions);
    }
  }

  private showState(): void {
    const { state } = this;
    const isRunning = this.isAttached && state !== null && state.busy;
    this.composer.setRunning(isRunning);
    this.log.setPossible(!this.isAttached ? 'nothing' : isRunning ? 'reading' : 'all');
    if (state && this.isAttached) {
      this.composer.model.setModel(state.model.id);
      this.composer.tools.setTools(state.tools);
      this.composer.status.update(state);
      this.notices.setProblems(state.problems);
      this.showMessages();
    }
  }

  private takeRun({ record }: RunState): void {
    // The view of the run reads what comes then.
    if (record.state !== 'running') {
      this.live.textContent = '';
    } else if (!this.log.records.some(({ run }) => run === record.run)) {
      this.live.textContent = this.words('The agent is at work.');
    }
    this.log.update(record);
    this.showMessages();
  }

  // What the user does ------------------------------------------------------------------------------------------------

  private async send(text: string, attachments: readonly Attachment[], when: When): Promise<void> {
    this.notices.clear();
    const message = this.outbox.add(text, attachments);
    this.showMessages();
    this.log.toEnd();
    try {
      const { as } = await this.requests.request('send', { text, attachments: [...attachments], when });
      this.outbox.accept(message, as);
    } catch (error) {
      this.outbox.remove(message);
      this.composer.restore(text, attachments);
      this.notices.addError(this.words('Not sent: %1', messageOf(error)));
    }
    this.showMessages();
  }

  private showMessages(): void {
    this.log.setPending(this.outbox.pending(this.state?.queue ?? [], this.state?.busy ?? false));
  }

  private async stop(): Promise<void> {
    this.isStopping = this.state?.busy ?? false;
    try {
      await stopRun(this.root, this.client);
    } catch (error) {
      this.composer.adviseStop(this.words('%1 Use the kernel’s Stop button.', messageOf(error)));
    }
  }

  /** The run was stopped: what it was still to be told goes back to where it was written. */
  private async takeBack(): Promise<void> {
    try {
      const { texts } = await this.requests.request('withdraw', {});
      const attachments = texts.flatMap(text => this.outbox.takeBack(text));
      this.state = this.state && { ...this.state, queue: [] };
      this.composer.restore(texts.filter(Boolean).join('\n\n'), attachments);
    } catch (error) {
      this.notices.addError(messageOf(error));
    }
    this.showMessages();
  }

  private runActions(run: string): RunActions {
    return {
      stop: () => this.stop(),
      shown: approval => this.questions.drawn(run, approval),
      answer: async answer => void (await this.requests.request('answer', { run, ...answer }))
    };
  }

  /** Do something that changes what was said; the kernel tells then that it did. `rethrow` for who keeps something. */
  private async do(act: () => Promise<unknown>, rethrow = false): Promise<void> {
    this.notices.clear();
    try {
      await act();
    } catch (error) {
      this.notices.addError(messageOf(error));
      if (rethrow) {
        throw error;
      }
      return;
    }
    this.switched();
  }

  private switched(): void {
    this.log.toEnd();
    this.composer.focus();
  }

  private async reload(): Promise<void> {
    try {
      // An answer to an earlier question may be older than what is to be shown.
      await this.attaching?.catch(() => undefined);
      await this.load();
    } catch (error) {
      this.notices.addError(messageOf(error));
    }
  }

  private async insert(run: string): Promise<void> {
    try {
      const { bundle, source } = await this.requests.request('bundle', { run });
      this.host.insertRecord!(bundle, source);
    } catch (error) {
      this.notices.addError(messageOf(error));
    }
  }
}
