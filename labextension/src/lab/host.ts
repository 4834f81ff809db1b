import type { ICellModel } from '@jupyterlab/cells';
import type { IMimeBundle } from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { AttachmentSource, ChatHost } from '../chat/host';
import type { Attachment, MimeBundle } from '../protocol/messages';
import { Cells, textOfCell, trusted } from './cells';
import { Charts } from './charts';
import type { Words } from './words';

/** A change of a cell that the user may accept. */
export interface Change {
  title: string;
  before: string;
  after: string;
}

/** How the user is asked and told. */
export interface Dialogs {
  accept(change: Change): Promise<boolean>;
  tell(text: string): void;
}

/** What the notebook can do for the chat with its kernel's agent. */
export class NotebookHost implements ChatHost {
  private readonly charts: Charts;

  constructor(
    private readonly notebook: NotebookPanel,
    private readonly words: Words,
    private readonly dialogs: Dialogs
  ) {
    this.charts = new Charts(
      () => notebook.content.rendermime,
      () => false
    );
  }

  /** Whether the panel shows this chat. */
  isSeen: () => boolean = () => true;

  /** Of the notebooks with this kernel that which the user is in: what he does in the chat is meant there. */
  present: () => NotebookPanel = () => this.notebook;

  readonly translate = (text: string): string => this.words(text);

  attachments(): AttachmentSource[] {
    const sources: AttachmentSource[] = [];
    const selection = this.selection();
    if (selection) {
      sources.push({
        label: this.words('Selected text'),
        description: firstLine(selection.text),
        read: () => selection
      });
    }
    const cell = this.activeCell();
    if (cell) {
      sources.push({
        label: this.words('Cell %1', this.name(cell)),
        description: firstLine(cell.sharedModel.getSource()),
        read: () => this.cellAttachment(cell)
      });
    }
    return sources;
  }

  /** The text that is selected in the notebook: in the editor of the active cell, else anywhere in it. */
  selection(): (Attachment & { kind: 'selection' }) | null {
    const { content } = this.present();
    const editor = content.activeCell?.editor;
    const range = editor?.getSelection();
    let text = '';
    if (editor && range) {
      const ends = [editor.getOffsetAt(range.start), editor.getOffsetAt(range.end)].sort((a, b) => a - b);
      text = editor.model.sharedModel.getSource().slice(...ends);
    }
    const page = window.getSelection();
    if (!text && page?.anchorNode && content.node.contains(page.anchorNode)) {
      text = page.toString();
    }
    const cell = this.activeCell();
    return text.trim() && cell
      ? { kind: 'selection', text, name: this.words('selection in cell %1', this.name(cell)) }
      : null;
  }

  /** The active cell with the text of its outputs. */
  cellAttachment(cell: ICellModel | null = this.activeCell()): Attachment | null {
    if (!cell || cell.isDisposed) {
      return null;
    }
    const { id, source, outputs_text } = textOfCell(cell);
    return { kind: 'cell', id, source, ...(outputs_text ? { outputs_text } : {}) };
  }

  insertCode(code: string): void {
    this.insertBelow({ cell_type: 'code', source: code.replace(/\n$/, ''), metadata: trusted('code') });
  }

  /** The record is our own writer's, and safe to trust. */
  insertRecord(bundle: MimeBundle, source: string): void {
    this.insertBelow({
      cell_type: 'code',
      source,
      metadata: trusted('code'),
      outputs: [{ output_type: 'display_data', data: bundle as IMimeBundle, metadata: {} }]
    });
  }

  applyCode(code: string): void {
    void this.change(code.replace(/\n$/, '')).catch(error => this.dialogs.tell(String((error as Error).message)));
  }

  leave(): void {
    this.present().activate();
  }

  renderMime(bundle: MimeBundle): HTMLElement | null {
    return this.charts.draw(bundle);
  }

  dispose(): void {
    this.charts.dispose();
  }

  private async change(code: string): Promise<void> {
    const notebook = this.present();
    const cell = this.activeCell();
    if (!cell) {
      return this.dialogs.tell(this.words('Select the cell to change first.'));
    }
    const [before, name] = [cell.sharedModel.getSource(), this.name(cell)];
    if (notebook.content.model?.readOnly) {
      return this.dialogs.tell(this.words('The notebook is open for reading only.'));
    }
    if (cell.getMetadata('editable') === false) {
      return this.dialogs.tell(this.words('Cell %1 is locked. Insert the code as a new cell instead.', name));
    }
    if (before === code) {
      return this.dialogs.tell(this.words('Cell %1 has this code already.', name));
    }
    if (await this.dialogs.accept({ title: this.words('Change cell %1?', name), before, after: code })) {
      if (cell.isDisposed || cell.sharedModel.getSource() !== before) {
        const text = 'Cell %1 has been changed or deleted meanwhile and was left alone. Apply the code again.';
        return this.dialogs.tell(this.words(text, name));
      }
      new Cells(notebook).edit(cell.id, code, before);
    }
  }

  private insertBelow(cell: Parameters<NonNullable<NotebookPanel['model']>['sharedModel']['insertCell']>[1]): void {
    const { content, model } = this.present();
    if (!model || model.readOnly) {
      return this.dialogs.tell(this.words('The notebook is open for reading only.'));
    }
    const place = content.activeCellIndex + 1;
    model.sharedModel.insertCell(place, cell);
    content.activeCellIndex = place;
    content.deselectAll();
    void content.scrollToItem(place);
  }

  private activeCell(): ICellModel | null {
    return this.present().content.activeCell?.model ?? null;
  }

  /** Such as "[3]", or its position where it has not been run. */
  private name(cell: ICellModel): string {
    const { execution_count: count } = textOfCell(cell);
    return count === null ? String([...(this.present().model?.cells ?? [])].indexOf(cell) + 1) : `[${count}]`;
  }
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0]!.slice(0, 80);
}
