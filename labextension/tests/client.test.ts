import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Client } from '../src/protocol/client';
import type { AgentState, Delta, RunState } from '../src/protocol/messages';
import type { RunRecord } from '../src/view/record';
import { FakeKernel } from './fake_kernel';

const RECORD: RunRecord = {
  version: 1,
  run: 'r1',
  session: null,
  model: 'openai/gpt-5-mini',
  state: 'running',
  started: 1,
  seconds: null,
  turns: 1,
  calls: 0,
  items: [
    { id: '1', kind: 'user', state: 'done', text: 'Hello', outputs: [{ 'text/plain': 'x' }] },
    { id: '2', kind: 'text', state: 'running', text: 'Good' }
  ],
  usage: null,
  cost: null,
  context: null,
  stop_cause: null,
  omitted: []
};
const STATE: AgentState = {
  busy: false,
  run: null,
  questions: [],
  model: { id: 'demo', thinking: 'off' },
  tools: [],
  context: null,
  cost: null,
  session: { id: 's', title: '' },
  queue: [],
  notebook: null,
  problems: [],
  history: 0
};

const kernel = () => new FakeKernel();

describe('attaching', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is repeated every 200 ms for two seconds, then every second, until it is answered', async () => {
    const other = kernel();
    const client = new Client(other, 'panel', 'a.ipynb');
    const attached = client.attach();
    expect(other.sent).toEqual([
      {
        type: 'request',
        id: `${client.page}:1`,
        method: 'attach',
        params: { page: client.page, protocol: 1, kind: 'panel', notebook: 'a.ipynb' }
      }
    ]);
    vi.advanceTimersByTime(2000);
    expect(other.sent.length).toBe(11);
    vi.advanceTimersByTime(3000);
    expect(other.sent.length).toBe(14);
    other.say({ type: 'response', id: `${client.page}:1`, result: { protocol: 1, version: '0.1.0', state: STATE } });
    expect((await attached).version).toBe('0.1.0');
    vi.advanceTimersByTime(10_000);
    expect(other.sent.length).toBe(14);
  });

  test('fails with the words of the kernel, and is not tried again', async () => {
    const other = kernel();
    const attached = new Client(other, 'cell').attach();
    other.say({ type: 'response', id: other.last('attach').id, error: 'Update agent_magic.' });
    await expect(attached).rejects.toThrow('Update agent_magic.');
    vi.advanceTimersByTime(10_000);
    expect(other.sent.length).toBe(1);
  });

  test('says what to do where the kernel speaks another protocol', async () => {
    const other = kernel();
    const attached = new Client(other, 'cell').attach();
    other.say({ type: 'response', id: other.last('attach').id, result: { protocol: 2, version: '3.0.0' } });
    await expect(attached).rejects.toThrow(/protocol 1, agent_magic 3\.0\.0 in the kernel 2.*same version/);
  });

  test('stops when the page goes away', async () => {
    const other = kernel();
    const client = new Client(other, 'cell');
    const attached = client.attach();
    client.dispose();
    await expect(attached).rejects.toThrow('closed');
    vi.advanceTimersByTime(10_000);
    expect(other.sent.map(message => message.method)).toEqual(['attach', 'detach']);
  });

  test('a transport whose other end is gone rejects, also the farewell', async () => {
    const gone = {
      send: () => {
        throw new Error('Canceled');
      },
      onMessage: () => () => undefined
    };
    const client = new Client(gone, 'cell');
    await expect(client.request('stop', {})).rejects.toThrow('The kernel cannot be reached: Canceled');
    expect(() => client.dispose()).not.toThrow();
  });

  test('tells of the run and of the state', async () => {
    const other = kernel();
    const client = new Client(other, 'cell');
    const runs: RunState[] = [];
    const states: AgentState[] = [];
    client.onRun(run => runs.push(run));
    client.onState(state => states.push(state));
    const attached = client.attach();
    const result = { protocol: 1, version: '0.1.0', run: { run: 'r1', seq: 3, record: RECORD }, state: STATE };
    other.say({ type: 'response', id: other.last('attach').id, result });
    await attached;
    expect(runs).toEqual([{ run: 'r1', seq: 3, record: RECORD }]);
    expect(states).toEqual([STATE]);
    const late: RunState[] = [];
    client.onRun(run => late.push(run));
    expect(late).toEqual(runs);
  });
});

