import type { Token } from './markdown';

/** A block of the top level: a paragraph, a list, a table, code. */
export interface Block {
  tokens: Token[];
  /** Its first line, and the one after its last. */
  begin: number;
  end: number;
}

// Maths may hold blank lines, but so many characters without an end are none.
const LONGEST_MATHS = 2000;
const MATHS_BEGIN = /^\s*(?:\$\$|\\\[|\\begin\{)/;

export function blocksOf(tokens: readonly Token[]): Block[] {
  const blocks: Block[] = [];
  let first = 0;
  let depth = 0;
  tokens.forEach((token, place) => {
    depth += token.nesting;
    if (depth === 0) {
      const [begin, end] = tokens[first]!.map ?? [0, 0];
      blocks.push({ tokens: tokens.slice(first, place + 1), begin, end });
      first = place + 1;
    }
  });
  return blocks;
}

/** How many of the `blocks` of `text`, which still grows, will not change whatever follows. */
export function countFinished(text: string, blocks: readonly Block[]): number {
  const openMaths = blocks.findIndex(block => {
    const start = offsetOfLine(text, block.begin);
    const isMaths = block.tokens[0]!.type === 'paragraph_open' && MATHS_BEGIN.test(text.slice(start, start + 40));
    return isMaths && text.length - start < LONGEST_MATHS;
  });
  if (openMaths >= 0) {
    return openMaths;
  }
  const last = blocks.at(-1);
  return last && isClosedCode(text, last) ? blocks.length : Math.max(0, blocks.length - 1);
}

function isClosedCode(text: string, block: Block): boolean {
  const [token] = block.tokens;
  if (token!.type !== 'fence') {
    return token!.type === 'maths_block' && text.endsWith('\n');
  }
  const code = text.indexOf('\n', offsetOfLine(text, block.begin)) + 1;
  return code > 0 && closingLine(token!.markup).test(text.slice(code));
}

/** Where the code of a `block` begins that is a code block and still open; undefined for any other. */
export function offsetOfOpenCode(text: string, block: Block): number | undefined {
  const [token] = block.tokens;
  const start = offsetOfLine(text, block.begin);
  const code = text.indexOf('\n', start) + 1;
  // Where the marks are indented the code is, too, and its lines are not what they look like.
  return token!.type === 'fence' && code > 0 && text.startsWith(token!.markup, start) ? code : undefined;
}

/** Finds the line that closes code after these marks; it must be complete. */
export function closingLine(marks: string): RegExp {
  return new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*\\n`, 'm');
}

export function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed++) {
    const newline = text.indexOf('\n', offset);
    if (newline < 0) {
      return text.length;
    }
    offset = newline + 1;
  }
  return offset;
}
