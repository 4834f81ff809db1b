// @vitest-environment jsdom
import type { IOutput } from '@jupyterlab/nbformat';
import { describe, expect, test } from 'vitest';

import { FakeCell, FakeNotebook } from './lab_page';
import { Cells } from '../src/lab/cells';
import { errorIn, textOf } from '../src/lab/outputs';
import { RECORD_TYPE } from '../src/protocol/messages';

const STREAM = { output_type: 'stream', name: 'stdout', text: ['a\n', 'b\n'] };
const RESULT = {
  output_type: 'execute_result',
  data: { 'text/plain': '42', 'text/html': '<b>42</b>' },
  metadata: {},
  execution_count: 3
};
const ERROR = {
  output_type: 'error',
  ename: 'ValueError',
  evalue: 'no',
  traceback: ['\x1b[0;31mTraceback\x1b[0m', 'ValueError: no']
};

function made(): [FakeNotebook, Cells] {
  const notebook = new FakeNotebook(
    'growth.ipynb',
    null,
    new FakeCell('a', 'x = 1'),
    new FakeCell('b', 'print(x)', 'code', [STREAM, RESULT]),
    new FakeCell('c', '# Notes', 'markdown')
  );
  notebook.cell('b').executionCount = 3;
  return [notebook, new Cells(notebook.panel)];
}

describe('what the kernel asks', () => {
  test('reads cells by id, by range, and all', async () => {
    const [, cells] = made();
    const b = { id: 'b', type: 'code', source: 'print(x)', outputs_text: 'a\nb\n42', execution_count: 3 };
    const c = { id: 'c', type: 'markdown', source: '# Notes', outputs_text: '', execution_count: null };
    expect(await cells.answer('read_cells', { ids: ['c', 'b'] })).toEqual({ cells: [c, b] });
    expect(await cells.answer('read_cells', { range: [1, 3] })).toEqual({ cells: [b, c] });
    expect(await cells.answer('read_cells', {})).toMatchObject({ cells: [{ id: 'a' }, b, c] });
  });

  test('inserts a cell after another, or first, trusted as the cells that its user makes', async () => {
    const [notebook, cells] = made();
    const { id } = (await cells.answer('insert_cell', { after: 'a', type: 'code', source: 'y = 2' })) as { id: string };
    expect(notebook.cells.map(cell => cell.id)).toEqual(['a', id, 'b', 'c']);
    expect(notebook.cell(id)).toMatchObject({ source: 'y = 2', type: 'code', metadata: { trusted: true } });
    await cells.answer('insert_cell', { after: null, type: 'markdown', source: 'Top' });
    expect(notebook.cells[0]).toMatchObject({ source: 'Top', type: 'markdown', metadata: {} });
  });

  test('edits a cell that is as expected, and refuses one that was changed', async () => {
    const [notebook, cells] = made();
    expect(await cells.answer('edit_cell', { id: 'a', source: 'x = 2', expected: 'x = 1' })).toEqual({});
    expect(notebook.cell('a').source).toBe('x = 2');
    const again = cells.answer('edit_cell', { id: 'a', source: 'x = 3', expected: 'x = 1' });
    await expect(again).rejects.toThrow('Cell a has been changed since it was read. Read it again');
    expect(notebook.cell('a').source).toBe('x = 2');
  });

  test('shows the outputs of a run as if the user had run the cell', async () => {
    const [notebook, cells] = made();
    expect(await cells.answer('set_outputs', { id: 'a', outputs: [RESULT], execution_count: 7 })).toEqual({});
    expect(notebook.cell('a')).toMatchObject({ output: [RESULT], executionCount: 7, trusted: true });
    await expect(cells.answer('set_outputs', { id: 'c', outputs: [], execution_count: 1 })).rejects.toThrow(
      'is no code'
    );
  });

  test('shows a run that the page has missed, but not over it or what came later', async () => {
    const record = (state: string): IOutput => ({
      output_type: 'display_data',
      data: { [RECORD_TYPE]: { run: 'r1', state } },
      metadata: {}
    });
    const give = async (output: IOutput[], count: number | null): Promise<unknown> => {
      const [notebook, cells] = made();
      Object.assign(notebook.cell('a'), { output, executionCount: count });
      await cells.answer('set_outputs', { id: 'a', run: 'r1', outputs: [RESULT], execution_count: 7 });
      const { output: shown, executionCount } = notebook.cell('a');
      return { given: shown[0] === RESULT, executionCount };
    };
    const given = { given: true, executionCount: 7 };
    expect(await give([], null)).toEqual(given);
    // As it was saved while it went on, or before.
    expect(await give([record('running')], 7)).toEqual(given);
    expect(await give([STREAM], 6)).toEqual(given);
    expect(await give([record('done')], 7)).toEqual({ given: false, executionCount: 7 });
    expect(await give([record('failed')], null)).toEqual({ given: false, executionCount: null });
    expect(await give([STREAM], 8)).toEqual({ given: false, executionCount: 8 });
  });

  test('refuses what cannot be, in words for the model', async () => {
    const [notebook, cells] = made();
    await expect(cells.answer('read_cells', { ids: ['z'] })).rejects.toThrow('no cell with the id z');
    await expect(cells.answer('insert_cell', { after: 'z', type: 'code', source: '' })).rejects.toThrow(
      'no cell with the id z'
    );
    await expect(cells.answer('insert_cell', { after: null, type: 'html', source: '' })).rejects.toThrow(
      'type must be code, markdown or raw, not "html"'
    );
    await expect(cells.answer('read_cells', { range: [1] })).rejects.toThrow('range must be two positions');
    await expect(cells.answer('edit_cell', null)).rejects.toThrow('id must be a text');
    await expect(cells.answer('format_disk', {})).rejects.toThrow('cannot do format_disk');
    notebook.cell('a').metadata.editable = false;
    await expect(cells.answer('edit_cell', { id: 'a', source: '', expected: 'x = 1' })).rejects.toThrow('locked');
    notebook.model.readOnly = true;
    await expect(cells.answer('insert_cell', { after: null, type: 'code', source: '' })).rejects.toThrow(
      'for reading only'
    );
    await expect(cells.answer('set_outputs', { id: 'a', outputs: [], execution_count: null })).rejects.toThrow(
      'for reading only'
    );
    expect(await cells.answer('read_cells', { ids: ['a'] })).toMatchObject({ cells: [{ source: 'x = 1' }] });
    notebook.closes();
    await expect(cells.answer('read_cells', {})).rejects.toThrow('was closed');
  });
});

describe('the text of outputs', () => {
  test('is without colours, and keeps beginning and end of what is long', () => {
    expect(textOf([STREAM, ERROR])).toBe('a\nb\nTraceback\nValueError: no');
    expect(textOf([{ output_type: 'display_data', data: { 'image/png': 'abc' }, metadata: {} }])).toBe('');
    const long = textOf([{ output_type: 'stream', name: 'stdout', text: `begin${'x'.repeat(30_000)}end` }]);
    expect(long.slice(0, 5) + long.slice(-3)).toBe('beginend');
    expect(long).toContain('[10008 characters left out]');
  });

  test('names the error of a cell that failed', () => {
    expect(errorIn([STREAM, ERROR])).toBe('Traceback\nValueError: no');
    expect(errorIn([{ output_type: 'error', ename: 'E', evalue: 'bad', traceback: [] }])).toBe('E: bad');
    expect(errorIn([STREAM, RESULT])).toBeNull();
  });
});
