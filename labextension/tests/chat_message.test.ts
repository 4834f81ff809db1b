// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ChatPage, GROWTH, record, RUNNING, userItem } from './chat_page';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('sending', () => {
  test('Enter sends what is written, shows it at once and empties the field', async () => {
    const page = await ChatPage.opened();
    expect(page.hint).toBe('Enter sends');
    page.say('  Draw it  ');
    expect(page.requested('send')).toEqual([{ text: 'Draw it', attachments: [], when: 'now' }]);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df', 'Draw it']);
    expect(page.message.value).toBe('');
    expect(document.activeElement).toBe(page.message);
  });

  test('a message is shown once when its run shows it', async () => {
    const page = await ChatPage.opened();
    page.say('Draw it');
    await page.answer('send', { as: 'run' });
    expect(page.bubbles.filter(text => text === 'Draw it')).toEqual(['Draw it']);
    page.run([userItem('Draw it')]);
    expect(page.bubbles.filter(text => text === 'Draw it')).toEqual(['Draw it']);
    expect(page.element.querySelector('.am-chat-waiting')).toBeNull();
  });

  test('the same words said twice are two messages', async () => {
    const page = await ChatPage.opened({}, [record('r1', [userItem('Again')])]);
    page.say('Again');
    await page.answer('send', { as: 'run' });
    expect(page.bubbles).toEqual(['Again', 'Again']);
    page.run([userItem('Again')]);
    expect(page.bubbles).toEqual(['Again', 'Again']);
    expect(page.element.querySelectorAll('.am-chat-waiting').length).toBe(0);
  });

  test('a run that fails before it knows what was said takes the place of the message', async () => {
    const page = await ChatPage.opened();
    page.say('Draw it');
    await page.answer('send', { as: 'run' });
    page.run([]);
    page.kernel.say({ type: 'run', run: 'r2', seq: 2, record: record('r2', [], { state: 'failed' }) });
    page.state({ busy: false });
    expect(page.element.querySelector('.am-chat-waiting')).toBeNull();
  });

  test('Ctrl+Enter sends where the page wants it so, and Enter begins a line', async () => {
    const page = await ChatPage.opened();
    page.chat.setSendKey('Ctrl+Enter');
    expect(page.hint).toBe('Ctrl+Enter sends');
    page.write('Draw it');
    expect(page.key('Enter')).toBe(false);
    expect(page.requested('send')).toEqual([]);
    page.key('Enter', { ctrlKey: true });
    expect(page.requested('send').length).toBe(1);
  });

  test('Shift+Enter and Enter of an input method send nothing, nor does an empty field', async () => {
    const page = await ChatPage.opened();
    page.write('one');
    expect(page.key('Enter', { shiftKey: true })).toBe(false);
    expect(page.key('Enter', { isComposing: true })).toBe(false);
    page.write('   ');
    page.key('Enter');
    expect(page.button('Send')!.disabled).toBe(true);
    expect(page.requested('send')).toEqual([]);
  });

  test('what was refused comes back into the field, before what was written since', async () => {
    const page = await ChatPage.opened();
    page.chat.attach({ kind: 'variable', name: 'df' });
    page.say('Draw it');
    page.write('and more');
    await page.refuse('send', 'There is no key for openai.');
    expect(page.message.value).toBe('Draw it\nand more');
    expect(page.find('.am-chat-chip').textContent).toContain('@df');
    expect(page.notices).toEqual(['Not sent: There is no key for openai.']);
    expect(page.bubbles).toEqual(['Which grew fastest? See @df']);
    page.say('Again');
    expect(page.notices).toEqual([]);
  });

  test('a kernel that does not answer within a second is said to be busy', async () => {
    const page = await ChatPage.opened();
    page.say('Draw it');
    vi.advanceTimersByTime(999);
    expect(page.hint).toBe('Enter sends');
    vi.advanceTimersByTime(1);
    expect(page.hint).toBe('The kernel is busy; this is sent when it is free');
    expect(page.bubbles).toContain('Draw it');
    await page.answer('send', { as: 'run' });
    expect(page.hint).toBe('Enter sends');
  });

  test('what the kernel had not answered when it went away comes back', async () => {
    const page = await ChatPage.opened();
    page.say('Draw it');
    page.chat.setConnection({ state: 'waiting', text: 'The kernel restarts…' });
    await page.kernel.settle();
    expect(page.message.value).toBe('Draw it');
    expect(page.hint).toBe('Not connected');
    expect(page.notices).toContain('Not sent: The connection to the kernel was lost before it answered.');
    page.key('Enter');
    expect(page.requested('send').length).toBe(1);
  });
});

