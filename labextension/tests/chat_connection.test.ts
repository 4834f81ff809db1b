// @vitest-environment jsdom
import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ChatPage, GROWTH, userItem } from './chat_page';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const instead = (page: ChatPage) => {
  const text = page.find('.am-chat-absent');
  return page.isShown(text) ? text.firstChild!.textContent : null;
};

describe('connecting', () => {
  test('attaches at once; a kernel that answers soon is not waited for in words', async () => {
    const page = new ChatPage();
    expect(page.requested('attach')).toMatchObject([{ kind: 'panel', notebook: 'growth.ipynb', protocol: 1 }]);
    expect(page.hint).toBe('Not connected');
    await page.attached();
    expect(instead(page)).toBeNull();
    vi.advanceTimersByTime(10_000);
    expect(instead(page)).toBeNull();
    expect(page.hint).toBe('Enter sends');
  });

  test('says that it connects, and then that the kernel may be busy', async () => {
    const page = new ChatPage();
    vi.advanceTimersByTime(400);
    expect(instead(page)).toBe('Connecting…');
    vi.advanceTimersByTime(4600);
    expect(instead(page)).toContain('may be busy');
    page.write('Draw it');
    page.key('Enter');
    expect(page.requested('send')).toEqual([]);
    await page.attached();
    expect(instead(page)).toBeNull();
    expect(page.message.value).toBe('Draw it');
    expect(page.button('Send')!.disabled).toBe(false);
  });

  test('shows the kernel’s words where the protocols differ', async () => {
    const page = new ChatPage();
    await page.refuse('attach', 'Update the package agent-magic where JupyterLab runs.');
    expect(instead(page)).toBe('Update the package agent-magic where JupyterLab runs.');
    expect(page.isShown(page.message)).toBe(false);
  });

  test('offers nothing that needs a kernel before there is one', async () => {
    const page = new ChatPage();
    for (const name of ['Conversations', 'New conversation', 'Attach', 'Model']) {
      expect([name, page.button(name)]).toEqual([name, undefined]);
    }
    await page.attached();
    expect(page.button('Conversations')).toBeDefined();
  });
});

describe('a kernel without an agent', () => {
  test('offers the one button that helps, and says why it failed', async () => {
    const page = new ChatPage();
    let fail!: (error: Error) => void;
    const run = vi.fn(() => new Promise<void>((_, reject) => (fail = reject)));
    page.chat.setConnection({
      state: 'absent',
      text: 'This kernel has no agent yet.',
      action: { label: 'Load agent_magic', run }
    });
    vi.advanceTimersByTime(10_000);
    expect(instead(page)).toBe('This kernel has no agent yet.');
    expect(page.isShown(page.message)).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(instead(page)).toBe('This kernel has no agent yet.');
    page.chat.focus();
    expect(document.activeElement).toBe(page.button('Load agent_magic'));
    page.press('Load agent_magic');
    expect(run).toHaveBeenCalledOnce();
    expect(page.button('Load agent_magic')!.disabled).toBe(true);
    fail(new Error('Install it where the kernel runs.'));
    await page.kernel.settle();
    expect(page.find('.am-chat-absent').textContent).toContain('Install it where the kernel runs.');
    expect(page.button('Load agent_magic')!.disabled).toBe(false);
    expect(document.activeElement).toBe(page.button('Load agent_magic'));
  });

  test('is a chat as soon as there is one', async () => {
    const page = new ChatPage();
    const action = { label: 'Load agent_magic', run: async () => page.chat.setConnection({ state: 'ready' }) };
    page.chat.setConnection({ state: 'absent', text: 'No agent.', action });
    page.press('Load agent_magic');
    await page.attached();
    expect(document.activeElement).toBe(page.message);
    expect(instead(page)).toBeNull();
    expect(page.bubbles.length).toBe(1);
    expect(page.isShown(page.message)).toBe(true);
  });
});

