// What JupyterLab looks for at the element that has the focus, before it takes a key for a command.
const OWN_KEYS = 'data-lm-suppress-shortcuts';

/**
 * Keep the keys that are pressed in `root` from the notebook around, where two of them delete a cell and Enter opens
 * no card: in a question always, elsewhere for those who came by keys. After a click the notebook still has its keys.
 */
export function keepKeys(root: HTMLElement): void {
  root.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement) {
      const isOwn = target.closest('.am-ask') !== null || target.matches(':focus-visible');
      target.toggleAttribute(OWN_KEYS, isOwn);
    }
  });
}
