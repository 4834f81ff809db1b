import type { Words } from './words';

/** 128000 as "128k", 1048576 as "1M". */
export function compactNumber(value: number): string {
  const [unit, suffix] = value >= 1e6 ? [1e6, 'M'] : value >= 1000 ? [1000, 'k'] : [1, ''];
  return `${Number((value / unit).toPrecision(3))}${suffix}`;
}

/** The kernel's words for the prices of a million tokens, in and out: "0.25 / 2", "free", "?". */
export function priceText(prices: string, words: Words): string {
  if (prices === '?') {
    return words('price unknown');
  }
  return prices === 'free' ? words('free') : words('$%1 per million in / out', prices);
}

/** "gpt-5-mini" of "openai/gpt-5-mini": the provider is in the tooltip. */
export function shortModel(id: string): string {
  return id.slice(id.indexOf('/') + 1) || id;
}

/** How long ago `then` (Unix milliseconds) was: "3 min ago"; a date where it is more than a week. */
export function ago(then: number, now: number, words: Words): string {
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) {
    return words('just now');
  }
  if (minutes < 60) {
    return words('%1 min ago', minutes);
  }
  if (minutes < 24 * 60) {
    return words('%1 h ago', Math.floor(minutes / 60));
  }
  const days = Math.floor(minutes / (24 * 60));
  return days <= 7 ? words('%1 d ago', days) : new Date(then).toLocaleDateString();
}
