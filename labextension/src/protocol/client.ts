import { applied, withKnownItems, type Delta } from '../view/record';
import {
  PROTOCOL,
  type AgentState,
  type AttachResult,
  type KernelMessage,
  type Method,
  type PageKind,
  type PageMessage,
  type Params,
  type Result,
  type RunState
} from './messages';

/** Carries messages to the kernel and back; may lose them, and may have other pages at its end. */
export interface Transport {
  send(message: PageMessage): void;
  /** Returns how to stop listening. */
  onMessage(listener: (message: KernelMessage) => void): () => void;
}

type AskHandler = (method: string, params: unknown) => Promise<unknown>;

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

// While the kernel does not answer: how often attaching is tried again, first and later (milliseconds).
const SOON = 200;
const LATER = 1000;
const SOON_LASTS = 2000;

/** One page's end of the protocol: requests, and the run and the state that the kernel tells of. */
export class Client {
  readonly page = randomId();
  private readonly transport: Transport;
  private readonly kind: PageKind;
  private readonly notebook: string | undefined;
  private readonly stopListening: () => void;
  private readonly waiting = new Map<string, Waiting>();
  private readonly runListeners = new Set<(run: RunState) => void>();
  private readonly stateListeners = new Set<(state: AgentState) => void>();
  private askHandler: AskHandler | null = null;
  private requests = 0;
  private run: RunState | null = null;
  private state: AgentState | null = null;
  private asksForSnapshot = false;
  private isLooking = true;
  private hasToldLooks = false;
  private isAttached = false;
  private disposed = false;

  constructor(transport: Transport, kind: PageKind, notebook?: string) {
    this.transport = transport;
    this.kind = kind;
    this.notebook = notebook;
    this.stopListening = transport.onMessage(message => this.take(message));
  }

  /** Say that this page is there; repeated until the kernel answers. */
  async attach(): Promise<AttachResult> {
    const params: Params['attach'] = { page: this.page, protocol: PROTOCOL, kind: this.kind };
    if (this.notebook !== undefined) {
      params.notebook = this.notebook;
    }
    const { message, answer } = this.prepare('attach', params);
    const began = Date.now();
    let timer: ReturnType<typeof setTimeout>;
    const send = () => {
      if (!this.isLooking) {
        params.looks = false;
      }
      this.transport.send(message);
      timer = setTimeout(send, Date.now() - began < SOON_LASTS ? SOON : LATER);
    };
    send();
    let result: AttachResult;
    try {
      result = await answer;
    } finally {
      clearTimeout(timer!);
    }
    if (result.protocol !== PROTOCOL) {
      throw new Error(
        `This page speaks protocol ${PROTOCOL}, agent_magic ${result.version} in the kernel ${result.protocol}. ` +
          'Install the same version of agent_magic for both, then restart the kernel and reload the page.'
      );
    }
    this.isAttached = true;
    // What was said while the kernel could not be reached was not heard.
    if (this.hasToldLooks) {
      this.tellLooks();
    }
    if (result.state) {
      this.takeState(result.state);
    }
    if (result.run) {
      this.takeSnapshot(result.run);
    }
    return result;
  }

  /** Whether this page is told of runs as they go on; it always is of the state. */
  get looks(): boolean {
    return this.isLooking;
  }

  /** From now on be told of runs, or not. */
  look(on: boolean): void {
    if (on !== this.isLooking) {
      this.isLooking = on;
      this.hasToldLooks = true;
      if (this.isAttached) {
        this.tellLooks();
      }
    }
  }

  /** Rejects with the kernel's words. */
  request<M extends Method>(method: M, params: Params[M]): Promise<Result[M]> {
    const { message, answer } = this.prepare(method, params);
    try {
      this.transport.send(message);
    } catch (error) {
      // As that of a widget does whose kernel is gone.
      const words = `The kernel cannot be reached: ${(error as Error).message}`;
      this.takeResponse({ id: message.id, error: words });
    }
    return answer;
  }

  /** Told of every change of the run that goes on, and at once where one is known. Returns how to stop listening. */
  onRun(listener: (run: RunState) => void): () => void {
    this.runListeners.add(listener);
    if (this.run) {
      listener(this.run);
    }
    return () => this.runListeners.delete(listener);
  }

