import type { Client } from '../protocol/client';
import type { Method, Params, Result } from '../protocol/messages';

// After so many milliseconds without an answer the user is told that the kernel is busy.
export const PATIENCE = 1000;
const LISTS: ReadonlySet<Method> = new Set(['models', 'sessions', 'variables']);

/** Asks the kernel, knows whether it takes long over an answer, and gives up what a lost connection leaves open. */
export class Requests {
  private readonly client: Client;
  private readonly onSlow: (slow: boolean) => void;
  private readonly open = new Set<(error: Error) => void>();
  private slow = 0;

  /** `onSlow` is told when answers begin to take long, and when none does any more. */
  constructor(client: Client, onSlow: (slow: boolean) => void) {
    this.client = client;
    this.onSlow = onSlow;
  }

  /** As `Client.request`. That it takes long over what only fills a list is said in the list. */
  async request<M extends Method>(method: M, params: Params[M]): Promise<Result[M]> {
    let giveUp!: (error: Error) => void;
    let isSlow = false;
    const lost = new Promise<never>((_, reject) => (giveUp = reject));
    const timer = LISTS.has(method)
      ? undefined
      : setTimeout(() => {
          isSlow = true;
          this.count(1);
        }, PATIENCE);
    this.open.add(giveUp);
    try {
      return await Promise.race([this.client.request(method, params), lost]);
    } finally {
      clearTimeout(timer);
      this.open.delete(giveUp);
      if (isSlow) {
        this.count(-1);
      }
    }
  }

  /** Let every request that is not answered fail. */
  giveUp(reason: string): void {
    for (const giveUp of [...this.open]) {
      giveUp(new Error(reason));
    }
  }

  private count(change: 1 | -1): void {
    this.slow += change;
    this.onSlow(this.slow > 0);
  }
}
