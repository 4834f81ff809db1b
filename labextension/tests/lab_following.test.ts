// @vitest-environment jsdom
import { beforeEach, describe, expect, test } from 'vitest';

import { FakeCell, FakeChat, FakeKernel, FakeNotebook, FakeTracker, settled, words } from './lab_page';
import { Following } from '../src/lab/following';
import { NotebookHost } from '../src/lab/host';
import { INTERRUPT, listenForInterrupts } from '../src/lab/interrupt';
import { KernelAgent } from '../src/lab/kernel_agent';
import { listenForMaths, TYPESET } from '../src/lab/typeset';

beforeEach(() => {
  sessionStorage.clear();
  document.body.replaceChildren();
});

const dialogs = { accept: () => Promise.resolve(true), tell: () => undefined };

class Page {
  readonly tracker = new FakeTracker();
  readonly chats: FakeChat[] = [];
  readonly following = new Following(this.tracker.tracker, (notebook, kernel) => {
    const host = new NotebookHost(notebook, words, dialogs);
    return new KernelAgent(notebook, kernel, host, element => this.chat(element), words);
  });

  private chat(element: HTMLElement): FakeChat {
    const chat = new FakeChat(element);
    this.chats.push(chat);
    return chat;
  }

  opens(path: string, kernel: FakeKernel | null, ...cells: FakeCell[]): FakeNotebook {
    const notebook = new FakeNotebook(path, kernel, ...cells);
    this.tracker.opens(notebook);
    return notebook;
  }
}

describe('which agent the panel talks to', () => {
  test('follows the active notebook, and keeps the chat of each', () => {
    const page = new Page();
    expect(page.following.agent).toBeNull();
    const a = page.opens('dir/a.ipynb', new FakeKernel('k1'));
    const first = page.following.agent!;
    (first.node.firstChild as HTMLTextAreaElement).value = 'half a question';
    const b = page.opens('b.ipynb', new FakeKernel('k2'));
    const second = page.following.agent!;
    expect(second).not.toBe(first);
    page.tracker.shows(a);
    expect(page.following.agent).toBe(first);
    expect((first.node.firstChild as HTMLTextAreaElement).value).toBe('half a question');
    expect(page.chats.map(chat => chat.place)).toEqual(['a.ipynb · Python 3', 'b.ipynb · Python 3']);
    expect(page.following.agentOf(b.panel)).toBe(second);
    page.tracker.shows(null);
    expect(page.following.agent).toBeNull();
  });

  test('another kernel of the notebook gets another chat, and the old one ends', () => {
    const page = new Page();
    const notebook = page.opens('a.ipynb', null);
    expect(page.following.agent).toBeNull();
    let told = 0;
    page.following.changed.connect(() => told++);
    notebook.takes(new FakeKernel('k1'));
    const first = page.following.agent!;
    notebook.takes(new FakeKernel('k2'));
    expect(page.following.agent).not.toBe(first);
    expect(page.following.agent!.kernel.id).toBe('k2');
    expect(page.chats.map(chat => chat.isDisposed)).toEqual([true, false]);
    expect(told).toBe(2);
    notebook.closes();
    expect(page.chats[1]!.isDisposed).toBe(true);
  });

  test('a restart keeps the chat and what is written in it', async () => {
    const page = new Page();
    const kernel = new FakeKernel();
    page.opens('a.ipynb', kernel);
    const agent = page.following.agent!;
    await settled();
    kernel.opens('c1');
    await settled();
    expect(page.chats[0]!.connection).toEqual({ state: 'ready' });
    expect(agent.isLoaded).toBe(true);
    kernel.restarts();
    await settled();
    expect(page.chats[0]!.connection).toMatchObject({ state: 'waiting' });
    kernel.becomes('idle');
    await settled();
    expect(page.chats[0]!.connection).toMatchObject({ state: 'absent', action: { label: 'Load agent_magic' } });
    kernel.opens('c2');
    await settled();
    expect(page.chats[0]!.connection).toEqual({ state: 'ready' });
    expect(page.following.agent).toBe(agent);
    expect(page.chats).toHaveLength(1);
  });

  test('a notebook that is closed tells its kernel that the page leaves', async () => {
    const page = new Page();
    const kernel = new FakeKernel();
    const notebook = page.opens('a.ipynb', kernel);
    await settled();
    const comm = kernel.opens('c1');
    notebook.closes();
    expect(comm.requested('detach')).toEqual([{}]);
    expect(page.chats[0]!.isDisposed).toBe(true);
  });

  test('two notebooks with one kernel have one chat, until the first is closed', () => {
    const page = new Page();
    // Two connections to one kernel.
    const [a, b] = [page.opens('a.ipynb', new FakeKernel()), page.opens('b.ipynb', new FakeKernel())];
    expect(page.chats).toHaveLength(1);
    expect(page.following.agentOf(a.panel)).toBe(page.following.agentOf(b.panel));
    a.closes();
    expect(page.chats.map(chat => chat.isDisposed)).toEqual([true, false]);
    expect(page.following.agentOf(b.panel)!.notebook).toBe(b.panel);
  });
});

