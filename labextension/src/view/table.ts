import { element } from './element';
import { count, oneLine } from './wording';

export const TABLE_TYPE = 'application/vnd.agent-magic.table+json';

/** The beginning of a frame: one label a row in `index`, the positions of columns of numbers in `numeric`. */
export interface Table {
  name: string;
  columns: string[];
  index: string[] | null;
  rows: string[][];
  numeric: number[];
  /** Of the whole. */
  shape: number[];
}

export function isTable(value: unknown): value is Table {
  const table = value as Partial<Table> | null | undefined;
  return (
    typeof table === 'object' &&
    table !== null &&
    Array.isArray(table.columns) &&
    Array.isArray(table.rows) &&
    table.rows.every(row => Array.isArray(row)) &&
    Array.isArray(table.shape) &&
    (table.index == null || Array.isArray(table.index))
  );
}

/** Such as `DataFrame 12 × 3`. */
export function tableTitle(table: Table): string {
  return [oneLine(String(table.name ?? '')), table.shape.map(size => Number(size).toLocaleString('en')).join(' × ')]
    .filter(Boolean)
    .join(' ');
}

export function drawTable(table: Table): HTMLElement {
  const numeric = new Set(Array.isArray(table.numeric) ? table.numeric : []);
  const cell = (tag: 'th' | 'td', text: unknown, isNumber: boolean, scope = '') => {
    const made = element(tag, isNumber ? 'am-right' : '', oneLine(String(text ?? '')));
    if (scope) {
      made.setAttribute('scope', scope);
    }
    return made;
  };
  const head = element('tr', '', ...(table.index ? [cell('td', '', true)] : []));
  head.append(...table.columns.map((name, place) => cell('th', name, numeric.has(place), 'col')));
  const body = element('tbody');
  table.rows.forEach((row, number) => {
    const line = element('tr', '', ...(table.index ? [cell('th', table.index[number], true, 'row')] : []));
    line.append(...row.map((value, place) => cell('td', value, numeric.has(place))));
    body.append(line);
  });
  const drawn = element('div', 'am-wide', element('table', '', element('thead', '', head), body));
  drawn.tabIndex = 0;
  drawn.setAttribute('role', 'group');
  drawn.setAttribute('aria-label', tableTitle(table));
  const left = remaining(table);
  return left ? element('div', '', drawn, element('div', 'am-note', left)) : drawn;
}

function remaining(table: Table): string {
  const [rows = 0, columns = 0] = table.shape;
  const left = [
    rows > table.rows.length ? count(rows - table.rows.length, 'more row') : '',
    columns > table.columns.length && table.shape.length > 1 ? count(columns - table.columns.length, 'more column') : ''
  ].filter(Boolean);
  return left.length > 0 ? `… ${left.join(', ')}` : '';
}
