/** Just enough of JupyterLab's classes for the modules of src/lab: a kernel, a notebook with cells, their tracker. */
import type { ICellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { vi } from 'vitest';

import type { AttachmentSource, ChatControl, Connection } from '../src/chat/host';
import type { Attachment, KernelMessage, PageMessage } from '../src/protocol/messages';
import type { Words } from '../src/lab/words';

// Lumino's widgets need the class; jsdom has none.
globalThis.DragEvent ??= class extends MouseEvent {} as typeof DragEvent;

export const words: Words = (text, ...given) =>
  text.replace(/%(\d)/g, (whole, place) => given[Number(place) - 1] ?? whole);

export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await Promise.resolve();
  }
}

export class FakeComm {
  readonly targetName = 'agent_magic';
  readonly sent: PageMessage[] = [];
  isDisposed = false;
  subshellId: string | null = null;
  /** The kernel has a thread for it from now on. */
  startSubshell!: () => void;
  readonly subshellStarted = new Promise<void>(resolve => {
    this.startSubshell = () => {
      this.subshellId = 's1';
      resolve();
    };
  });
  onMsg: (message: { content: { data: unknown } }) => unknown = () => undefined;
  onClose: () => unknown = () => undefined;
  opens = 0;

  constructor(readonly commId: string) {}

  open(): void {
    this.opens++;
  }

  send(message: PageMessage): void {
    if (this.isDisposed) {
      throw new Error('Cannot send');
    }
    this.sent.push(structuredClone(message));
  }

  say(message: KernelMessage): unknown {
    return this.onMsg({ content: { data: message } });
  }

  /** Answer the last request of that method. */
  answer(method: string, answer: { result: unknown } | { error: string }): void {
    const { id } = this.sent.filter(message => message.method === method).at(-1)!;
    this.say({ type: 'response', id, ...answer });
  }

  requested(method: string): unknown[] {
    return this.sent.filter(message => message.method === method).map(({ params }) => params);
  }
}

type Reply = { status: string } & Record<string, unknown>;

export class FakeKernel {
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly connectionStatusChanged = new Signal<this, Kernel.ConnectionStatus>(this);
  readonly executed: { code: string; silent?: boolean; store_history?: boolean; allow_stdin?: boolean }[] = [];
  readonly interrupt = vi.fn(() => Promise.resolve());
  /** What it answers the next executions with; then "ok". */
  readonly replies: Reply[] = [];
  name = 'python3';
  status: Kernel.Status = 'idle';
  connectionStatus: Kernel.ConnectionStatus = 'connected';
  handleComms = true;
  isDisposed = false;
  info: Promise<unknown> = Promise.resolve({ language_info: { name: 'python' } });
  /** The comms that it tells of; while `isBusy`, only once it is free. */
  comms: string[] = [];
  isBusy = false;
  private target: ((comm: Kernel.IComm) => void) | null = null;
  private readonly made = new Map<string, FakeComm>();
  private waiting: (() => void)[] = [];

  constructor(readonly id = 'k1') {}

  registerCommTarget(_: string, target: (comm: Kernel.IComm) => void): void {
    this.target = target;
  }

  removeCommTarget(): void {
    this.target = null;
  }

  hasComm(id: string): boolean {
    return this.made.has(id);
  }

  createComm(_: string, id: string): FakeComm {
    const comm = new FakeComm(id);
    this.made.set(id, comm);
    return comm;
  }

  async requestCommInfo(): Promise<unknown> {
    if (this.isBusy) {
      await new Promise<void>(resolve => this.waiting.push(resolve));
    }
    return { content: { status: 'ok', comms: Object.fromEntries(this.comms.map(id => [id, {}])) } };
  }

  requestExecute(content: FakeKernel['executed'][number]): { done: Promise<unknown> } {
    this.executed.push(content);
    return { done: Promise.resolve({ content: this.replies.shift() ?? { status: 'ok', user_expressions: {} } }) };
  }

  // What the test does ---------------------------------------------------------------------------------------------

  /** The kernel loads its agent. */
  opens(id: string): FakeComm {
    const comm = this.createComm('', id);
    this.comms = [id];
    this.target?.(comm as unknown as Kernel.IComm);
    return comm;
  }

  comm(id: string): FakeComm {
    return this.made.get(id)!;
  }

  becomes(status: Kernel.Status): void {
    this.status = status;
    this.statusChanged.emit(status);
  }

  connects(status: Kernel.ConnectionStatus): void {
    this.connectionStatus = status;
    this.connectionStatusChanged.emit(status);
  }

  becomesFree(): void {
    this.isBusy = false;
    this.waiting.splice(0).forEach(resolve => resolve());
  }

  /** As Lab does it: comms are disposed and not closed, then the statuses follow. */
  restarts(status: Kernel.Status = 'restarting'): void {
    this.made.forEach(comm => (comm.isDisposed = true));
    this.made.clear();
    this.comms = [];
    this.becomes(status);
  }

  /** The page lets go of it. */
  closes(): void {
    this.isDisposed = true;
    this.made.forEach(comm => (comm.isDisposed = true));
  }

