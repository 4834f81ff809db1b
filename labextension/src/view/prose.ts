import { blocksOf, countFinished, offsetOfLine, offsetOfOpenCode, type Block } from './blocks';
import { dressCode } from './code';
import { element } from './element';
import { colour, drawn, parse, type Environment } from './markdown';
import { MATHS } from './maths';
import { mended } from './mend';
import { merged } from './merge';
import { OpenCode } from './open_code';
import type { ViewHost } from './view';

/** Bubbles from an element that holds LaTeX, for whoever can typeset it. */
export const TYPESET = 'agent-magic:typeset';

// A tail of so many characters is not drawn in every frame, but so that drawing takes this part of the time.
const LONG_TAIL = 4000;
const SHARE = 0.2;

/**
 * Markdown that grows. Blocks that are finished are drawn once and never again; only the last one, still open, is
 * drawn as it changes, so that a long answer costs no more per frame than a short one.
 */
export class Prose {
  readonly element = element('div', 'am-prose');
  private text = '';
  private done = false;
  private references: Environment['references'];
  /** The characters whose blocks are finished. */
  private committed = 0;
  private tail: Element[] = [];
  private openCode: OpenCode | null = null;
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
    if (!done && this.openCode?.grow(text)) {
      return;
    }
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
    this.references = undefined;
    this.committed = 0;
    this.tail = [];
    this.openCode = null;
  }

  private drawTail(): void {
    const began = performance.now();
    const begin = this.committed;
    const tail = this.text.slice(begin);
    const environment: Environment = this.references ? { references: { ...this.references } } : {};
    const blocks = blocksOf(parse(this.done ? tail : mended(tail), environment));
    if (this.done && begin > 0 && environment.references) {
      // What is defined further down may turn words that stand above into links.
      this.reset();
      return this.drawTail();
    }
    const finished = this.done ? blocks.length : countFinished(tail, blocks);

    const nodes = blocks.map(block => [...drawn(block.tokens, environment).children]);
    const now = merged(this.element, this.tail, nodes.flat());
    const count = nodes.slice(0, finished).reduce((sum, each) => sum + each.length, 0);
    this.tail = now.slice(count);
    if (finished > 0) {
      const length = this.done ? tail.length : offsetOfLine(tail, blocks[finished - 1]!.end);
      this.keepReferences(tail.slice(0, length), environment);
      this.committed += length;
      this.finish(now.slice(0, count));
    }
    const open = this.done ? undefined : blocks[finished];
    this.openCode = open ? this.openedCode(open, offsetOfOpenCode(tail, open), begin) : null;
    const took = performance.now() - began;
    this.restUntil = this.text.length - this.committed > LONG_TAIL ? performance.now() + took / SHARE : 0;
  }

  /** If `block` is code that is still being written, `start` characters after `begin`: what lets it grow. */
  private openedCode(block: Block, start: number | undefined, begin: number): OpenCode | null {
    const code = this.tail.at(-1)?.querySelector('code');
    if (!code || start === undefined) {
      return null;
    }
    const open = new OpenCode(code, begin + start, block.tokens[0]!.markup);
    open.grow(this.text);
    return open;
  }

  /** Definitions of finished text hold for what follows; those of the open end may be half written. */
  private keepReferences(text: string, environment: Environment): void {
    const count = Object.keys(environment.references ?? {}).length;
    if (count > Object.keys(this.references ?? {}).length) {
      const kept: Environment = this.references ? { references: { ...this.references } } : {};
      parse(text, kept);
      this.references = kept.references;
    }
  }

  private finish(nodes: readonly Element[]): void {
    for (const node of nodes) {
      this.onFinished(node.textContent ?? '');
      colour(node);
      dressCode(node as HTMLElement, this.host);
      this.askToTypeset([node, ...node.querySelectorAll('*')].filter(found => found.classList.contains(MATHS)));
    }
  }

  private askToTypeset(maths: readonly Element[]): void {
    // What is drawn at once is not in the page yet, and nobody there would hear it.
    for (const found of maths) {
      setTimeout(() => found.dispatchEvent(new CustomEvent(TYPESET, { bubbles: true })));
    }
  }
}
