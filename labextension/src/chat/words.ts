import type { ChatHost } from './host';

/** A text in the user's language, with `%1`, `%2` replaced by `values`. */
export type Words = (text: string, ...values: (string | number)[]) => string;

export function wordsOf(host: ChatHost): Words {
  return (text, ...values) =>
    (host.translate?.(text) ?? text).replace(/%(\d)/g, (placeholder, place: string) => {
      const value = values[Number(place) - 1];
      return value === undefined ? placeholder : String(value);
    });
}

/** What went wrong, in the words of whoever threw it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
