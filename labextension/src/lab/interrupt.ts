import type { Kernel } from '@jupyterlab/services';
import type { Following } from './following';

export const INTERRUPT = 'agent-magic:interrupt';

/**
 * Stop what the kernel executes, as Lab's own Stop does; it needs no free kernel. Returns whether there was anything.
 *
 * A kernel that is idle ignores an interrupt, but may well have a run of the panel going on: the request `stop` ends it.
 */
export function interrupted(kernel: Kernel.IKernelConnection | null): boolean {
  // After a reload of the page the status of a busy kernel is unknown.
  if (kernel?.status !== 'busy' && kernel?.status !== 'unknown') {
    return false;
  }
  void kernel.interrupt();
  return true;
}

/** Take up the Stop buttons of cells and chats; where nothing was interrupted, the view requests `stop` itself. */
export function listenForInterrupts(following: Following): () => void {
  const listener = (event: Event): void => {
    if (event.target instanceof Node && interrupted(following.kernelAt(event.target))) {
      event.preventDefault();
    }
  };
  document.addEventListener(INTERRUPT, listener);
  return () => document.removeEventListener(INTERRUPT, listener);
}
