// @vitest-environment jsdom
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { FakeCell, FakeChat, FakeKernel, FakeNotebook, FakeTracker, settled, words } from './lab_page';
import { AskAgent } from '../src/lab/ask_agent';
import { addCommands, Ids } from '../src/lab/commands';
import { Following } from '../src/lab/following';
import { NotebookHost } from '../src/lab/host';
import { KernelAgent } from '../src/lab/kernel_agent';
import { AgentPanel } from '../src/lab/panel';

const ERROR = { output_type: 'error', ename: 'ZeroDivisionError', evalue: 'division by zero', traceback: [] };

class Page {
  readonly tracker = new FakeTracker();
  readonly told: string[] = [];
  readonly commands = new CommandRegistry();
  readonly kernel = new FakeKernel();
  readonly notebook = new FakeNotebook('a.ipynb', this.kernel, new FakeCell('a', '1 / 0', 'code', [ERROR]));
  chat!: FakeChat;
  isOpen = false;
  readonly following = new Following(this.tracker.tracker, (notebook, kernel) => {
    const host = new NotebookHost(notebook, words, { accept: () => Promise.resolve(true), tell: this.tell });
    return new KernelAgent(notebook, kernel, host, element => (this.chat = new FakeChat(element)), words);
  });
  readonly place = {
    isThere: true,
    isOpen: () => this.isOpen,
    open: () => void (this.isOpen = true),
    close: () => void (this.isOpen = false)
  };

  constructor() {
    const { place } = this;
    addCommands(this.commands, {
      following: this.following,
      place: {
        get isThere() {
          return place.isThere;
        },
        get isOpen() {
          return place.isOpen();
        },
        open: place.open,
        close: place.close
      },
      icon: undefined,
      tell: this.tell,
      words
    });
  }

  readonly tell = (text: string): void => void this.told.push(text);

  async opens(): Promise<this> {
    this.tracker.opens(this.notebook);
    await settled();
    return this;
  }

  async loads(): Promise<ReturnType<FakeKernel['opens']>> {
    const comm = this.kernel.opens('c1');
    await settled();
    return comm;
  }

  async does(id: string): Promise<void> {
    void this.commands.execute(id);
    await settled();
  }
}

let page: Page;
beforeEach(async () => {
  sessionStorage.clear();
  document.body.replaceChildren();
  page = await new Page().opens();
});

describe('commands', () => {
  test('open and close the panel', async () => {
    await page.does(Ids.open);
    expect(page.isOpen).toBe(true);
    expect(page.commands.isToggled(Ids.toggle)).toBe(true);
    await page.does(Ids.toggle);
    expect(page.isOpen).toBe(false);
    await page.does(Ids.toggle);
    expect(page.isOpen).toBe(true);
  });

  test('can be used where they do something', async () => {
    const enabled = (): string[] => Object.values(Ids).filter(id => page.commands.isEnabled(id));
    expect(enabled()).toEqual([Ids.open, Ids.toggle, Ids.load]);
    await page.loads();
    expect(enabled()).toEqual([
      Ids.open,
      Ids.toggle,
      Ids.newConversation,
      Ids.askAboutCell,
      Ids.attachSelection,
      Ids.stop
    ]);
    page.tracker.shows(null);
    expect(enabled()).toEqual([Ids.open, Ids.toggle]);
    page.place.isThere = false;
    expect(enabled()).toEqual([]);
  });

  test('load the agent, and tell what keeps it from loading', async () => {
    page.kernel.replies.push({ status: 'error', ename: 'ImportError', evalue: 'broken' });
    await page.does(Ids.load);
    expect(page.kernel.executed[0]!.code).toBe('%load_ext agent_magic');
    expect(page.told).toEqual(['agent_magic could not be loaded: ImportError: broken']);
    expect(page.isOpen).toBe(true);
  });

  test('begin a conversation, or tell why not', async () => {
    const comm = await page.loads();
    await page.does(Ids.newConversation);
    expect(comm.requested('new')).toEqual([{}]);
    comm.answer('new', { error: 'The agent is at work.' });
    await settled();
    expect(page.told).toEqual(['The agent is at work.']);
    expect(page.isOpen).toBe(false);
    await page.does(Ids.newConversation);
    comm.answer('new', { result: {} });
    await settled();
    expect(page.isOpen).toBe(true);
  });

  test('attach the active cell, or what is selected', async () => {
    await page.loads();
    await page.does(Ids.askAboutCell);
    const cell = { kind: 'cell', id: 'a', source: '1 / 0', outputs_text: 'ZeroDivisionError: division by zero' };
    expect(page.chat.attached).toEqual([cell]);
    expect(page.isOpen).toBe(true);
    await page.does(Ids.attachSelection);
    expect(page.told).toEqual(['Nothing is selected in the notebook.']);
    page.notebook.content.editor = {
      getSelection: () => ({ start: 0, end: 1 }),
      getOffsetAt: (place: number) => place,
      model: { sharedModel: { getSource: () => '1 / 0' } }
    };
    await page.does(Ids.attachSelection);
    expect(page.chat.attached).toEqual([cell, { kind: 'selection', text: '1', name: 'selection in cell 1' }]);
  });

  test('stop what runs: a cell by an interrupt, a run of the panel by a request, too', async () => {
    const comm = await page.loads();
    page.kernel.status = 'busy';
    await page.does(Ids.stop);
    expect(page.kernel.interrupt).toHaveBeenCalledTimes(1);
    expect(comm.requested('stop')).toEqual([]);
    page.kernel.status = 'idle';
    await page.does(Ids.stop);
    expect(comm.requested('stop')).toEqual([{}]);
  });
});

