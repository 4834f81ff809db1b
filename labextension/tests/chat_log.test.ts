// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ChatPage, GROWTH, RUNNING, record, userItem } from './chat_page';
import { question, running } from './records';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const SECOND = record('r2', [userItem('And last year?'), { id: '2', kind: 'text', state: 'done', text: 'EU.' }]);

describe('the conversation', () => {
  test('is the runs that the kernel tells, each with what was said', async () => {
    const page = await ChatPage.opened({}, [GROWTH, SECOND]);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df', 'And last year?']);
    const turns = [...page.element.querySelectorAll('.am-chat-turn')];
    expect(turns[0]!.textContent).toContain('APAC grew fastest.');
    expect(turns[1]!.textContent).toContain('EU.');
    expect(page.find('.am-chat-mention').textContent).toBe('@df');
  });

  test('says so where nothing was said, and how much is left out', async () => {
    let page = await ChatPage.opened({}, []);
    expect(page.isShown(page.find('.am-chat-empty:not([hidden])'))).toBe(true);
    expect(page.element.textContent).toContain('Ask something about this notebook.');
    page = new ChatPage();
    await page.attached({}, [GROWTH], { earlier: 12 });
    const shown = [...page.element.querySelectorAll('.am-chat-empty')].filter(each => page.isShown(each));
    expect(shown.map(each => each.textContent)).toEqual(['12 earlier messages and their answers are not shown here.']);
  });

  test('never takes what was said for markup', async () => {
    const text = '<img src=x onerror=alert(1)> @df';
    const page = await ChatPage.opened({ problems: [text], queue: [text] }, [record('r1', [userItem(text)])]);
    page.chat.setPlace(text);
    expect(page.bubbles).toEqual([text, text]);
    expect(page.notices).toEqual([text]);
    expect(page.element.querySelector('img')).toBeNull();
  });

  test('shows the pictures that the user attached, also without a word', async () => {
    const picture = { 'image/png': 'AQID' };
    const page = await ChatPage.opened({}, [
      record('r1', [{ ...userItem('What is this?'), outputs: [picture] }]),
      record('r2', [{ ...userItem(''), outputs: [picture] }])
    ]);
    const images = [...page.element.querySelectorAll<HTMLImageElement>('.am-chat-bubble img')];
    expect(images.map(image => [image.src, page.isShown(image)])).toEqual([
      ['data:image/png;base64,AQID', true],
      ['data:image/png;base64,AQID', true]
    ]);
  });

  test('what was opened of a long message stays open while its run goes on', async () => {
    const page = await ChatPage.opened();
    const items = [userItem('Say in a sentence what is wrong. '.repeat(8))];
    page.run(items);
    page.press('More');
    const again = record('r2', [...items.map(item => ({ ...item }))], RUNNING);
    page.kernel.say({ type: 'run', run: 'r2', seq: 2, record: again });
    expect(page.button('Less')).toBeDefined();
  });

  test('shows what is invisible in what was said', async () => {
    const page = await ChatPage.opened({}, [record('r1', [userItem('a\u202eb, @In[3]')])]);
    expect(page.bubbles).toEqual(['a\\u202eb, @In[3]']);
    expect(page.find('.am-chat-mention').textContent).toBe('@In[3]');
  });

  test('shows a run as it goes on, and what was said meanwhile where it was said', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend'), { id: '2', kind: 'text', state: 'running', text: 'Fit' }]);
    page.kernel.say({ type: 'deltas', run: 'r2', deltas: [{ seq: 2, item: '2', append: { text: 'ting' } }] });
    page.kernel.say({
      type: 'deltas',
      run: 'r2',
      deltas: [{ seq: 3, item: '3', set: { kind: 'user', state: 'done', text: 'Robustly' } }]
    });
    await vi.advanceTimersByTimeAsync(300);
    const turn = page.element.querySelectorAll('.am-chat-turn')[1]!;
    const text = turn.textContent!;
    expect(text).toContain('Fitting');
    expect(text.split('Fit a trend').length - 1).toBe(1);
    expect(text.indexOf('Robustly')).toBeGreaterThan(text.indexOf('Fitting'));
    expect(page.bubbles).toEqual(['Which grew fastest? See @df', 'Fit a trend']);
  });

  test('a run that begins is said to a screen reader once', async () => {
    const page = await ChatPage.opened();
    page.run([]);
    const live = page.find('.am-chat > .am-chat-hidden');
    expect([live.getAttribute('role'), live.textContent]).toEqual(['status', 'The agent is at work.']);
    live.textContent = '';
    page.kernel.say({ type: 'deltas', run: 'r2', deltas: [{ seq: 2, item: null, set: { turns: 2 } }] });
    expect(live.textContent).toBe('');
    page.run([], 'r3');
    expect(live.textContent).toBe('The agent is at work.');
    page.kernel.say({ type: 'run', run: 'r3', seq: 2, record: record('r3', []) });
    expect(live.textContent).toBe('');
  });

  test('is asked for again when the kernel says that it is another', async () => {
    const page = await ChatPage.opened({ history: 1 }, [GROWTH, SECOND]);
    page.state({ history: 1 });
    expect(page.requested('attach').length).toBe(1);
    page.state({ history: 2 });
    await page.kernel.settle();
    expect(page.requested('attach').length).toBe(2);
    const kept = page.element.querySelector('.am-chat-turn');
    await page.attached({ history: 2 }, [GROWTH]);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df']);
    expect(page.element.querySelector('.am-chat-turn')).toBe(kept);
    expect(page.requested('attach').length).toBe(2);
  });

  test('keeps the run that goes on when it is asked for again', async () => {
    const page = await ChatPage.opened({ history: 1 }, [GROWTH]);
    page.run([userItem('Fit a trend')]);
    page.state({ busy: true, history: 2 });
    await page.kernel.settle();
    await page.attached({ busy: true, run: 'r2', history: 2 }, [GROWTH]);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df', 'Fit a trend']);
  });
});

