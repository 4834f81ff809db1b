// @vitest-environment jsdom
import { describe, expect, test, vi } from 'vitest';

import { call, question, record, running, text } from './records';
import { acting, shown } from './view_page';

describe('drawing again', () => {
  test('only grows while it runs, and takes the room that it needs when it has ended', () => {
    let told = () => undefined as void;
    vi.stubGlobal(
      'ResizeObserver',
      class {
        constructor(listener: () => void) {
          told = listener;
        }
        observe() {}
        disconnect() {}
      }
    );
    const { find, update } = shown(running([text('1', 'One.', 'running')]));
    const list = find('.am-items')!;
    const room = () => list.parentElement!.style.minHeight;
    for (const [height, wanted] of [
      [120, '120px'],
      [80, '120px'],
      [140, '140px']
    ] as const) {
      Object.defineProperty(list, 'offsetHeight', { value: height, configurable: true });
      told();
      expect(room()).toBe(wanted);
    }
    list.dispatchEvent(new Event('toggle'));
    expect(room()).toBe('');
    told();
    expect(room()).toBe('140px');
    update(record([text('1', 'One.')]));
    expect(room()).toBe('');
  });

  test('touches only what has changed, once a frame, among 500 cards', () => {
    const items = Array.from({ length: 500 }, (_, place) => call(String(place)));
    const { place, view } = shown(running(items));
    const seen = new MutationObserver(() => undefined);
    seen.observe(place, { subtree: true, childList: true, characterData: true, attributes: true });
    let next = items;
    for (const progress of ['one', 'two', 'three']) {
      next = [...next];
      next[250] = call('250', { state: 'running', seconds: null, progress });
      view.update(running(next));
    }
    expect(seen.takeRecords()).toEqual([]);
    vi.advanceTimersByTime(20);
    const changes = seen.takeRecords();
    const card = place.querySelectorAll('.am-tool')[250]!;
    expect(card.textContent).toContain('three');
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.every(change => card.contains(change.target))).toBe(true);
    expect(changes.length).toBeLessThan(12);
  });

  test('draws without frames, too, where nobody looks', () => {
    vi.stubGlobal('requestAnimationFrame', () => 1);
    const { actions, shownQuestions } = acting();
    const { view } = shown(running([]), { actions });
    view.update(running([question('1')]));
    vi.advanceTimersByTime(250);
    expect(shownQuestions).toEqual(['1']);
  });

  test('reads finished words once to those who listen, and nothing of a saved record', () => {
    const live = (place: HTMLElement) => [...place.querySelectorAll('[aria-live] p')].map(each => each.textContent);
    const { place, update } = shown(running([text('1', 'First.\n\nSec', 'running')]), acting());
    update(running([text('1', 'First.\n\nSecond.\n\nThi', 'running')]));
    update(record([text('1', 'First.\n\nSecond.\n\nThird.')]));
    expect(live(place)).toEqual(['Second.', 'Third.', 'The answer is complete.']);
    expect(live(shown(record([text('1', 'First.')])).place)).toEqual([]);
    expect(place.querySelector('.am-prose')!.closest('[aria-live]')).toBeNull();
  });
});
