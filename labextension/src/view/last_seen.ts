import type { RunRecord } from './record';

const LAST_SEEN = 'agent-magic:last-seen';

interface Question {
  run: string;
  record: RunRecord | null;
}

/** What a live view in this page has last shown of a run; null where none is there. */
export function lastSeen(run: string): RunRecord | null {
  const question: Question = { run, record: null };
  document.dispatchEvent(new CustomEvent(LAST_SEEN, { detail: question }));
  return question.record;
}

/** Tell others in the page, whose code may be another copy of this, what a view shows. Returns how to stop. */
export function tellLastSeen(shown: () => RunRecord | null): () => void {
  const listener = (event: Event): void => {
    const question = (event as CustomEvent<Question>).detail;
    const record = shown();
    if (record?.run === question.run) {
      const seconds = record.seconds ?? Math.max(0, (Date.now() - record.started) / 1000);
      question.record = { ...record, seconds };
    }
  };
  document.addEventListener(LAST_SEEN, listener);
  return () => document.removeEventListener(LAST_SEEN, listener);
}