describe('a cell that failed', () => {
  function made(): {
    run(success: boolean): void;
    schedule(): void;
    button(): HTMLButtonElement | null;
    asking: AskAgent;
  } {
    const signals = {
      executed: new Signal<object, never>({}),
      executionScheduled: new Signal<object, never>({}),
      outputCleared: new Signal<object, never>({})
    };
    const node = page.notebook.node.appendChild(document.createElement('div'));
    node.append(Object.assign(document.createElement('div'), { className: 'jp-Cell-outputWrapper' }));
    const cell = { node, model: page.notebook.cell('a') };
    page.notebook.content.widgets = [{}, cell];
    const asking = new AskAgent(
      signals as unknown as ConstructorParameters<typeof AskAgent>[0],
      page.following,
      () => [page.notebook.panel],
      () => void (page.isOpen = true),
      page.tell,
      words
    );
    const event = { notebook: page.notebook.content, cell };
    return {
      run: success => signals.executed.emit({ ...event, success } as never),
      schedule: () => signals.executionScheduled.emit(event as never),
      button: () => node.querySelector('button'),
      asking
    };
  }

  test('offers to ask, and sends the cell and its error to the panel', async () => {
    const comm = await page.loads();
    const cell = made();
    cell.run(false);
    const button = cell.button()!;
    expect(button.textContent).toBe('Ask the agent');
    expect(button.previousElementSibling!.className).toBe('jp-Cell-outputWrapper');
    button.click();
    expect(page.isOpen).toBe(true);
    expect(page.notebook.content.activeCellIndex).toBe(1);
    expect(comm.requested('send')).toEqual([
      {
        text: expect.stringContaining('This cell failed.'),
        attachments: [{ kind: 'cell', id: 'a', source: '1 / 0', outputs_text: 'ZeroDivisionError: division by zero' }],
        when: 'now'
      }
    ]);
    expect(button.disabled).toBe(true);
    comm.answer('send', { error: 'No model.' });
    await settled();
    expect(page.told).toEqual(['No model.']);
    expect(button.disabled).toBe(false);
  });

  test('offers nothing without an agent, after success, once it runs again, or where the user wants none', async () => {
    const cell = made();
    cell.run(false);
    expect(cell.button()).toBeNull();
    await page.loads();
    cell.run(true);
    expect(cell.button()).toBeNull();
    cell.run(false);
    cell.run(false);
    expect(page.notebook.node.querySelectorAll('button')).toHaveLength(1);
    cell.schedule();
    expect(cell.button()).toBeNull();
    cell.run(false);
    cell.asking.isOffered = false;
    expect(cell.button()).toBeNull();
    cell.run(false);
    expect(cell.button()).toBeNull();
  });

  test('offers nothing where it was only stopped', async () => {
    await page.loads();
    const cell = made();
    const failed = { output_type: 'error', ename: 'ValueError', evalue: 'no', traceback: [] };
    const stopped = { ...failed, ename: 'KeyboardInterrupt', evalue: 'The agent was stopped.' };
    const outputs = vi.spyOn(page.notebook.cell('a').outputs, 'toJSON');
    outputs.mockReturnValue([stopped]);
    cell.run(false);
    expect(cell.button()).toBeNull();
    outputs.mockReturnValue([stopped, failed]);
    cell.run(false);
    expect(cell.button()).not.toBeNull();
  });

  test('says what to do when the agent has gone meanwhile', async () => {
    await page.loads();
    const cell = made();
    cell.run(false);
    page.kernel.restarts();
    cell.button()!.click();
    expect(page.told[0]).toContain('Load it in the panel');
  });
});

describe('the panel', () => {
  test('shows the chat of the active notebook, or what to open', () => {
    const panel = new AgentPanel(page.following, words);
    expect(panel.node.firstChild).toBe(page.following.agent!.node);
    expect(panel.node.getAttribute('aria-label')).toBe('Agent');
    page.notebook.takes(null);
    expect(panel.node.textContent).toContain('has no kernel');
    page.tracker.shows(null);
    expect(panel.node.textContent).toContain('Open a notebook');
  });
});
