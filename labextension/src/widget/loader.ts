/** The code of our widgets: it takes the view from the page, where our Lab extension put it, or from the kernel. */

import type { Transport } from '../protocol/client';
import { widgetTransport, type WidgetModel } from './transport';

type View = typeof import('./view');

const VIEW = Symbol.for('agent_magic.view.1');
// A first message may get lost while the page opens a way to a busy kernel.
const AGAIN = 200;

const page = globalThis as unknown as Record<symbol, View | Promise<View> | undefined>;

async function view(transport: Transport): Promise<View> {
  page[VIEW] ??= code(transport).then(imported, error => {
    delete page[VIEW];
    throw error;
  });
  return page[VIEW]!;
}

function code(transport: Transport): Promise<string> {
  return new Promise((resolve, reject) => {
    const id = `loader-${crypto.randomUUID?.() ?? Math.random()}:1`;
    const request = () => transport.send({ type: 'request', id, method: 'code', params: {} });
    const timer = setInterval(request, AGAIN);
    const stop = transport.onMessage(message => {
      if (message.type !== 'response' || message.id !== id) {
        return;
      }
      clearInterval(timer);
      stop();
      if ('error' in message) {
        reject(new Error(message.error));
      } else {
        resolve((message.result as { code: string }).code);
      }
    });
    request();
  });
}

async function imported(source: string): Promise<View> {
  const address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  try {
    return (await import(/* @vite-ignore */ address)) as View;
  } finally {
    URL.revokeObjectURL(address);
  }
}

export default {
  async render({ model, el }: { model: WidgetModel; el: HTMLElement }): Promise<() => void> {
    const transport = widgetTransport(model);
    const { renderRun, renderChat } = await view(transport);
    if (model.get('kind') === 'chat') {
      return renderChat({ transport, element: el });
    }
    return renderRun({ transport, element: el, onGone: listener => model.on('comm_live_update', listener) });
  }
};
