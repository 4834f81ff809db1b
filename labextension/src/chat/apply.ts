import { button } from './element';
import type { Words } from './words';

/**
 * Give every code box of an answer that appears in `target` a button that puts its code into the cell that the user is in.
 * What a tool is called with, or returned, is no such code.
 */
export function offerToApply(target: HTMLElement, words: Words, apply: (code: string) => void): () => void {
  const observer = new MutationObserver(changes => {
    for (const node of changes.flatMap(change => [...change.addedNodes])) {
      if (node instanceof HTMLElement) {
        dress(node);
      }
    }
  });
  const dress = (added: HTMLElement) => {
    for (const buttons of [added, ...added.querySelectorAll<HTMLElement>('.am-code-buttons')]) {
      const code = buttons.matches('.am-prose .am-code-buttons')
        ? buttons.closest('.am-code')?.querySelector('code')
        : null;
      if (code && !buttons.querySelector('.am-chat-apply')) {
        const made = button(words('Apply'), () => apply(code.textContent ?? ''), {
          class: 'am-button am-quiet am-chat-apply',
          title: words('Replace the code of the selected cell')
        });
        buttons.append(made);
      }
    }
  };
  observer.observe(target, { childList: true, subtree: true });
  return () => observer.disconnect();
}
