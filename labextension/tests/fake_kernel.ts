import type { Transport } from '../src/protocol/client';
import type { KernelMessage, Method, PageMessage, Params } from '../src/protocol/messages';

/** A transport whose other end is the test: what the page sent is in `sent`, `say` is a message of the kernel. */
export class FakeKernel implements Transport {
  readonly sent: PageMessage[] = [];
  private readonly listeners = new Set<(message: KernelMessage) => void>();

  send(message: PageMessage): void {
    this.sent.push(structuredClone(message));
  }

  onMessage(listener: (message: KernelMessage) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  say(message: KernelMessage): void {
    for (const listener of this.listeners) {
      listener(structuredClone(message));
    }
  }

  /** The last request of that method. */
  last<M extends Method>(method: M): { id: string; params: Params[M] } {
    const found = this.sent.filter(message => message.method === method).at(-1);
    if (!found) {
      throw new Error(`the page has not requested ${method}`);
    }
    return found as PageMessage & { params: Params[M] };
  }

  /** Let promises settle whose answers were just given. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) {
      await Promise.resolve();
    }
  }
}
