import Ajv from 'ajv/dist/2020';
import { afterEach, beforeEach, expect, vi } from 'vitest';

import schema from '../schema/record.v1.json';
import type { Answer } from '../src/protocol/messages';
import type { RunRecord } from '../src/view/record';
import { RecordView, type RunActions, type ViewOptions } from '../src/view/view';

// Tests of a view draw a lot, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const fits = new Ajv({ strict: false }).compile(schema);

let views: RecordView[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => setTimeout(draw, 16));
  vi.stubGlobal('cancelAnimationFrame', (frame: number) => clearTimeout(frame));
  vi.setSystemTime(1_700_000_004_200);
});
afterEach(() => {
  views.forEach(view => view.dispose());
  views = [];
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A view of `first` in the page, and what is found in it. */
export function shown(first: RunRecord, options: ViewOptions = {}) {
  expect(fits(first), JSON.stringify(fits.errors)).toBe(true);
  const place = document.createElement('div');
  document.body.append(place);
  const view = new RecordView(place, options);
  views.push(view);
  view.update(first);
  const find = (selector: string) => place.querySelector<HTMLElement>(selector);
  const all = (selector: string) => [...place.querySelectorAll<HTMLElement>(selector)];
  return {
    place,
    view,
    find,
    all,
    words: (selector: string) => find(selector)?.textContent,
    press: (label: string) => {
      const found = all('button').find(button => button.textContent === label) as HTMLButtonElement | undefined;
      if (!found) {
        throw new Error(`no button ${label}: ${all('button').map(button => button.textContent)}`);
      }
      // As a click of the mouse does; `click()` alone moves no focus.
      found.focus();
      found.click();
    },
    update: (next: RunRecord) => {
      expect(fits(next), JSON.stringify(fits.errors)).toBe(true);
      view.update(next);
      vi.advanceTimersByTime(20);
    },
    open: async (selector: string) => {
      const card = find(selector) as HTMLDetailsElement;
      card.open = true;
      card.dispatchEvent(new Event('toggle'));
      return card;
    }
  };
}

/** Actions that note what the view does. */
export function acting(fields: Partial<RunActions> = {}) {
  const answers: Answer[] = [];
  const shownQuestions: string[] = [];
  const actions: RunActions = {
    stop: async () => undefined,
    shown: approval => void shownQuestions.push(approval),
    answer: async answer => void answers.push(answer),
    ...fields
  };
  return { actions, answers, shownQuestions };
}

/** Let promises that wait go on. */
export const settle = async () => {
  for (let turn = 0; turn < 10; turn++) {
    await Promise.resolve();
  }
};
