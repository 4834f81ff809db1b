/** What the loader imports, and the Lab extension offers to it: the view of a run, and the chat. */

import style from '../../style/view.css';
import chatStyle from '../../style/chat.css';
import { PROTOCOL } from '../protocol/messages';

export { renderChat } from './chat';
export { renderRun } from './run';

export const protocol = PROTOCOL;

// Bundled for a widget the style sheets are texts; JupyterLab's builder has loaded them itself.
const sheets = [style, chatStyle].filter(sheet => typeof sheet === 'string' && sheet !== '');
if (sheets.length > 0) {
  const sheet = document.createElement('style');
  sheet.textContent = sheets.join('\n');
  document.head.append(sheet);
}
