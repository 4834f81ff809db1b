import type { TranslationBundle } from '@jupyterlab/translation';

/** The user's words for a text of ours; `%1`, `%2` stand for what is given. */
export type Words = (text: string, ...given: string[]) => string;

const PLACEHOLDERS = ['%1', '%2', '%3', '%4', '%5'];

export function wordsOf(trans: TranslationBundle): Words {
  // Placeholders that nothing is given for stay, for whoever fills them.
  return (text, ...given) => trans.__(text, ...given, ...PLACEHOLDERS.slice(given.length));
}
