import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import type { KernelAgent } from './kernel_agent';

type Tracker = Pick<INotebookTracker, 'currentWidget' | 'currentChanged' | 'widgetAdded' | 'forEach'>;

/** Which agent belongs to which notebook of the page, and which notebook the user is in. */
export class Following {
  private readonly agents = new Map<string, KernelAgent>();
  private readonly notebooks = new Set<NotebookPanel>();
  private readonly _changed = new Signal<this, void>(this);

  constructor(
    private readonly tracker: Tracker,
    private readonly makeAgent: (notebook: NotebookPanel, kernel: Kernel.IKernelConnection) => KernelAgent
  ) {
    tracker.currentChanged.connect(() => this._changed.emit());
    tracker.widgetAdded.connect((_, notebook) => this.add(notebook));
    tracker.forEach(notebook => this.add(notebook));
  }

  /** Told when the user goes to another notebook, or one gets another kernel. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get notebook(): NotebookPanel | null {
    return this.tracker.currentWidget;
  }

  /** That of the notebook that the user is in. */
  get agent(): KernelAgent | null {
    return this.notebook && this.agentOf(this.notebook);
  }

  /** Those of all notebooks of the page. */
  all(): KernelAgent[] {
    return [...this.agents.values()];
  }

  /** null while the notebook has no kernel. */
  agentOf(notebook: NotebookPanel): KernelAgent | null {
    const kernel = kernelOf(notebook);
    return (kernel && this.agents.get(kernel.id)) ?? null;
  }

  /** The notebook or the chat that `node` is in: its kernel. */
  kernelAt(node: Node): Kernel.IKernelConnection | null {
    for (const notebook of this.notebooks) {
      if (notebook.node.contains(node)) {
        return kernelOf(notebook);
      }
    }
    return this.agentAt(node)?.kernel ?? null;
  }

  /** The agent whose chat `node` is in. */
  agentAt(node: Node): KernelAgent | null {
    return this.all().find(agent => agent.node.contains(node)) ?? null;
  }

  private add(notebook: NotebookPanel): void {
    this.notebooks.add(notebook);
    notebook.sessionContext.kernelChanged.connect(this.update, this);
    notebook.disposed.connect(() => {
      this.notebooks.delete(notebook);
      this.update();
    });
    this.update();
  }

  /** Make an agent for each kernel that has none, and end those whose kernel left its notebook. */
  private update(): void {
    for (const [id, agent] of this.agents) {
      if (!this.notebooks.has(agent.notebook) || kernelOf(agent.notebook) !== agent.kernel) {
        this.agents.delete(id);
        agent.dispose();
      }
    }
    for (const notebook of this.notebooks) {
      const kernel = kernelOf(notebook);
      if (kernel && !this.agents.has(kernel.id)) {
        this.agents.set(kernel.id, this.makeAgent(notebook, kernel));
      }
    }
    this._changed.emit();
  }
}

function kernelOf(notebook: NotebookPanel): Kernel.IKernelConnection | null {
  const kernel = notebook.isDisposed ? null : notebook.sessionContext.session?.kernel;
  return kernel && !kernel.isDisposed ? kernel : null;
}
