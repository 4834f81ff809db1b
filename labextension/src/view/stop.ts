import type { Client } from '../protocol/client';

/** Bubbles from a Stop button, for a page that can interrupt the kernel itself. */
export const INTERRUPT = 'agent-magic:interrupt';

const PATIENCE = 1000;

/** Stop what `client` shows at `place`: by the page, else by the kernel. Rejects where neither can. */
export async function stopRun(place: HTMLElement, client: Client): Promise<void> {
  const event = new CustomEvent(INTERRUPT, { bubbles: true, cancelable: true });
  place.dispatchEvent(event);
  if (event.defaultPrevented) {
    return;
  }
  let timer: ReturnType<typeof setTimeout>;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The kernel did not answer.')), PATIENCE);
  });
  try {
    await Promise.race([client.request('stop', {}), silence]);
  } finally {
    clearTimeout(timer!);
  }
}
