/** The record of a run, version 1 (schema/record.v1.json), and how it changes while the run goes on (delta.v1.json). */

export type ItemState = 'pending' | 'running' | 'done' | 'failed' | 'denied' | 'aborted';

/** Data by MIME type, as notebooks keep it. */
export type MimeBundle = Record<string, unknown>;

/** Of a widget in the outputs of a cell. */
export const WIDGET_TYPE = 'application/vnd.jupyter.widget-view+json';

/** The fields of every kind of item; which of them are there depends on `kind`. Unknown kinds are not drawn. */
export interface Item {
  id: string;
  kind: string;
  state: ItemState;
  /** Unix milliseconds. */
  started?: number;
  seconds?: number | null;
  outputs?: MimeBundle[];
  /** Markdown where kind is text, else plain text. */
  text?: string;
  title?: string;
  redacted?: boolean;
  call_id?: string;
  name?: string;
  arguments?: Record<string, unknown>;
  /** The arguments in one line. */
  summary?: string;
  progress?: string;
  result?: string;
  error?: string;
  reason?: string | null;
  effect?: string;
  /** Of the arguments that an approval is about. */
  hash?: string;
}

export interface Usage {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  reasoning: number | null;
  total_tokens: number;
}

export interface ContextUse {
  /** Tokens. */
  used: number;
  window: number | null;
  fraction: number | null;
}

export interface RunRecord {
  version: number;
  run: string;
  session: string | null;
  /** provider/id */
  model: string;
  state: 'running' | 'done' | 'failed' | 'aborted';
  /** Unix milliseconds. */
  started: number;
  seconds: number | null;
  turns: number;
  calls: number;
  items: Item[];
  usage: Usage | null;
  /** US dollars; null where a price is unknown. */
  cost: number | null;
  context: ContextUse | null;
  stop_cause: string | null;
  omitted: string[];
}

export interface Delta {
  seq: number;
  /** The id of an item, null for the record itself. */
  item: string | null;
  set?: Record<string, unknown>;
  append?: Record<string, string>;
}

/** `record` after `deltas`. What has not changed stays the same object, so that a view can skip it. */
export function applied(record: RunRecord, deltas: readonly Delta[]): RunRecord {
  const next = { ...record, items: [...record.items] };
  for (const delta of deltas) {
    if (delta.item === null) {
      Object.assign(next, changed(next as unknown as Fields, delta));
      continue;
    }
    const place = placeOf(next.items, delta.item);
    const item = place < 0 ? { id: delta.item } : next.items[place]!;
    next.items[place < 0 ? next.items.length : place] = changed(item as Fields, delta) as unknown as Item;
  }
  return next;
}

/** `record` with the items of `before` wherever they are equal. */
export function withKnownItems(record: RunRecord, before: RunRecord): RunRecord {
  const known = new Map(before.items.map(item => [item.id, item]));
  const items = record.items.map(item => {
    const old = known.get(item.id);
    return old && isEqual(old, item) ? old : item;
  });
  return { ...record, items };
}

type Fields = Record<string, unknown>;

function changed(fields: Fields, delta: Delta): Fields {
  const next = { ...fields, ...delta.set };
  for (const [name, text] of Object.entries(delta.append ?? {})) {
    next[name] = ((next[name] as string | undefined) ?? '') + text;
  }
  return next;
}

/** From the end, because it is mostly the last item that changes. */
function placeOf(items: readonly Item[], id: string): number {
  for (let place = items.length - 1; place >= 0; place--) {
    if (items[place]!.id === id) {
      return place;
    }
  }
  return -1;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) {
    return true;
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) !== Array.isArray(other)) {
    return false;
  }
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(name => Object.hasOwn(other, name) && isEqual((one as Fields)[name], (other as Fields)[name]))
  );
}

/** Whether this is a record that can be drawn: later versions have shapes that nobody here knows. */
export function isRecord(data: unknown): data is RunRecord {
  const record = data as Partial<RunRecord> | null;
  return typeof record === 'object' && record?.version === 1 && Array.isArray(record.items);
}

/** The record of a run that ended without its kernel saying so; `words` tell why. */
export function brokenOff(record: RunRecord, words: string): RunRecord {
  const open = ['pending', 'running'];
  return {
    ...record,
    state: 'aborted',
    stop_cause: 'aborted',
    seconds: record.seconds ?? Math.max(0, (Date.now() - record.started) / 1000),
    items: [
      ...record.items.map(item => (open.includes(item.state) ? { ...item, state: 'aborted' as const } : item)),
      { id: 'broken-off', kind: 'note', state: 'done', text: words }
    ]
  };
}

/** What the model wrote in a run, for readers that know nothing of records. */
export function textOfRecord(record: RunRecord): string {
  return record.items
    .filter(({ kind }) => kind === 'text')
    .map(({ text }) => text ?? '')
    .join('\n\n');
}
