import { dressCode } from './code';
import { element } from './element';
import { colour, drawn, parse, type Environment, type Token } from './markdown';
import { MATHS } from './maths';
import { mended } from './mend';
import { merged } from './merge';
import type { ViewHost } from './view';

/** Bubbles from an element that holds LaTeX, for whoever can typeset it. */
export const TYPESET = 'agent-magic:typeset';

// A tail of so many characters is not drawn in every frame, but so that drawing takes this part of the time.
const LONG_TAIL = 4000;
const SHARE = 0.2;

interface Block {
  tokens: Token[];
  /** The line after its last one. */
  end: number;
}

/** A code block that is still being written: it grows by what is added, and nothing is parsed. */
interface OpenFence {
  code: Text;
  closing: RegExp;
  marker: string;
  /** Where its code begins, up to where it is shown, and where its last line begins. */
  content: number;
  shown: number;
  line: number;
}

/**
 * Markdown that grows. Blocks that are finished are drawn once and never again; only the last one, still open, is
 * drawn as it changes, so that a long answer costs no more per frame than a short one.
 */
export class Prose {
  readonly element = element('div', 'am-prose');
  private text = '';
  private done = false;
  private environment: Environment = {};
  /** The characters whose blocks are finished. */
  private committed = 0;
  private tail: Element[] = [];
  private fence: OpenFence | null = null;
  private restUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `onFinished` gets the words of blocks that will not change any more. */
  constructor(
    private readonly host: ViewHost = {},
    private readonly onFinished: (words: string) => void = () => undefined
  ) {}

  update(source: string, done: boolean): void {
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
    if (!text.startsWith(this.text) || (this.done && text.length > this.text.length)) {
      this.reset();
    } else if (text.length === this.text.length && done === this.done) {
      return;
    }
    this.text = text;
    this.done = done;
    clearTimeout(this.timer);
    if (this.fence && !done && this.growFence(this.fence)) {
      return;
    }
    this.fence = null;
    const now = performance.now();
    if (!done && now < this.restUntil) {
      this.timer = setTimeout(() => this.drawTail(), this.restUntil - now);
    } else {
      this.drawTail();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private reset(): void {
    this.element.replaceChildren();
    this.environment = {};
    this.committed = 0;
    this.tail = [];
    this.fence = null;
  }

  private drawTail(): void {
    const began = performance.now();
    const { done } = this;
    if (done && this.committed > 0 && this.environment.references) {
      // What was defined later may turn words that stand above into links.
      const { references } = this.environment;
      this.reset();
      this.environment = { references };
    }
    const tail = this.text.slice(this.committed);
    const blocks = blocksOf(parse(done ? tail : mended(tail), this.environment));
    const last = blocks.at(-1);
    const fence = last && !done ? openFence(tail, last) : null;
    const isOpen = !done && last !== undefined && (fence !== null || last.tokens[0]!.type !== 'fence');
    const finished = isOpen ? blocks.length - 1 : blocks.length;

    const nodes = blocks.map(block => [...drawn(block.tokens, this.environment).children]);
    const now = merged(this.element, this.tail, nodes.flat());
    const count = nodes.slice(0, finished).reduce((sum, each) => sum + each.length, 0);
    this.tail = now.slice(count);
    if (finished > 0) {
      const from = this.committed;
      this.committed += offsetOfLine(tail, blocks[finished - 1]!.end);
      this.finish(now.slice(0, count), from);
    }
    if (fence) {
      this.openFence(fence);
    }
    const took = performance.now() - began;
    this.restUntil = this.text.length - this.committed > LONG_TAIL ? performance.now() + took / SHARE : 0;
  }

  private finish(nodes: readonly Element[], from: number): void {
    const words: string[] = [];
    for (const node of nodes) {
      if (node instanceof HTMLElement) {
        words.push(node.textContent ?? '');
        colour(node);
        dressCode(node, this.host);
        for (const found of [node, ...node.querySelectorAll(`.${MATHS}`)]) {
          if (found.classList.contains(MATHS)) {
            found.dispatchEvent(new CustomEvent(TYPESET, { bubbles: true }));
          }
        }
      }
    }
    if (words.length > 0 && (from > 0 || this.text.length > this.committed || this.done)) {
      this.onFinished(words.join('\n'));
    }
  }

  // Open code ---------------------------------------------------------------------------------------------------------

  private openFence({ marker, content }: { marker: string; content: number }): void {
    const code = this.tail.at(-1)?.querySelector('code');
    if (!code) {
      return;
    }
    code.textContent = '';
    const text = code.appendChild(document.createTextNode(''));
    const start = this.committed + content;
    const closing = new RegExp(`^ {0,3}${marker[0] === '~' ? '~' : '`'}{${marker.length},}[ \\t]*\\n`, 'm');
    this.fence = { code: text, closing, marker: marker[0]!, content: start, shown: start, line: start };
    this.growFence(this.fence);
  }

  /** Whether the code is still open after what was added. */
  private growFence(fence: OpenFence): boolean {
    if (fence.closing.test(this.text.slice(fence.line))) {
      return false;
    }
    fence.line = Math.max(fence.content, this.text.lastIndexOf('\n') + 1);
    const last = this.text.slice(fence.line);
    // A line of marks may be about to close it, and the last line break belongs to the closing line.
    const held = last.trim().split('').every(character => character === fence.marker);
    const end = Math.max(fence.content, held ? fence.line - 1 : this.text.length);
    if (end > fence.shown) {
      fence.code.appendData(this.text.slice(fence.shown, end));
      fence.shown = end;
    }
    return true;
  }
}

function blocksOf(tokens: readonly Token[]): Block[] {
  const blocks: Block[] = [];
  let begin = 0;
  let depth = 0;
  tokens.forEach((token, place) => {
    depth += token.nesting;
    if (depth === 0) {
      blocks.push({ tokens: tokens.slice(begin, place + 1), end: tokens[begin]!.map?.[1] ?? 0 });
      begin = place + 1;
    }
  });
  return blocks;
}

/** The marks of the code block that `block` of `tail` is, and where its code begins, if it is not closed yet. */
function openFence(tail: string, block: Block): { marker: string; content: number } | null {
  const [token] = block.tokens;
  const start = offsetOfLine(tail, token!.map?.[0] ?? 0);
  const newline = tail.indexOf('\n', start);
  if (token!.type !== 'fence' || newline < 0 || !tail.startsWith(token!.markup, start)) {
    return null;
  }
  const marker = token!.markup;
  const closing = new RegExp(`\\n {0,3}${marker[0] === '~' ? '~' : '`'}{${marker.length},}[ \\t]*\\n`);
  return closing.test(tail.slice(newline)) ? null : { marker, content: newline + 1 };
}

function offsetOfLine(text: string, line: number): number {
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
