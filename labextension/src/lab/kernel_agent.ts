import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import type { ChatControl, ChatHost, Connection } from '../chat/host';
import { Client } from '../protocol/client';
import { Cells } from './cells';
import { KernelComm } from './comm';
import type { NotebookHost } from './host';
import { loadAgent } from './load';
import { LostRecords } from './lost_records';
import type { Words } from './words';

export type MakeChat = (element: HTMLElement, client: Client, host: ChatHost) => ChatControl;

/** The page's end of one kernel's agent: its comm, and the chat that stays while its notebook is open. */
export class KernelAgent {
  readonly node = document.createElement('div');
  readonly comm: KernelComm;
  readonly client: Client;
  readonly chat: ChatControl;
  /** Shows the chat to the user, as `%agent panel` asks for. */
  open: () => void = () => undefined;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _ended = new Signal<this, void>(this);
  private changes = 0;

  /** `notebook` is the one that the agent reads and changes, whichever the user looks at. */
  constructor(
    readonly notebook: NotebookPanel,
    readonly kernel: Kernel.IKernelConnection,
    readonly host: NotebookHost,
    makeChat: MakeChat,
    private readonly words: Words
  ) {
    this.node.className = 'am-lab-agent';
    this.comm = new KernelComm(kernel);
    this.client = new Client(this.comm, 'panel', notebook.context.path);
    const cells = new Cells(notebook);
    this.client.onAsk(async (method, params) => {
      if (method === 'open_panel') {
        this.open();
        return {};
      }
      return cells.answer(method, params);
    });
    this.chat = makeChat(this.node, this.client, host);
    new LostRecords(notebook, this.client);
    this.comm.changed.connect(() => void this.update());
    this.comm.heard.connect(this.look, this);
    window.addEventListener('pagehide', this.hide);
    window.addEventListener('pageshow', this.show);
    notebook.context.pathChanged.connect(this.place, this);
    notebook.sessionContext.kernelChanged.connect(this.place, this);
    // The last moment at which the kernel can be told that this page leaves.
    notebook.sessionContext.disposed.connect(() => this.client.dispose());
    this.place();
    void this.update();
  }

  /** Told whenever `isLoaded` may have changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Told when the kernel has left its notebook, or that was closed. */
  get ended(): ISignal<this, void> {
    return this._ended;
  }

  /** Whether there is an agent in this kernel. */
  get isLoaded(): boolean {
    return this.comm.state === 'open';
  }

  load(): Promise<void> {
    return loadAgent(this.kernel, this.comm, this.words);
  }

  /** Whether the user sees the chat may have changed. */
  look(): void {
    const isSeen = this.host.isSeen();
    // A kernel that hears nothing while it runs a cell could not be told in time.
    this.client.look(isSeen || !this.comm.isHeard);
    if (isSeen) {
      this.chat.seen();
    }
  }

  dispose(): void {
    this.changes++;
    window.removeEventListener('pagehide', this.hide);
    window.removeEventListener('pageshow', this.show);
    this.notebook.context.pathChanged.disconnect(this.place, this);
    this.notebook.sessionContext.kernelChanged.disconnect(this.place, this);
    this._ended.emit();
    Signal.clearData(this);
    this.chat.dispose();
    this.host.dispose();
    this.client.dispose();
    this.comm.dispose();
    this.node.remove();
  }

  // The kernel would not learn otherwise that the page was loaded again, or was closed with the browser.
  private readonly hide = (): void => this.client.look(false);
  private readonly show = (): void => this.look();

  private place(): void {
    const name = this.notebook.context.path.split('/').pop()!;
    this.chat.setPlace(`${name} · ${this.notebook.sessionContext.kernelDisplayName}`);
  }

  private async update(): Promise<void> {
    const change = ++this.changes;
    const connection = await this.connection();
    if (change === this.changes) {
      this.chat.setConnection(connection);
      this._changed.emit();
    }
  }

  private async connection(): Promise<Connection> {
    const { words } = this;
    if (this.kernel.status === 'dead') {
      return { state: 'absent', text: words('The kernel has died. Restart it, then load the agent.') };
    }
    switch (this.comm.state) {
      case 'open':
        return { state: 'ready' };
      case 'connecting':
        return { state: 'waiting', text: words('The kernel is starting…') };
      case 'searching':
        return { state: 'waiting', text: words('Asking the kernel for its agent…') };
      case 'none':
        return this.absent();
    }
  }

  private async absent(): Promise<Connection> {
    const { words } = this;
    if (!this.kernel.handleComms) {
      return {
        state: 'absent',
        text: words(
          'Another document of this page, perhaps a console, was the first to open this kernel and gets its messages. Close it, then reload the page.'
        )
      };
    }
    const { language_info: language } = await this.kernel.info;
    if (language.name !== 'python') {
      return {
        state: 'absent',
        text: words(
          'The agent needs a Python kernel; this one runs %1. Choose another kernel for the notebook.',
          language.name
        )
      };
    }
    return {
      state: 'absent',
      text: words(
        'This kernel has no agent yet. Loading agent_magic gives it one; it runs no cell and leaves the notebook as it is.'
      ),
      action: { label: words('Load agent_magic'), run: () => this.load() }
    };
  }
}
