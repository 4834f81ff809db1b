import type { AgentState } from '../protocol/messages';
import { money } from '../view/wording';
import { element } from './element';
import { compactNumber } from './figures';
import type { Words } from './words';

/** The last line: how full the context is, what the conversation has cost. What is not known is not shown. */
export class Status {
  readonly element: HTMLElement;
  private readonly words: Words;
  private readonly bar: HTMLElement;
  private readonly fill: HTMLElement;
  private readonly percent: HTMLElement;
  private readonly cost: HTMLElement;

  constructor(words: Words) {
    this.words = words;
    this.fill = element('span', { class: 'am-chat-bar-fill' });
    this.bar = element(
      'span',
      {
        class: 'am-chat-bar',
        role: 'meter',
        'aria-label': words('Context'),
        'aria-valuemin': '0',
        'aria-valuemax': '100'
      },
      this.fill
    );
    this.percent = element('span', { 'aria-hidden': 'true' });
    this.cost = element('span', { class: 'am-chat-cost', hidden: true });
    this.element = element('div', { class: 'am-chat-status' }, this.percent, this.bar, this.cost);
  }

  update({ context, cost }: Pick<AgentState, 'context' | 'cost'>): void {
    const fraction = context?.fraction ?? null;
    this.percent.hidden = context === null;
    this.bar.hidden = fraction === null;
    if (context) {
      const used = compactNumber(context.used);
      const text =
        context.window === null
          ? this.words('%1 tokens of context', used)
          : this.words('%1 of %2 tokens of context', used, compactNumber(context.window));
      this.bar.title = this.percent.title = text;
      this.percent.textContent = fraction === null ? text : `${percentOf(fraction)} %`;
      if (fraction === null) {
        this.percent.removeAttribute('aria-hidden');
      } else {
        this.percent.setAttribute('aria-hidden', 'true');
        this.bar.setAttribute('aria-valuenow', String(percentOf(fraction)));
        this.bar.setAttribute('aria-valuetext', text);
        this.bar.classList.toggle('am-chat-nearly-full', fraction >= 0.8);
        this.fill.style.width = `${Math.min(100, fraction * 100)}%`;
      }
    }
    this.cost.hidden = cost === null;
    if (cost !== null) {
      this.cost.textContent = money(cost);
      this.cost.title = this.words('Cost of this conversation');
    }
  }
}

/** Not 0 where something is used, nor 100 where something is left. */
function percentOf(fraction: number): number {
  const percent = Math.round(fraction * 100);
  return fraction > 0 && percent === 0 ? 1 : fraction < 1 && percent === 100 ? 99 : percent;
}
