import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { RECORD_TYPE, type MimeBundle, type RunRecord } from '../protocol/messages';
import { textOf } from './outputs';

/** A cell as a model reads it. */
export interface CellText {
  id: string;
  type: string;
  source: string;
  outputs_text: string;
  execution_count: number | null;
}

type CellType = 'code' | 'markdown' | 'raw';

/**
 * What the kernel asks of the cells of one notebook: that of the run, whichever the user looks at.
 *
 * Errors are words to the model. Every change can be undone in the notebook.
 */
export class Cells {
  constructor(private readonly notebook: NotebookPanel) {}

  async answer(method: string, params: unknown): Promise<unknown> {
    await this.notebook.context.ready;
    const given = new Given(params);
    switch (method) {
      case 'read_cells':
        return { cells: this.read(given.ids(), given.range()) };
      case 'insert_cell':
        return { id: this.insert(given.idOrNull('after'), given.type(), given.text('source')) };
      case 'edit_cell':
        this.edit(given.text('id'), given.text('source'), given.text('expected'));
        return {};
      case 'set_outputs':
        this.setOutputs(given.text('id'), given.outputs(), given.count(), given.idOrNull('run'));
        return {};
      default:
        throw new Error(
          `This version of the notebook's page cannot do ${method}: update agent_magic where Jupyter runs.`
        );
    }
  }

  /** The cells with these ids, else those in this range of positions (counted from 0, without its end), else all. */
  read(ids: string[] | null, range: [number, number] | null): CellText[] {
    if (ids) {
      return ids.map(id => textOfCell(this.cell(id)));
    }
    const cells = [...this.model.cells];
    return (range ? cells.slice(...range) : cells).map(textOfCell);
  }

  /** Put a cell after that with the id `after`, or before all others. Returns its id. */
  insert(after: string | null, type: CellType, source: string): string {
    const place = after === null ? 0 : this.placeOf(after) + 1;
    return this.writable.sharedModel.insertCell(place, { cell_type: type, source, metadata: trusted(type) }).getId();
  }

  /** Change a cell whose source is still `expected`. */
  edit(id: string, source: string, expected: string): void {
    const cell = this.cell(id);
    if (cell.sharedModel.getSource() !== expected) {
      throw new Error(`Cell ${id} has been changed since it was read. Read it again, then decide anew.`);
    }
    if (this.writable && cell.getMetadata('editable') === false) {
      throw new Error(`Cell ${id} is locked: its metadata say that it must not be edited.`);
    }
    cell.sharedModel.setSource(source);
  }

  /**
   * Show what running the cell gave, as if the user had run it.
   *
   * Where it was a `run` of the agent that this page has missed, a cell that shows that or something later is left alone.
   */
  setOutputs(id: string, outputs: IOutput[], count: number | null, run: string | null = null): void {
    const cell = this.cell(id);
    if (cell.type !== 'code' || !this.writable) {
      throw new Error(`Cell ${id} is no code: it has no outputs.`);
    }
    const code = cell as ICodeCellModel;
    if (run !== null && ((code.executionCount ?? 0) > (count ?? 0) || hasRecord(code, run))) {
      return;
    }
    // They are this kernel's own, which is what makes the outputs of a cell that the user runs trusted.
    code.trusted = true;
    code.outputs.fromJSON(outputs);
    code.executionCount = count;
  }

  private get model(): INotebookModel {
    const { model } = this.notebook.content;
    if (!model || this.notebook.isDisposed) {
      throw new Error('The notebook was closed.');
    }
    return model;
  }

  private get writable(): INotebookModel {
    if (this.model.readOnly) {
      throw new Error('The notebook is open for reading only.');
    }
    return this.model;
  }

  private placeOf(id: string): number {
    const place = [...this.model.cells].findIndex(cell => cell.id === id);
    if (place < 0) {
      throw new Error(`The notebook has no cell with the id ${id}. Read the cells again to see which there are.`);
    }
    return place;
  }

  private cell(id: string): ICellModel {
    return this.model.cells.get(this.placeOf(id));
  }
}

/** Whether the outputs show how that run ended. */
function hasRecord(code: ICodeCellModel, run: string): boolean {
  return code.outputs.toJSON().some(({ data }) => {
    const record = (data as MimeBundle | undefined)?.[RECORD_TYPE] as Partial<RunRecord> | undefined;
    return record?.run === run && record.state !== 'running';
  });
}

/** As Jupyter marks the cells that its user makes; else one foreign cell takes the trust from a whole saved notebook. */
export function trusted(type: string): { trusted?: true } {
  return type === 'code' ? { trusted: true } : {};
}

export function textOfCell(cell: ICellModel): CellText {
  const code = cell.type === 'code' ? (cell as ICodeCellModel) : null;
  return {
    id: cell.id,
    type: cell.type,
    source: cell.sharedModel.getSource(),
    outputs_text: code ? textOf(code.outputs.toJSON()) : '',
    execution_count: code?.executionCount ?? null
  };
}

/** Parameters as the kernel sends them, checked. */
class Given {
  private readonly params: Record<string, unknown>;

  constructor(params: unknown) {
    this.params = typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {};
  }

  text(name: string): string {
    const value = this.params[name];
    return typeof value === 'string' ? value : this.refuse(name, 'a text');
  }

  idOrNull(name: string): string | null {
    return this.params[name] == null ? null : this.text(name);
  }

  ids(): string[] | null {
    const { ids } = this.params;
    if (ids == null) {
      return null;
    }
    return Array.isArray(ids) && ids.every(id => typeof id === 'string') ? ids : this.refuse('ids', 'a list of ids');
  }

  range(): [number, number] | null {
    const { range } = this.params;
    if (range == null) {
      return null;
    }
    const fits = Array.isArray(range) && range.length === 2 && range.every(Number.isInteger);
    return fits
      ? (range as [number, number])
      : this.refuse('range', 'two positions, the first and the one after the last');
  }

  type(): CellType {
    const { type } = this.params;
    return type === 'code' || type === 'markdown' || type === 'raw'
      ? type
      : this.refuse('type', 'code, markdown or raw');
  }

  outputs(): IOutput[] {
    const { outputs } = this.params;
    return Array.isArray(outputs) ? (outputs as IOutput[]) : this.refuse('outputs', 'a list of outputs');
  }

  count(): number | null {
    const count = this.params.execution_count;
    return count == null || typeof count === 'number' ? (count ?? null) : this.refuse('execution_count', 'a number');
  }

  private refuse(name: string, wanted: string): never {
    throw new Error(`${name} must be ${wanted}, not ${JSON.stringify(this.params[name])}.`);
  }
}
