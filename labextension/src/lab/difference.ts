/** A line of two texts: in both, only in the old one, or only in the new one. */
export interface Line {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** What makes `after` of `before`, line by line, with as many lines kept as can be. */
export function difference(before: string, after: string): Line[] {
  const old = before.split('\n');
  const fresh = after.split('\n');
  // What follows takes the product of both lengths; most changes leave a beginning and an end.
  let first = 0;
  while (first < old.length && first < fresh.length && old[first] === fresh[first]) {
    first++;
  }
  let last = 0;
  while (last < old.length - first && last < fresh.length - first && old.at(-1 - last) === fresh.at(-1 - last)) {
    last++;
  }
  const same = (text: string): Line => ({ kind: 'same', text });
  return [
    ...old.slice(0, first).map(same),
    ...changed(old.slice(first, old.length - last), fresh.slice(first, fresh.length - last)),
    ...old.slice(old.length - last).map(same)
  ];
}

function changed(old: string[], fresh: string[]): Line[] {
  const lengths = commonLengths(old, fresh);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ kind: 'same', text: old[i++]! });
      j++;
    } else if (i < old.length && (j === fresh.length || lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) {
      lines.push({ kind: 'removed', text: old[i++]! });
    } else {
      lines.push({ kind: 'added', text: fresh[j++]! });
    }
  }
  return lines;
}

/** At `[i][j]` how many lines the ends of both texts from there on have in common, in order. */
function commonLengths(old: string[], fresh: string[]): Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        old[i] === fresh[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}
