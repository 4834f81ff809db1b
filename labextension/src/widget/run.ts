import { Client, type Transport } from '../protocol/client';
import { element } from '../view/element';
import { tellLastSeen } from '../view/last_seen';
import { keepReading, listenForReading } from '../view/reading';
import { brokenOff, type RunRecord } from '../view/record';
import { stopRun } from '../view/stop';
import { RecordView } from '../view/view';

export interface Place {
  transport: Transport;
  element: HTMLElement;
  /** Calls `listener` when the kernel is gone. */
  onGone?(listener: () => void): void;
}

/** Show the run at the other end of `transport`, live and with its buttons. Returns how to dispose of it. */
export function renderRun({ transport, element: target, onGone }: Place): () => void {
  const client = new Client(transport, 'cell');
  let run = '';
  let shown: RunRecord | null = null;
  const view = new RecordView(target, {
    actions: {
      stop: () => stopRun(target, client),
      // If it does not arrive, the kernel asks in another way.
      shown: approval => void client.request('shown', { approval, run, seen: true }).catch(() => undefined),
      answer: async answer => void (await client.request('answer', { ...answer, run }))
    }
  });
  client.onRun(state => {
    run = state.run;
    shown = state.record;
    view.update(shown);
  });
  onGone?.(() => {
    if (shown?.state === 'running') {
      client.dispose();
      view.update(brokenOff(shown, 'The kernel ended, and this run with it.'));
    }
  });
  const stopTelling = tellLastSeen(() => shown);
  const stopReading = listenForReading(target, () => keepReading(run, view.reading));
  client.attach().catch((error: Error) => {
    if (target.isConnected) {
      target.append(element('div', 'am-view am-note', error.message));
    }
  });
  return () => {
    stopTelling();
    stopReading();
    client.dispose();
    view.dispose();
  };
}
