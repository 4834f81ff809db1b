import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';
import { drawn } from './change_view';
import { difference } from './difference';
import type { Change } from './host';
import type { Words } from './words';

/** Show what would change, and ask whether it may. */
export async function acceptChange({ title, before, after }: Change, words: Words): Promise<boolean> {
  const body = new Widget({ node: drawn(difference(before, after), words) });
  const buttons = [Dialog.cancelButton({ label: words('Reject') }), Dialog.okButton({ label: words('Accept') })];
  return (await showDialog({ title, body, buttons })).button.accept;
}
