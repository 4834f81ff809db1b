// @vitest-environment jsdom
import { beforeEach, describe, expect, test } from 'vitest';

import { FakeChat, FakeKernel, FakeNotebook, settled, words } from './lab_page';
import type { ConnectionAction } from '../src/chat/host';
import { NotebookHost } from '../src/lab/host';
import { KernelAgent } from '../src/lab/kernel_agent';

beforeEach(() => sessionStorage.clear());

async function opened(kernel: FakeKernel): Promise<{ chat: FakeChat; agent: KernelAgent; notebook: FakeNotebook }> {
  const notebook = new FakeNotebook('dir/a.ipynb', kernel);
  let chat!: FakeChat;
  const host = new NotebookHost(notebook.panel, words, { accept: () => Promise.resolve(true), tell: () => undefined });
  const agent = new KernelAgent(
    notebook.panel,
    kernel.connection,
    host,
    element => (chat = new FakeChat(element)),
    words
  );
  await settled();
  return { chat, agent, notebook };
}

function load(chat: FakeChat): ConnectionAction {
  const { connection } = chat;
  expect(connection).toMatchObject({ state: 'absent', text: expect.stringContaining('has no agent yet') });
  return (connection as { action: ConnectionAction }).action;
}

describe('a kernel without an agent', () => {
  test('gets one at a click, without a cell and without a trace in its history', async () => {
    const kernel = new FakeKernel();
    const { chat } = await opened(kernel);
    const loading = load(chat).run();
    kernel.opens('c1');
    await loading;
    await settled();
    expect(chat.connection).toEqual({ state: 'ready' });
    expect(kernel.executed).toMatchObject([
      { code: '%load_ext agent_magic', silent: true, store_history: false, allow_stdin: false }
    ]);
  });

  test('whose comm the page has missed is found after loading', async () => {
    const kernel = new FakeKernel();
    const { chat } = await opened(kernel);
    kernel.comms = ['c1'];
    await load(chat).run();
    await settled();
    expect(chat.connection).toEqual({ state: 'ready' });
  });

  test('says what to install where, if the package is missing', async () => {
    const kernel = new FakeKernel();
    const { chat } = await opened(kernel);
    kernel.replies.push(
      { status: 'error', ename: 'ModuleNotFoundError', evalue: "No module named 'agent_magic'" },
      { status: 'ok', user_expressions: { python: { status: 'ok', data: { 'text/plain': "'/env/bin/python'" } } } }
    );
    await expect(load(chat).run()).rejects.toThrow(
      'agent_magic is not installed for the Python of this kernel, /env/bin/python. Run "%pip install agent-magic" in a cell'
    );
  });

  test('says what failed, and that an old package has no panel', async () => {
    const kernel = new FakeKernel();
    const { chat } = await opened(kernel);
    kernel.replies.push({ status: 'error', ename: 'ModuleNotFoundError', evalue: "No module named 'httpx'" });
    await expect(load(chat).run()).rejects.toThrow("could not be loaded: ModuleNotFoundError: No module named 'httpx'");
    kernel.replies.push({ status: 'aborted' });
    await expect(load(chat).run()).rejects.toThrow('interrupted before');
    await expect(load(chat).run()).rejects.toThrow('knows no panel. Run "%pip install --upgrade agent-magic"');
  });

  test('is told from one that has another language, and from one whose messages go elsewhere', async () => {
    const julia = new FakeKernel();
    julia.info = Promise.resolve({ language_info: { name: 'julia' } });
    let { chat } = await opened(julia);
    expect(chat.connection).toEqual({
      state: 'absent',
      text: expect.stringContaining('needs a Python kernel; this one runs julia')
    });
    const second = new FakeKernel();
    second.handleComms = false;
    ({ chat } = await opened(second));
    expect(chat.connection).toEqual({
      state: 'absent',
      text: expect.stringContaining('Another document of this page')
    });
  });
});

describe('the chat is told', () => {
  test('to wait while the kernel starts or is busy, and that it has died', async () => {
    const kernel = new FakeKernel();
    kernel.status = 'starting';
    const { chat } = await opened(kernel);
    expect(chat.connection).toEqual({ state: 'waiting', text: 'The kernel is starting…' });
    kernel.isBusy = true;
    kernel.becomes('busy');
    await settled();
    expect(chat.connection).toEqual({ state: 'waiting', text: 'Asking the kernel for its agent…' });
    kernel.becomes('dead');
    await settled();
    expect(chat.connection).toEqual({ state: 'absent', text: expect.stringContaining('has died. Restart it') });
  });

  test('where it is, also after the notebook was renamed', async () => {
    const { chat, notebook } = await opened(new FakeKernel());
    expect(chat.place).toBe('a.ipynb · Python 3');
    notebook.context.path = 'dir/b.ipynb';
    notebook.context.pathChanged.emit('dir/b.ipynb');
    expect(chat.place).toBe('b.ipynb · Python 3');
  });

  test('nothing after its end', async () => {
    const kernel = new FakeKernel();
    const { chat, agent } = await opened(kernel);
    const told = chat.connections.length;
    agent.dispose();
    kernel.restarts();
    kernel.becomes('idle');
    await settled();
    expect(chat.connections).toHaveLength(told);
    expect(chat.isDisposed).toBe(true);
  });
});

test('the kernel is told whether the panel is seen, where it would hear that the panel is opened', async () => {
  const kernel = new FakeKernel();
  const { agent, chat } = await opened(kernel);
  let isSeen = false;
  agent.host.isSeen = () => isSeen;
  const comm = kernel.opens('c1');
  agent.look();
  expect(agent.client.looks).toBe(true);
  comm.startSubshell();
  await settled();
  expect(agent.client.looks).toBe(false);
  expect(chat.seen).not.toHaveBeenCalled();
  isSeen = true;
  agent.look();
  expect(agent.client.looks).toBe(true);
  expect(chat.seen).toHaveBeenCalledOnce();
  // A page that is loaded again cannot say anything later.
  window.dispatchEvent(new Event('pagehide'));
  expect(agent.client.looks).toBe(false);
  window.dispatchEvent(new Event('pageshow'));
  expect(agent.client.looks).toBe(true);
  agent.dispose();
  window.dispatchEvent(new Event('pagehide'));
  expect(agent.client.looks).toBe(true);
});

test('the kernel may have the panel shown, and other asks go to the cells', async () => {
  const kernel = new FakeKernel();
  const { agent } = await opened(kernel);
  const comm = kernel.opens('c1');
  await settled();
  let shown = 0;
  agent.open = () => shown++;
  const { page } = agent.client;
  comm.say({ type: 'ask', id: 'k1', page, method: 'open_panel', params: {} });
  comm.say({ type: 'ask', id: 'k2', page, method: 'read_cells', params: {} });
  await settled();
  expect(shown).toBe(1);
  expect(comm.requested('answer_ask')).toEqual([
    { ask: 'k1', result: {} },
    { ask: 'k2', result: { cells: expect.anything() } }
  ]);
});
