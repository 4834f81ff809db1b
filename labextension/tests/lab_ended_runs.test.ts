// @vitest-environment jsdom
import type { IOutput } from '@jupyterlab/nbformat';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { STATE } from './chat_page';
import { FakeKernel as Transport } from './fake_kernel';
import { FakeCell, FakeKernel, FakeNotebook, FakeTracker, settled } from './lab_page';
import { call, record, running, text } from './records';
import { showEndedRuns } from '../src/lab/ended_runs';
import { LostRecords } from '../src/lab/lost_records';
import { Client } from '../src/protocol/client';
import { RECORD_TYPE } from '../src/protocol/messages';
import { tellLastSeen } from '../src/view/last_seen';
import { WIDGET_TYPE } from '../src/view/record';

const RECORD = running([]);
const KEPT = { [RECORD_TYPE]: RECORD, 'text/html': '<div></div>', 'text/plain': 'model · 0 s' };

function live(widget: string): IOutput {
  const data: object = { ...KEPT, [WIDGET_TYPE]: { model_id: widget } };
  return { output_type: 'display_data', data, metadata: {} } as IOutput;
}

class Shown extends FakeCell {
  override readonly outputs = {
    toJSON: () => this.output,
    fromJSON: () => undefined,
    get: (place: number) => ({ data: this.output[place]!.data ?? {}, toJSON: () => this.output[place]! }),
    set: (place: number, output: IOutput) => void (this.output[place] = output)
  };

  constructor(...outputs: IOutput[]) {
    super('a', '%%agent\nHi', 'code', outputs);
    Object.defineProperty(this.outputs, 'length', { get: () => this.output.length });
  }

  get data(): unknown {
    return this.output.at(-1)!.data;
  }
}

class Page {
  readonly tracker = new FakeTracker();
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  isReady!: () => void;
  readonly ready = new Promise<void>(resolve => (this.isReady = resolve));

  opens(kernel: FakeKernel | null, ...cells: FakeCell[]): FakeNotebook {
    showEndedRuns(this.tracker.tracker);
    const notebook = new FakeNotebook('a.ipynb', kernel, ...cells);
    Object.assign(notebook.sessionContext, { ready: this.ready, statusChanged: this.statusChanged });
    this.tracker.opens(notebook);
    return notebook;
  }
}

function kernelWith(...widgets: string[]): FakeKernel {
  const kernel = new FakeKernel();
  kernel.comms = widgets;
  return kernel;
}

