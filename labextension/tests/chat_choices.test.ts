// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { AgentTool, ModelInfo } from '../src/protocol/messages';
import { ChatPage, GROWTH } from './chat_page';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const MODELS: ModelInfo[] = [
  { id: 'openai/gpt-5-mini', window: 400_000, prices: '0.25 / 2', thinking: [], key: true },
  { id: 'anthropic/claude', window: 200_000, prices: '?', thinking: [], key: false },
  { id: 'demo/demo', window: null, prices: 'free', thinking: [], key: true }
];

describe('the model', () => {
  async function opened(): Promise<ChatPage> {
    const page = await ChatPage.opened();
    page.press('Model: openai/gpt-5-mini');
    await page.answer('models', { models: MODELS, current: 'openai/gpt-5-mini' });
    return page;
  }

  test('is named on the button; the list shows window, prices and keys, and what has none last', async () => {
    const page = await ChatPage.opened();
    expect(page.button('Model: openai/gpt-5-mini')!.textContent).toBe('gpt-5-mini');
    page.press('Model: openai/gpt-5-mini');
    expect(document.activeElement!.getAttribute('role')).toBe('combobox');
    expect(page.requested('models')).toEqual([{ filter: '' }]);
    await page.answer('models', { models: MODELS, current: 'openai/gpt-5-mini' });
    expect([...page.element.querySelectorAll('[role=option]')].map(each => each.textContent)).toEqual([
      'openai/gpt-5-miniin use · 400k tokens · $0.25 / 2 per million in / out',
      'demo/demofree',
      'anthropic/claude200k tokens · price unknown · no key'
    ]);
  });

  test('says how to get others where no key opens any', async () => {
    const page = await ChatPage.opened();
    page.press('Model: openai/gpt-5-mini');
    const told = () => page.find('.am-chat-popup:not([hidden]) [role=status]').textContent;
    const demo = { ...MODELS[2]!, id: 'demo' };
    await page.answer('models', { models: [demo], current: 'demo' });
    expect(told()).toBe('For a real model, set a key such as OPENAI_API_KEY, or type %agent login openai in a cell.');
    const search = async (models: ModelInfo[]) => {
      document.activeElement!.dispatchEvent(new Event('input', { bubbles: true }));
      vi.advanceTimersByTime(200);
      await page.answer('models', { models, current: 'demo' });
    };
    await search([MODELS[1]!]);
    expect(told()).toBe('These need a key: type %agent login anthropic in a cell.');
    await search([demo, MODELS[0]!]);
    expect(told()).toBe('');
  });

  test('is chosen by arrows and Enter, and the focus returns', async () => {
    const page = await opened();
    const field = document.activeElement!;
    const options = [...page.element.querySelectorAll('[role=option]')];
    expect(field.getAttribute('aria-activedescendant')).toBe(options[0]!.id);
    page.key('ArrowDown');
    expect(options.map(option => option.getAttribute('aria-selected'))).toEqual(['false', 'true', 'false']);
    page.key('ArrowUp');
    page.key('ArrowUp');
    expect(field.getAttribute('aria-activedescendant')).toBe(options[2]!.id);
    page.key('Enter');
    expect(page.requested('set_model')).toEqual([{ model: 'anthropic/claude' }]);
    await page.answer('set_model', {});
    expect(page.isShown(field)).toBe(false);
    expect(document.activeElement).toBe(page.button('Model: openai/gpt-5-mini'));
    page.state({ model: { id: 'anthropic/claude', thinking: '' } });
    expect(page.button('Model: anthropic/claude')!.textContent).toBe('claude');
  });

  test('is searched in the kernel after a pause; a late answer to an earlier word is dropped', async () => {
    const page = await opened();
    const field = document.activeElement as HTMLInputElement;
    const search = (text: string) => {
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    };
    search('cl');
    vi.advanceTimersByTime(150);
    search('cla');
    vi.advanceTimersByTime(200);
    const early = page.kernel.last('models').id;
    search('demo');
    vi.advanceTimersByTime(200);
    expect(page.requested('models')).toEqual([{ filter: '' }, { filter: 'cla' }, { filter: 'demo' }]);
    await page.answer('models', { models: [MODELS[2]], current: '' });
    page.kernel.say({ type: 'response', id: early, result: { models: [MODELS[1]], current: '' } });
    await page.kernel.settle();
    expect([...page.element.querySelectorAll('[role=option] > :first-child')].map(each => each.textContent)).toEqual([
      'demo/demo'
    ]);
    search('xyz');
    vi.advanceTimersByTime(200);
    await page.answer('models', { models: [], current: '' });
    expect(page.element.textContent).toContain('No model has “xyz” in its name.');
  });

  test('that the kernel refuses leaves the list open with its words; Escape closes it', async () => {
    const page = await opened();
    const field = document.activeElement!;
    page.key('Enter');
    await page.refuse('set_model', 'There is no key for anthropic.');
    expect(page.isShown(field)).toBe(true);
    expect(page.element.textContent).toContain('There is no key for anthropic.');
    page.key('Escape');
    expect(page.isShown(field)).toBe(false);
    expect(document.activeElement).toBe(page.button('Model: openai/gpt-5-mini'));
  });

  test('a list that the busy kernel does not give says so, and the message has nothing to do with it', async () => {
    const page = await ChatPage.opened();
    page.press('Model: openai/gpt-5-mini');
    expect(page.element.textContent).toContain('Looking…');
    vi.advanceTimersByTime(1000);
    expect(page.element.textContent).toContain('The kernel is busy; this is shown when it is free.');
    expect(page.hint).toBe('Enter sends');
    await page.answer('models', { models: MODELS, current: '' });
    expect(page.element.textContent).not.toContain('The kernel is busy');
  });

  test('a click elsewhere closes the list and leaves the focus there', async () => {
    const page = await opened();
    const field = document.activeElement!;
    page.message.dispatchEvent(new Event('pointerdown', { bubbles: true, composed: true }));
    page.message.focus();
    expect(page.isShown(field)).toBe(false);
    expect(document.activeElement).toBe(page.message);
  });
});