describe('while a run goes on', () => {
  test('Enter steers it, Queue and Alt+Enter wait for its end', async () => {
    const page = await ChatPage.opened();
    expect(page.button('Queue')).toBeUndefined();
    page.run([userItem('Fit a trend')]);
    expect(page.hint).toBe('Enter steers the run');
    expect(page.button('Send')).toBeUndefined();
    expect(page.button('Steer')!.title).toBe('Told to the agent at its next step (Enter)');
    page.say('Use a robust fit');
    page.write('Then write it up');
    page.press('Queue');
    page.write('And save it');
    page.key('Enter', { altKey: true });
    page.write('In red');
    page.press('Steer');
    expect(page.requested('send').map(({ text, when }) => [text, when])).toEqual([
      ['Use a robust fit', 'now'],
      ['Then write it up', 'next'],
      ['And save it', 'next'],
      ['In red', 'now']
    ]);
    page.state({ busy: false });
    expect(page.button('Send')).toBeDefined();
  });

  test('what steers stands below until the run shows it', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.say('Robustly');
    await page.answer('send', { as: 'steer' });
    const note = 'RobustlyTold to the agent at its next step';
    expect(page.find('.am-chat-waiting').textContent).toBe(note);
    page.state({ busy: true, queue: ['Robustly'] });
    expect([...page.element.querySelectorAll('.am-chat-waiting')].map(each => each.textContent)).toEqual([note]);
    page.state({ busy: true });
    const items = [userItem('Fit a trend'), userItem('Robustly', '2')];
    page.kernel.say({ type: 'run', run: 'r2', seq: 2, record: record('r2', items, RUNNING) });
    expect(page.element.querySelector('.am-chat-waiting')).toBeNull();
  });

  test('what waits in the kernel is shown once, as queued', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.write('Then write it up');
    page.press('Queue');
    await page.answer('send', { as: 'follow_up' });
    page.state({ busy: true, queue: ['Then write it up'] });
    const waiting = [...page.element.querySelectorAll('.am-chat-waiting')].map(each => each.textContent);
    expect(waiting).toEqual(['Then write it upQueued']);
  });

  test('Stop is offered, asks the kernel, and gives the focus back', async () => {
    const page = await ChatPage.opened();
    expect(page.button('Stop')).toBeUndefined();
    page.run([userItem('Fit a trend')]);
    page.button('Stop')!.focus();
    page.press('Stop');
    expect(page.requested('stop')).toEqual([{}]);
    await page.answer('stop', {});
    page.state({ busy: false });
    expect(page.button('Stop')).toBeUndefined();
    expect(document.activeElement).toBe(page.message);
  });

  test('what waits when a run is stopped here comes back into the field, with what was attached', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.chat.attach({ kind: 'variable', name: 'df' });
    page.say('Robustly');
    await page.answer('send', { as: 'steer' });
    page.write('Then write it up');
    page.press('Queue');
    await page.answer('send', { as: 'follow_up' });
    const queue = ['Robustly', 'Then write it up'];
    page.state({ busy: true, run: 'r2', queue });
    page.write('mine');
    page.press('Stop');
    await page.answer('stop', {});
    expect(page.requested('withdraw')).toEqual([]);
    page.state({ busy: false, queue });
    page.state({ busy: false, queue });
    expect(page.requested('withdraw')).toEqual([{}]);
    await page.answer('withdraw', { texts: queue });
    expect(page.message.value).toBe('Robustly\n\nThen write it up\nmine');
    expect(page.find('.am-chat-chip').textContent).toContain('@df');
    expect(page.element.querySelector('.am-chat-waiting')).toBeNull();
  });

  test('what waits when a run is stopped elsewhere goes with the next message, and says so', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.say('Robustly');
    await page.answer('send', { as: 'steer' });
    page.state({ busy: false, queue: ['Robustly'] });
    expect(page.requested('withdraw')).toEqual([]);
    expect(page.find('.am-chat-waiting').textContent).toBe('RobustlyNot told yet: goes with your next message');
  });

  test('a Stop after which nothing waits takes nothing back, then or later', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.press('Stop');
    page.state({ busy: false });
    page.state({ busy: false, queue: ['Of code'] });
    expect(page.requested('withdraw')).toEqual([]);
  });

  test('Stop leaves the kernel alone where the page interrupts it', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.element.addEventListener('agent-magic:interrupt', event => event.preventDefault());
    page.press('Stop');
    expect(page.requested('stop')).toEqual([]);
  });

  test('a Stop that is not answered within a second sends the user to the kernel’s own', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.press('Stop');
    await vi.advanceTimersByTimeAsync(1000);
    expect(page.button('Stop')).toBeUndefined();
    expect(page.find('.am-chat-stop-advice').textContent).toContain('Use the kernel’s Stop button.');
    expect(page.isShown(page.find('.am-chat-stop-advice'))).toBe(true);
    page.write('hm');
    expect(page.button('Stop')).toBeUndefined();
    page.state({ busy: false });
    expect(page.isShown(page.find('.am-chat-stop-advice'))).toBe(false);
  });
});

