// @vitest-environment jsdom
import axe from 'axe-core';
import type { TranslationBundle } from '@jupyterlab/translation';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { FakeCell, FakeNotebook, read, settled, words } from './lab_page';
import { drawn } from '../src/lab/change_view';
import { difference } from '../src/lab/difference';
import { type Change, NotebookHost } from '../src/lab/host';
import { wordsOf } from '../src/lab/words';

const STREAM = { output_type: 'stream', name: 'stdout', text: '42\n' };

class Page {
  readonly notebook = new FakeNotebook(
    'growth.ipynb',
    null,
    new FakeCell('a', '\nx = 1\nprint(x)', 'code', [STREAM]),
    new FakeCell('b', 'y = 2')
  );
  readonly asked: Change[] = [];
  readonly told: string[] = [];
  accepts = true;
  whileAsked = (): void => undefined;
  readonly host = new NotebookHost(this.notebook.panel, words, {
    accept: change => {
      this.asked.push(change);
      this.whileAsked();
      return Promise.resolve(this.accepts);
    },
    tell: text => void this.told.push(text)
  });
}

let page: Page;
beforeEach(() => {
  document.body.replaceChildren();
  page = new Page();
});

/** Select these characters in the editor of the active cell. */
function select(start: number, end: number): void {
  page.notebook.content.editor = {
    getSelection: () => ({ start, end }),
    getOffsetAt: (place: number) => place,
    model: { sharedModel: { getSource: () => page.notebook.cells[0]!.source } }
  };
}

describe('attachments', () => {
  test('are the active cell with the text of its outputs', () => {
    page.notebook.cell('a').executionCount = 3;
    const [cell, ...others] = page.host.attachments();
    expect(others).toEqual([]);
    expect(cell).toMatchObject({ label: 'Cell [3]', description: 'x = 1' });
    expect(read(cell)).toEqual({ kind: 'cell', id: 'a', source: '\nx = 1\nprint(x)', outputs_text: '42' });
    page.notebook.content.activeCellIndex = 1;
    expect(page.host.attachments()[0]).toMatchObject({ label: 'Cell 2' });
    expect(read(page.host.attachments()[0])).toEqual({ kind: 'cell', id: 'b', source: 'y = 2' });
  });

  test('and the selected text, in the editor or in an output', () => {
    select(12, 1);
    expect(page.host.attachments()[0]).toMatchObject({ label: 'Selected text', description: 'x = 1' });
    expect(read(page.host.attachments()[0])).toEqual({
      kind: 'selection',
      text: 'x = 1\nprint',
      name: 'selection in cell 1'
    });
    select(3, 3);
    expect(page.host.selection()).toBeNull();
    const output = page.notebook.node.appendChild(document.createElement('pre'));
    output.textContent = 'out of 42';
    window.getSelection()!.selectAllChildren(output);
    expect(page.host.selection()).toMatchObject({ text: 'out of 42' });
    document.body.append(output);
    window.getSelection()!.selectAllChildren(output);
    expect(page.host.selection()).toBeNull();
  });
});

describe('code of an answer', () => {
  test('goes into a cell below the active one', () => {
    page.host.insertCode('z = 3\n');
    expect(page.notebook.cells.map(cell => cell.source)).toEqual(['\nx = 1\nprint(x)', 'z = 3', 'y = 2']);
    expect(page.notebook.content.activeCellIndex).toBe(1);
    expect(page.notebook.cells[1]!.metadata).toEqual({ trusted: true });
    page.notebook.model.readOnly = true;
    page.host.insertCode('z = 4');
    expect(page.notebook.cells).toHaveLength(3);
    expect(page.told).toEqual(['The notebook is open for reading only.']);
  });

  test('changes the active cell once the user has accepted it', async () => {
    page.host.applyCode('x = 2\n');
    expect(page.asked).toEqual([{ title: 'Change cell 1?', before: '\nx = 1\nprint(x)', after: 'x = 2' }]);
    expect(page.notebook.cell('a').source).toBe('\nx = 1\nprint(x)');
    await settled();
    expect(page.notebook.cell('a').source).toBe('x = 2');
    page.accepts = false;
    page.host.applyCode('x = 3');
    await settled();
    expect(page.notebook.cell('a').source).toBe('x = 2');
    page.host.applyCode('x = 2');
    expect(page.told).toEqual(['Cell 1 has this code already.']);
  });

  test('leaves alone a cell that changed while the question stood', async () => {
    page.whileAsked = () => void (page.notebook.cell('a').source = 'mine');
    page.host.applyCode('x = 2');
    await settled();
    expect(page.notebook.cell('a').source).toBe('mine');
    expect(page.told).toEqual([
      'Cell 1 has been changed or deleted meanwhile and was left alone. Apply the code again.'
    ]);
  });

  test('changes nothing that is locked, and asks nothing then', () => {
    Object.assign(page.notebook.cell('a'), { metadata: { editable: false } });
    page.host.applyCode('x = 2');
    page.notebook.model.readOnly = true;
    page.host.applyCode('x = 2');
    expect(page.asked).toEqual([]);
    expect(page.told).toEqual([
      'Cell 1 is locked. Insert the code as a new cell instead.',
      'The notebook is open for reading only.'
    ]);
  });

  test('goes where the user is, of several notebooks with the kernel', async () => {
    const other = new FakeNotebook('other.ipynb', null, new FakeCell('o', 'p = 1'));
    page.host.present = () => other.panel;
    expect(read(page.host.attachments()[0])).toEqual({ kind: 'cell', id: 'o', source: 'p = 1' });
    page.host.applyCode('p = 2');
    await settled();
    page.host.insertCode('q = 3');
    expect(other.cells.map(cell => cell.source)).toEqual(['p = 2', 'q = 3']);
    expect(page.notebook.cells.map(cell => cell.source)).toEqual(['\nx = 1\nprint(x)', 'y = 2']);
    page.host.leave();
    expect(other.activate).toHaveBeenCalledOnce();
  });
});

