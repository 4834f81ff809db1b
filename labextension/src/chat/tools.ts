import type { AgentTool } from '../protocol/messages';
import { arrange, uniqueId } from '../view/element';
import { button, element, icon } from './element';
import { moveFocusByArrows, Popup } from './popup';
import type { Requests } from './requests';
import { messageOf, type Words } from './words';

// With more tools than this a search field stands above them.
const FEW = 8;

/** The button that counts the tools that are on, and the switches of all. */
export class ToolSwitches {
  readonly button: HTMLButtonElement;
  private readonly label: HTMLElement;
  private readonly words: Words;
  private readonly requests: Requests;
  private readonly popup: Popup;
  private readonly field: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly message: HTMLElement;
  private readonly rows = new Map<string, Row>();
  private tools: readonly AgentTool[] = [];

  constructor(root: HTMLElement, words: Words, requests: Requests) {
    this.words = words;
    this.requests = requests;
    this.label = element('span');
    this.button = button(this.label, () => undefined, { class: 'am-chat-button am-chat-quiet' });
    this.button.append(icon('down'));
    this.popup = new Popup(this.button, root, 'dialog', words('Tools'), () => this.open());
    const label = words('Search tools');
    this.field = element('input', {
      type: 'search',
      class: 'am-chat-field am-chat-search',
      placeholder: label,
      'aria-label': label
    });
    this.field.addEventListener('input', () => this.filter());
    this.list = element('div', { class: 'am-chat-list', role: 'group', 'aria-label': words('Tools') });
    this.message = element('div', { class: 'am-chat-list-message', role: 'status', hidden: true });
    this.popup.panel.append(this.field, this.list, this.message);
    moveFocusByArrows(this.popup.panel, '[role=switch]:not([hidden])');
    this.setTools([]);
  }

  setTools(tools: readonly AgentTool[]): void {
    this.tools = tools;
    const on = tools.filter(tool => tool.on).length;
    this.label.textContent = this.words('Tools %1', on);
    this.button.setAttribute('aria-label', this.words('Tools %1 of %2 on', on, tools.length));
    this.button.hidden = tools.length === 0;
    for (const name of this.rows.keys()) {
      if (!tools.some(tool => tool.name === name)) {
        this.rows.delete(name);
      }
    }
    for (const tool of tools) {
      let row = this.rows.get(tool.name);
      if (!row) {
        row = new Row(tool.name, this.words, on => this.set(tool.name, on));
        this.rows.set(tool.name, row);
      }
      row.update(tool);
    }
    arrange(
      this.list,
      tools.map(tool => this.rows.get(tool.name)!.element)
    );
    this.field.hidden = tools.length <= FEW;
  }

  dispose(): void {
    this.popup.dispose();
  }

  private open(): void {
    this.field.value = '';
    this.filter();
    this.tell('');
    (this.field.hidden ? this.list.querySelector<HTMLElement>('[role=switch]') : this.field)?.focus();
  }

  private filter(): void {
    const sought = this.field.value.trim().toLowerCase();
    for (const tool of this.tools) {
      const text = `${tool.name} ${tool.origin} ${tool.effect} ${tool.description}`.toLowerCase();
      this.rows.get(tool.name)!.element.hidden = !text.includes(sought);
    }
  }

  private async set(name: string, on: boolean): Promise<void> {
    this.tell('');
    try {
      await this.requests.request('set_tool', { name, on });
    } catch (error) {
      this.tell(messageOf(error));
      throw error;
    }
  }

  private tell(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === '';
  }
}

/** The switch of one tool. It turns at once and back again if the kernel refuses. */
class Row {
  readonly element: HTMLButtonElement;
  private readonly words: Words;
  private readonly note: HTMLElement;
  private isAsking = false;
  private on = false;

  constructor(name: string, words: Words, set: (on: boolean) => Promise<void>) {
    this.words = words;
    const label = element('span', { class: 'am-chat-option-name', id: uniqueId() }, name);
    this.note = element('span', { class: 'am-chat-option-note', id: uniqueId() });
    this.element = element(
      'button',
      {
        type: 'button',
        role: 'switch',
        class: 'am-chat-option am-chat-switch',
        'aria-labelledby': label.id,
        'aria-describedby': this.note.id
      },
      element('span', { class: 'am-chat-option-text' }, label, this.note),
      element('span', { class: 'am-chat-switch-track', 'aria-hidden': 'true' })
    );
    this.element.addEventListener('click', () => void this.turn(set));
  }

  update(tool: AgentTool): void {
    this.on = tool.on;
    if (!this.isAsking) {
      this.show(tool.on);
    }
    const { words } = this;
    const origin = { user: words('yours'), builtin: words('built in'), mcp: 'MCP' }[tool.origin] ?? tool.origin;
    const effect =
      {
        read: words('only reads'),
        write: words('writes'),
        execute: words('executes code'),
        network: words('uses the network')
      }[tool.effect] ?? tool.effect;
    this.note.textContent = [origin, effect, tool.description].filter(Boolean).join(' · ');
    this.element.title = tool.description;
  }

  private async turn(set: (on: boolean) => Promise<void>): Promise<void> {
    if (this.isAsking) {
      return;
    }
    const wanted = !this.on;
    this.isAsking = true;
    this.show(wanted);
    try {
      await set(wanted);
      this.on = wanted;
    } catch {
      // Said below the list.
    } finally {
      this.isAsking = false;
      this.show(this.on);
    }
  }

  private show(on: boolean): void {
    this.element.setAttribute('aria-checked', String(on));
  }
}