describe('tools', () => {
  const switches = (page: ChatPage) => [...page.element.querySelectorAll<HTMLElement>('[role=switch]')];

  test('are switches with their origin and effect', async () => {
    const page = await ChatPage.opened();
    page.press('Tools 1 of 2 on');
    expect(switches(page).map(each => [each.getAttribute('aria-checked'), each.textContent])).toEqual([
      ['true', 'inspectbuilt in · only reads · Signature of a name.'],
      ['false', 'run_pythonbuilt in · executes code · Run code in this kernel.']
    ]);
    expect(document.activeElement).toBe(switches(page)[0]);
    page.key('ArrowDown');
    expect(document.activeElement).toBe(switches(page)[1]);
  });

  test('turn at once, and back if the kernel refuses', async () => {
    const page = await ChatPage.opened();
    page.press('Tools 1 of 2 on');
    const [, python] = switches(page);
    python!.click();
    expect(page.requested('set_tool')).toEqual([{ name: 'run_python', on: true }]);
    expect(python!.getAttribute('aria-checked')).toBe('true');
    await page.refuse('set_tool', 'The policy of this kernel forbids it.');
    expect(python!.getAttribute('aria-checked')).toBe('false');
    expect(page.element.textContent).toContain('The policy of this kernel forbids it.');
    python!.click();
    await page.answer('set_tool', {});
    expect(python!.getAttribute('aria-checked')).toBe('true');
  });

  test('keep the focus and count anew when the kernel tells of others', async () => {
    const page = await ChatPage.opened();
    page.press('Tools 1 of 2 on');
    const [, python] = switches(page);
    python!.focus();
    page.state({
      tools: [
        { name: 'inspect', on: true, origin: 'builtin', effect: 'read', description: '' },
        { name: 'run_python', on: true, origin: 'builtin', effect: 'execute', description: '' },
        { name: 'sales', on: true, origin: 'user', effect: 'network', description: 'Revenue.' }
      ]
    });
    expect(document.activeElement).toBe(python);
    expect(page.button('Tools 3 of 3 on')!.textContent).toBe('Tools 3');
    expect(switches(page)[2]!.textContent).toBe('salesyours · uses the network · Revenue.');
  });

  test('many can be searched; none show no button', async () => {
    const tools: AgentTool[] = Array.from({ length: 12 }, (_, number) => ({
      name: `tool_${number}`,
      on: false,
      origin: 'mcp',
      effect: 'network',
      description: ''
    }));
    const page = await ChatPage.opened({ tools });
    page.press('Tools 0 of 12 on');
    const field = document.activeElement as HTMLInputElement;
    field.value = 'TOOL_11';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    expect(
      switches(page)
        .filter(each => page.isShown(each))
        .map(each => each.querySelector('span span')!.textContent)
    ).toEqual(['tool_11']);
    const bare = await ChatPage.opened({ tools: [] });
    expect(bare.button('Tools 0 of 0 on')).toBeUndefined();
  });
});

