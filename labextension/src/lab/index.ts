import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Chat } from '../chat/chat';
import * as view from '../widget/view';
import { AskAgent } from './ask_agent';
import { Attention, type Notify } from './attention';
import { acceptChange } from './change_dialog';
import { addCommands, Ids } from './commands';
import { showEndedRuns } from './ended_runs';
import { Following } from './following';
import { NotebookHost } from './host';
import { agentIcon } from './icon';
import { listenForInterrupts } from './interrupt';
import { KernelAgent } from './kernel_agent';
import { AgentPanel } from './panel';
import { keepProsePlain } from './prose_cells';
import { DEFAULTS, readSettings, type Settings } from './settings';
import { SidePlace } from './side';
import { listenForMaths } from './typeset';
import { wordsOf } from './words';

const ID = 'agent-magic:plugin';
/** Where the loader of a cell's widget looks for the view, so that it need not come from the kernel. */
const VIEW = Symbol.for('agent_magic.view.1');

const plugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: "The panel that talks to the agent of the notebook's kernel.",
  autoStart: true,
  requires: [INotebookTracker, IRenderMimeRegistry],
  optional: [ILabShell, ILayoutRestorer, ICommandPalette, ISettingRegistry, ITranslator, IEditorLanguageRegistry],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    rendermime: IRenderMimeRegistry,
    lab: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    registry: ISettingRegistry | null,
    translator: ITranslator | null,
    languages: IEditorLanguageRegistry | null
  ): void => {
    Object.assign(globalThis, { [VIEW]: view });
    const words = wordsOf((translator ?? nullTranslator).load('agent_magic'));
    const tell = (text: string): void => void Notification.warning(text, { autoClose: 10_000 });
    const notify: Notify = (text, label, callback) => {
      const id = Notification.warning(text, { actions: [{ label, callback }], autoClose: false });
      return () => Notification.dismiss(id);
    };
    const dialogs = { accept: (change: Parameters<typeof acceptChange>[0]) => acceptChange(change, words), tell };

    const changed = (): void => Object.values(Ids).forEach(id => app.commands.notifyCommandChanged(id));
    let { sendKey } = DEFAULTS;
    const following = new Following(tracker, (notebook, kernel) => {
      const host = new NotebookHost(notebook, words, dialogs);
      const agent = new KernelAgent(notebook, kernel, host, (...given) => new Chat(...given), words);
      agent.chat.setSendKey(sendKey);
      agent.changed.connect(changed);
      const show = (): void => {
        if (following.notebook !== notebook) {
          app.shell.activateById(notebook.id);
        }
        place.open();
      };
      const isSeen = (): boolean =>
        (panel.isVisible && following.agent === agent) ||
        (notebook.isVisible && notebook.node.querySelector('[role="alertdialog"]') !== null);
      host.isSeen = () => panel.isVisible && following.agent === agent;
      host.present = () => (following.agent === agent && following.notebook) || notebook;
      new Attention(agent, isSeen, show, notify, words);
      agent.open = show;
      return agent;
    });

    const panel = new AgentPanel(following, words);
    panel.title.icon = agentIcon;
    const place = new SidePlace(app.shell, panel);
    addCommands(app.commands, { following, place, icon: agentIcon, tell, words });
    panel.opened.connect(changed);
    const look = (): void => following.all().forEach(agent => agent.look());
    panel.opened.connect(look);
    following.changed.connect(look);
    look();
    Object.values(Ids).forEach(command => palette?.addItem({ command, category: words('Agent') }));

    listenForInterrupts(following);
    listenForMaths(() => rendermime.latexTypesetter);
    keepProsePlain(tracker, languages);
    showEndedRuns(tracker);
    const notebooks = (): NotebookPanel[] => tracker.filter(() => true);
    const askAgent = new AskAgent(NotebookActions, following, notebooks, () => place.open(), tell, words);

    const start = async (): Promise<void> => {
      place.moveTo(DEFAULTS.side);
      changed();
      restorer?.add(panel, panel.id);
      // The page is not to wait for these settings.
      await app.restored;
      const settings = await registry?.load(ID);
      const take = (taken: Settings): void => {
        place.moveTo(taken.side);
        askAgent.isOffered = taken.askAboutErrors;
        sendKey = taken.sendKey;
        following.all().forEach(({ chat }) => chat.setSendKey(sendKey));
      };
      if (settings) {
        take(readSettings(settings));
        settings.changed.connect(() => take(readSettings(settings)));
        if (readSettings(settings).openAtStart) {
          place.open();
        }
      }
    };
    if (lab || tracker.currentWidget) {
      void start();
    } else {
      // Pages of Notebook 7 that hold no notebook, such as the list of files, get no panel.
      const once = (): void => {
        tracker.widgetAdded.disconnect(once);
        void start();
      };
      tracker.widgetAdded.connect(once);
    }
  }
};

export default plugin;
