// @vitest-environment jsdom
import type { ICellModel } from '@jupyterlab/cells';
import { Signal } from '@lumino/signaling';
import { describe, expect, test } from 'vitest';

import { FakeCell, FakeNotebook, FakeTracker, settled } from './lab_page';
import { keepProsePlain } from '../src/lab/prose_cells';

const PYTHON = 'text/x-ipython';
const PLAIN = 'text/plain';

/** A cell with an editor that takes a language when it has loaded it, as CodeMirror's does. */
class EditedCell extends FakeCell {
  readonly contentChanged = new Signal<this, void>(this);
  readonly mimeTypeChanged = new Signal<this, void>(this);
  coloured = PLAIN;
  changes = 0;
  private type_ = PLAIN;

  get mimeType(): string {
    return this.type_;
  }

  set mimeType(type: string) {
    if (type !== this.type_) {
      this.type_ = type;
      this.changes++;
      this.mimeTypeChanged.emit();
    }
  }

  reads(source: string): void {
    this.source = source;
    this.contentChanged.emit();
  }

  hasEditor(languages: Languages): void {
    const take = (): void =>
      void languages.getLanguage(this.mimeType).then(language => (this.coloured = language.mime));
    this.mimeTypeChanged.connect(take);
    take();
  }
}

/** Python is loaded when the test says so, and at once from then on. */
class Languages {
  loaded!: () => void;
  private readonly python = new Promise<void>(resolve => (this.loaded = resolve));

  async getLanguage(mime: string): Promise<{ mime: string }> {
    if (mime === PYTHON) {
      await this.python;
    }
    return { mime };
  }
}

class Page {
  readonly tracker = new FakeTracker();
  readonly languages = new Languages();
  readonly changed = new Signal<this, { newValues: EditedCell[] }>(this);

  constructor() {
    this.languages.loaded();
  }

  opens(...cells: EditedCell[]): FakeNotebook {
    const notebook = new FakeNotebook('a.ipynb', null, ...cells);
    Object.assign(notebook.cells, { changed: this.changed });
    Object.assign(notebook.content, { codeMimetype: PYTHON });
    this.learns(PYTHON, cells);
    this.tracker.opens(notebook);
    return notebook;
  }

  /** As Lab does it when the notebook gets a kernel. */
  learns(language: string, cells: EditedCell[]): void {
    cells.filter(cell => cell.type === 'code').forEach(cell => (cell.mimeType = language));
  }

  follows(): void {
    keepProsePlain(this.tracker.tracker, this.languages as unknown as Parameters<typeof keepProsePlain>[1]);
  }
}

async function opened(source: string, type = 'code'): Promise<[EditedCell, Page, FakeNotebook]> {
  const page = new Page();
  page.follows();
  const cell = new EditedCell('a', source, type);
  const notebook = page.opens(cell);
  await settled();
  return [cell, page, notebook];
}

describe('the language of a cell', () => {
  test.each(['%%agent', '%%agent\nthe sales in @df', '\n \n%%agent -m demo\nWhy?', '%%agent\t'])(
    'is none where it begins with the magic: %j',
    async source => {
      const [cell] = await opened(source);
      expect(cell.mimeType).toBe(PLAIN);
    }
  );

  test.each(['', 'x = 1', '%%agent_x\nfor', '%%agent?', '%agent help', 'x\n%%agent\nfor', '%%agents'])(
    'is that of the kernel elsewhere: %j',
    async source => {
      const [cell] = await opened(source);
      expect(cell.mimeType).toBe(PYTHON);
    }
  );

  test('follows what is written, and the kernel of the notebook', async () => {
    const [cell, page] = await opened('for x in y: pass');
    cell.reads('%%agent\nfor you');
    await settled();
    expect(cell.mimeType).toBe(PLAIN);
    const { changes } = cell;
    cell.reads('%%agent\nfor you and me');
    await settled();
    expect(cell.changes).toBe(changes);
    page.learns('text/x-julia', [cell]);
    await settled();
    expect(cell.mimeType).toBe(PLAIN);
    cell.reads('%agent\nfor you');
    await settled();
    expect(cell.mimeType).toBe(PYTHON);
  });

  test('is left alone where somebody else has chosen it', async () => {
    const [cell] = await opened('%%sql\nselect 1');
    cell.mimeType = 'text/x-sql';
    cell.reads('%%sql\nselect 2');
    await settled();
    expect(cell.mimeType).toBe('text/x-sql');
    const [prose] = await opened('%%agent\nis text', 'markdown');
    prose.mimeType = 'text/x-ipythongfm';
    await settled();
    expect(prose.mimeType).toBe('text/x-ipythongfm');
  });

  test('is none in cells that come later, and in notebooks that were there before', async () => {
    const page = new Page();
    page.opens(new EditedCell('a', '%%agent\nis here'));
    page.follows();
    const later = new EditedCell('b', '%%agent\nis new');
    later.mimeType = PYTHON;
    page.changed.emit({ newValues: [later] });
    await settled();
    const [cell] = page.tracker.opened[0]!.cells as unknown as EditedCell[];
    expect([cell!.mimeType, later.mimeType]).toEqual([PLAIN, PLAIN]);
  });

  test('is none also in an editor that was loading another', async () => {
    const page = new Page();
    Object.assign(page, { languages: new Languages() });
    page.follows();
    const cell = new EditedCell('a', '%%agent\nfor you');
    cell.hasEditor(page.languages);
    page.opens(cell);
    await settled();
    page.languages.loaded();
    await settled();
    expect([cell.mimeType, cell.coloured]).toEqual([PLAIN, PLAIN]);
  });

  test('is that of the kernel where the magic was gone before it was loaded', async () => {
    const page = new Page();
    Object.assign(page, { languages: new Languages() });
    page.follows();
    const cell = new EditedCell('a', '%%agent\nfor you');
    page.opens(cell);
    cell.reads('x = 1');
    page.languages.loaded();
    await settled();
    expect(cell.mimeType).toBe(PYTHON);
  });

  test('is no longer looked after in a notebook that was closed', async () => {
    const [cell, page, notebook] = await opened('x = 1');
    notebook.closes();
    cell.reads('%%agent\nfor you');
    const later = new EditedCell('b', '%%agent') as unknown as ICellModel & EditedCell;
    later.mimeType = PYTHON;
    page.changed.emit({ newValues: [later] });
    await settled();
    expect([cell.mimeType, later.mimeType]).toEqual([PYTHON, PYTHON]);
  });
});