describe('what can be done about a run', () => {
  test('the last can be tried again or taken back, and then the rest is shown', async () => {
    const page = await ChatPage.opened({}, [GROWTH, SECOND]);
    expect(page.element.querySelectorAll('[aria-label="Try again"]').length).toBe(1);
    page.press('Try again');
    expect(page.requested('retry')).toEqual([{}]);
    await page.answer('retry', {});
    page.state({ history: 1 });
    await page.kernel.settle();
    await page.attached({ history: 1 }, [GROWTH]);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df']);
    page.press('Undo: take this message and its answer back');
    expect(page.requested('undo')).toEqual([{ run: 'r1' }]);
    await page.refuse('undo', 'Nothing was said yet.');
    expect(page.notices).toEqual(['Nothing was said yet.']);
  });

  test('nothing of it is offered while a run goes on', async () => {
    const page = await ChatPage.opened();
    expect(page.button('Edit and send again')).toBeDefined();
    page.state({ busy: true });
    expect(page.button('Try again')).toBeUndefined();
    page.run([userItem('Fit a trend')]);
    expect(page.button('Try again')).toBeUndefined();
    expect(page.button('Edit and send again')).toBeUndefined();
    page.kernel.say({ type: 'run', run: 'r2', seq: 2, record: record('r2', [userItem('Fit a trend')]) });
    page.state({ busy: false });
    expect(page.button('Try again')).toBeDefined();
  });

  test('a message can be edited in its place and sent again', async () => {
    const page = await ChatPage.opened();
    page.press('Edit and send again');
    const field = page.find<HTMLTextAreaElement>('.am-chat-edit textarea');
    expect(document.activeElement).toBe(field);
    expect(field.value).toBe('Which grew fastest? See @df');
    expect(page.find('.am-chat-edit').textContent).toContain('stays in another branch');
    field.value = 'Which shrank?';
    page.key('Enter');
    expect(page.requested('edit')).toEqual([{ run: 'r1', text: 'Which shrank?' }]);
    expect(field.disabled).toBe(true);
    await page.answer('edit', {});
    expect(page.element.querySelector('.am-chat-edit')).toBeNull();
    expect(document.activeElement).toBe(page.message);
  });

  test('an edited message is sent by the key that the user has chosen', async () => {
    const page = await ChatPage.opened();
    page.chat.setSendKey('Ctrl+Enter');
    page.press('Edit and send again');
    expect(page.key('Enter')).toBe(false);
    expect(page.requested('edit')).toEqual([]);
    expect(page.key('Enter', { ctrlKey: true })).toBe(true);
    expect(page.requested('edit')).toHaveLength(1);
  });

  test('an edit that is refused keeps its text; Escape gives it up', async () => {
    const page = await ChatPage.opened();
    page.press('Edit and send again');
    const field = page.find<HTMLTextAreaElement>('.am-chat-edit textarea');
    field.value = 'Which shrank?';
    page.key('Enter');
    await page.refuse('edit', 'The agent is at work.');
    expect(field.value).toBe('Which shrank?');
    expect(field.disabled).toBe(false);
    expect(page.notices).toEqual(['The agent is at work.']);
    page.key('Escape', {}, field);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df']);
    expect(document.activeElement).toBe(page.button('Edit and send again'));
  });

  test('a record is put into the notebook where the page can', async () => {
    let page = await ChatPage.opened();
    expect(page.button('Insert as a cell')).toBeUndefined();
    const insertRecord = vi.fn();
    page = await ChatPage.opened({}, [GROWTH], { insertRecord });
    page.press('Insert as a cell');
    expect(page.requested('bundle')).toEqual([{ run: 'r1' }]);
    await page.answer('bundle', { bundle: { 'text/plain': 'x' }, source: '%%agent\nx' });
    expect(insertRecord).toHaveBeenCalledWith({ 'text/plain': 'x' }, '%%agent\nx');
  });

  test('code is put into the selected cell where the page can', async () => {
    const code = record('r1', [
      userItem('How?'),
      { id: '2', kind: 'text', state: 'done', text: '```python\ndf.plot()\n```' }
    ]);
    let page = await ChatPage.opened({}, [code]);
    expect(page.button('Apply')).toBeUndefined();
    const applyCode = vi.fn();
    page = await ChatPage.opened({}, [code], { applyCode });
    page.press('Apply');
    expect(applyCode).toHaveBeenCalledWith('df.plot()');
  });

  test('a question is shown to the kernel and answered to it', async () => {
    const page = await ChatPage.opened({}, [], { applyCode: vi.fn() });
    page.run([
      userItem('Draw'),
      {
        id: 'a1',
        kind: 'approval',
        state: 'pending',
        name: 'run_python',
        arguments: { code: 'df.plot()' },
        effect: 'execute',
        hash: 'h1',
        text: 'May run_python run?'
      }
    ]);
    expect(page.requested('shown')).toEqual([{ approval: 'a1', run: 'r2', seen: true }]);
    await page.kernel.settle();
    expect(page.button('Copy')).toBeDefined();
    expect(page.button('Apply')).toBeUndefined();
    page.press('Run');
    expect(page.requested('answer')).toMatchObject([{ run: 'r2', approval: 'a1', decision: 'once', hash: 'h1' }]);
  });

  test('is told as seen only where the user sees it, and once he does', async () => {
    let visible = false;
    const page = await ChatPage.opened({ busy: true, run: 'r2' }, [GROWTH], { isSeen: () => visible });
    const record = running([question('a1')], { run: 'r2' });
    page.kernel.say({ type: 'run', run: 'r2', seq: 1, record });
    await page.kernel.settle();
    expect(page.requested('shown')).toEqual([{ approval: 'a1', run: 'r2', seen: false }]);
    visible = true;
    page.chat.seen();
    page.chat.seen();
    expect(page.requested('shown').slice(1)).toEqual([{ approval: 'a1', run: 'r2', seen: true }]);
  });

  test('of a run that a hidden chat is not told of may be answered here all the same', async () => {
    let visible = false;
    const page = await ChatPage.opened({}, [GROWTH], { isSeen: () => visible });
    page.client.look(false);
    page.state({ busy: true, run: 'r2', questions: ['a1'] });
    page.state({ busy: true, run: 'r2', questions: ['a1'], cost: 1 });
    expect(page.requested('shown')).toEqual([{ approval: 'a1', run: 'r2', seen: false }]);
    visible = true;
    page.client.look(true);
    page.chat.seen();
    // Only once it is drawn.
    expect(page.requested('shown')).toHaveLength(1);
    page.kernel.say({ type: 'run', run: 'r2', seq: 9, record: running([question('a1')], { run: 'r2' }) });
    expect(page.requested('shown').slice(1)).toEqual([{ approval: 'a1', run: 'r2', seen: true }]);
  });
});

