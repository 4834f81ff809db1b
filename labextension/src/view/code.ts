import { button, element } from './element';
import { highlighted } from './highlight';
import type { ViewHost } from './view';

/** Code in a box of its own, with buttons to copy it and, where the page can, to insert it into the notebook. */
export function codeBlock(code: string, language: string, host: ViewHost = {}): HTMLElement {
  const box = element('div', 'am-code', element('pre', '', element('code', '', highlighted(code, language))));
  dressCode(box, host);
  return box;
}

/** Plain text as it is, wrapped where it is too wide. */
export function textBlock(text: string): HTMLElement {
  const block = element('pre', 'am-text', text);
  block.tabIndex = 0;
  return block;
}

/** Give the code boxes in and of `target` their buttons. */
export function dressCode(target: HTMLElement, host: ViewHost): void {
  for (const box of [target, ...target.querySelectorAll<HTMLElement>('.am-code')]) {
    const code = box.classList.contains('am-code') ? box.querySelector('code') : null;
    if (!code || box.querySelector('.am-code-buttons')) {
      continue;
    }
    // What is wider than the page is also reached by keys.
    code.parentElement!.tabIndex = 0;
    const source = () => code.textContent ?? '';
    const copy = button('Copy', 'am-quiet', () => void copied(copy, source()));
    const buttons = element('div', 'am-code-buttons', copy);
    const { insertCode } = host;
    if (insertCode) {
      buttons.append(button('Insert', 'am-quiet', () => insertCode.call(host, source())));
      buttons.lastElementChild!.setAttribute('title', 'Insert into the notebook as a cell');
    }
    box.append(buttons);
  }
}

async function copied(copy: HTMLButtonElement, source: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(source);
    copy.textContent = 'Copied';
  } catch {
    copy.textContent = 'Not allowed';
  }
  setTimeout(() => (copy.textContent = 'Copy'), 1500);
}
