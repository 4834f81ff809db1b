import type { Item, RunRecord } from '../src/view/record';

/** A record of that state with these items. */
export function record(items: Item[], fields: Partial<RunRecord> = {}): RunRecord {
  return {
    version: 1,
    run: 'run-1',
    session: null,
    model: 'openai/gpt-5-mini',
    state: 'done',
    started: 1_700_000_000_000,
    seconds: 8.42,
    turns: 3,
    calls: 4,
    items,
    usage: { input: 6000, output: 388, cache_read: 400, cache_write: 12, reasoning: null, total_tokens: 6800 },
    cost: 0.0021,
    context: { used: 6800, window: 32_000, fraction: 0.2125 },
    stop_cause: 'completed',
    omitted: [],
    ...fields
  };
}

export function running(items: Item[], fields: Partial<RunRecord> = {}): RunRecord {
  return record(items, { state: 'running', seconds: null, stop_cause: null, ...fields });
}

export function call(id: string, fields: Partial<Item> = {}): Item {
  return {
    id,
    kind: 'tool',
    state: 'done',
    call_id: `call-${id}`,
    name: 'sales',
    arguments: { region: 'EU', year: 2025 },
    summary: 'region="EU", year=2025',
    seconds: 0.2,
    ...fields
  };
}

export function text(id: string, words: string, state: Item['state'] = 'done'): Item {
  return { id, kind: 'text', state, text: words };
}

export function question(id: string, fields: Partial<Item> = {}): Item {
  return {
    id,
    kind: 'approval',
    state: 'pending',
    call_id: 'call-1',
    name: 'run_python',
    arguments: { code: 'x = 1\nprint(x)', timeout: 30 },
    reason: null,
    effect: 'execute',
    hash: 'abc',
    text: 'The model asks to run run_python (runs code).',
    ...fields
  };
}

export const TABLE = {
  name: 'DataFrame',
  columns: ['month', 'revenue'],
  index: ['0', '1'],
  rows: [
    ['2025-01', '412.0'],
    ['2025-02', '431.5']
  ],
  numeric: [1],
  shape: [12, 2]
};

// One pixel.
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
