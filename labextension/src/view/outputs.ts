import { textBlock } from './code';
import { element } from './element';
import type { MimeBundle } from './record';
import { isPicture } from './sanitise';
import { TABLE_TYPE, drawTable, isTable, tableTitle } from './table';
import type { ViewHost } from './view';
import { oneLine, visible } from './wording';

const PICTURES = ['image/png', 'image/jpeg', 'image/gif'];
const CHART = /^application\/vnd\.(?:plotly\.v1|vega(?:lite)?\.v\d+)\+json$/;
const TRACEBACK = 'Traceback (most recent call last)';

/** Whether a MIME type is that of a chart, which only the page can draw. */
export function isChart(type: string): boolean {
  return CHART.test(type);
}

/** Whether a bundle is something to look at, which is shown without opening the card that it came from. */
export function isFigure(bundle: MimeBundle): boolean {
  return Object.keys(bundle).some(kind => PICTURES.includes(kind) || isChart(kind));
}

/** Such as `DataFrame 12 × 3`; empty where there is nothing to say. */
export function outputTitle(bundle: MimeBundle): string {
  const table = bundle[TABLE_TYPE];
  return isTable(table) ? tableTitle(table) : '';
}

/** The best form of a bundle: a chart that the page can draw, a picture, a table, or its text. Null for none. */
export function drawOutput(bundle: MimeBundle, host: ViewHost): HTMLElement | null {
  const text = typeof bundle['text/plain'] === 'string' ? bundle['text/plain'] : '';
  if (Object.keys(bundle).some(isChart)) {
    const chart = host.renderMime?.(bundle);
    if (chart) {
      return element('div', 'am-chart', chart);
    }
  }
  for (const kind of PICTURES) {
    const data = bundle[kind];
    const address = typeof data === 'string' ? `data:${kind};base64,${data.replace(/\s+/g, '')}` : '';
    if (isPicture(address)) {
      const picture = element('img', 'am-picture');
      picture.alt = oneLine(text) || 'picture';
      picture.src = address;
      return picture;
    }
  }
  const table = bundle[TABLE_TYPE];
  if (isTable(table)) {
    return drawTable(table);
  }
  return text ? drawText(text) : null;
}

/** Text that a tool gave; of a traceback the last lines, which say what went wrong, stand out. */
export function drawText(source: string): HTMLElement {
  const text = visible(source).replace(/\n+$/, '');
  const block = textBlock(text);
  if (text.startsWith(TRACEBACK)) {
    // What is not indented after the frames is the error itself.
    const error = text.lastIndexOf('\n', text.search(/\n\S[^\n]*(?:\n(?!Traceback| {2}File)[^\n]*)*$/) + 1);
    if (error > 0) {
      block.replaceChildren(text.slice(0, error + 1), element('span', 'am-error', text.slice(error + 1)));
    }
  }
  return block;
}
