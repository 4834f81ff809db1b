import type { Answer } from '../protocol/messages';
import type { MimeBundle, RunRecord } from './record';

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
  renderMime?(bundle: MimeBundle): HTMLElement | null;
}

export interface ViewOptions {
  /** Absent: read-only. */
  actions?: RunActions;
  host?: ViewHost;
  /** Fold several finished calls in a row into one line. */
  compact?: boolean;
  /** Show what the user said. */
  prompt?: boolean;
}

/** Draws the record of a run into an element, and again whenever it has changed. */
export class RecordView {
  constructor(
    private readonly element: HTMLElement,
    private readonly options: ViewOptions = {}
  ) {}

  update(record: RunRecord): void {
    this.element.textContent = record.state + String(this.options.compact);
  }

  dispose(): void {
    this.element.textContent = '';
  }
}
