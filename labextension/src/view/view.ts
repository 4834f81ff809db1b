import type { Answer } from '../protocol/messages';
import { Announcer } from './announcer';
import { arrange, element, setText } from './element';
import { CallFold } from './fold';
import { Footer } from './footer';
import { drawItem, type ItemView, type Surroundings } from './items';
import { keepKeys } from './keys';
import type { Reading } from './reading';
import type { Item, MimeBundle, RunRecord } from './record';
import { oneLine } from './wording';

/** What a page may do to the run that it shows. */
export interface RunActions {
  stop(): Promise<void>;
  /** The question is on the page and can be answered there. */
  shown(approval: string): void;
  /** Rejects with what is wrong with the answer; the question stays open. */
  answer(answer: Answer): Promise<void>;
}

/** What the page around the view can do; what is absent is not offered. */
export interface ViewHost {
  insertCode?(code: string): void;
  /** Put code of an answer in the place of what stands in the cell that the user is in. */
  applyCode?(code: string): void;
  renderMime?(bundle: MimeBundle): HTMLElement | null;
  /** A text in the user's language. Placeholders such as `%1` stay as they are. */
  translate?(text: string): string;
}

export interface ViewOptions {
  /** Absent: read-only. */
  actions?: RunActions;
  host?: ViewHost;
  /** Fold several finished calls in a row into one line, and leave Stop to the page. */
  compact?: boolean;
  /** Show what the user said. */
  prompt?: boolean;
}

interface Drawn {
  item: Item;
  approval: Item | undefined;
  view: ItemView | null;
}

// A page that nobody looks at draws no frames, but its questions must reach the kernel.
const WITHOUT_FRAMES = 250;
const TICK = 500;

const ENDS = { done: 'The answer is complete.', failed: 'The run failed.', aborted: 'The run was stopped.' };

/** Draws the record of a run into an element, and again, once a frame, whenever it has changed. */
export class RecordView {
  private readonly root = element('div', 'am-view');
  private readonly list = element('div', 'am-items');
  private readonly saw = element('div', 'am-saw');
  private readonly left = element('div', 'am-note');
  private readonly footer: Footer;
  private readonly announcer = new Announcer();
  private readonly around: Surroundings;
  private readonly drawn = new Map<string, Drawn>();
  private readonly folds = new Map<string, CallFold>();
  private readonly heights: ResizeObserver | null;
  private height = 0;
  private record: RunRecord | null = null;
  private last: RunRecord | null = null;
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private clock: ReturnType<typeof setInterval> | undefined;

