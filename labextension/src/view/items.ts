import { Approval } from './approval';
import { Card } from './card';
import { textBlock } from './code';
import { element, setText } from './element';
import { drawOutput, drawText } from './outputs';
import { Prose } from './prose';
import type { Item } from './record';
import { drawSaid } from './said';
import { ToolCall } from './tool';
import type { RunActions, ViewHost } from './view';
import { oneLine, thinkingLine, visible } from './wording';
import { wordsOf } from './words';

/** What the drawn items share. */
export interface Surroundings {
  host: ViewHost;
  actions: RunActions | undefined;
  /** Read `words` to those who listen to the page. */
  announce(words: string): void;
}

/** One item as it is drawn. `approval` is the question about a call, where there was one. */
export interface ItemView {
  readonly element: HTMLElement;
  update(item: Item, approval?: Item): void;
  /** A second has passed, and the item still runs. */
  tick?(): void;
  dispose?(): void;
}

/** The view of an item; null for a kind that is not known here. */
export function drawItem(item: Item, around: Surroundings, approval?: Item): ItemView | null {
  switch (item.kind) {
    case 'text':
      return new Answer(item, around);
    case 'thinking':
      return new Fold(item, around, 'am-thinking', thinkingLine);
    case 'context':
      return new Fold(item, around, 'am-context', contextLine);
    case 'tool':
      return new ToolCall(item, around, approval);
    case 'approval':
      return new Approval(item, around);
    case 'user':
      return new Whole(item, 'am-user', drawUser, around);
    case 'media':
      return new Whole(item, 'am-figures', drawOutputs, around);
    case 'error':
      return new Whole(item, 'am-failure', drawError, around);
    case 'note':
      return new Whole(item, 'am-note', item => [visible(item.text ?? '')], around);
    default:
      return null;
  }
}

class Answer implements ItemView {
  readonly element: HTMLElement;
  private readonly prose: Prose;

  constructor(item: Item, around: Surroundings) {
    this.prose = new Prose(around.host, around.announce);
    this.element = this.prose.element;
    this.update(item);
  }

  update(item: Item): void {
    this.prose.update(item.text ?? '', item.state !== 'running');
  }

  dispose(): void {
    this.prose.dispose();
  }
}

/** Text behind one line: reasoning, and what was added to the prompt. */
class Fold implements ItemView {
  readonly element: HTMLElement;
  private readonly card: Card;
  private readonly text = textBlock('');

  constructor(
    private item: Item,
    private readonly around: Surroundings,
    kind: string,
    private readonly line: (item: Item) => string
  ) {
    this.card = new Card(kind, () => this.drawBody());
    this.element = this.card.element;
    this.update(item);
  }

  update(item: Item): void {
    this.item = item;
    this.tick();
    this.element.classList.toggle('am-empty', !item.text?.trim() && !item.outputs?.length);
    if (this.card.element.open) {
      this.drawBody();
    }
  }

  tick(): void {
    this.card.setLine(this.line(this.item));
  }

  private drawBody(): void {
    setText(this.text, visible(this.item.text ?? '').replace(/^\n+|\n+$/g, ''));
    this.card.body.replaceChildren(this.text, ...drawOutputs(this.item, this.around));
  }
}

function contextLine(item: Item): string {
  return oneLine(item.title || 'What the model saw');
}

/** An item that is drawn anew when it has changed, which it seldom does. */
class Whole implements ItemView {
  readonly element: HTMLElement;

  constructor(
    item: Item,
    kind: string,
    private readonly draw: (item: Item, around: Surroundings) => (Node | string)[],
    private readonly around: Surroundings
  ) {
    this.element = element('div', kind);
    this.update(item);
    if (item.kind === 'error' || item.kind === 'note') {
      around.announce(this.element.textContent ?? '');
    }
  }

  update(item: Item): void {
    this.element.replaceChildren(...this.draw(item, this.around));
  }
}

function drawOutputs(item: Item, around: Surroundings): HTMLElement[] {
  return (item.outputs ?? []).map(bundle => drawOutput(bundle, around.host)).filter(drawn => drawn !== null);
}

const SAID = { mention: 'am-chip', more: 'am-quiet am-more' };

function drawUser(item: Item, around: Surroundings): Node[] {
  const said = drawSaid((item.text ?? '').trim(), SAID, wordsOf(around.host));
  const bubble = element('div', 'am-said', ...said);
  bubble.dir = 'auto';
  return [bubble, ...drawOutputs(item, around)];
}

function drawError(item: Item): Node[] {
  const [first = '', ...rest] = visible(item.text ?? '')
    .trim()
    .split('\n');
  const sign = element('span', 'am-sign', '✕');
  sign.setAttribute('aria-hidden', 'true');
  const line = element('div', 'am-failure-line', sign, ' ', first || 'failed');
  const more = rest.join('\n').trim();
  return more ? [line, more.includes('Traceback') ? drawText(more) : element('div', 'am-failure-more', more)] : [line];
}
