import { button, element } from './element';
import { highlighted } from './highlight';
import type { ViewHost } from './view';
import { type Words, wordsOf } from './words';

// Languages of blocks that hold what was printed or written, and nothing to run.
const NO_CODE: ReadonlySet<string> = new Set(['text', 'txt', 'plain', 'plaintext', 'output', 'console']);

/** Code that a tool is called with, in a box of its own: it can be copied, but is not meant for the notebook. */
export function codeBlock(code: string, language: string): HTMLElement {
  const box = element('div', 'am-code', element('pre', '', element('code', '', highlighted(code, language))));
  dressCode(box);
  return box;
}

/** Plain text as it is, wrapped where it is too wide. */
export function textBlock(text: string): HTMLElement {
  const block = element('pre', 'am-text', text);
  block.tabIndex = 0;
  return block;
}

/** Give the code boxes in and of `target` their buttons: to copy, and what else `host` can do with code. */
export function dressCode(target: HTMLElement, host: ViewHost = {}): void {
  const words = wordsOf(host);
  for (const box of [target, ...target.querySelectorAll<HTMLElement>('.am-code')]) {
    const code = box.classList.contains('am-code') ? box.querySelector('code') : null;
    if (!code || box.querySelector('.am-code-buttons')) {
      continue;
    }
    // What is wider than the page is also reached by keys.
    code.parentElement!.tabIndex = 0;
    const source = () => code.textContent ?? '';
    const copy = button(words('Copy'), 'am-quiet', () => void copied(copy, source(), words));
    const buttons = element('div', 'am-code-buttons', copy);
    const isToRun = !NO_CODE.has(/^language-(.*)$/.exec(code.className)?.[1] ?? '');
    if (host.insertCode && isToRun) {
      const insert = button(words('Insert'), 'am-quiet', () => host.insertCode!(source()));
      insert.title = words('Insert into the notebook as a cell');
      buttons.append(insert);
    }
    if (host.applyCode && isToRun) {
      const apply = button(words('Apply'), 'am-quiet', () => host.applyCode!(source()));
      apply.title = words('Replace the code of the selected cell');
      buttons.append(apply);
    }
    box.append(buttons);
  }
}

async function copied(copy: HTMLButtonElement, source: string, words: Words): Promise<void> {
  try {
    await navigator.clipboard.writeText(source);
    copy.textContent = words('Copied');
  } catch {
    copy.textContent = words('Not allowed');
  }
  setTimeout(() => (copy.textContent = words('Copy')), 1500);
}