describe('asks of the kernel', () => {
  test('are answered in the notebook of its run, though the user has switched tabs', async () => {
    const page = new Page();
    const kernel = new FakeKernel('k1');
    page.opens('a.ipynb', kernel, new FakeCell('x', 'a = 1'));
    await settled();
    const comm = kernel.opens('c1');
    const agent = page.following.agent!;
    page.opens('b.ipynb', new FakeKernel('k2'), new FakeCell('x', 'b = 1'));
    const ask = (id: string, method: string, params: object, to = agent.client.page): unknown =>
      comm.say({ type: 'ask', id, page: to, method, params });
    ask('k1', 'read_cells', {});
    ask('k2', 'edit_cell', { id: 'x', source: 'a = 2', expected: 'other' });
    ask('k3', 'read_cells', {}, 'another page');
    await settled();
    expect(comm.requested('answer_ask')).toEqual([
      {
        ask: 'k1',
        result: { cells: [{ id: 'x', type: 'code', source: 'a = 1', outputs_text: '', execution_count: null }] }
      },
      { ask: 'k2', error: expect.stringContaining('has been changed') }
    ]);
  });
});

describe('events of the view', () => {
  test('Stop interrupts the kernel of the notebook, or of the chat, in which it was pressed', () => {
    const page = new Page();
    const [busy, idle] = [new FakeKernel('k1'), new FakeKernel('k2')];
    busy.status = 'busy';
    const a = page.opens('a.ipynb', busy);
    page.opens('b.ipynb', idle);
    const [chat, other] = page.chats.map(each => each.element);
    document.body.append(chat!, other!);
    const stop = listenForInterrupts(page.following);
    const press = (node: Node): boolean =>
      !node.dispatchEvent(new CustomEvent(INTERRUPT, { bubbles: true, cancelable: true }));

    const button = a.node.appendChild(document.createElement('button'));
    expect(press(button)).toBe(true);
    expect(press(chat!.firstChild!)).toBe(true);
    expect(busy.interrupt).toHaveBeenCalledTimes(2);
    expect(idle.interrupt).not.toHaveBeenCalled();
    // The view goes on to request `stop`: a kernel that runs no cell may not hear an interrupt.
    expect(press(other!.firstChild!)).toBe(false);
    expect(idle.interrupt).toHaveBeenCalledTimes(1);
    expect(press(document.body)).toBe(false);
    stop();
    expect(press(button)).toBe(false);
  });

  test('maths is typeset by the page, where it can', () => {
    const typeset: unknown[] = [];
    let typesetter: { typeset(element: HTMLElement): void } | null = null;
    const stop = listenForMaths(() => typesetter);
    const element = document.body.appendChild(document.createElement('span'));
    const ask = (): boolean => !element.dispatchEvent(new CustomEvent(TYPESET, { bubbles: true, cancelable: true }));
    expect(ask()).toBe(false);
    typesetter = { typeset: node => void typeset.push(node) };
    expect(ask()).toBe(true);
    expect(typeset).toEqual([element]);
    stop();
    expect(ask()).toBe(false);
  });
});