describe('a run that a notebook shows as a widget', () => {
  test('is its record where the kernel has no such widget', async () => {
    const page = new Page();
    const stream = { output_type: 'stream', name: 'stderr', text: 'x' };
    const [known, gone] = [new Shown(live('w1')), new Shown(stream, live('w2'))];
    page.opens(kernelWith('w1'), new FakeCell('m', 'Words', 'markdown'), known, gone);
    await settled();
    expect(gone.output).toEqual([stream, live('w2')]);
    page.isReady();
    await settled();
    expect(gone.output).toEqual([stream, { output_type: 'display_data', data: KEPT, metadata: {} }]);
    expect(known.output).toEqual([live('w1')]);
  });

  test('is its record where there is no kernel, or a dead one', async () => {
    const dead = kernelWith('w1');
    dead.status = 'dead';
    for (const kernel of [null, dead]) {
      const [page, cell] = [new Page(), new Shown(live('w1'))];
      page.opens(kernel, cell);
      page.isReady();
      await settled();
      expect(cell.data).toEqual(KEPT);
    }
  });

  test('becomes its record when the kernel has restarted', async () => {
    const [page, cell, kernel] = [new Page(), new Shown(live('w1')), kernelWith('w1')];
    page.opens(kernel, cell);
    page.isReady();
    await settled();
    kernel.comms = [];
    page.statusChanged.emit('busy');
    page.statusChanged.emit('idle');
    await settled();
    expect(cell.output).toEqual([live('w1')]);
    page.statusChanged.emit('restarting');
    await settled();
    expect(cell.output).toEqual([live('w1')]);
    page.statusChanged.emit('idle');
    await settled();
    expect(cell.data).toEqual(KEPT);
  });

  test('becomes what the page has seen of it when the notebook gets another kernel', async () => {
    const [page, cell] = [new Page(), new Shown(live('w1'))];
    const notebook = page.opens(kernelWith('w1'), cell);
    page.isReady();
    await settled();
    const seen = running([text('1', 'First.'), call('2'), text('3', 'Then', 'running')], { seconds: 3 });
    const stops = [tellLastSeen(() => ({ ...seen, run: 'other' })), tellLastSeen(() => seen), tellLastSeen(() => null)];
    notebook.takes(kernelWith('w2'));
    await settled();
    stops.forEach(stop => stop());
    expect(cell.data).toEqual({ [RECORD_TYPE]: seen, 'text/plain': 'First.\n\nThen' });
  });

  test('is left to the kernel where the page has seen it end', async () => {
    const [page, cell] = [new Page(), new Shown(live('w1'))];
    page.opens(kernelWith(), cell);
    const stop = tellLastSeen(() => record([text('1', 'Done.')]));
    page.isReady();
    await settled();
    stop();
    expect(cell.output).toEqual([live('w1')]);
  });

  test('is left alone where it began while the kernel answered, or the kernel did not answer', async () => {
    const [page, cell, kernel] = [new Page(), new Shown(live('w1')), kernelWith()];
    kernel.isBusy = true;
    page.opens(kernel, cell);
    page.isReady();
    await settled();
    cell.output = [live('w2')];
    kernel.becomesFree();
    await settled();
    expect(cell.output).toEqual([live('w2')]);
    const other = new Shown(live('w1'));
    Object.assign(kernel, { requestCommInfo: () => Promise.reject(new Error('Canceled')) });
    const silent = new Page();
    silent.opens(kernel, other);
    silent.isReady();
    await settled();
    expect(other.output).toEqual([live('w1')]);
  });

  test('is left alone in a notebook that was closed, and where it is not ours', async () => {
    const [page, cell, kernel] = [new Page(), new Shown(live('w1')), kernelWith()];
    const foreign = { output_type: 'display_data', data: { [WIDGET_TYPE]: { model_id: 'w3' } }, metadata: {} };
    const slider = new Shown(foreign);
    kernel.isBusy = true;
    const notebook = page.opens(kernel, cell, slider);
    page.isReady();
    await settled();
    notebook.closes();
    kernel.becomesFree();
    page.statusChanged.emit('dead');
    await settled();
    expect([cell.output, slider.output]).toEqual([[live('w1')], [foreign]]);
  });
});

describe('a run that has ended while the notebook shows its widget', () => {
  afterEach(() => void vi.useRealTimers());

  const ENDED = { [RECORD_TYPE]: record([]), 'text/plain': 'Done.' };

  /** A cell of which the run `run-1` goes on, and then does not. */
  async function ends(cell: FakeCell): Promise<Transport> {
    vi.useFakeTimers();
    const kernel = new Transport();
    new LostRecords(new FakeNotebook('a.ipynb', null, cell).panel, new Client(kernel, 'panel'));
    for (const run of [null, 'run-1', 'run-1', null, null]) {
      kernel.say({ type: 'state', state: { ...STATE, run, busy: run !== null } });
    }
    vi.advanceTimersByTime(1000);
    await kernel.settle();
    return kernel;
  }

  test('gets its record from the kernel, as one whose cell was moved meanwhile', async () => {
    const cell = new Shown(live('w1'));
    const kernel = await ends(cell);
    expect(kernel.sent.map(({ method, params }) => [method, params])).toEqual([['bundle', { run: 'run-1' }]]);
    expect(cell.output).toEqual([live('w1')]);
    kernel.say({ type: 'response', id: kernel.last('bundle').id, result: { bundle: ENDED, source: '' } });
    await kernel.settle();
    expect(cell.output).toEqual([{ output_type: 'display_data', data: ENDED, metadata: {} }]);
  });

  test('stays as it is where the kernel has no such run any more, and where it is shown by another', async () => {
    const cell = new Shown(live('w1'));
    const kernel = await ends(cell);
    kernel.say({ type: 'response', id: kernel.last('bundle').id, error: 'That run is not in this conversation.' });
    await kernel.settle();
    expect(cell.output).toEqual([live('w1')]);
    const data: object = { [RECORD_TYPE]: running([], { run: 'run-2' }), [WIDGET_TYPE]: { model_id: 'w2' } };
    expect((await ends(new Shown({ output_type: 'display_data', data, metadata: {} } as IOutput))).sent).toEqual([]);
  });
});
