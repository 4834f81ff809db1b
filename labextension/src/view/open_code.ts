import { closingLine } from './blocks';
import { element } from './element';

// The browser lays out a piece whose text has changed; longer code is in several.
const PIECE = 4000;

/** The code of a block that is still being written: it grows by what is added, and nothing is parsed or drawn again. */
export class OpenCode {
  private text = document.createTextNode('');
  private readonly closing: RegExp;
  /** Up to where it is shown, and where its last line begins. */
  private shown: number;
  private line: number;

  /** Fills `target` with the code that begins at `start` of the text and ends with a line of `marks`. */
  constructor(
    private readonly target: Element,
    private readonly start: number,
    private readonly marks: string
  ) {
    target.replaceChildren(this.text);
    this.closing = closingLine(marks);
    this.shown = this.line = start;
  }

  /** Show what was added to `source`, the whole text; returns false once the code is closed. */
  grow(source: string): boolean {
    if (this.closing.test(source.slice(this.line))) {
      return false;
    }
    this.line = Math.max(this.start, source.lastIndexOf('\n') + 1);
    // A line of marks may be about to close it, and the last line break belongs to the closing line.
    const isHeld = [...source.slice(this.line).trim()].every(character => character === this.marks[0]);
    const end = isHeld ? this.line - 1 : source.length;
    if (end > this.shown) {
      this.append(source.slice(this.shown, end));
      this.shown = end;
    }
    return true;
  }

  private append(added: string): void {
    const newline = this.text.length < PIECE ? -1 : added.indexOf('\n');
    if (newline < 0) {
      this.text.appendData(added);
      return;
    }
    this.text.appendData(added.slice(0, newline + 1));
    const piece = element('span', 'am-piece');
    this.text.replaceWith(piece);
    piece.append(this.text);
    this.text = document.createTextNode(added.slice(newline + 1));
    this.target.append(this.text);
  }
}