  /** As `onRun`, of the state of the agent. */
  onState(listener: (state: AgentState) => void): () => void {
    this.stateListeners.add(listener);
    if (this.state) {
      listener(this.state);
    }
    return () => this.stateListeners.delete(listener);
  }

  /** What answers the kernel where it asks this page for something. */
  onAsk(handler: AskHandler): void {
    this.askHandler = handler;
  }

  /** Tell the kernel that this page is gone. Requests that are not answered are rejected. */
  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.request('detach', {}).catch(() => undefined);
    this.disposed = true;
    this.stopListening();
    this.runListeners.clear();
    this.stateListeners.clear();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) {
      reject(new Error('This view was closed before the kernel answered.'));
    }
  }

  private prepare<M extends Method>(
    method: M,
    params: Params[M]
  ): { message: PageMessage; answer: Promise<Result[M]> } {
    const id = `${this.page}:${++this.requests}`;
    const answer = new Promise<Result[M]>((resolve, reject) => {
      if (this.disposed) {
        reject(new Error('This view is closed.'));
      } else {
        this.waiting.set(id, { resolve: result => resolve(result as Result[M]), reject });
      }
    });
    return { message: { type: 'request', id, method, params }, answer };
  }

  private take(message: KernelMessage): void {
    switch (message.type) {
      case 'response':
        return this.takeResponse(message);
      case 'run':
        return this.takeSnapshot(message);
      case 'deltas':
        return this.takeDeltas(message.run, message.deltas);
      case 'state':
        return this.takeState(message.state);
      case 'ask':
        if (message.page === this.page) {
          void this.answerAsk(message.id, message.method, message.params);
        }
    }
  }

  private takeResponse(message: { id: string; result?: unknown; error?: string }): void {
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error === undefined) {
      waiting?.resolve(message.result);
    } else {
      waiting?.reject(new Error(message.error));
    }
  }

  private takeSnapshot({ run, seq, record }: RunState): void {
    this.asksForSnapshot = false;
    const known = this.run;
    if (known?.run !== run) {
      this.setRun({ run, seq, record });
    } else if (seq >= known.seq) {
      this.setRun({ run, seq, record: withKnownItems(record, known.record) });
    }
  }

  private takeDeltas(run: string, deltas: readonly Delta[]): void {
    const known = this.run;
    if (known?.run !== run) {
      return this.askForSnapshot(run);
    }
    const fresh = deltas.filter(delta => delta.seq > known.seq);
    if (fresh.some((delta, place) => delta.seq !== known.seq + 1 + place)) {
      return this.askForSnapshot(run);
    }
    if (fresh.length > 0) {
      this.setRun({ run, seq: known.seq + fresh.length, record: applied(known.record, fresh) });
    }
  }

  private tellLooks(): void {
    // An earlier version of the kernel's end tells every page all.
    this.request('look', { on: this.isLooking }).catch(() => undefined);
  }

  private askForSnapshot(run: string): void {
    // Another page of this connection may look.
    if (this.asksForSnapshot || !this.isLooking) {
      return;
    }
    this.asksForSnapshot = true;
    this.request('snapshot', { run })
      // The kernel also sends one every few seconds.
      .then(
        snapshot => this.takeSnapshot(snapshot),
        () => undefined
      )
      .finally(() => (this.asksForSnapshot = false));
  }

  private setRun(run: RunState): void {
    this.run = run;
    for (const listener of this.runListeners) {
      listener(run);
    }
  }

  private takeState(state: AgentState): void {
    this.state = state;
    for (const listener of this.stateListeners) {
      listener(state);
    }
  }

  private async answerAsk(ask: string, method: string, params: unknown): Promise<void> {
    let answer: Params['answer_ask'];
    try {
      if (!this.askHandler) {
        throw new Error(`This page cannot do ${method}.`);
      }
      answer = { ask, result: (await this.askHandler(method, params)) ?? null };
    } catch (error) {
      answer = { ask, error: error instanceof Error ? error.message : String(error) };
    }
    // Too late or asked of a kernel that is gone: there is nobody to tell.
    await this.request('answer_ask', answer).catch(() => undefined);
  }
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
