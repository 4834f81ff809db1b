// @vitest-environment jsdom
import { describe, expect, test, vi } from 'vitest';

import { record, running, text } from './records';
import { acting, settle, shown } from './view_page';

describe('the last line', () => {
  const parts = (all: (selector: string) => HTMLElement[]) => all('.am-parts > *').map(part => part.textContent);

  test('says model, calls, tokens, cost, time and context', () => {
    const { all } = shown(record([]));
    const wanted = [
      'openai/gpt-5-mini',
      '3 turns · 4 calls',
      '6,412 tokens in · 388 out',
      '$0.0021',
      '8.4 s',
      '21 % of context'
    ];
    expect(parts(all)).toEqual(wanted);
    expect(all('.am-bar i')[0]!.style.width).toBe('21%');
  });

  test('shows an unknown price as a question mark, and an unusual end', () => {
    const { all } = shown(record([], { cost: null, context: null, calls: 0, stop_cause: 'max_turns' }));
    expect(parts(all)).toEqual([
      'openai/gpt-5-mini',
      '6,412 tokens in · 388 out',
      'cost ?',
      '8.4 s',
      'stopped at the turn limit'
    ]);
  });

  test('writes no cost as any other, with its cents', () => {
    expect(parts(shown(record([], { cost: 0 })).all)).toContain('$0.00');
  });

  test('has Stop while it runs, and only where the page can act', async () => {
    const stop = vi.fn(async () => undefined);
    const { press, update, all } = shown(running([]), acting({ stop }));
    expect(parts(all)).toContain('4 s');
    press('■ Stop');
    expect(stop).toHaveBeenCalledOnce();
    const offered = () => all('button').map(button => [button.textContent, button.getAttribute('aria-disabled')]);
    expect(offered()).toEqual([['■ Stopping…', 'true']]);
    press('■ Stopping…');
    expect(stop).toHaveBeenCalledOnce();
    await settle();
    vi.advanceTimersByTime(3000);
    expect(offered()).toEqual([['■ Stop', null]]);
    update(record([], { state: 'aborted', stop_cause: 'aborted' }));
    expect(all('button')).toEqual([]);
    expect(parts(all).at(-1)).toBe('stopped');
    expect(shown(running([])).all('button')).toEqual([]);
    expect(shown(running([]), { ...acting(), compact: true }).all('button')).toEqual([]);
  });

  test('points to the Stop button of the kernel where it cannot stop', async () => {
    const stop = async () => {
      throw new Error('no answer');
    };
    const { press, words, update, find } = shown(running([]), acting({ stop }));
    press('■ Stop');
    await settle();
    expect(words('.am-ends')).toBe("use the kernel's Stop button");
    // The run is heard of again: Stop may well reach it now.
    update(running([text('1', 'Still here.', 'running')]));
    expect(words('.am-ends')).toBe('■ Stop');
    expect(find('.am-stop')!.getAttribute('aria-disabled')).toBeNull();
  });

  test('Stop keeps the focus until it goes, and gives it back then', async () => {
    const { press, update, find, place } = shown(running([]), acting());
    place.tabIndex = -1;
    press('■ Stop');
    expect(document.activeElement).toBe(find('.am-stop'));
    update(record([], { state: 'aborted', stop_cause: 'aborted' }));
    expect(document.activeElement).toBe(place);
  });
});
