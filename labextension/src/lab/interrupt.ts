import type { Kernel } from '@jupyterlab/services';
import type { Following } from './following';

export const INTERRUPT = 'agent-magic:interrupt';

/**
 * Stop what the kernel executes, as Lab's own Stop does; it needs no free kernel. Returns whether that is all.
 *
 * Where no cell runs, a run of the panel may go on. It hears an interrupt while one of its tools has the main thread,
 * which is when the request `stop` may have to wait; else the interrupt does nothing, and the request is what ends it.
 */
export function interrupted(kernel: Kernel.IKernelConnection | null): boolean {
  // Lab shows by the kernel's state whether it was.
  kernel?.interrupt().catch(() => undefined);
  return kernel?.status === 'busy';
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