describe('a chat that is hidden', () => {
  const LATER = record('r2', [userItem('And then?'), { id: '2', kind: 'text', state: 'done', text: 'EMEA.' }]);

  const missed: [string, number, (page: ChatPage) => void][] = [
    ['has begun and ended', 0, page => page.state({ busy: true, run: 'r2' })],
    ['has ended', 0, page => page.run([userItem('And then?')])],
    ['was taken back', 1, () => undefined]
  ];

  test.each(missed)('asks for what was said once it is seen, where meanwhile a run %s', async (_, history, happens) => {
    const page = await ChatPage.opened();
    page.client.look(false);
    happens(page);
    page.state({ history });
    await page.kernel.settle();
    expect(page.requested('attach')).toHaveLength(1);
    page.client.look(true);
    page.chat.seen();
    await page.kernel.settle();
    expect(page.requested('attach')).toHaveLength(2);
    await page.attached({ history }, [GROWTH, LATER]);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df', 'And then?']);
    page.chat.seen();
    await page.kernel.settle();
    expect(page.requested('attach')).toHaveLength(2);
  });

  test('asks for nothing where it has seen the end, or sees the run go on', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('And then?')]);
    page.client.look(false);
    page.client.look(true);
    page.chat.seen();
    page.kernel.say({ type: 'run', run: 'r2', seq: 2, record: LATER });
    page.state({});
    await page.kernel.settle();
    expect(page.requested('attach')).toHaveLength(1);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df', 'And then?']);
  });
});