  get connection(): Kernel.IKernelConnection {
    return this as unknown as Kernel.IKernelConnection;
  }
}

export class FakeCell {
  readonly isDisposed = false;
  readonly metadata: Record<string, unknown>;
  readonly sharedModel = { getSource: () => this.source, setSource: (source: string) => void (this.source = source) };
  readonly outputs = { toJSON: () => this.output, fromJSON: (outputs: IOutput[]) => void (this.output = outputs) };
  trusted = false;
  executionCount: number | null = null;

  constructor(
    readonly id: string,
    public source: string,
    readonly type = 'code',
    public output: IOutput[] = [],
    metadata: Record<string, unknown> = {}
  ) {
    this.metadata = metadata;
  }

  getMetadata(key: string): unknown {
    return this.metadata[key];
  }
}

class Cells extends Array<FakeCell> {
  get(place: number): FakeCell {
    return this[place]!;
  }
}

interface Inserted {
  cell_type: string;
  source: string;
  metadata?: Record<string, unknown>;
  outputs?: IOutput[];
}

export class FakeNotebook {
  readonly node = document.createElement('div');
  readonly disposed = new Signal<this, void>(this);
  readonly activate = vi.fn();
  readonly cells = new Cells();
  isDisposed = false;
  readonly context = { path: '', pathChanged: new Signal<object, string>({}), ready: Promise.resolve() };
  readonly sessionContext = {
    session: { kernel: null as FakeKernel | null },
    kernelDisplayName: 'Python 3',
    kernelChanged: new Signal<object, void>({}),
    disposed: new Signal<object, void>({})
  };
  readonly model = {
    readOnly: false,
    cells: this.cells,
    sharedModel: {
      insertCell: (place: number, { cell_type, source, metadata, outputs }: Inserted) => {
        const cell = new FakeCell(`new${this.cells.length}`, source, cell_type, outputs, metadata);
        this.cells.splice(place, 0, cell);
        return { getId: () => cell.id };
      }
    }
  };
  readonly content = {
    node: this.node,
    model: this.model,
    widgets: [] as unknown[],
    activeCellIndex: 0,
    deselectAll: vi.fn(),
    scrollToItem: vi.fn(() => Promise.resolve()),
    rendermime: { mimeTypes: [] as string[], createRenderer: vi.fn(), createModel: vi.fn() },
    editor: null as unknown,
    get activeCell(): unknown {
      const model = this.model.cells[this.activeCellIndex];
      return model ? { model, editor: this.editor } : null;
    }
  };

  constructor(path: string, kernel: FakeKernel | null, ...cells: FakeCell[]) {
    this.context.path = path;
    this.sessionContext.session.kernel = kernel;
    this.cells.push(...cells);
    document.body.append(this.node);
  }

  takes(kernel: FakeKernel | null): void {
    this.sessionContext.session.kernel = kernel;
    this.sessionContext.kernelChanged.emit();
  }

  /** As Lab does it: the kernel's connection is gone before the notebook is. */
  closes(): void {
    this.sessionContext.disposed.emit();
    this.sessionContext.session.kernel?.closes();
    this.isDisposed = true;
    this.node.remove();
    this.disposed.emit();
  }

  cell(id: string): ICellModel & FakeCell {
    return this.cells.find(cell => cell.id === id) as unknown as ICellModel & FakeCell;
  }

  get panel(): NotebookPanel {
    return this as unknown as NotebookPanel;
  }
}

export class FakeTracker {
  readonly currentChanged = new Signal<this, NotebookPanel | null>(this);
  readonly widgetAdded = new Signal<this, NotebookPanel>(this);
  readonly opened: FakeNotebook[] = [];
  current: FakeNotebook | null = null;

  get currentWidget(): NotebookPanel | null {
    return this.current?.panel ?? null;
  }

  forEach(f: (panel: NotebookPanel) => void): void {
    this.opened.forEach(notebook => f(notebook.panel));
  }

  opens(notebook: FakeNotebook): void {
    this.opened.push(notebook);
    this.widgetAdded.emit(notebook.panel);
    this.shows(notebook);
  }

  shows(notebook: FakeNotebook | null): void {
    this.current = notebook;
    this.currentChanged.emit(this.currentWidget);
  }

  get tracker(): INotebookTracker {
    return this as unknown as INotebookTracker;
  }
}

/** A chat that keeps what it is told. */
export class FakeChat implements ChatControl {
  connection: Connection | null = null;
  readonly connections: Connection[] = [];
  readonly attached: Attachment[] = [];
  place = '';
  isDisposed = false;
  readonly focus = vi.fn();
  readonly draft = vi.fn();
  readonly setSendKey = vi.fn();
  readonly seen = vi.fn();

  constructor(readonly element: HTMLElement) {
    element.append(document.createElement('textarea'));
  }

  setConnection(connection: Connection): void {
    this.connection = connection;
    this.connections.push(connection);
  }

  setPlace(place: string): void {
    this.place = place;
  }

  attach(attachment: Attachment): void {
    this.attached.push(attachment);
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

export function read(source: AttachmentSource | undefined): unknown {
  return source?.read();
}
