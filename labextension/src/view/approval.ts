import type { Decision } from '../protocol/messages';
import { drawArguments, readableJson } from './arguments';
import { stateSign } from './card';
import { textBlock } from './code';
import { button, element, uniqueId } from './element';
import { FocusBefore } from './focus';
import type { ItemView, Surroundings } from './items';
import type { Item } from './record';
import { oneLine, visible, wish } from './wording';

type Values = Record<string, unknown>;

/**
 * A question to the user: may this call run? While it is open it shows all arguments whole, and where the page can act,
 * buttons to answer it; then one line says what became of it.
 */
export class Approval implements ItemView {
  readonly element = element('div', 'am-asked');
  private readonly problem = element('div', 'am-problem');
  private readonly form = element('div', 'am-form');
  private isOpen = false;
  private asked: Values | undefined;
  private readonly focus = new FocusBefore(this.element);

  constructor(
    private item: Item,
    private readonly around: Surroundings
  ) {
    this.problem.setAttribute('role', 'alert');
    this.update(item);
  }

  update(item: Item): void {
    const wasOpen = this.isOpen;
    this.item = item;
    this.isOpen = item.state === 'pending' || item.state === 'running';
    if (!this.isOpen) {
      if (wasOpen || this.element.childElementCount === 0) {
        this.drawSettled();
      }
    } else if (!wasOpen || this.asked !== item.arguments) {
      this.drawQuestion();
    }
    if (this.isOpen && !wasOpen && this.around.actions) {
      this.around.actions.shown(item.id);
      this.around.announce(`${oneLine(item.name ?? '')} ${wish(item)}. It waits for your answer.`);
    }
  }

  dispose(): void {
    this.focus.giveBack();
  }

  private drawQuestion(): void {
    const { item } = this;
    this.asked = item.arguments;
    const [title, body] = [uniqueId(), uniqueId()];
    const name = element('span', 'am-question', element('span', 'am-name', oneLine(item.name ?? '')), ' ');
    name.append(element('span', 'am-words', wish(item)));
    name.id = title;
    const head = element('div', 'am-head', stateSign('running'), name, element('span', 'am-state', 'waiting for you'));
    // Below its first line may stand what the call would run or change.
    const [reason = '', ...more] = visible(item.reason ?? '').split('\n');
    const would = more.length > 0 ? textBlock(more.join('\n')) : null;
    const shown = element(
      'div',
      '',
      reason && element('div', 'am-note', reason),
      would,
      element('div', 'am-shown', drawArguments(item.arguments ?? {}))
    );
    shown.id = body;
    this.element.className = 'am-asked am-card am-ask';
    this.element.setAttribute('role', this.around.actions ? 'alertdialog' : 'group');
    this.element.setAttribute('aria-labelledby', title);
    this.element.setAttribute('aria-describedby', body);
    this.problem.textContent = '';
    this.element.replaceChildren(head, element('div', 'am-body', shown, this.form, this.problem));
    this.drawButtons();
  }

  private drawSettled(): void {
    const { item } = this;
    const words = { done: 'allowed', denied: 'denied', aborted: 'not answered' }[item.state as string] ?? item.state;
    this.focus.giveBack();
    for (const name of ['role', 'aria-labelledby', 'aria-describedby', 'aria-busy']) {
      this.element.removeAttribute(name);
    }
    this.element.className = 'am-asked am-note';
    this.element.replaceChildren(stateSign(item.state), ` ${oneLine(item.name ?? '')}: ${words}`);
  }

  // Answering ---------------------------------------------------------------------------------------------------------

  private drawButtons(focus = ''): void {
    if (!this.around.actions) {
      this.form.replaceChildren();
      return;
    }
    const run = button('Run', 'am-primary', () => void this.answer('once', null));
    const always = button('Always in this session', '', () => void this.answer('always', null));
    always.title = 'This tool is not asked about again until a new conversation or the kernel’s end';
    const edit = button('Edit', '', () => this.drawEditor());
    const deny = button('Deny…', '', () => this.drawDenial());
    deny.title = 'The call does not run; the agent is told so and goes on';
    edit.hidden = Object.keys(this.item.arguments ?? {}).length === 0;
    this.setForm([element('div', 'am-actions', run, always, edit, deny)]);
    ({ edit, deny })[focus]?.focus();
  }

