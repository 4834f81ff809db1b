import { button, element } from './element';
import { visible } from './wording';
import type { Words } from './words';

// As `mentions.py` in the kernel finds them.
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const FILE = String.raw`file:(?:"[^"\n]+"|'[^'\n]+'|[^\s"'${'`'}]+(?<![.,;:!?)\]}>]))`;
const MENTION = new RegExp(
  String.raw`(?<![\p{L}\p{N}_@.+/\\-])(@(?:${FILE}|(?:In|Out)\[-?\d+\]|${NAME}(?:\.${NAME})*(?![\p{L}\p{N}_@])))`,
  'u'
);

// A text with more characters or lines than this shows only so much of its beginning.
const LONG = { characters: 140, lines: 4 };
const SHOWN = { characters: 80, lines: 2 };

/** Classes of the parts. */
export interface SaidStyle {
  mention: string;
  more: string;
}

/** What the user said, with what he mentioned set off; of a long text the beginning, and the rest behind a button. */
export function drawSaid(source: string, style: SaidStyle, words: Words): (Node | string)[] {
  const text = visible(source);
  const beginning = beginningOf(text);
  if (beginning === text) {
    return marked(text, style);
  }
  const dots = element('span', '', '…');
  const rest = element('span', '', ...marked(text.slice(beginning.length), style));
  const more = button(words('More'), style.more, () => show(rest.hidden));
  const show = (isOpen: boolean) => {
    rest.hidden = !isOpen;
    dots.hidden = isOpen;
    more.textContent = isOpen ? words('Less') : words('More');
    more.setAttribute('aria-expanded', String(isOpen));
  };
  show(false);
  return [...marked(beginning, style), dots, rest, ' ', more];
}

function marked(text: string, style: SaidStyle): (Node | string)[] {
  return text.split(MENTION).map((part, place) => (place % 2 === 1 ? element('span', style.mention, part) : part));
}

/** All of a short text; of a long one whole words, as far as there are any. */
function beginningOf(text: string): string {
  const lines = text.split('\n');
  if (text.length <= LONG.characters && lines.length <= LONG.lines) {
    return text;
  }
  const begin = lines.slice(0, SHOWN.lines).join('\n');
  if (begin.length <= SHOWN.characters) {
    return begin;
  }
  const space = begin.lastIndexOf(' ', SHOWN.characters);
  const end = space > SHOWN.characters / 2 ? space : SHOWN.characters;
  // Never half of a character.
  return begin.slice(0, end).replace(/[\ud800-\udbff]$/, '');
}
