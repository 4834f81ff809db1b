import type { Kernel, KernelMessage as Wire } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Transport } from '../protocol/client';
import type { KernelMessage, PageMessage } from '../protocol/messages';

export const TARGET = 'agent_magic';

/** What newer versions of JupyterLab add: a thread in the kernel that takes the messages of a comm at any time. */
interface WithSubshell {
  subshellId?: string | null;
  subshellStarted?: Promise<void>;
}

/**
 * - `connecting`: the server or the kernel's process cannot be reached at the moment, or starts again.
 * - `searching`: the kernel has been asked whether it has an agent; a busy one answers late.
 * - `open`: messages get through. Told anew whenever some may have been missed.
 * - `none`: no agent is loaded.
 */
export type CommState = 'connecting' | 'searching' | 'open' | 'none';

/**
 * The comm of a kernel's agent as a transport.
 *
 * Always opened by the kernel: one that the page opens where nobody listens makes the kernel log an error, and tells
 * nothing. After a reload of the page the kernel is asked for the comms that it has; since it answers only once no cell
 * runs, the tab also remembers the comm. A restart closes no comm, so that it is dropped at the first sign of one.
 */
export class KernelComm implements Transport {
  private readonly kernel: Kernel.IKernelConnection;
  private readonly listeners = new Set<(message: KernelMessage) => void>();
  private readonly _changed = new Signal<this, CommState>(this);
  private readonly _heard = new Signal<this, void>(this);
  private comm: (Kernel.IComm & WithSubshell) | null = null;
  private searches = 0;
  private searching = false;
  private starting = false;
  private disposed = false;

  constructor(kernel: Kernel.IKernelConnection) {
    this.kernel = kernel;
    kernel.registerCommTarget(TARGET, this.opened);
    kernel.statusChanged.connect(this.onStatus, this);
    kernel.connectionStatusChanged.connect(this.onConnection, this);
    this.starting = STARTING.includes(kernel.status);
    if (!this.starting) {
      this.takeRemembered();
    }
    if (kernel.connectionStatus === 'connected' && !this.starting) {
      void this.search();
    }
  }

  get changed(): ISignal<this, CommState> {
    return this._changed;
  }

  /** Whether the kernel takes messages also while it runs a cell. */
  get isHeard(): boolean {
    return !!this.comm?.subshellId;
  }

  /** Told when that has come true. */
  get heard(): ISignal<this, void> {
    return this._heard;
  }

  get state(): CommState {
    if (this.starting || this.kernel.connectionStatus !== 'connected') {
      return 'connecting';
    }
    if (this.comm) {
      return 'open';
    }
    return this.searching ? 'searching' : 'none';
  }

  send(message: PageMessage): void {
    if (this.comm && !this.comm.isDisposed && !this.kernel.isDisposed) {
      this.comm.send(message as unknown as JSONObject);
    }
  }

  onMessage(listener: (message: KernelMessage) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Ask the kernel which comm its agent has. Resolves when it has answered, with whether it has one. */
  async search(): Promise<boolean> {
    const search = ++this.searches;
    this.searching = true;
    this.tell();
    const ids = await this.kernel.requestCommInfo({ target_name: TARGET }).then(commsOf, () => []);
    if (search !== this.searches || this.disposed) {
      return this.comm !== null;
    }
    this.searching = false;
    const id = ids[ids.length - 1];
    if (id !== this.comm?.commId || id === undefined) {
      if (id === undefined) {
        this.forget();
      } else if (!this.kernel.hasComm(id)) {
        this.take(this.kernel.createComm(TARGET, id));
      }
      this.tell();
    }
    return this.comm !== null;
  }

  /** Let go of the kernel, and leave its comm as it is: other pages may use it. */
  dispose(): void {
    this.disposed = true;
    Signal.clearData(this);
    this.listeners.clear();
    this.comm = null;
    if (!this.kernel.isDisposed) {
      this.kernel.removeCommTarget(TARGET, this.opened);
    }
  }

  private readonly opened = (comm: Kernel.IComm): void => {
    this.searches++;
    this.searching = false;
    this.starting = false;
    this.take(comm);
    this.tell();
  };

  private take(comm: Kernel.IComm & WithSubshell): void {
    this.comm = comm;
    comm.subshellStarted?.then(
      () => this._heard.emit(),
      () => undefined
    );
    sessionStorage.setItem(this.memory, comm.commId);
    comm.onMsg = message => {
      if (this.comm === comm) {
        this.deliver(message);
      }
    };
    comm.onClose = () => {
      if (this.comm === comm) {
        this.forget();
        this.tell();
      }
    };
  }

  // Returns nothing: Lab would hold back the kernel's next messages until a promise is done.
  private deliver(message: Wire.ICommMsgMsg): void {
    const data = message.content.data as unknown as KernelMessage;
    for (const listener of this.listeners) {
      listener(data);
    }
  }

  private onStatus(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    if (STARTING.includes(status)) {
      this.starting = true;
      this.drop();
    } else if (this.starting && (status === 'idle' || status === 'busy')) {
      this.starting = false;
      void this.search();
    } else if (status === 'dead' || status === 'terminating') {
      this.starting = false;
      this.drop();
    }
  }

  private onConnection(_: Kernel.IKernelConnection, status: Kernel.ConnectionStatus): void {
    if (status === 'connected' && !this.starting) {
      void this.search();
    } else {
      this.tell();
    }
  }

  private drop(): void {
    this.searches++;
    this.searching = false;
    this.forget();
    this.tell();
  }

  private get memory(): string {
    return `agent-magic:comm:${this.kernel.id}`;
  }

  private takeRemembered(): void {
    const id = sessionStorage.getItem(this.memory);
    if (id && this.kernel.handleComms && !this.kernel.hasComm(id)) {
      this.take(this.kernel.createComm(TARGET, id));
    }
  }

  private forget(): void {
    this.comm = null;
    sessionStorage.removeItem(this.memory);
  }

  private tell(): void {
    if (!this.disposed) {
      this._changed.emit(this.state);
    }
  }
}

// Each is the first sign that a new process takes the kernel's place.
const STARTING: readonly Kernel.Status[] = ['starting', 'restarting', 'autorestarting'];

function commsOf(reply: Wire.ICommInfoReplyMsg): string[] {
  return reply.content.status === 'ok' ? Object.keys(reply.content.comms) : [];
}
