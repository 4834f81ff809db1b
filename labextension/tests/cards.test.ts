// @vitest-environment jsdom
import { describe, expect, test, vi } from 'vitest';

import type { Item } from '../src/view/record';
import { PNG, TABLE, call, record, running, text } from './records';
import { shown } from './view_page';

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
    const note: Item = { id: '0', kind: 'note', state: 'done', text: 'Note. ' };
    expect(shown(record([note, ...items])).words('.am-items')).toBe('Note. Yes.Faster!');
    const { words, all } = shown(record(items), { prompt: true });
    expect(words('.am-items')).toBe('Look at @df and a@b.cYes.Faster!');
    expect(all('.am-chip').map(chip => chip.textContent)).toEqual(['@df']);
  });

  test.each([
    ['@größe and @df.price, @In[3]', ['@größe', '@df.price', '@In[3]']],
    ['See @file:data/x.csv. And @file:"my sales.csv"', ['@file:data/x.csv', '@file:"my sales.csv"']],
    ['me@example.org, @me@example.org, git+ssh://@host', []]
  ])('what is mentioned in "%s" is set off', (said, mentioned) => {
    const { all, words } = shown(record([{ id: '1', kind: 'user', state: 'done', text: said }]), { prompt: true });
    expect(all('.am-chip').map(chip => chip.textContent)).toEqual(mentioned);
    expect(words('.am-said')).toBe(said);
  });

  test('of a long text that the user said only the beginning is in sight', () => {
    const said = `${'Look at the sales of each region once more. '.repeat(3)}And look at @df, of which ${'more '.repeat(9)}`;
    const items: Item[] = [{ id: '1', kind: 'user', state: 'done', text: said }];
    const { all, find, press } = shown(record(items), { prompt: true });
    const seen = () =>
      [...find('.am-said')!.childNodes]
        .filter(node => !(node instanceof HTMLElement && (node.hidden || node.tagName === 'BUTTON')))
        .map(node => node.textContent)
        .join('')
        .trim();
    expect(seen()).toBe('Look at the sales of each region once more. Look at the sales of each region…');
    press('More');
    expect(seen()).toBe(said.trim());
    expect(all('.am-chip').map(chip => chip.textContent)).toEqual(['@df']);
    expect(find('[aria-expanded]')!.getAttribute('aria-expanded')).toBe('true');
    press('Less');
    expect(seen()).toMatch(/region…$/);
  });

  test.each([
    ['many lines', 'a\nb\nc\nd\ne', 'a\nb…'],
    ['no spaces', '\u{1f600}'.repeat(100), `${'\u{1f600}'.repeat(40)}…`],
    ['an odd number of halves', `x${'\u{1f600}'.repeat(100)}`, `x${'\u{1f600}'.repeat(39)}…`]
  ])('a long text with %s is cut between characters', (_, said, seen) => {
    const { find } = shown(record([{ id: '1', kind: 'user', state: 'done', text: said }]), { prompt: true });
    expect(find('.am-said')!.textContent!.startsWith(seen)).toBe(true);
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