test('the record of a run becomes a cell with its output', () => {
  page.host.insertRecord({ 'text/plain': 'said', 'application/vnd.agent-magic.run+json': { run: 'r' } }, '%%agent\nhi');
  expect(page.notebook.cells[1]).toMatchObject({
    source: '%%agent\nhi',
    type: 'code',
    metadata: { trusted: true },
    output: [
      {
        output_type: 'display_data',
        data: { 'text/plain': 'said', 'application/vnd.agent-magic.run+json': { run: 'r' } },
        metadata: {}
      }
    ]
  });
});

test('figures are drawn by the page where it knows them, and nothing else is', () => {
  const { rendermime } = page.notebook.content;
  const bundle = { 'text/html': '<b>', 'application/vnd.plotly.v1+json': { data: [] } };
  rendermime.mimeTypes = ['text/html'];
  expect(page.host.renderMime(bundle)).toBeNull();
  rendermime.mimeTypes = ['text/html', 'application/vnd.plotly.v1+json'];
  rendermime.createRenderer.mockReturnValue({ isDisposed: false, dispose: vi.fn() });
  expect(page.host.renderMime(bundle)).toBeInstanceOf(HTMLElement);
  expect(rendermime.createRenderer.mock.calls).toEqual([['application/vnd.plotly.v1+json']]);
});

test('a text of ours keeps its placeholders until somebody fills them', () => {
  // As Lab's translator does it.
  const __ = (text: string, ...given: string[]): string =>
    text.replace(/%(\d+)/g, (_, place) => given[Number(place) - 1]!);
  const translated = wordsOf({ __ } as unknown as TranslationBundle);
  expect(translated('%1 of %2')).toBe('%1 of %2');
  expect(translated('%1 of %2', '3')).toBe('3 of %2');
});

test('Escape gives the focus back to the notebook', () => {
  page.host.leave();
  expect(page.notebook.activate).toHaveBeenCalledOnce();
});

describe('a change', () => {
  const signs = (before: string, after: string): string =>
    difference(before, after)
      .map(({ kind, text }) => ({ same: ' ', removed: '-', added: '+' })[kind] + text)
      .join('\n');

  test('is told line by line, with as many lines kept as can be', () => {
    expect(signs('a\nb\nc', 'a\nB\nc')).toBe(' a\n-b\n+B\n c');
    expect(signs('a\nb', 'a\nb')).toBe(' a\n b');
    expect(signs('a', 'a\na')).toBe(' a\n+a');
    expect(signs('x\na\nb\nc\ny', 'a\nc\nd')).toBe('-x\n a\n-b\n c\n-y\n+d');
    expect(signs('', 'a')).toBe('-\n+a');
  });

  test('is drawn with names for what a colour says, and without what is far from it', () => {
    const before = Array.from({ length: 12 }, (_, place) => `line ${place}`).join('\n');
    const view = drawn(difference(before, before.replace('line 6', '<b>6</b>')), words);
    expect([...view.children].map(line => line.textContent)).toEqual([
      '3 lines as they are',
      ' line 3',
      ' line 4',
      ' line 5',
      '−line 6',
      '+<b>6</b>',
      ' line 7',
      ' line 8',
      ' line 9',
      '2 lines as they are'
    ]);
    expect(view.querySelector('del')!.firstElementChild!.getAttribute('aria-label')).toBe('removed');
    expect(view.querySelector('ins')!.firstElementChild!.getAttribute('aria-label')).toBe('added');
    expect(view.querySelector('b')).toBeNull();
  });

  test('has no fault that axe-core knows', async () => {
    document.body.replaceChildren(drawn(difference('a\nb', 'a\nc'), words));
    const { violations } = await axe.run(document.body, {
      rules: { region: { enabled: false }, 'color-contrast': { enabled: false } }
    });
    expect(violations.map(({ id }) => id)).toEqual([]);
  });
});
