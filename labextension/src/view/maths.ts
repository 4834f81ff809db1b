import type MarkdownIt from 'markdown-it';

/** The class of an element that holds LaTeX with its delimiters, as the page's typesetter takes it. */
export const MATHS = 'am-maths';

const BLOCKS: [RegExp, RegExp][] = [
  [/^\$\$/, /\$\$\s*$/],
  [/^\\\[/, /\\\]\s*$/],
  [
    /^\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}/,
    /\\end\{(?:equation|align|gather|multline|eqnarray)\*?\}\s*$/
  ]
];

/** Lets LaTeX through untouched: `$x$`, `$$x$$`, `\(x\)`, `\[x\]` and `\begin{equation}`. A price is none. */
export function maths(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'maths', (state, silent) => {
    const length = inlineLength(state.src, state.pos, state.posMax);
    if (length === 0) {
      return false;
    }
    if (!silent) {
      state.push('maths', 'span', 0).content = state.src.slice(state.pos, state.pos + length);
    }
    state.pos += length;
    return true;
  });
  markdown.block.ruler.before(
    'fence',
    'maths_block',
    (state, start, end, silent) => {
      const lineAt = (line: number) => state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]!);
      const first = lineAt(start);
      const rule = BLOCKS.find(([opening]) => opening.test(first));
      if (!rule || state.sCount[start]! - state.blkIndent >= 4) {
        return false;
      }
      const opening = rule[0].exec(first)![0].length;
      let line = start;
      while (!rule[1].test(line === start ? first.slice(opening) : lineAt(line))) {
        line++;
        if (line >= end || (state.sCount[line]! < state.blkIndent && !state.isEmpty(line))) {
          return false;
        }
      }
      if (!silent) {
        const token = state.push('maths_block', 'div', 0);
        token.content = state.getLines(start, line + 1, state.blkIndent, false);
        token.map = [start, line + 1];
        state.line = line + 1;
      }
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] }
  );
  const { escapeHtml } = markdown.utils;
  markdown.renderer.rules.maths = (tokens, place) =>
    `<span class="${MATHS}">${escapeHtml(tokens[place]!.content)}</span>`;
  markdown.renderer.rules.maths_block = (tokens, place) =>
    `<div class="${MATHS}">${escapeHtml(tokens[place]!.content)}</div>\n`;
}

/** The length of the LaTeX that begins at `start`, 0 where none does. */
function inlineLength(source: string, start: number, end: number): number {
  if (source[start] === '\\' && (source[start + 1] === '(' || source[start + 1] === '[')) {
    const closing = source.indexOf(source[start + 1] === '(' ? '\\)' : '\\]', start + 2);
    return closing > start + 2 && closing + 2 <= end ? closing + 2 - start : 0;
  }
  if (source[start] !== '$') {
    return 0;
  }
  const mark = source.startsWith('$$', start) ? '$$' : '$';
  const from = start + mark.length;
  if (mark === '$' && /\s/.test(source[from] ?? ' ')) {
    return 0;
  }
  for (
    let closing = source.indexOf(mark, from);
    closing > 0 && closing < end;
    closing = source.indexOf(mark, closing + 1)
  ) {
    if (source[closing - 1] === '\\') {
      continue;
    }
    if (closing === from) {
      return 0;
    }
    if (mark === '$$') {
      return closing + 2 - start;
    }
    // As pandoc has it: what closes touches what it closes, and no number follows.
    return /\s/.test(source[closing - 1]!) || /\d/.test(source[closing + 1] ?? '') ? 0 : closing + 1 - start;
  }
  return 0;
}
