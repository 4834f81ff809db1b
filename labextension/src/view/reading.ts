/** Where somebody is in a run that he reads. */
export interface Reading {
  /** The items whose cards are open. */
  open: string[];
  /** Whether what the model saw is shown. */
  saw: boolean;
  /** The item that has the focus by keys, empty where something else in the run has it, null where nothing does. */
  focused: string | null;
}

// Of the page: other copies of this code look there, too.
const READINGS = Symbol.for('agent_magic.readings.1');
const page = globalThis as unknown as Record<symbol, Map<string, Reading> | undefined>;

/** Keep where somebody is in the run of a view, for the record that takes its place. */
export function keepReading(run: string, reading: Reading): void {
  (page[READINGS] ??= new Map()).set(run, reading);
}

/** Where somebody was in the view of that run, once; null where nobody read it. */
export function takeReading(run: string): Reading | null {
  const found = page[READINGS]?.get(run) ?? null;
  page[READINGS]?.delete(run);
  return found;
}

/** Call `keep` whenever somebody opens something in `target`, or the focus comes or goes. Returns how to stop. */
export function listenForReading(target: HTMLElement, keep: () => void): () => void {
  const left = (): void => {
    // What is taken out of the page loses its focus, too, which nobody meant.
    setTimeout(() => target.isConnected && keep());
  };
  target.addEventListener('toggle', keep, true);
  target.addEventListener('click', keep);
  target.addEventListener('focusin', keep);
  target.addEventListener('focusout', left);
  return () => {
    target.removeEventListener('toggle', keep, true);
    target.removeEventListener('click', keep);
    target.removeEventListener('focusin', keep);
    target.removeEventListener('focusout', left);
  };
}