  constructor(
    target: HTMLElement,
    private readonly options: ViewOptions = {}
  ) {
    const { actions, host = {}, compact = false } = options;
    this.around = {
      host,
      actions,
      announce: words => this.last?.state === 'running' && this.announcer.say(words)
    };
    this.footer = new Footer(actions && !compact ? () => actions.stop() : null, isOpen => (this.saw.hidden = !isOpen));
    this.saw.hidden = true;
    this.root.classList.toggle('am-compact', compact);
    this.root.append(element('div', 'am-room', this.list), this.left, this.footer.element, this.saw);
    if (actions) {
      this.root.append(this.announcer.element);
    }
    keepKeys(this.root);
    target.append(this.root);
    this.heights = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.keepHeight());
    this.heights?.observe(this.list);
    // The user may well make it smaller.
    this.list.addEventListener('toggle', () => this.setHeight(0), true);
  }

  update(record: RunRecord): void {
    this.record = record;
    if (this.last === null) {
      this.draw();
    } else if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => this.draw());
      this.timer = setTimeout(() => this.draw(), WITHOUT_FRAMES);
    }
  }

  /** Where somebody is in what is drawn. */
  get reading(): Reading {
    const { activeElement: active } = document;
    const open: string[] = [];
    let focused = active && this.root.contains(active) ? '' : null;
    for (const [id, { view }] of this.drawn) {
      const card = cardOf(view);
      if (card?.open) {
        open.push(id);
      }
      // Who came by the mouse still has the keys of the notebook.
      if (card?.contains(active) && active!.matches(':focus-visible')) {
        focused = id;
      }
    }
    return { open, saw: this.footer.showsSaw, focused };
  }

  /** Go on where somebody was in another view of the same run. Returns whether the focus went there. */
  goOn({ open, saw, focused }: Reading): boolean {
    this.footer.showSaw(saw);
    for (const id of open) {
      const card = cardOf(this.drawn.get(id)?.view);
      if (card) {
        card.open = true;
      }
    }
    const summary = focused ? cardOf(this.drawn.get(focused)?.view)?.querySelector('summary') : null;
    summary?.focus({ preventScroll: true });
    return !!summary;
  }

  dispose(): void {
    this.cancel();
    clearInterval(this.clock);
    this.heights?.disconnect();
    for (const { view } of this.drawn.values()) {
      view?.dispose?.();
    }
    this.root.remove();
  }

  private cancel(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = 0;
  }

  private draw(): void {
    this.cancel();
    const record = this.record!;
    if (record === this.last) {
      return;
    }
    const items = this.shownItems(record);
    const approvals = new Map(items.filter(isQuestion).map(item => [item.call_id, item]));
    const calls = new Set(items.filter(item => item.kind === 'tool').map(item => item.call_id));
    const saw: HTMLElement[] = [];
    const shown: { item: Item; element: HTMLElement }[] = [];
    const known = new Set<string>();
    for (const item of items) {
      const approval = item.kind === 'tool' ? approvals.get(item.call_id) : undefined;
      if (isQuestion(item) && calls.has(item.call_id)) {
        // It stands where its call does, in its place while it is open.
        continue;
      }
      const asked = approval && isOpen(approval) ? approval : null;
      const view = asked ? this.drawnItem(asked) : this.drawnItem(item, approval);
      known.add(asked ? asked.id : item.id);
      if (view) {
        if (isAttachment(item)) {
          saw.push(view.element);
        } else {
          shown.push({ item: asked ?? item, element: view.element });
        }
      }
    }
    this.forget(known);
    arrange(this.list, this.options.compact ? this.folded(shown, record) : shown.map(each => each.element));
    arrange(this.saw, saw);
    setText(this.left, leftOut(record));
    this.footer.update(record, saw.length > 0);
    if (record.state !== this.last?.state) {
      this.root.dataset.state = record.state;
    }
    this.setClock(record.state === 'running');
    if (record.state !== 'running') {
      this.around.announce(ENDS[record.state]);
      this.setHeight(0);
    }
    this.last = record;
  }

  /** Without the message that began the run where the page shows that already. */
  private shownItems(record: RunRecord): Item[] {
    if (this.options.prompt) {
      return record.items;
    }
    const { items } = record;
    // What is to be known about it stands before it.
    const notes = countOf('note', items, 0);
    return [...items.slice(0, notes), ...items.slice(notes + countOf('user', items, notes))];
  }

  private drawnItem(item: Item, approval?: Item): ItemView | null {
    const known = this.drawn.get(item.id);
    if (!known) {
      const view = drawItem(item, this.around, approval);
      this.drawn.set(item.id, { item, approval, view });
      return view;
    }
    if (known.item !== item || known.approval !== approval) {
      if (known.view === null || known.item.kind !== item.kind) {
        known.view?.dispose?.();
        known.view = drawItem(item, this.around, approval);
      } else {
        known.view.update(item, approval);
      }
      known.item = item;
      known.approval = approval;
    }
    return known.view;
  }

  private forget(known: ReadonlySet<string>): void {
    for (const [id, { view }] of this.drawn) {
      if (!known.has(id)) {
        view?.dispose?.();
        this.drawn.delete(id);
      }
    }
  }

  /** Finished calls in a row as one line, once something else has followed. */
  private folded(shown: readonly { item: Item; element: HTMLElement }[], record: RunRecord): HTMLElement[] {
    const elements: HTMLElement[] = [];
    let place = 0;
    while (place < shown.length) {
      let end = place;
      while (end < shown.length && isFinishedCall(shown[end]!)) {
        end++;
      }
      const row = shown.slice(place, end);
      if (row.length > 1 && (end < shown.length || record.state !== 'running')) {
        const id = row[0]!.item.id;
        const fold = this.folds.get(id) ?? new CallFold();
        this.folds.set(id, fold);
        fold.update(
          row.map(each => each.item),
          row.map(each => each.element)
        );
        elements.push(fold.element);
      } else {
        elements.push(...row.map(each => each.element));
      }
      if (end < shown.length) {
        elements.push(shown[end]!.element);
      }
      place = end + 1;
    }
    return elements;
  }

  // Time and room -----------------------------------------------------------------------------------------------------

  private setClock(isRunning: boolean): void {
    if (isRunning && this.clock === undefined) {
      this.clock = setInterval(() => this.tick(), TICK);
    } else if (!isRunning) {
      clearInterval(this.clock);
      this.clock = undefined;
    }
  }

  private tick(): void {
    this.footer.tick();
    for (const { item, view } of this.drawn.values()) {
      if (item.state === 'running') {
        view?.tick?.();
      }
    }
  }

  /** While it runs it only grows, so that nothing below it jumps. */
  private keepHeight(): void {
    if (this.last?.state === 'running' && this.list.offsetHeight > this.height) {
      this.setHeight(this.list.offsetHeight);
    }
  }

  private setHeight(height: number): void {
    this.height = height;
    this.list.parentElement!.style.minHeight = height > 0 ? `${height}px` : '';
  }
}

function cardOf(view: ItemView | null | undefined): HTMLDetailsElement | null {
  const element = view?.element;
  return element instanceof HTMLDetailsElement ? element : (element?.querySelector('details') ?? null);
}

/** How many items in a row are of that kind, from `start` on. */
function countOf(kind: string, items: readonly Item[], start: number): number {
  const end = items.findIndex((item, place) => place >= start && item.kind !== kind);
  return (end < 0 ? items.length : end) - start;
}

function leftOut({ omitted }: RunRecord): string {
  return omitted.length > 0 ? `Left out of this record: ${omitted.map(text => oneLine(text)).join('; ')}.` : '';
}

function isQuestion(item: Item): boolean {
  return item.kind === 'approval' && !!item.call_id;
}

function isOpen(approval: Item): boolean {
  return approval.state === 'pending' || approval.state === 'running';
}

/** What was added to the prompt, behind the button in the last line. A summary of earlier messages is a step itself. */
function isAttachment(item: Item): boolean {
  return item.kind === 'context' && (!item.title || item.title.startsWith('What the model saw'));
}

function isFinishedCall({ item, element }: { item: Item; element: HTMLElement }): boolean {
  return item.kind === 'tool' && !['pending', 'running'].includes(item.state) && !element.querySelector('.am-figures');
}
