import type { Requests } from './requests';

/** Tells the kernel for which of its questions there is a page here, and whether the user sees it. */
export class Questions {
  private readonly requests: Requests;
  private readonly isSeen: () => boolean;
  /** Those that were drawn while the chat was hidden: run and approval. */
  private readonly unseen: [string, string][] = [];
  /** Those of which the kernel knows that there is a page for them. */
  private readonly toldOf = new Set<string>();

  constructor(requests: Requests, isSeen: () => boolean) {
    this.requests = requests;
    this.isSeen = isSeen;
  }

  /** It is drawn here. */
  drawn(run: string, approval: string): void {
    if (!this.isSeen()) {
      this.unseen.push([run, approval]);
    }
    this.tell(run, approval);
  }

  /** These may be answered here, though they are not drawn now. */
  undrawn(run: string, approvals: readonly string[]): void {
    approvals.filter(each => !this.toldOf.has(`${run}:${each}`)).forEach(each => this.tell(run, each));
  }

  /** The user sees the chat now, which was hidden. */
  seen(): void {
    for (const [run, approval] of this.unseen.splice(0)) {
      this.drawn(run, approval);
    }
  }

  private tell(run: string, approval: string): void {
    this.toldOf.add(`${run}:${approval}`);
    void this.requests.request('shown', { approval, run, seen: this.isSeen() }).catch(() => undefined);
  }
}
