import { drawArguments } from './arguments';
import { Card } from './card';
import { element } from './element';
import type { ItemView, Surroundings } from './items';
import { drawOutput, drawText, isFigure, outputTitle } from './outputs';
import type { Item } from './record';
import { oneLine, stateWords } from './wording';

/** A tool call: one line; open, its arguments, progress and result. Figures stand below it, open or not. */
export class ToolCall implements ItemView {
  readonly element = element('div', 'am-call');
  private readonly card = new Card('am-tool', () => this.drawBody());
  private readonly figures = element('div', 'am-figures');
  private readonly asked = element('div');
  private readonly progress = element('div');
  private readonly result = element('div');
  private shown: Partial<Item> = {};

  constructor(
    private item: Item,
    private readonly around: Surroundings,
    private approval?: Item
  ) {
    this.element.append(this.card.element);
    this.card.body.append(this.asked, this.progress, this.result);
    this.update(item, approval);
  }

  update(item: Item, approval?: Item): void {
    const failed = item.state === 'failed' && this.item.state === 'running';
    const figures = this.item.outputs !== item.outputs || this.figures.childElementCount === 0;
    this.item = item;
    this.approval = approval;
    this.card.setLine(oneLine(item.name ?? ''), oneLine(item.summary ?? ''));
    this.tick();
    if (figures) {
      this.drawFigures();
    }
    if (this.card.element.open) {
      this.drawBody();
    }
    if (failed) {
      this.around.announce(`${oneLine(item.name ?? '')} failed: ${stateWords(item)}`);
    }
  }

  tick(): void {
    this.card.setState(this.item.state, stateWords(this.item));
  }

  private drawFigures(): void {
    const figures = (this.item.outputs ?? []).filter(isFigure).map(bundle => drawOutput(bundle, this.around.host));
    this.figures.replaceChildren(...figures.filter(figure => figure !== null));
    if (figures.length > 0) {
      this.element.append(this.figures);
    } else {
      this.figures.remove();
    }
  }

  private drawBody(): void {
    const { item, shown, approval } = this;
    if (shown.arguments !== item.arguments || this.asked.childElementCount === 0) {
      this.asked.replaceChildren(label('Arguments'), drawArguments(item.arguments ?? {}));
      if (approval?.state === 'done' && !isSame(approval.arguments, item.arguments)) {
        this.asked.append(label('Changed by you, and run with'), drawArguments(approval.arguments ?? {}));
      }
    }
    if (shown.progress !== item.progress) {
      this.progress.replaceChildren(...(item.progress ? [label('Progress'), drawText(item.progress)] : []));
    }
    if (shown.result !== item.result || shown.outputs !== item.outputs || shown.state !== item.state) {
      this.result.replaceChildren(...this.results());
    }
    this.shown = item;
  }

  private results(): HTMLElement[] {
    const { item } = this;
    const word = item.state === 'failed' ? 'Error' : item.state === 'denied' ? 'Told to the model' : 'Result';
    const parts: HTMLElement[] = [];
    for (const bundle of (item.outputs ?? []).filter(bundle => !isFigure(bundle))) {
      const drawn = drawOutput(bundle, this.around.host);
      if (drawn) {
        parts.push(label([word, outputTitle(bundle)].filter(Boolean).join(' · ')), drawn);
      }
    }
    return parts.length === 0 && item.result ? [label(word), drawText(item.result)] : parts;
  }
}

export function label(text: string): HTMLElement {
  return element('div', 'am-label', text);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