  private drawDenial(): void {
    const word = element('input', 'am-input');
    word.type = 'text';
    word.placeholder = 'A word to the model (optional)';
    word.setAttribute('aria-label', 'A word to the model');
    const deny = () => void this.answer('deny', null, word.value.trim());
    word.addEventListener('keydown', event => event.key === 'Enter' && !event.isComposing && deny());
    const actions = element('div', 'am-actions', word, button('Deny', 'am-primary', deny));
    actions.append(button('Back', 'am-quiet', () => this.drawButtons('deny')));
    this.setForm([actions], () => this.drawButtons('deny'));
    word.focus();
  }

  private drawEditor(): void {
    const values = this.item.arguments ?? {};
    const fields = Object.entries(values).map(([name, value]) => new ArgumentField(name, value));
    const run = (decision: Decision) => {
      const problems = fields.filter(field => !field.check());
      if (problems.length > 0) {
        problems[0]!.area.focus();
        return;
      }
      const edited = Object.fromEntries(fields.map(field => [field.name, field.value()]));
      const isChanged = fields.some(field => field.isChanged());
      void this.answer(decision, isChanged ? edited : null);
    };
    const actions = element(
      'div',
      'am-actions',
      button('Run with these', 'am-primary', () => run('once'))
    );
    actions.append(button('Back', 'am-quiet', () => this.drawButtons('edit')));
    this.setForm([...fields.map(field => field.element), actions], () => this.drawButtons('edit'));
    this.element.classList.add('am-editing');
    fields[0]?.area.focus();
  }

  private setForm(parts: HTMLElement[], onEscape?: () => void): void {
    this.problem.textContent = '';
    this.element.classList.remove('am-editing');
    this.form.replaceChildren(...parts);
    this.form.onkeydown = event => {
      if (event.key === 'Escape' && onEscape) {
        event.stopPropagation();
        onEscape();
      }
    };
  }

  private async answer(decision: Decision, edited: Values | null, reason = ''): Promise<void> {
    const { actions } = this.around;
    if (!actions || this.element.hasAttribute('aria-busy')) {
      return;
    }
    const focused = document.activeElement;
    this.setBusy(true);
    this.problem.textContent = '';
    try {
      const { id, hash = '' } = this.item;
      await actions.answer({ approval: id, decision, reason, arguments: edited, hash });
    } catch (error) {
      if (this.isOpen) {
        this.setBusy(false);
        this.problem.textContent = visible(error instanceof Error ? error.message : String(error));
        if (focused instanceof HTMLElement && this.element.contains(focused)) {
          focused.focus();
        }
      }
    }
  }

  private setBusy(busy: boolean): void {
    this.element.toggleAttribute('aria-busy', busy);
    if (busy) {
      this.element.setAttribute('aria-busy', 'true');
    }
    for (const control of this.form.querySelectorAll<HTMLButtonElement>('button, input, textarea')) {
      control.disabled = busy;
    }
  }
}

/** One argument to be changed: a text as it is, everything else as JSON. */
class ArgumentField {
  readonly element: HTMLElement;
  readonly area = element('textarea', 'am-input');
  private readonly problem = element('div', 'am-problem');
  private readonly text: string;

  constructor(
    readonly name: string,
    private readonly before: unknown
  ) {
    this.text = typeof before === 'string' ? before : readableJson(before);
    this.area.value = this.text;
    this.area.rows = Math.min(16, Math.max(1, this.text.split('\n').length));
    this.area.spellcheck = false;
    this.problem.id = uniqueId();
    this.area.setAttribute('aria-describedby', this.problem.id);
    this.element = element('div', 'am-field', element('label', 'am-label', visible(name), this.area), this.problem);
  }

  check(): boolean {
    const problem = this.parse() instanceof SyntaxError ? 'This is not JSON; a text needs quotation marks.' : '';
    this.problem.textContent = problem;
    this.area.setAttribute('aria-invalid', String(problem !== ''));
    return problem === '';
  }

  isChanged(): boolean {
    return this.area.value !== this.text;
  }

  value(): unknown {
    return this.isChanged() ? this.parse() : this.before;
  }

  private parse(): unknown {
    if (typeof this.before === 'string') {
      return this.area.value;
    }
    try {
      return JSON.parse(this.area.value) as unknown;
    } catch (error) {
      return error;
    }
  }
}
