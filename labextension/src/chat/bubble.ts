import type { MimeBundle } from '../protocol/messages';
import { drawOutput } from '../view/outputs';
import type { ViewHost } from '../view/view';
import { visible } from '../view/wording';
import { element } from './element';

const MENTION = /(?<![\w@.])@(?:file:\S+|[A-Za-z_]\w*(?:\[-?\d+\])?)/g;

/** What the user said, with what he mentioned set off, and the pictures that he attached. */
export function bubble(text: string, outputs: readonly MimeBundle[] = [], host: ViewHost = {}): HTMLElement {
  const made = element('div', { class: 'am-chat-bubble' });
  const shown = visible(text);
  let end = 0;
  for (const mention of shown.matchAll(MENTION)) {
    made.append(shown.slice(end, mention.index), element('span', { class: 'am-chat-mention' }, mention[0]));
    end = mention.index + mention[0].length;
  }
  made.append(shown.slice(end));
  for (const output of outputs) {
    const drawn = drawOutput(output, host);
    if (drawn) {
      made.append(drawn);
    }
  }
  return made;
}