describe('a kernel that restarts', () => {
  test('leaves what was said and written, and is attached to anew', async () => {
    const page = await ChatPage.opened({}, [GROWTH], { insertRecord: () => undefined });
    expect(page.button('Insert as a cell')).toBeDefined();
    page.write('half a thought');
    page.chat.setConnection({ state: 'waiting', text: 'The kernel restarts…' });
    expect(page.bubbles.length).toBe(1);
    expect(page.notices).toEqual(['The kernel restarts…']);
    expect(page.button('Send')!.disabled).toBe(true);
    expect(page.button('Insert as a cell')).toBeUndefined();
    page.chat.setConnection({ state: 'ready' });
    await page.attached({}, []);
    expect(page.notices).toEqual([]);
    expect(page.bubbles).toEqual([]);
    expect(page.message.value).toBe('half a thought');
    expect(page.button('Send')!.disabled).toBe(false);
  });

  test('ends the run that went on, as far as the page is concerned', async () => {
    const page = await ChatPage.opened();
    page.run([userItem('Fit a trend')]);
    page.chat.setConnection({ state: 'waiting', text: 'The kernel restarts…' });
    expect(page.button('Stop')).toBeUndefined();
    page.chat.setConnection({ state: 'ready' });
    await page.attached({}, []);
    expect(page.bubbles).toEqual([]);
  });
});

describe('a new kernel without an agent', () => {
  test('leaves no word of the search for one, nor of the run that went on', async () => {
    const page = await ChatPage.opened({ problems: ['The session cannot be written.'] });
    page.run([userItem('Fit a trend')]);
    const atWork = page.element.querySelector(':scope > .am-chat > [role=status]')!;
    expect(atWork.textContent).toBe('The agent is at work.');
    page.chat.setConnection({ state: 'waiting', text: 'Asking the kernel for its agent…' });
    expect(atWork.textContent).toBe('');
    expect(page.notices).toEqual(['Asking the kernel for its agent…']);
    page.chat.setConnection({ state: 'absent', text: 'This kernel has no agent yet.' });
    expect(page.notices).toEqual([]);
    expect(instead(page)).toBe('This kernel has no agent yet.');
  });
});

describe('the page', () => {
  test('can draft a message and attach to it', async () => {
    const page = await ChatPage.opened();
    page.write('please');
    page.chat.draft('Explain this error:');
    page.chat.attach({ kind: 'cell', id: 'c', source: 'x = 1' });
    expect(page.message.value).toBe('Explain this error:\nplease');
    expect(page.find('.am-chat-chip').textContent).toBe('cell: x = 1');
    expect(document.activeElement).toBe(page.message);
  });

  test('has everything taken off it in the end', async () => {
    const page = await ChatPage.opened();
    page.say('Draw it');
    page.chat.dispose();
    await page.kernel.settle();
    expect(page.element.childElementCount).toBe(0);
    page.state({ busy: true });
  });

  test('passes the rules of accessibility in every state', async () => {
    vi.useRealTimers();
    // jsdom draws nothing, and says so at length.
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
    const check = async (page: ChatPage) => {
      const { violations } = await axe.run(page.element, {
        // Colours and sizes need a layout; a chat is a part of a page.
        rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
      });
      expect(violations.map(({ id, nodes }) => [id, ...nodes.map(node => node.html)])).toEqual([]);
    };
    const page = await ChatPage.opened({ problems: ['The disk is full.'], queue: ['next'] });
    page.chat.attach({ kind: 'variable', name: 'df' });
    await check(page);
    page.press('Model: openai/gpt-5-mini');
    await page.answer('models', {
      models: [{ id: 'demo/demo', window: null, prices: 'free', thinking: [], key: true }],
      current: 'demo/demo'
    });
    await check(page);
    page.press('Tools 1 of 2 on');
    await check(page);
    page.press('Conversations');
    await page.answer('sessions', {
      sessions: [{ id: 's', title: 'T', messages: 1, modified: 1, notebook: null, current: false }]
    });
    await check(page);
    page.press('Attach');
    await check(page);
    page.press('Edit and send again');
    page.write('@');
    await page.answer('variables', { variables: [{ name: 'df', type: 'DataFrame', summary: '' }] });
    await check(page);
    page.chat.setConnection({
      state: 'absent',
      text: 'No agent.',
      action: { label: 'Load', run: async () => undefined }
    });
    await check(page);
  }, 60_000);
});
