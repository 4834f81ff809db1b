// @vitest-environment jsdom
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { words } from './lab_page';
import { Attention } from '../src/lab/attention';
import type { KernelAgent } from '../src/lab/kernel_agent';
import type { AgentState } from '../src/protocol/messages';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function made(): { tell(...questions: string[]): void; said: string[]; seen: boolean; shown: number; end(): void } {
  let tell!: (state: AgentState) => void;
  const ended = new Signal<object, void>({});
  const client = { onState: (listener: typeof tell) => (tell = listener) };
  const page = {
    said: [] as string[],
    seen: false,
    shown: 0,
    tell: (...questions: string[]) => tell({ run: 'r', questions } as AgentState),
    end: () => ended.emit()
  };
  new Attention(
    { client, ended, notebook: { context: { path: 'dir/growth.ipynb' } } } as unknown as KernelAgent,
    () => page.seen,
    () => void page.shown++,
    (text, label, show) => {
      page.said.push(`${text} [${label}]`);
      show();
      return () => void page.said.push('called off');
    },
    words
  );
  return page;
}

test('a question that nobody sees is announced once, and called off when it is answered', () => {
  const page = made();
  page.tell('1');
  page.tell('1');
  vi.advanceTimersByTime(499);
  expect(page.said).toEqual([]);
  vi.advanceTimersByTime(500);
  expect(page.said).toEqual(['The agent of growth.ipynb waits for your answer. [Show]']);
  expect(page.shown).toBe(1);
  page.tell('2');
  vi.advanceTimersByTime(500);
  expect(page.said.slice(1)).toEqual(['called off', 'The agent of growth.ipynb waits for your answer. [Show]']);
  page.end();
  expect(page.said.slice(3)).toEqual(['called off']);
});

test('one that is seen, or answered at once, is not', () => {
  const page = made();
  page.seen = true;
  page.tell('1');
  vi.advanceTimersByTime(1000);
  page.seen = false;
  page.tell('2');
  page.tell();
  vi.advanceTimersByTime(1000);
  expect(page.said).toEqual([]);
});
