import type { ICellModel } from '@jupyterlab/cells';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

/** As `await_cell.py` in the kernel tells such a cell: `%%agent?` and `%%agent_x` are none. */
const START = /^\s*%%agent(?=\s|$)/;
/** No language. In that of Markdown, Enter would begin the next point of a list and Backspace would take marks away. */
const PROSE = 'text/plain';

type Tracker = Pick<INotebookTracker, 'widgetAdded' | 'forEach'>;
type Languages = Pick<IEditorLanguageRegistry, 'getLanguage'>;

/** Let the text of `%%agent` be words to the editor of its cell, not Python, in all notebooks of the page. */
export function keepProsePlain(tracker: Tracker, languages: Languages | null): void {
  const add = (notebook: NotebookPanel): void => void new ProseCells(notebook, languages);
  tracker.widgetAdded.connect((_, notebook) => add(notebook));
  tracker.forEach(add);
}

/** The cells of one notebook, until it is closed. */
class ProseCells {
  /** Those whose language is taken away here: others may have one of somebody else's choice. */
  private readonly plain = new WeakSet<ICellModel>();

  constructor(
    private readonly notebook: NotebookPanel,
    private readonly languages: Languages | null
  ) {
    const cells = notebook.content.model?.cells;
    cells?.changed.connect((_, { newValues }) => newValues.forEach(cell => this.follow(cell)), this);
    for (const cell of cells ?? []) {
      this.follow(cell);
    }
    notebook.disposed.connect(() => Signal.clearData(this));
  }

  private follow(cell: ICellModel): void {
    if (cell.type === 'code') {
      const look = (): void => void this.look(cell);
      cell.contentChanged.connect(look, this);
      // The notebook sets the language of all cells when it learns that of its kernel.
      cell.mimeTypeChanged.connect(look, this);
      look();
    }
  }

  private async look(cell: ICellModel): Promise<void> {
    if (!START.test(cell.sharedModel.getSource())) {
      if (this.plain.delete(cell)) {
        cell.mimeType = this.notebook.content.codeMimetype;
      }
      return;
    }
    this.plain.add(cell);
    if (cell.mimeType !== PROSE) {
      // An editor that still loads the language it was told of would take it, whatever it was told afterwards.
      await this.languages?.getLanguage(cell.mimeType).catch(() => null);
      if (this.plain.has(cell)) {
        cell.mimeType = PROSE;
      }
    }
  }
}
