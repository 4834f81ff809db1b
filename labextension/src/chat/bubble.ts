import type { MimeBundle } from '../protocol/messages';
import { drawOutput } from '../view/outputs';
import { drawSaid } from '../view/said';
import type { ViewHost } from '../view/view';
import { element } from './element';
import { wordsOf } from './words';

const SAID = { mention: 'am-chat-mention', more: 'am-chat-more' };

/** What the user said, with what he mentioned set off, and the pictures that he attached. */
export function bubble(text: string, host: ViewHost, outputs: readonly MimeBundle[] = []): HTMLElement {
  const drawn = outputs.map(output => drawOutput(output, host)).filter(output => output !== null);
  return element('div', { class: 'am-chat-bubble', dir: 'auto' }, ...drawSaid(text, SAID, wordsOf(host)), ...drawn);
}
