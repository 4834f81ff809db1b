import type { IRenderMime } from '@jupyterlab/rendermime';

export const TYPESET = 'agent-magic:typeset';

/** Have the page's own typesetter draw the maths of an element that asks for it. */
export function listenForMaths(typesetter: () => IRenderMime.ILatexTypesetter | null): () => void {
  const listener = (event: Event): void => {
    const found = typesetter();
    if (found && event.target instanceof HTMLElement) {
      event.preventDefault();
      found.typeset(event.target);
    }
  };
  document.addEventListener(TYPESET, listener);
  return () => document.removeEventListener(TYPESET, listener);
}
