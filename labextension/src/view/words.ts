import type { ViewHost } from './view';

/** A text in the user's language, with `%1`, `%2` replaced by `values`. */
export type Words = (text: string, ...values: (string | number)[]) => string;

export function wordsOf(host: ViewHost): Words {
  return (text, ...values) =>
    (host.translate?.(text) ?? text).replace(/%(\d)/g, (placeholder, place: string) => {
      const value = values[Number(place) - 1];
      return value === undefined ? placeholder : String(value);
    });
}
