import type { Line } from './difference';
import type { Words } from './words';

// Lines around a change that stay in view.
const AROUND = 3;
const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

/** The lines of a change, with what stays far from any change left out. */
export function drawn(lines: readonly Line[], words: Words): HTMLElement {
  const list = document.createElement('div');
  list.className = 'am-lab-change';
  list.tabIndex = 0;
  list.setAttribute('role', 'region');
  list.setAttribute('aria-label', words('Lines removed and added'));
  const near = lines.map((_, place) =>
    lines.slice(Math.max(0, place - AROUND), place + AROUND + 1).some(({ kind }) => kind !== 'same')
  );
  for (let place = 0; place < lines.length;) {
    if (near[place]) {
      list.append(drawnLine(lines[place]!, words));
      place++;
    } else {
      const end = near.indexOf(true, place);
      const count = (end < 0 ? lines.length : end) - place;
      const gap = document.createElement('div');
      gap.className = 'am-lab-gap';
      gap.textContent = words('%1 lines as they are', String(count));
      list.append(gap);
      place += count;
    }
  }
  return list;
}

function drawnLine({ kind, text }: Line, words: Words): HTMLElement {
  // Named by what they are, so that a screen reader says it.
  const line = document.createElement(kind === 'removed' ? 'del' : kind === 'added' ? 'ins' : 'div');
  line.className = `am-lab-line am-lab-${kind}`;
  const sign = document.createElement('span');
  sign.className = 'am-lab-sign';
  sign.textContent = SIGNS[kind];
  if (kind !== 'same') {
    sign.setAttribute('role', 'img');
    sign.setAttribute('aria-label', kind === 'removed' ? words('removed') : words('added'));
  }
  line.append(sign, text);
  return line;
}
