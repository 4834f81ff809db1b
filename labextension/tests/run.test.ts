// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { KernelMessage, PageMessage } from '../src/protocol/messages';
import { lastSeen } from '../src/view/last_seen';
import { INTERRUPT } from '../src/view/stop';
import loader from '../src/widget/loader';
import { renderRun } from '../src/widget/run';
import type { WidgetModel } from '../src/widget/transport';
import { FakeKernel } from './fake_kernel';
import { call, question, running, text } from './records';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  document.body.replaceChildren();
  vi.useRealTimers();
});

async function shown(items = [text('1', 'Hello.', 'running')], run = 'run-1') {
  const kernel = new FakeKernel();
  const place = document.createElement('div');
  document.body.append(place);
  const dispose = renderRun({ transport: kernel, element: place });
  const result = { protocol: 1, version: '0.1.0', run: { run, seq: 4, record: running(items, { run }) } };
  kernel.say({ type: 'response', id: kernel.last('attach').id, result });
  await kernel.settle();
  const press = (label: string) =>
    [...place.querySelectorAll('button')].find(button => button.textContent === label)!.click();
  return { kernel, place, dispose, press };
}

describe('the run of a cell', () => {
  test('is drawn once the kernel has answered, and with every change after', async () => {
    const { kernel, place } = await shown();
    expect(kernel.last('attach').params.kind).toBe('cell');
    expect(place.querySelector('.am-prose')!.textContent).toBe('Hello.');
    kernel.say({ type: 'deltas', run: 'run-1', deltas: [{ seq: 5, item: '1', append: { text: ' World.' } }] });
    vi.advanceTimersByTime(300);
    expect(place.querySelector('.am-prose')!.textContent).toBe('Hello. World.');
  });

  test('says what the kernel says where it cannot be followed', async () => {
    const kernel = new FakeKernel();
    const place = document.createElement('div');
    document.body.append(place);
    renderRun({ transport: kernel, element: place });
    kernel.say({ type: 'response', id: kernel.last('attach').id, error: 'Update agent_magic, then reload the page.' });
    await kernel.settle();
    expect(place.textContent).toContain('Update agent_magic, then reload the page.');
  });

  test('tells the kernel that a question is shown, and what was answered', async () => {
    const { kernel, place, press } = await shown([call('1', { state: 'pending' }), question('2')]);
    expect(kernel.last('shown').params).toEqual({ approval: '2', run: 'run-1', seen: true });
    press('Always in this session');
    expect(kernel.last('answer').params).toEqual({
      run: 'run-1',
      approval: '2',
      decision: 'always',
      reason: '',
      arguments: null,
      hash: 'abc'
    });
    kernel.say({ type: 'response', id: kernel.last('answer').id, error: 'This was answered already.' });
    await kernel.settle();
    expect(place.querySelector('.am-problem')!.textContent).toBe('This was answered already.');
  });

  test('says that it ended with its kernel, and offers nothing more', async () => {
    const kernel = new FakeKernel();
    const place = document.createElement('div');
    document.body.append(place);
    let gone!: () => void;
    renderRun({ transport: kernel, element: place, onGone: listener => (gone = listener) });
    const record = running([text('1', 'Hello.'), call('2', { state: 'running' })]);
    const result = { protocol: 1, version: '0.1.0', run: { run: 'run-1', seq: 4, record } };
    kernel.say({ type: 'response', id: kernel.last('attach').id, result });
    await kernel.settle();
    expect(place.querySelector('.am-stop')).not.toBeNull();
    gone();
    vi.advanceTimersByTime(300);
    expect(place.textContent).toContain('Hello.');
    expect(place.textContent).toContain('The kernel ended, and this run with it.');
    expect(place.querySelector('.am-stop')).toBeNull();
    expect(place.querySelector('.am-tool')!.textContent).toContain('stopped');
  });

  test('tells what it has shown, while it is there', async () => {
    const { kernel, dispose } = await shown([text('1', 'Hello.', 'running')], 'run-9');
    expect(lastSeen('run-2')).toBeNull();
    vi.setSystemTime(1_700_000_009_500);
    expect(lastSeen('run-9')).toEqual(running([text('1', 'Hello.', 'running')], { run: 'run-9', seconds: 9.5 }));
    kernel.say({ type: 'deltas', run: 'run-9', deltas: [{ seq: 5, item: '1', append: { text: ' World.' } }] });
    expect(lastSeen('run-9')!.items[0]!.text).toBe('Hello. World.');
    dispose();
    expect(lastSeen('run-9')).toBeNull();
  });

  test('goes away with the page, and tells the kernel', async () => {
    const { kernel, place, dispose } = await shown();
    dispose();
    expect(place.childElementCount).toBe(0);
    expect(kernel.sent.at(-1)!.method).toBe('detach');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('Stop', () => {
  test('is left to the page where it interrupts the kernel', async () => {
    const { kernel, press } = await shown();
    const interrupt = vi.fn((event: Event) => event.preventDefault());
    document.addEventListener(INTERRUPT, interrupt, { once: true });
    press('■ Stop');
    expect(interrupt).toHaveBeenCalledOnce();
    expect(kernel.sent.map(message => message.method)).not.toContain('stop');
  });

  test('is requested where the page does nothing', async () => {
    const { kernel, place, press } = await shown();
    press('■ Stop');
    kernel.say({ type: 'response', id: kernel.last('stop').id, result: {} });
    await kernel.settle();
    vi.advanceTimersByTime(2000);
    await kernel.settle();
    expect(place.querySelector('.am-stop')!.textContent).toBe('■ Stopping…');
  });

  test.each([
    ['the kernel is silent', false],
    ['the kernel refuses', true]
  ])('points to the Stop button of the kernel where %s', async (_, refuses) => {
    const { kernel, place, press } = await shown();
    press('■ Stop');
    if (refuses) {
      kernel.say({ type: 'response', id: kernel.last('stop').id, error: 'not now' });
    }
    vi.advanceTimersByTime(1000);
    await kernel.settle();
    expect(place.querySelector('.am-ends')!.textContent).toBe("use the kernel's Stop button");
  });
});

describe('the loader', () => {
  const VIEW = Symbol.for('agent_magic.view.1');
  const page = globalThis as unknown as Record<symbol, unknown>;
  afterEach(() => void delete page[VIEW]);

  function model(kind?: string) {
    const sent: PageMessage[] = [];
    const listeners = new Set<(message: KernelMessage) => void>();
    const made: WidgetModel = {
      get: name => (name === 'kind' ? kind : undefined),
      send: content => void sent.push(content as PageMessage),
      on: (_, listener) => void listeners.add(listener),
      off: (_, listener) => void listeners.delete(listener)
    };
    return {
      made,
      sent,
      listeners,
      say: (message: KernelMessage) => [...listeners].forEach(listener => listener(message))
    };
  }

  test('takes the view that the page has, for a run and for a chat', async () => {
    const [renderRun, renderChat] = [vi.fn(() => () => undefined), vi.fn(() => () => undefined)];
    page[VIEW] = { renderRun, renderChat };
    const el = document.createElement('div');
    const { made, sent } = model();
    await loader.render({ model: made, el });
    expect(sent).toEqual([]);
    const given = { transport: expect.anything() as unknown, element: el, onGone: expect.any(Function) as unknown };
    expect(renderRun).toHaveBeenCalledWith(given);
    await loader.render({ model: model('chat').made, el });
    expect(renderChat).toHaveBeenCalledOnce();
    expect(renderRun).toHaveBeenCalledOnce();
  });

  test('asks the kernel for it until it is answered, once a page', async () => {
    const source =
      'export const renderRun = place => { place.element.textContent = "drawn"; return () => undefined; };';
    URL.createObjectURL = () => `data:text/javascript,${encodeURIComponent(source)}`;
    URL.revokeObjectURL = () => undefined;
    const [first, second] = [document.createElement('div'), document.createElement('div')];
    const { made, sent, say, listeners } = model('run');
    const drawn = [loader.render({ model: made, el: first }), loader.render({ model: made, el: second })];
    vi.advanceTimersByTime(450);
    expect(sent.map(message => message.method)).toEqual(['code', 'code', 'code']);
    expect(new Set(sent.map(message => message.id)).size).toBe(1);
    say({ type: 'response', id: 'another:1', result: { code: 'no' } });
    say({ type: 'response', id: sent[0]!.id, result: { code: source } });
    await Promise.all(drawn);
    expect([first.textContent, second.textContent]).toEqual(['drawn', 'drawn']);
    expect(listeners.size).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(sent.length).toBe(3);
  });

  test('tries again for the next widget where the kernel had no code', async () => {
    const { made, sent, say } = model('run');
    const drawn = loader.render({ model: made, el: document.createElement('div') });
    say({ type: 'response', id: sent[0]!.id, error: 'This copy was installed without its front end.' });
    await expect(drawn).rejects.toThrow('without its front end');
    expect(page[VIEW]).toBeUndefined();
  });
});
