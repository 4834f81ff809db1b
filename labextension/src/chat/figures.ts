import type { Words } from './words';

/** 128000 as "128k", 1048576 as "1M". */
export function compactNumber(value: number): string {
  const [unit, suffix] = value >= 1e6 ? [1e6, 'M'] : value >= 1000 ? [1000, 'k'] : [1, ''];
  return `${Number((value / unit).toPrecision(3))}${suffix}`;
}

/** US dollars with two significant places below a cent, else with cents: "$0.0028", "$1.25". */
export function dollars(value: number): string {
  const places = value === 0 || value >= 0.01 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(value)));
  return `$${value.toFixed(places)}`;
}

/** The prices of a million tokens of input and output, in words; empty where they are unknown. */
export function priceText(prices: unknown, words: Words): string {
  const { input, output } = (prices ?? {}) as { input?: unknown; output?: unknown };
  if (prices === null || prices === undefined || !isPrice(input) || !isPrice(output)) {
    return '';
  }
  if (Number(input) === 0 && Number(output) === 0) {
    return words('free');
  }
  return words('%1 in, %2 out per million', dollars(Number(input)), dollars(Number(output)));
}

function isPrice(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && value !== '' && Number(value) >= 0;
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