describe('keys of the message', () => {
  test('the arrows bring back earlier messages into an empty field only', async () => {
    const page = await ChatPage.opened({}, [GROWTH, record('r3', [userItem('Second')])]);
    page.message.focus();
    expect(page.key('ArrowUp')).toBe(true);
    expect(page.message.value).toBe('Second');
    page.key('ArrowUp');
    expect(page.message.value).toBe('Which grew fastest? See @df');
    page.key('ArrowUp');
    expect(page.message.value).toBe('Which grew fastest? See @df');
    page.key('ArrowDown');
    page.key('ArrowDown');
    expect(page.message.value).toBe('');
    page.write('mine');
    expect(page.key('ArrowUp')).toBe(false);
    expect(page.message.value).toBe('mine');
  });

  test('Escape leaves: to where the host says, else out of the field', async () => {
    const leave = vi.fn();
    let page = await ChatPage.opened({}, [], { leave });
    page.message.focus();
    page.key('Escape');
    expect(leave).toHaveBeenCalledOnce();
    page = await ChatPage.opened();
    page.message.focus();
    page.key('Escape');
    expect(document.activeElement).not.toBe(page.message);
  });

  test('@ completes the variables of the kernel', async () => {
    const page = await ChatPage.opened();
    page.write('Plot @d');
    await page.answer('variables', {
      variables: [
        { name: 'fd', type: 'int', summary: '' },
        { name: 'df', type: 'DataFrame', summary: 'DataFrame 48 × 4' },
        { name: 'other', type: 'int', summary: '' }
      ]
    });
    const options = [...page.element.querySelectorAll('.am-chat-mentions [role=option]')];
    expect(options.map(option => option.textContent)).toEqual(['@dfDataFrame 48 × 4', '@fdint']);
    expect(page.message.getAttribute('aria-activedescendant')).toBe(options[0]!.id);
    page.key('ArrowDown');
    expect(page.message.getAttribute('aria-activedescendant')).toBe(options[1]!.id);
    page.key('ArrowUp');
    page.key('Enter');
    expect(page.message.value).toBe('Plot @df ');
    expect(page.requested('send')).toEqual([]);
    expect(page.isShown(page.find('.am-chat-mentions'))).toBe(false);
    expect(page.requested('variables').length).toBe(1);
  });

  test('an address is no mention, and Escape closes the list without leaving', async () => {
    const leave = vi.fn();
    const page = await ChatPage.opened({}, [], { leave });
    page.write('me@home');
    expect(page.requested('variables')).toEqual([]);
    page.write('@');
    await page.answer('variables', { variables: [{ name: 'df', type: 'DataFrame', summary: '' }] });
    expect(page.isShown(page.find('.am-chat-mentions'))).toBe(true);
    page.key('Escape');
    expect(page.isShown(page.find('.am-chat-mentions'))).toBe(false);
    expect(leave).not.toHaveBeenCalled();
  });
});