describe('a page that nobody sees', () => {
  const answer = { protocol: 1, version: '0.1.0' };
  const looks = (other: FakeKernel): unknown[] =>
    other.sent.filter(({ method }) => method === 'look').map(({ params }) => params);

  async function attached(isLooking: boolean): Promise<{ other: FakeKernel; client: Client }> {
    const other = kernel();
    const client = new Client(other, 'panel');
    client.look(isLooking);
    const attaching = client.attach();
    other.say({ type: 'response', id: other.last('attach').id, result: answer });
    await attaching;
    return { other, client };
  }

  test('says so as it attaches, and each time that this changes', async () => {
    const { other, client } = await attached(false);
    expect(other.last('attach').params).toMatchObject({ looks: false });
    expect(client.looks).toBe(false);
    client.look(true);
    client.look(true);
    client.look(false);
    expect(looks(other).slice(-2)).toEqual([{ on: true }, { on: false }]);
    expect(looks(other)).toHaveLength(3);
  });

  test('says it again to a kernel that was out of reach, and nothing where it was always seen', async () => {
    const { other, client } = await attached(true);
    expect(other.last('attach').params).not.toHaveProperty('looks');
    const again = client.attach();
    other.say({ type: 'response', id: other.last('attach').id, result: answer });
    await again;
    expect(looks(other)).toEqual([]);
    client.look(false);
    client.look(true);
    other.sent.length = 0;
    const third = client.attach();
    client.look(false);
    other.say({ type: 'response', id: other.last('attach').id, result: answer });
    await third;
    expect(looks(other).at(-1)).toEqual({ on: false });
  });

  test('asks for no snapshot of what another page is told', async () => {
    const { other, client } = await attached(false);
    const deltas: Delta[] = [{ seq: 5, item: null, set: { turns: 1 } }];
    other.say({ type: 'deltas', run: 'r1', deltas });
    expect(other.sent.map(({ method }) => method)).not.toContain('snapshot');
    client.look(true);
    other.say({ type: 'deltas', run: 'r1', deltas });
    expect(other.last('snapshot').params).toEqual({ run: 'r1' });
  });
});

describe('requests', () => {
  test('resolve with the result of their own answer; those of other pages are left alone', async () => {
    const other = kernel();
    const [one, two] = [new Client(other, 'widget'), new Client(other, 'widget')];
    expect(one.page).not.toBe(two.page);
    const first = one.request('variables', {});
    const second = two.request('variables', {});
    const result = (name: string) => ({ variables: [{ name, type: 'int', summary: '' }] });
    other.say({ type: 'response', id: `${two.page}:1`, result: result('second') });
    other.say({ type: 'response', id: `${one.page}:1`, result: result('first') });
    expect(await first).toEqual(result('first'));
    expect(await second).toEqual(result('second'));
  });

  test('reject with the words of the kernel', async () => {
    const other = kernel();
    const stopped = new Client(other, 'widget').request('stop', {});
    other.say({ type: 'response', id: other.last('stop').id, error: 'Nothing runs.' });
    await expect(stopped).rejects.toThrow('Nothing runs.');
  });

  test('are rejected when the page goes away', async () => {
    const client = new Client(kernel(), 'widget');
    const stopped = client.request('stop', {});
    client.dispose();
    await expect(stopped).rejects.toThrow('closed');
    await expect(client.request('stop', {})).rejects.toThrow('closed');
  });
});

