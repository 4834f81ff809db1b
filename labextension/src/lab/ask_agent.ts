import type { Cell, CodeCell } from '@jupyterlab/cells';
import type { Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import type { Following } from './following';
import type { KernelAgent } from './kernel_agent';
import { errorIn, isInterrupted, textOf } from './outputs';
import type { Words } from './words';

const QUESTION =
  'This cell failed. Say in a sentence or two what is wrong, then give the whole corrected cell in one fenced block of ' +
  'python. Change no more than the error needs.';
const CLASS = 'am-lab-ask';

/** What Lab tells of the cells that run; `NotebookActions` has it. */
export interface Executions {
  executed: ISignal<unknown, { notebook: Notebook; cell: Cell; success: boolean }>;
  executionScheduled: ISignal<unknown, { notebook: Notebook; cell: Cell }>;
  outputCleared: ISignal<unknown, { notebook: Notebook; cell: Cell }>;
}

/** Beneath the error of a cell that failed: a button that asks the kernel's agent about it. */
export class AskAgent {
  private _isOffered = true;

  constructor(
    executions: Executions,
    private readonly following: Following,
    private readonly notebooks: () => NotebookPanel[],
    /** Shows the chat with this agent. */
    private readonly show: (agent: KernelAgent) => void,
    private readonly tell: (text: string) => void,
    private readonly words: Words
  ) {
    executions.executed.connect((_, { notebook, cell, success }) => {
      remove(cell);
      if (!success && this._isOffered) {
        this.offer(notebook, cell);
      }
    });
    executions.executionScheduled.connect((_, { cell }) => remove(cell));
    executions.outputCleared.connect((_, { cell }) => remove(cell));
  }

  /** Whether cells that fail from now on get a button; setting it to false takes away those that are there. */
  get isOffered(): boolean {
    return this._isOffered;
  }

  set isOffered(offered: boolean) {
    this._isOffered = offered;
    if (!offered) {
      document.querySelectorAll(`.${CLASS}`).forEach(button => button.remove());
    }
  }

  /** Ask about `cell` as it is now. Does nothing where its kernel has no agent. */
  async ask(panel: NotebookPanel, cell: Cell): Promise<void> {
    const agent = this.following.agentOf(panel);
    if (!agent?.isLoaded || !isCode(cell)) {
      return this.tell(
        this.words('The kernel of this notebook has no agent now. Load it in the panel, then ask again.')
      );
    }
    // So that "Apply to cell" means this one.
    panel.content.activeCellIndex = panel.content.widgets.indexOf(cell);
    this.show(agent);
    const { id, sharedModel, outputs } = cell.model;
    const outputs_text = textOf(outputs.toJSON());
    const attachment = { kind: 'cell' as const, id, source: sharedModel.getSource(), outputs_text };
    await agent.client
      .request('send', { text: QUESTION, attachments: [attachment], when: 'now' })
      .catch((error: Error) => this.tell(error.message));
  }

  private offer(notebook: Notebook, cell: Cell): void {
    const panel = this.notebooks().find(({ content }) => content === notebook);
    if (!panel || !isCode(cell) || !this.following.agentOf(panel)?.isLoaded) {
      return;
    }
    const outputs = cell.model.outputs.toJSON();
    if (!errorIn(outputs) || isInterrupted(outputs)) {
      return;
    }
    const button = document.createElement('button');
    button.type = 'button';
    button.className = `${CLASS} jp-mod-styled`;
    button.textContent = this.words('Ask the agent');
    button.title = this.words('Send this cell and its error to the agent of this kernel');
    button.addEventListener('click', () => {
      button.disabled = true;
      void this.ask(panel, cell).finally(() => (button.disabled = false));
    });
    cell.node.querySelector('.jp-Cell-outputWrapper')?.after(button);
  }
}

function isCode(cell: Cell): cell is CodeCell {
  return cell.model.type === 'code';
}

function remove(cell: Cell): void {
  cell.node.querySelector(`.${CLASS}`)?.remove();
}
