/**
 * Make the nodes `old`, the last ones in `parent`, equal to `fresh`, and keep each that already is: what stands still
 * keeps its selection, and the page does not flicker. Returns the nodes that stand there now.
 */
export function merged<Kind extends ChildNode>(parent: Node, old: readonly Kind[], fresh: readonly Kind[]): Kind[] {
  const now = fresh.map((node, place) => {
    const was = old[place];
    if (!was) {
      return parent.appendChild(node);
    }
    return mergedNode(was, node);
  });
  for (const node of old.slice(fresh.length)) {
    node.remove();
  }
  return now;
}

function mergedNode<Kind extends ChildNode>(was: Kind, fresh: Kind): Kind {
  if (was.isEqualNode(fresh)) {
    return was;
  }
  if (was instanceof Text && fresh instanceof Text) {
    if (fresh.data.startsWith(was.data)) {
      was.appendData(fresh.data.slice(was.data.length));
    } else {
      was.data = fresh.data;
    }
    return was;
  }
  if (was instanceof Element && fresh instanceof Element && was.cloneNode(false).isEqualNode(fresh.cloneNode(false))) {
    merged(was, [...was.childNodes], [...fresh.childNodes]);
    return was;
  }
  was.replaceWith(fresh);
  return fresh;
}