describe('a run', () => {
  function following() {
    const other = kernel();
    const client = new Client(other, 'cell');
    const runs: RunState[] = [];
    client.onRun(run => runs.push(run));
    other.say({ type: 'run', run: 'r1', seq: 3, record: RECORD });
    return { other, runs };
  }

  test('takes deltas in the order of seq; what has not changed stays the same object', () => {
    const { other, runs } = following();
    other.say({
      type: 'deltas',
      run: 'r1',
      deltas: [
        { seq: 4, item: '2', append: { text: ' morning' } },
        { seq: 5, item: '2', set: { state: 'done' } },
        { seq: 6, item: '3', set: { kind: 'note', state: 'done', text: 'n' } },
        { seq: 7, item: '3', append: { title: 't' } },
        { seq: 8, item: null, set: { state: 'done', calls: 2 } }
      ]
    });
    expect(runs.length).toBe(2);
    const [before, after] = runs as [RunState, RunState];
    expect(after.seq).toBe(8);
    expect(after.record).toEqual({
      ...RECORD,
      state: 'done',
      calls: 2,
      items: [
        RECORD.items[0],
        { id: '2', kind: 'text', state: 'done', text: 'Good morning' },
        { id: '3', kind: 'note', state: 'done', text: 'n', title: 't' }
      ]
    });
    expect(after.record.items[0]).toBe(before.record.items[0]);
    expect(before.record.items[1]!.text).toBe('Good');
  });

  test('skips deltas that it has taken already', () => {
    const { other, runs } = following();
    const deltas = [
      { seq: 3, item: '2', append: { text: 'd' } },
      { seq: 4, item: '2', append: { text: '!' } }
    ];
    other.say({ type: 'deltas', run: 'r1', deltas });
    other.say({ type: 'deltas', run: 'r1', deltas });
    expect(runs.length).toBe(2);
    expect(runs[1]!.record.items[1]!.text).toBe('Good!');
  });

  test('asks once for a snapshot where a seq is missing, and goes on from there', async () => {
    const { other, runs } = following();
    other.say({ type: 'deltas', run: 'r1', deltas: [{ seq: 5, item: '2', append: { text: '?' } }] });
    other.say({ type: 'deltas', run: 'r1', deltas: [{ seq: 6, item: '2', append: { text: '?' } }] });
    expect(runs.length).toBe(1);
    expect(other.sent.filter(message => message.method === 'snapshot').length).toBe(1);
    expect(other.last('snapshot').params).toEqual({ run: 'r1' });
    const items = [RECORD.items[0]!, { ...RECORD.items[1]!, text: 'Good??' }];
    const result = { run: 'r1', seq: 6, record: { ...RECORD, items } };
    other.say({ type: 'response', id: other.last('snapshot').id, result });
    await other.settle();
    other.say({ type: 'deltas', run: 'r1', deltas: [{ seq: 7, item: '2', append: { text: '!' } }] });
    expect(runs.map(run => run.record.items[1]!.text)).toEqual(['Good', 'Good??', 'Good??!']);
  });

  test('asks for a snapshot of a run that it has not seen the beginning of', () => {
    const { other, runs } = following();
    other.say({ type: 'deltas', run: 'r2', deltas: [{ seq: 1, item: null, set: { turns: 1 } }] });
    expect(runs.length).toBe(1);
    expect(other.last('snapshot').params).toEqual({ run: 'r2' });
  });

  test('keeps equal items of a snapshot, and ignores one that is older', () => {
    const { other, runs } = following();
    const items = [RECORD.items[0]!, { ...RECORD.items[1]!, text: 'Good day' }];
    other.say({ type: 'run', run: 'r1', seq: 9, record: { ...RECORD, items } });
    other.say({ type: 'run', run: 'r1', seq: 8, record: RECORD });
    expect(runs.length).toBe(2);
    expect(runs[1]!.record.items[0]).toBe(runs[0]!.record.items[0]);
    expect(runs[1]!.record.items[1]!.text).toBe('Good day');
  });
});

describe('what the kernel asks', () => {
  const asked = async (handler: ((method: string, params: unknown) => Promise<unknown>) | null, page?: string) => {
    const other = kernel();
    const client = new Client(other, 'panel');
    if (handler) {
      client.onAsk(handler);
    }
    other.say({ type: 'ask', id: 'k1', page: page ?? client.page, method: 'read_cells', params: { from: 1 } });
    await other.settle();
    return other;
  };

  test('is answered with what the handler returns', async () => {
    const other = await asked(async (method, params) => [method, params]);
    expect(other.last('answer_ask').params).toEqual({ ask: 'k1', result: ['read_cells', { from: 1 }] });
  });

  test('is answered with the error of the handler', async () => {
    const other = await asked(async () => {
      throw new Error('There is no cell 7.');
    });
    expect(other.last('answer_ask').params).toEqual({ ask: 'k1', error: 'There is no cell 7.' });
  });

  test('is refused where nothing handles it, and left alone where another page is asked', async () => {
    expect((await asked(null)).last('answer_ask').params).toEqual({
      ask: 'k1',
      error: 'This page cannot do read_cells.'
    });
    expect((await asked(async () => 1, 'another')).sent).toEqual([]);
  });
});
