import { vi } from 'vitest';

import { Chat } from '../src/chat/chat';
import type { ChatHost } from '../src/chat/host';
import { Client } from '../src/protocol/client';
import type { AgentState, Item, Method, Params, RunRecord } from '../src/protocol/messages';
import { FakeKernel } from './fake_kernel';

export const STATE: AgentState = {
  busy: false,
  run: null,
  questions: [],
  model: { id: 'openai/gpt-5-mini', thinking: 'low' },
  tools: [
    { name: 'inspect', on: true, origin: 'builtin', effect: 'read', description: 'Signature of a name.' },
    { name: 'run_python', on: false, origin: 'builtin', effect: 'execute', description: 'Run code in this kernel.' }
  ],
  context: { used: 29_440, window: 128_000, fraction: 0.23 },
  cost: 0.0028,
  session: { id: 's1', title: 'Growth' },
  queue: [],
  notebook: 'growth.ipynb',
  problems: [],
  history: 0
};

export function userItem(text: string, id = '1'): Item {
  return { id, kind: 'user', state: 'done', text };
}

export function record(run: string, items: Item[], fields: Partial<RunRecord> = {}): RunRecord {
  return {
    version: 1,
    run,
    session: 's1',
    model: 'openai/gpt-5-mini',
    state: 'done',
    started: 1,
    seconds: 2,
    turns: 1,
    calls: 0,
    items,
    usage: null,
    cost: null,
    context: null,
    stop_cause: 'completed',
    omitted: [],
    ...fields
  };
}

export const RUNNING: Partial<RunRecord> = { state: 'running', seconds: null, stop_cause: null };
export const GROWTH = record('r1', [
  userItem('Which grew fastest? See @df'),
  { id: '2', kind: 'text', state: 'done', text: 'APAC grew fastest.' }
]);

/** jsdom lays nothing out, so that nothing changes its size. */
class NoResizing implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

/** A chat on a page, and the kernel at its other end, which answers what the test lets it answer. */
export class ChatPage {
  readonly kernel = new FakeKernel();
  readonly element = document.createElement('div');
  readonly client: Client;
  readonly chat: Chat;

  constructor(host: ChatHost = {}) {
    vi.stubGlobal('ResizeObserver', NoResizing);
    document.body.replaceChildren(this.element);
    this.client = new Client(this.kernel, 'panel', 'growth.ipynb');
    this.chat = new Chat(this.element, this.client, host);
  }

  /** A chat whose kernel has answered `attach`. */
  static async opened(
    state: Partial<AgentState> & { history?: number } = {},
    runs: RunRecord[] = [GROWTH],
    host: ChatHost = {}
  ): Promise<ChatPage> {
    const page = new ChatPage(host);
    await page.attached(state, runs);
    return page;
  }

  async attached(state: Partial<AgentState> & { history?: number } = {}, runs: RunRecord[] = [GROWTH], more = {}) {
    await this.answer('attach', { protocol: 1, version: '0.1.0', state: { ...STATE, ...state }, runs, ...more });
  }

  /** Answer the last request of that method. */
  async answer(method: Method, result: unknown): Promise<void> {
    this.kernel.say({ type: 'response', id: this.kernel.last(method).id, result });
    await this.kernel.settle();
  }

  async refuse(method: Method, error: string): Promise<void> {
    this.kernel.say({ type: 'response', id: this.kernel.last(method).id, error });
    await this.kernel.settle();
  }

  state(state: Partial<AgentState> & { history?: number }): void {
    this.kernel.say({ type: 'state', state: { ...STATE, ...state } });
  }

  /** A run begins. */
  run(items: Item[], run = 'r2'): void {
    this.state({ busy: true, run });
    this.kernel.say({ type: 'run', run, seq: 1, record: record(run, items, RUNNING) });
  }

  /** The parameters of every request of that method, the oldest first. */
  requested<M extends Method>(method: M): Params[M][] {
    const found = this.kernel.sent.filter(message => message.method === method);
    const ids = new Set(found.map(message => message.id));
    // `attach` repeats itself.
    return [...ids].map(id => found.find(message => message.id === id)!.params as Params[M]);
  }

  // What is on the page ----------------------------------------------------------------------------------------------

  find<E extends HTMLElement = HTMLElement>(selector: string): E {
    const found = this.element.querySelector<E>(selector);
    if (!found) {
      throw new Error(`there is no ${selector}`);
    }
    return found;
  }

  /** Whether it is there, and neither it nor what it stands in is hidden. */
  isShown(element: Element | null | undefined): boolean {
    return !!element && this.element.contains(element) && element.closest('[hidden]') === null;
  }

  /** The button that a user knows by this name, if it is shown. */
  button(name: string): HTMLButtonElement | undefined {
    return [...this.element.querySelectorAll('button')].find(
      each => this.isShown(each) && (each.getAttribute('aria-label') ?? each.textContent) === name
    );
  }

  press(name: string): void {
    const found = this.button(name);
    if (!found) {
      throw new Error(`no button "${name}" is shown`);
    }
    found.click();
  }

  get message(): HTMLTextAreaElement {
    return this.find<HTMLTextAreaElement>('.am-chat-message');
  }

  get hint(): string {
    return this.find('.am-chat-hint').textContent!;
  }

  get bubbles(): string[] {
    return [...this.element.querySelectorAll('.am-chat-bubble')].map(each => each.textContent!);
  }

  get notices(): string[] {
    return [...this.element.querySelectorAll('.am-chat-notice-text')].map(each => each.textContent!);
  }

  write(text: string): void {
    this.message.focus();
    this.message.value = text;
    this.message.dispatchEvent(new Event('input', { bubbles: true }));
  }

  /** Press a key in the element that has the focus, or in `target`; returns whether it was taken. */
  key(key: string, options: KeyboardEventInit = {}, target: Element = document.activeElement!): boolean {
    return !target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...options }));
  }

  /** Write and press Enter. */
  say(text: string): void {
    this.write(text);
    this.key('Enter');
  }
}
