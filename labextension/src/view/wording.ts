/** The words of the view: states, durations, the last line, visible characters. The saved record has the same ones. */

import type { Item, ItemState, RunRecord } from './record';

export const SYMBOLS: Record<ItemState, string> = {
  pending: '○',
  running: '●',
  done: '✓',
  failed: '✕',
  denied: '⊘',
  aborted: '■'
};

export const WORDS: Record<ItemState, string> = {
  pending: 'waiting',
  running: 'running',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  aborted: 'stopped'
};

/** Ends of a run that a reader should know about; the others are the ordinary end. */
const CAUSES: Record<string, string> = {
  length: 'cut at the output limit',
  max_turns: 'stopped at the turn limit',
  hook: 'stopped by a hook',
  budget_exceeded: 'budget reached',
  aborted: 'stopped',
  error: 'failed'
};

const WISHES: Record<string, string> = {
  read: 'wants to read',
  write: 'wants to change files or data',
  execute: 'wants to run code',
  network: 'wants to reach beyond this machine'
};

const LINE_LIMIT = 160;

// eslint-disable-next-line no-control-regex
const ANSI =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_])/g;
const HIDDEN =
  // eslint-disable-next-line no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** `text` with control, bidirectional and invisible characters written as escapes; lines and tabs stay. */
export function visible(text: string): string {
  return text.replace(ANSI, '').replace(/\r\n/g, '\n').replace(HIDDEN, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  const digits = code.toString(16);
  return code < 0x100
    ? `\\x${digits.padStart(2, '0')}`
    : code < 0x10000
      ? `\\u${digits.padStart(4, '0')}`
      : `\\U${digits.padStart(8, '0')}`;
}

/** `text` as one visible line of at most `limit` characters. */
export function oneLine(text: string, limit = LINE_LIMIT): string {
  const line = visible(
    text
      .slice(0, limit * 4)
      .split(/\s+/)
      .filter(Boolean)
      .join(' ')
  );
  return line.length <= limit ? line : line.slice(0, limit - 1).trimEnd() + '…';
}

export function duration(seconds: number): string {
  if (seconds < 0.0995) {
    return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  }
  if (seconds < 9.95) {
    return `${seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Whole seconds since `started` (Unix milliseconds). */
export function elapsed(started: number | undefined): string {
  if (started === undefined) {
    return '';
  }
  const seconds = Math.max(0, Math.floor((Date.now() - started) / 1000));
  return seconds < 60 ? `${seconds} s` : duration(seconds);
}

/** US dollars; an unknown price is a question mark and never nothing. */
export function money(cost: number | null): string {
  if (cost === null) {
    return 'cost ?';
  }
  if (cost === 0) {
    return '$0.00';
  }
  return cost < 0.0001 ? 'under $0.0001' : `$${cost.toFixed(cost >= 1 ? 2 : 4)}`;
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** What stands at the right end of a card after the symbol: a word, and the time or the error. */
export function stateWords(item: Item): string {
  const word = WORDS[item.state] ?? oneLine(String(item.state));
  if (item.state === 'failed') {
    return oneLine(item.error ?? '') || word;
  }
  if (item.state === 'denied') {
    return [word, oneLine(item.error ?? '')].filter(Boolean).join(': ');
  }
  if (item.state === 'running') {
    return [word, oneLine(item.progress ?? ''), elapsed(item.started)].filter(Boolean).join(' · ');
  }
  if (item.state === 'pending' || item.seconds == null) {
    return word;
  }
  return item.state === 'done' ? duration(item.seconds) : `${word} · ${duration(item.seconds)}`;
}

export function thinkingLine(item: Item): string {
  if (item.state === 'running') {
    return `Thinking… ${elapsed(item.started)}`.trimEnd();
  }
  return item.seconds == null || item.seconds < 0.5 ? 'Thought' : `Thought for ${duration(item.seconds)}`;
}

/** What a call that waits for approval is about to do. */
export function wish(item: Item): string {
  return WISHES[item.effect ?? ''] ?? 'wants to run';
}

/** The parts of the last line before the context bar. */
export function footerParts(record: RunRecord): string[] {
  const running = record.state === 'running';
  const { usage } = record;
  const read = usage ? usage.input + usage.cache_read + usage.cache_write : 0;
  return [
    oneLine(record.model),
    record.calls > 0 ? `${count(record.turns, 'turn')} · ${count(record.calls, 'call')}` : '',
    usage ? `${count(read, 'token')} in · ${usage.output.toLocaleString('en')} out` : '',
    usage || !running ? money(record.cost) : '',
    // Of a run that broke off, the notebook may not know how long it took.
    record.seconds !== null ? duration(record.seconds) : running ? elapsed(record.started) : ''
  ].filter(Boolean);
}

export function contextWords(fraction: number): string {
  return `${Math.round(fraction * 100)} % of context`;
}

/** Why the run ended, where that is not the ordinary end; else empty. */
export function causeWords(record: RunRecord): string {
  return CAUSES[record.stop_cause ?? ''] ?? '';
}
