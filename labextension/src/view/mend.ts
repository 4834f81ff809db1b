/**
 * The end of a text that is still being written, with marks closed that only wait for what follows: words that will be
 * bold are bold from their first letter, and do not change back and forth.
 */
export function mended(tail: string): string {
  const start = tail.lastIndexOf('\n\n') + 1;
  const paragraph = tail.slice(start).trimEnd();
  if (paragraph === '' || /\n\n$/.test(tail) || /^[ \t]*(?:```|~~~|\$\$|\\\[)/m.test(tail)) {
    return tail;
  }
  const withoutCode = paragraph.replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
  const open = /(`+)[^`]+$/.exec(withoutCode);
  if (open) {
    return tail.slice(0, start) + paragraph + open[1];
  }
  const link = /!?\[([^\][]*)\]\([^()\s]*$/.exec(paragraph);
  const shown = link ? paragraph.slice(0, link.index) + link[1] : paragraph;
  const isBold = (withoutCode.match(/\*\*/g)?.length ?? 0) % 2 === 1;
  // Nothing follows the marks yet: then they would stand there as themselves.
  return tail.slice(0, start) + (isBold ? (/\*+$/.test(shown) ? shown.replace(/\*+$/, '') : `${shown}**`) : shown);
}
