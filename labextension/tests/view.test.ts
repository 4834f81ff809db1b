// @vitest-environment jsdom
import Ajv from 'ajv/dist/2020';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import schema from '../schema/record.v1.json';
import type { Answer } from '../src/protocol/messages';
import type { Item, RunRecord } from '../src/view/record';
import { RecordView, type RunActions, type ViewOptions } from '../src/view/view';
import { PNG, TABLE, call, question, record, running, text } from './records';

// They draw a lot, and the machine may be busy.
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

function shown(first: RunRecord, options: ViewOptions = {}) {
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

function acting(fields: Partial<RunActions> = {}) {
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

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) {
    await Promise.resolve();
  }
};

describe('a tool call', () => {
  const states: [Partial<Item>, string][] = [
    [{ state: 'pending', seconds: null }, '○waiting'],
    [
      { state: 'running', seconds: null, started: 1_700_000_000_000, progress: 'fold 3 of 5' },
      '●running · fold 3 of 5 · 4 s'
    ],
    [{ state: 'done' }, '✓done 0.2 s'],
    [{ state: 'failed', error: 'ValueError: month' }, '✕failed ValueError: month'],
    [{ state: 'denied', error: 'not today' }, '⊘denied: not today'],
    [{ state: 'aborted', seconds: 12.3 }, '■stopped · 12 s']
  ];
  test.each(states)('%o says its state with a sign and words', (fields, words) => {
    const { find } = shown(record([call('1', fields)]));
    const state = find('.am-state')!;
    state.querySelectorAll('[hidden]').forEach(hidden => hidden.remove());
    expect(state.textContent).toBe(words);
    expect(find('summary')!.textContent).toContain('salesregion="EU", year=2025');
    expect((find('details') as HTMLDetailsElement).open).toBe(false);
  });

  test('counts the seconds itself, and stops when it has ended', () => {
    const item = call('1', { state: 'running', seconds: null, started: 1_700_000_000_000 });
    const { words, update } = shown(running([item]));
    expect(words('.am-state-text')).toBe('running · 4 s');
    vi.advanceTimersByTime(3000);
    expect(words('.am-state-text')).toBe('running · 7 s');
    update(record([call('1', { seconds: 7.5 })]));
    expect(words('.am-state-text')).toBe('7.5 s');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('opened shows arguments and the table of its result', async () => {
    const outputs = [{ 'application/vnd.agent-magic.table+json': TABLE, 'text/plain': 'month' }];
    const { find, open, all } = shown(record([call('1', { outputs, result: 'month' })]));
    expect(find('table')).toBeNull();
    const card = await open('details');
    expect(card.querySelector('pre')!.textContent).toBe('{"region": "EU", "year": 2025}');
    expect(card.querySelector('.hljs-number')!.textContent).toBe('2025');
    expect(all('.am-label').map(label => label.textContent)).toEqual(['Arguments', 'Result · DataFrame 12 × 2']);
    expect(all('tr').map(row => [...row.children].map(cell => cell.textContent))).toEqual([
      ['', 'month', 'revenue'],
      ['0', '2025-01', '412.0'],
      ['1', '2025-02', '431.5']
    ]);
    expect(all('tbody td.am-right').map(cell => cell.textContent)).toEqual(['412.0', '431.5']);
    expect(find('.am-note')!.textContent).toBe('… 10 more rows');
  });

  test('shows code whole and coloured, and other arguments as JSON', async () => {
    const code = `import os\n${'x = 1\n'.repeat(500)}print("end")`;
    const { open } = shown(record([call('1', { name: 'run_python', arguments: { code, timeout: 3 } })]));
    const blocks = [...(await open('details')).querySelectorAll('pre')];
    expect(blocks.map(block => block.textContent)).toEqual(['{"timeout": 3}', code]);
    expect(blocks[1]!.querySelector('.hljs-keyword')!.textContent).toBe('import');
  });

  test('shows its progress while it runs, without drawing the arguments again', async () => {
    const item = call('1', { state: 'running', seconds: null, progress: 'one' });
    const { open, update, find } = shown(running([item]));
    await open('details');
    const code = find('pre code')!;
    update(running([{ ...item, progress: 'two' }]));
    expect(find('pre code')).toBe(code);
    expect(find('.am-body')!.textContent).toContain('Progresstwo');
    update(record([call('1', { result: 'three', progress: '' })]));
    expect(find('.am-body')!.textContent).not.toContain('Progress');
    expect(find('.am-body')!.textContent).toContain('Resultthree');
  });

  test('makes the error of a traceback stand out', async () => {
    const trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: month\nmore';
    const item = call('1', { state: 'failed', error: 'ValueError: month', outputs: [{ 'text/plain': trace }] });
    const { open, find } = shown(record([item]));
    await open('details');
    expect(find('.am-error')!.textContent).toBe('ValueError: month\nmore');
    expect(find('pre.am-text')!.textContent).toBe(trace);
  });

  test('shows figures without being opened', () => {
    const { find } = shown(record([call('1', { outputs: [{ 'image/png': PNG, 'text/plain': 'A bar chart' }] })]));
    const picture = find('.am-figures img') as HTMLImageElement;
    expect(picture.src).toBe(`data:image/png;base64,${PNG}`);
    expect(picture.alt).toBe('A bar chart');
  });

  test('lets the page draw charts, and shows their text where it cannot', () => {
    const bundle = { 'application/vnd.plotly.v1+json': { data: [] }, 'text/plain': 'plotly figure' };
    const chart = document.createElement('section');
    const renderMime = vi.fn(() => chart);
    const items = [call('1', { outputs: [bundle] })];
    expect(shown(record(items), { host: { renderMime } }).place.contains(chart)).toBe(true);
    expect(renderMime).toHaveBeenCalledWith(bundle);
    expect(shown(record(items)).words('.am-figures')).toBe('plotly figure');
  });

  test('writes hidden and turning characters as escapes', async () => {
    const evil = '\u202egnp.\u2066exe\u200b';
    const { find, open } = shown(record([call('1', { name: evil, summary: evil, arguments: { [evil]: evil } })]));
    await open('details');
    expect(find('.am-tool')!.textContent).not.toMatch(/[\u202e\u2066\u200b]/);
    expect(find('.am-name')!.textContent).toBe('\\u202egnp.\\u2066exe\\u200b');
    expect(find('pre')!.textContent).toContain('"\\u202egnp.\\u2066exe\\u200b": "\\u202egnp');
  });
});

describe('other items', () => {
  test('reasoning is folded and says how long it took', async () => {
    const item: Item = { id: '1', kind: 'thinking', state: 'running', text: '', started: 1_700_000_001_000 };
    const { words, find, update, open } = shown(running([item]));
    expect(words('summary')).toBe('Thinking… 3 s');
    expect(find('details')!.classList.contains('am-empty')).toBe(true);
    update(running([{ ...item, state: 'done', text: 'First this.\nThen that.', seconds: 3.21 }]));
    expect(words('summary')).toBe('Thought for 3.2 s');
    expect((await open('details')).querySelector('pre')!.textContent).toBe('First this.\nThen that.');
  });

  test('what the model saw is behind a button in the last line', () => {
    const saw: Item = { id: '1', kind: 'context', state: 'done', title: 'What the model saw of df', text: 'df: 2 × 2' };
    const summary: Item = { id: '2', kind: 'context', state: 'done', title: 'Summary of earlier messages', text: 's' };
    const { find, words, press } = shown(record([saw, summary]));
    expect(words('.am-items')).toContain('Summary of earlier messages');
    expect(words('.am-items')).not.toContain('df');
    expect(find('.am-saw')!.hidden).toBe(true);
    press('What the model saw');
    expect(find('.am-saw')!.hidden).toBe(false);
    expect(words('.am-saw')).toContain('What the model saw of df');
    expect(find('[aria-expanded]')!.getAttribute('aria-expanded')).toBe('true');
  });

  test('the message that began the run is shown where the page does not show it, with what it mentions', () => {
    const items: Item[] = [
      { id: '1', kind: 'user', state: 'done', text: 'Look at @df and a@b.c' },
      text('2', 'Yes.'),
      { id: '3', kind: 'user', state: 'done', text: 'Faster!' }
    ];
    expect(shown(record(items)).words('.am-items')).toBe('Yes.Faster!');
    const { words, all } = shown(record(items), { prompt: true });
    expect(words('.am-items')).toBe('Look at @df and a@b.cYes.Faster!');
    expect(all('.am-chip').map(chip => chip.textContent)).toEqual(['@df']);
  });

  test('errors, notes, media and what was left out', () => {
    const items: Item[] = [
      { id: '1', kind: 'error', state: 'failed', text: 'RateLimitError: 429\nWait a minute.' },
      { id: '2', kind: 'note', state: 'done', text: 'sent again' },
      { id: '3', kind: 'media', state: 'done', outputs: [{ 'image/png': PNG }, { 'text/plain': 'audio/mp3' }] },
      { id: '4', kind: 'hologram', state: 'done' }
    ];
    const { words, all } = shown(record(items, { omitted: ['2 images left out'] }));
    expect(words('.am-failure-line')).toBe('✕ RateLimitError: 429');
    expect(words('.am-failure-more')).toBe('Wait a minute.');
    expect(words('.am-items > .am-note')).toBe('sent again');
    expect(all('.am-figures > *').map(each => each.tagName)).toEqual(['IMG', 'PRE']);
    expect(words('.am-view > .am-note')).toBe('Left out of this record: 2 images left out.');
    expect(all('.am-items > *').length).toBe(3);
  });
});

describe('the last line', () => {
  const parts = (all: (selector: string) => HTMLElement[]) => all('.am-parts > *').map(part => part.textContent);

  test('says model, calls, tokens, cost, time and context', () => {
    const { all } = shown(record([]));
    const wanted = [
      'openai/gpt-5-mini',
      '3 turns · 4 calls',
      '6,412 in · 388 out',
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
      '6,412 in · 388 out',
      'cost ?',
      '8.4 s',
      'stopped at the turn limit'
    ]);
  });

  test('has Stop while it runs, and only where the page can act', async () => {
    const stop = vi.fn(async () => undefined);
    const { press, update, all } = shown(running([]), acting({ stop }));
    expect(parts(all)).toContain('4 s');
    press('■ Stop');
    expect(stop).toHaveBeenCalledOnce();
    expect(all('button').map(button => [button.textContent, (button as HTMLButtonElement).disabled])).toEqual([
      ['■ Stopping…', true]
    ]);
    await settle();
    vi.advanceTimersByTime(3000);
    expect(all('button').map(button => [button.textContent, (button as HTMLButtonElement).disabled])).toEqual([
      ['■ Stop', false]
    ]);
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
    const { press, words } = shown(running([]), acting({ stop }));
    press('■ Stop');
    await settle();
    expect(words('.am-ends')).toBe("use the kernel's Stop button");
  });
});

describe('a question', () => {
  const asked = (fields: Partial<Item> = {}, more: Partial<RunActions> = {}) => {
    const { actions, answers, shownQuestions } = acting(more);
    const items = [call('1', { name: 'run_python', state: 'pending', seconds: null }), question('2', fields)];
    return { ...shown(running(items), { actions }), answers, shownQuestions, items };
  };

  test('stands in the place of its call, shows all arguments, and is told to the kernel once', () => {
    const { find, all, shownQuestions, update, items } = asked();
    expect(all('.am-items > *').length).toBe(1);
    const dialog = find('[role=alertdialog]')!;
    const title = document.getElementById(dialog.getAttribute('aria-labelledby')!)!;
    expect(title.textContent).toBe('run_python wants to run code');
    expect(dialog.textContent).toContain('waiting for you');
    const body = document.getElementById(dialog.getAttribute('aria-describedby')!)!;
    expect([...body.querySelectorAll('pre')].map(block => block.textContent)).toEqual([
      '{"timeout": 30}',
      'x = 1\nprint(x)'
    ]);
    expect(all('.am-asked button:not(.am-code-buttons button)').map(button => button.textContent)).toEqual([
      'Run',
      'Always in this session',
      'Edit',
      'Deny…'
    ]);
    update(running([...items, text('3', 'more', 'running')]));
    expect(shownQuestions).toEqual(['2']);
    expect(document.activeElement).toBe(document.body);
  });

  test('says why it is asked', () => {
    const { find } = asked({ reason: 'The tool run_python has the effect execute.' });
    const body = document.getElementById(find('[role=alertdialog]')!.getAttribute('aria-describedby')!)!;
    expect(body.textContent).toContain('The tool run_python has the effect execute.');
  });

  test.each([
    ['Run', 'once'],
    ['Always in this session', 'always']
  ])('%s answers %s', async (label, decision) => {
    const { press, answers, find } = asked();
    press(label);
    await settle();
    expect(answers).toEqual([{ approval: '2', decision, reason: '', arguments: null, hash: 'abc' }]);
    expect(find('[role=alertdialog]')!.getAttribute('aria-busy')).toBe('true');
    press('Run');
    expect(answers.length).toBe(1);
  });

  test('is denied with a word', async () => {
    const { press, answers, find } = asked();
    press('Deny…');
    const word = find('input') as HTMLInputElement;
    expect(document.activeElement).toBe(word);
    word.value = ' use another file ';
    word.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await settle();
    expect(answers).toEqual([
      { approval: '2', decision: 'deny', reason: 'use another file', arguments: null, hash: 'abc' }
    ]);
  });

  test('takes other arguments: a text as it is, the rest as JSON', async () => {
    const { press, answers, all } = asked();
    press('Edit');
    const [code, timeout] = all('textarea') as HTMLTextAreaElement[];
    expect([code!.value, timeout!.value]).toEqual(['x = 1\nprint(x)', '30']);
    expect(document.activeElement).toBe(code);
    code!.value = 'print(2)';
    timeout!.value = 'soon';
    press('Run with these');
    expect(all('.am-field .am-problem').map(problem => problem.textContent)).toEqual([
      '',
      'This is not JSON; a text needs quotation marks.'
    ]);
    expect(document.activeElement).toBe(timeout);
    expect(timeout!.getAttribute('aria-invalid')).toBe('true');
    timeout!.value = '5';
    press('Run with these');
    await settle();
    expect(answers).toEqual([
      { approval: '2', decision: 'once', reason: '', arguments: { code: 'print(2)', timeout: 5 }, hash: 'abc' }
    ]);
  });

  test('sends no arguments where none was changed', async () => {
    const { press, answers } = asked();
    press('Edit');
    press('Run with these');
    await settle();
    expect(answers[0]!.arguments).toBeNull();
  });

  test('stays open with what the kernel says is wrong, and keeps what was written', async () => {
    const answer = async () => {
      throw new Error('timeout: must be positive');
    };
    const { press, all, find } = asked({}, { answer });
    press('Edit');
    (all('textarea') as HTMLTextAreaElement[])[1]!.value = '-1';
    press('Run with these');
    await settle();
    expect(find('.am-body > .am-problem')!.textContent).toBe('timeout: must be positive');
    expect(find('.am-body > .am-problem')!.getAttribute('role')).toBe('alert');
    expect((all('textarea') as HTMLTextAreaElement[])[1]!.value).toBe('-1');
    expect((all('textarea') as HTMLTextAreaElement[])[1]!.disabled).toBe(false);
  });

  test('Escape leads back to the buttons, and the focus with it', () => {
    const { press, find, all } = asked();
    press('Edit');
    find('textarea')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(all('textarea')).toEqual([]);
    expect(document.activeElement!.textContent).toBe('Edit');
  });

  test('gives the focus back when it is answered, and leaves the call with what it ran with', async () => {
    const before = document.createElement('button');
    document.body.append(before);
    const { press, update, find, open } = asked();
    before.focus();
    press('Run');
    await settle();
    const changed = question('2', { state: 'done', arguments: { code: 'print(2)' } });
    update(running([call('1', { name: 'run_python', state: 'running', seconds: null }), changed]));
    expect(document.activeElement).toBe(before);
    expect(find('[role=alertdialog]')).toBeNull();
    const card = await open('.am-tool');
    expect(card.textContent).toContain('Changed by you, and run with');
    expect(card.textContent).toContain('print(2)');
  });

  test('keeps the keys from the notebook', () => {
    const { press, find } = asked();
    press('Edit');
    expect(find('textarea')!.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
    find('pre')!.focus();
    expect(find('pre')!.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
  });

  test('answered elsewhere it closes here', () => {
    const { update, all, items, find } = asked();
    expect(find('.am-tool')).toBeNull();
    update(running([items[0]!, question('2', { state: 'denied' })]));
    expect(all('.am-asked')).toEqual([]);
    expect(find('.am-tool')).not.toBeNull();
  });

  test('without a call stands alone, and then says what became of it', () => {
    const { update, words } = asked({ call_id: 'another' });
    update(running([question('2', { call_id: 'another', state: 'denied' })]));
    expect(words('.am-asked')).toBe('⊘ run_python: denied');
  });

  test('cannot be answered where the page cannot act', () => {
    const { all, words, find } = shown(running([question('1')]));
    expect(all('.am-asked button:not(.am-code-buttons button)')).toEqual([]);
    expect(words('.am-ask')).toContain('waiting for you');
    expect(find('[role=alertdialog]')).toBeNull();
  });

  test('writes hidden and turning characters as escapes', () => {
    const evil = '\u202edlrow\u2066';
    const { find } = asked({ name: evil, reason: evil, arguments: { code: `${evil}\n`, [evil]: evil } });
    expect(find('.am-ask')!.textContent).not.toMatch(/[\u202e\u2066]/);
    expect(find('.am-ask')!.textContent).toContain('\\u202edlrow\\u2066');
  });
});

describe('folding', () => {
  const calls = [call('1'), call('2', { name: 'fx_rate', seconds: 0.9 }), call('3', { state: 'failed', error: 'E' })];

  test('puts finished calls in a row into one line', () => {
    const { words, all } = shown(record([...calls, text('4', 'So.')]), { compact: true });
    expect(all('.am-items > *').length).toBe(2);
    expect(words('.am-fold > summary .am-name')).toBe('3 calls');
    expect(words('.am-fold > summary .am-words')).toBe('sales, fx_rate, sales');
    expect(words('.am-fold > summary .am-state-text')).toBe('1 failed · 1.3 s');
    expect(all('.am-fold .am-tool').length).toBe(3);
  });

  test('waits until something follows, and keeps what was opened in sight', async () => {
    const { all, update, open } = shown(running(calls), { compact: true });
    expect(all('.am-fold')).toEqual([]);
    const card = await open('.am-tool');
    update(running([...calls, text('4', 'So', 'running')]));
    expect((all('.am-fold')[0] as HTMLDetailsElement).open).toBe(true);
    expect(card.open).toBe(true);
    expect(all('.am-fold')[0]!.contains(card)).toBe(true);
  });

  test('leaves a single call, a running one, and one with a figure as they are', () => {
    const figure = call('3', { outputs: [{ 'image/png': PNG }] });
    const going = call('5', { state: 'running', seconds: null });
    const items = [call('1'), text('2', 'a'), call('6'), figure, call('4'), going];
    const { all } = shown(running(items), { compact: true });
    expect(all('.am-fold')).toEqual([]);
  });
});

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