describe('attachments', () => {
  test('the menu offers what the host has, and the chip goes with the message', async () => {
    const cell = { kind: 'cell', id: 'c1', source: 'df.head()\n' } as const;
    const page = await ChatPage.opened({}, [], {
      attachments: () => [{ label: 'Selected cell', description: 'df.head()', read: () => cell }]
    });
    page.press('Attach');
    const items = [...page.element.querySelectorAll<HTMLElement>('[role=menuitem]')];
    expect(items.map(item => item.firstChild!.textContent)).toEqual(['Selected cell', 'Image…', 'Variable…']);
    expect(document.activeElement).toBe(items[0]);
    page.key('ArrowDown');
    expect(document.activeElement).toBe(items[1]);
    items[0]!.click();
    await page.kernel.settle();
    expect(page.find('.am-chat-chip').textContent).toBe('cell: df.head()');
    page.say('What is it?');
    expect(page.requested('send')).toEqual([{ text: 'What is it?', attachments: [cell], when: 'now' }]);
    expect(page.element.querySelector('.am-chat-chip')).toBeNull();
  });

  test('what cannot be read is told', async () => {
    const page = await ChatPage.opened({}, [], {
      attachments: () => [{ label: 'Selected cell', read: () => Promise.reject(new Error('The cell is gone.')) }]
    });
    page.press('Attach');
    page.find('[role=menuitem]').click();
    await page.kernel.settle();
    expect(page.notices).toEqual(['The cell is gone.']);
  });

  test('a chip can be removed; an attachment alone can be sent', async () => {
    const page = await ChatPage.opened();
    page.chat.attach({ kind: 'selection', name: 'lines 3 to 5', text: 'x' });
    page.chat.attach({ kind: 'selection', name: 'lines 3 to 5', text: 'x' });
    page.chat.attach({ kind: 'variable', name: 'df' });
    expect(page.button('Send')!.disabled).toBe(false);
    page.press('Remove lines 3 to 5');
    expect(document.activeElement).toBe(page.message);
    page.key('Enter');
    expect(page.requested('send')[0]!.attachments).toEqual([{ kind: 'variable', name: 'df' }]);
  });

  test('an image that is pasted or dropped is attached', async () => {
    vi.useRealTimers();
    const page = await ChatPage.opened();
    const file = new File([new Uint8Array([1, 2, 3])], 'plot.png', { type: 'image/png' });
    const paste = Object.assign(new Event('paste', { bubbles: true, cancelable: true }), {
      // A browser's "Copy Image" gives this.
      clipboardData: { files: [file], types: ['text/html', 'Files'] }
    });
    page.message.dispatchEvent(paste);
    expect(paste.defaultPrevented).toBe(true);
    await vi.waitFor(() => expect(page.element.querySelectorAll('.am-chat-chip').length).toBe(1));
    const other = new File([new Uint8Array([4])], 'photo.jpg', { type: 'image/jpeg' });
    const drop = Object.assign(new Event('drop', { bubbles: true, cancelable: true }), {
      dataTransfer: { files: [other] }
    });
    page.message.dispatchEvent(drop);
    await vi.waitFor(() => expect(page.element.querySelectorAll('.am-chat-chip').length).toBe(2));
    page.key('Enter', {}, page.message);
    expect(page.requested('send')[0]!.attachments).toEqual([
      { kind: 'image', mime: 'image/png', data: 'AQID' },
      { kind: 'image', mime: 'image/jpeg', data: 'BA==' }
    ]);
  });

  test('text is pasted as text; other files are refused with the reason', async () => {
    vi.useRealTimers();
    const page = await ChatPage.opened();
    // Cells of a spreadsheet come with their picture.
    const picture = new File([new Uint8Array([1])], 'image.png', { type: 'image/png' });
    for (const clipboardData of [
      { files: [], types: ['text/plain'] },
      { files: [picture], types: ['text/plain', 'text/html', 'Files'] }
    ]) {
      const paste = Object.assign(new Event('paste', { bubbles: true, cancelable: true }), { clipboardData });
      page.message.dispatchEvent(paste);
      expect(paste.defaultPrevented).toBe(false);
    }
    const file = new File(['a,b'], 'data.csv', { type: 'text/csv' });
    const drop = Object.assign(new Event('drop', { bubbles: true, cancelable: true }), {
      dataTransfer: { files: [file] }
    });
    page.message.dispatchEvent(drop);
    await vi.waitFor(() => expect(page.notices.length).toBe(1));
    expect(page.notices[0]).toBe('data.csv cannot be attached: models read PNG, JPEG, GIF and WebP images.');
  });
});