describe('conversations', () => {
  const SESSIONS = [
    { id: 's1', title: 'Growth', messages: 6, modified: 0, notebook: '/home/me/growth.ipynb', current: true },
    { id: 's2', title: '', messages: 2, modified: 0, notebook: null, current: false }
  ];

  async function opened(): Promise<ChatPage> {
    const page = await ChatPage.opened();
    const now = Date.now();
    page.press('Conversations');
    await page.answer('sessions', {
      sessions: [
        { ...SESSIONS[0], modified: now - 5 * 60_000 },
        { ...SESSIONS[1], modified: now - 3 * 3_600_000 }
      ]
    });
    return page;
  }

  test('are listed with their age, and can be filtered', async () => {
    const page = await opened();
    expect([...page.element.querySelectorAll('.am-chat-session')].map(each => each.textContent)).toEqual([
      'Growththis one · 6 messages · 5 min ago · growth.ipynb',
      'Without a title2 messages · 3 h ago'
    ]);
    const field = document.activeElement as HTMLInputElement;
    field.value = 'crm';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    vi.advanceTimersByTime(200);
    expect(page.requested('sessions')).toEqual([{ filter: '' }, { filter: 'crm' }]);
    await page.answer('sessions', { sessions: [] });
    expect(page.element.textContent).toContain('No conversation has “crm”.');
  });

  test('one is resumed by the keyboard, and its runs are shown', async () => {
    const page = await opened();
    page.key('ArrowDown');
    page.key('ArrowDown');
    (document.activeElement as HTMLElement).click();
    expect(page.requested('resume')).toEqual([{ session: 's2' }]);
    await page.answer('resume', { note: 'Resumed. This kernel lacks df.' });
    expect(page.isShown(page.element.querySelector('.am-chat-session'))).toBe(false);
    page.state({ history: 1 });
    await page.kernel.settle();
    await page.attached({ history: 1 }, []);
    expect(page.bubbles).toEqual([]);
    expect(page.notices).toEqual(['Resumed. This kernel lacks df.']);
    expect(document.activeElement).toBe(page.message);
  });

  test('one is copied; a refusal is told in the list', async () => {
    const page = await opened();
    page.press('Go on in a copy of Growth');
    expect(page.requested('fork')).toEqual([{ session: 's1' }]);
    await page.refuse('fork', 'The agent is at work.');
    expect(page.element.textContent).toContain('The agent is at work.');
    expect(page.isShown(page.element.querySelector('.am-chat-session'))).toBe(true);
  });

  test('a new one begins empty, ready to be written to', async () => {
    const page = await ChatPage.opened();
    page.press('New conversation');
    expect(page.requested('new')).toEqual([{}]);
    await page.answer('new', {});
    page.state({ history: 1 });
    await page.kernel.settle();
    await page.attached({ history: 1 }, []);
    expect(page.bubbles).toEqual([]);
    expect(document.activeElement).toBe(page.message);
  });
});

describe('the last line', () => {
  test('shows how full the context is and the cost', async () => {
    const page = await ChatPage.opened();
    const meter = page.find('[role=meter]');
    expect(meter.getAttribute('aria-valuenow')).toBe('23');
    expect(meter.getAttribute('aria-valuetext')).toBe('29.4k of 128k tokens of context');
    expect(page.find('.am-chat-status').textContent).toBe('23 %$0.0028');
  });

  test('shows nothing that is not known, and no round number that is not true', async () => {
    const page = await ChatPage.opened({ context: null, cost: null });
    expect(page.isShown(page.find('[role=meter]'))).toBe(false);
    expect(page.isShown(page.find('.am-chat-cost'))).toBe(false);
    page.state({ context: { used: 900, window: null, fraction: null }, cost: 0 });
    expect(page.find('.am-chat-status').textContent).toContain('900 tokens of context');
    expect(page.find('.am-chat-cost').textContent).toBe('$0.00');
    page.state({ context: { used: 10, window: 128_000, fraction: 0.0001 } });
    expect(page.find('.am-chat-status').textContent).toContain('1 %');
    page.state({ context: { used: 127_900, window: 128_000, fraction: 0.999 } });
    expect(page.find('.am-chat-status').textContent).toContain('99 %');
  });
});

describe('problems', () => {
  test('can be dismissed and stay away until they have been solved', async () => {
    const page = await ChatPage.opened({ problems: ['The disk is full.'] });
    expect(page.notices).toEqual(['The disk is full.']);
    page.press('Dismiss');
    expect(page.notices).toEqual([]);
    expect(document.activeElement).toBe(page.message);
    page.state({ problems: ['The disk is full.'] });
    expect(page.notices).toEqual([]);
    page.state({ problems: [] });
    page.state({ problems: ['The disk is full.'] });
    expect(page.notices).toEqual(['The disk is full.']);
  });
});

describe('words', () => {
  test('all go through the host', async () => {
    const page = await ChatPage.opened({}, [GROWTH], { translate: text => `«${text}»` });
    expect(page.hint).toBe('«Enter sends»');
    expect(page.button('«Send»')).toBeDefined();
    expect(page.button('«Model: openai/gpt-5-mini»')).toBeDefined();
    const bare = [...page.element.querySelectorAll('.am-chat-button')]
      .filter(each => !each.closest('.am-chat-drawn'))
      .map(each => each.getAttribute('aria-label') ?? each.textContent!);
    expect(bare.filter(text => !text.startsWith('«'))).toEqual([]);
  });
});