describe('scrolling', () => {
  /** jsdom has no layout: a log of `height` in a place of 100 pixels. */
  function scroller(page: ChatPage, height: () => number): HTMLElement {
    const log = page.find('.am-chat-log');
    let top = 0;
    Object.defineProperties(log, {
      scrollHeight: { get: height },
      clientHeight: { get: () => 100 },
      scrollTop: {
        get: () => top,
        set: (value: number) => {
          top = Math.max(0, Math.min(value, height() - 100));
          log.dispatchEvent(new Event('scroll'));
        }
      }
    });
    return log;
  }

  test('follows the end while the user is there', async () => {
    const page = await ChatPage.opened();
    let height = 300;
    const log = scroller(page, () => height);
    page.run([userItem('Fit a trend')]);
    expect(log.scrollTop).toBe(200);
    height = 500;
    page.kernel.say({ type: 'deltas', run: 'r2', deltas: [{ seq: 2, item: null, set: { turns: 2 } }] });
    expect(log.scrollTop).toBe(400);
    expect(page.button('To the end')).toBeUndefined();
  });

  test('stays where the user has scrolled to, and offers the way back', async () => {
    const page = await ChatPage.opened();
    let height = 300;
    const log = scroller(page, () => height);
    page.run([userItem('Fit a trend')]);
    log.scrollTop = 150;
    height = 500;
    page.kernel.say({ type: 'deltas', run: 'r2', deltas: [{ seq: 2, item: null, set: { turns: 2 } }] });
    expect(log.scrollTop).toBe(150);
    page.press('To the end');
    expect(log.scrollTop).toBe(400);
    expect(page.button('To the end')).toBeUndefined();
  });

  test('tells who reads further up that he is waited for', async () => {
    const page = await ChatPage.opened();
    const log = scroller(page, () => 300);
    page.run([userItem('Draw')]);
    log.scrollTop = 50;
    page.kernel.say({
      type: 'deltas',
      run: 'r2',
      deltas: [{ seq: 2, item: 'a', set: { kind: 'approval', state: 'pending', name: 'run_python', arguments: {} } }]
    });
    expect(page.button('To the end')).toBeUndefined();
    page.press('The agent waits for you');
    expect(log.scrollTop).toBe(200);
  });

  test('goes to the end when the user sends something', async () => {
    const page = await ChatPage.opened();
    const log = scroller(page, () => 300);
    page.run([userItem('Fit a trend')]);
    log.scrollTop = 50;
    page.say('Robustly');
    expect(log.scrollTop).toBe(200);
  });

  test('who opens something stays there', async () => {
    const page = await ChatPage.opened();
    let height = 300;
    const log = scroller(page, () => height);
    page.run([userItem('Fit a trend')]);
    height = 500;
    page.find('.am-chat-turn').click();
    await vi.advanceTimersByTimeAsync(50);
    page.kernel.say({ type: 'deltas', run: 'r2', deltas: [{ seq: 2, item: null, set: { turns: 2 } }] });
    expect(log.scrollTop).toBe(200);
  });
});
