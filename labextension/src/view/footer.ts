import { button, element, setText } from './element';
import { FocusBefore } from './focus';
import type { RunRecord } from './record';
import { causeWords, contextWords, footerParts, oneLine } from './wording';

const STOP = '■ Stop';
// Milliseconds.
const AGAIN = 3000;
const NOT_STOPPED = "use the kernel's Stop button";

/** The last line: model, calls, tokens, cost, time, context; at its right end Stop, or what the model saw. */
export class Footer {
  readonly element = element('div', 'am-footer');
  private readonly parts = element('div', 'am-parts');
  private readonly ends = element('div', 'am-ends');
  private readonly bar = element('span', 'am-bar', element('i'));
  private readonly context = element('span', 'am-context-use', this.bar, element('span'));
  private readonly cause = element('span', 'am-cause');
  private readonly focus = new FocusBefore(this.ends);
  private readonly stop: HTMLButtonElement | null;
  private readonly saw: HTMLButtonElement;
  private record: RunRecord | null = null;

  /** `stop` ends the run, null where this page cannot; `onSaw` opens and closes what the model saw. */
  constructor(
    stop: (() => Promise<void>) | null,
    private readonly onSaw: (isOpen: boolean) => void
  ) {
    this.stop = stop && button(STOP, 'am-stop', () => void this.stopped(stop));
    this.saw = button('What the model saw', 'am-quiet', () => this.showSaw(!this.showsSaw));
    this.saw.setAttribute('aria-expanded', 'false');
    this.element.append(this.parts, this.ends);
  }

  /** Whether what the model saw is shown. */
  get showsSaw(): boolean {
    return this.saw.getAttribute('aria-expanded') === 'true';
  }

  showSaw(isOpen: boolean): void {
    this.saw.setAttribute('aria-expanded', String(isOpen));
    this.onSaw(isOpen);
  }

  update(record: RunRecord, hasContext: boolean): void {
    this.record = record;
    const fraction = record.context?.fraction;
    if (fraction != null) {
      (this.bar.firstElementChild as HTMLElement).style.width = `${Math.min(100, Math.round(fraction * 100))}%`;
      this.bar.classList.toggle('am-full', fraction > 0.8);
      setText(this.context.lastElementChild as HTMLElement, contextWords(fraction));
    }
    setText(this.cause, oneLine(causeWords(record)));
    this.tick();
    const ends = [hasContext ? this.saw : null, record.state === 'running' ? this.stop : null].filter(Boolean);
    if (ends.length !== this.ends.childElementCount || ends.some((end, place) => this.ends.children[place] !== end)) {
      if (!ends.includes(this.stop)) {
        this.leaveStop();
      }
      this.ends.replaceChildren(...(ends as HTMLElement[]));
    }
  }

  /** A second has passed. */
  tick(): void {
    if (!this.record) {
      return;
    }
    const texts = footerParts(this.record);
    texts.forEach((text, place) => {
      const part = this.parts.children[place];
      if (part instanceof HTMLElement && !part.className) {
        setText(part, text);
      } else {
        this.parts.insertBefore(element('span', '', text), part ?? null);
      }
    });
    while (this.parts.children[texts.length] && !this.parts.children[texts.length]!.className) {
      this.parts.children[texts.length]!.remove();
    }
    this.put(this.context, this.record.context?.fraction != null);
    this.put(this.cause, this.cause.textContent !== '');
  }

  private put(part: HTMLElement, isWanted: boolean): void {
    if (isWanted && part.parentElement !== this.parts) {
      this.parts.append(part);
    } else if (!isWanted) {
      part.remove();
    }
  }

  private async stopped(stop: () => Promise<void>): Promise<void> {
    const control = this.stop!;
    if (control.getAttribute('aria-disabled') === 'true') {
      return;
    }
    // One that is disabled in earnest would lose the focus.
    control.setAttribute('aria-disabled', 'true');
    control.textContent = '■ Stopping…';
    try {
      await stop();
      // A long call may have missed it: then it can be pressed again.
      setTimeout(() => this.offerStop(), AGAIN);
    } catch {
      // Where the run is heard of again, so is Stop.
      this.offerStop();
      this.leaveStop();
      control.replaceWith(element('span', 'am-cause', NOT_STOPPED));
    }
  }

  /** The button goes away, and must not take the focus with it. */
  private leaveStop(): void {
    if (this.stop && document.activeElement === this.stop) {
      this.focus.giveBack();
    }
  }

  private offerStop(): void {
    this.stop!.removeAttribute('aria-disabled');
    this.stop!.textContent = STOP;
  }
}
