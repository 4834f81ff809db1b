import type { Transport } from '../protocol/client';
import type { KernelMessage } from '../protocol/messages';

/** What anywidget gives to a widget's code, as far as it is used here. */
export interface WidgetModel {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: 'msg:custom', listener: (message: KernelMessage) => void): void;
  /** Told when the kernel at the other end is gone, such as at a restart. */
  on(event: 'comm_live_update', listener: () => void): void;
  off(event: 'msg:custom', listener: (message: KernelMessage) => void): void;
}

/** The custom messages of a widget as a transport. */
export function widgetTransport(model: WidgetModel): Transport {
  return {
    send: message => model.send(message),
    onMessage: listener => {
      model.on('msg:custom', listener);
      return () => model.off('msg:custom', listener);
    }
  };
}
