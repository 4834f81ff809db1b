import type { CommandRegistry } from '@lumino/commands';
import type { Following } from './following';
import { interrupted } from './interrupt';
import type { KernelAgent } from './kernel_agent';
import type { Words } from './words';

export const Ids = {
  open: 'agent-magic:open',
  toggle: 'agent-magic:toggle',
  load: 'agent-magic:load',
  newConversation: 'agent-magic:new-conversation',
  askAboutCell: 'agent-magic:ask-about-cell',
  attachSelection: 'agent-magic:attach-selection',
  stop: 'agent-magic:stop'
} as const;

/** Where the panel is. */
export interface Place {
  /** Whether the page has it at all. */
  readonly isThere: boolean;
  readonly isOpen: boolean;
  open(): void;
  close(): void;
}

interface Given {
  following: Following;
  place: Place;
  icon: CommandRegistry.ICommandOptions['icon'];
  tell(text: string): void;
  words: Words;
}

/** What the user can have done from the palette, by keys and by buttons of Lab. */
export function addCommands(commands: CommandRegistry, { following, place, icon, tell, words }: Given): void {
  const loaded = (): KernelAgent | null => (following.agent?.isLoaded ? following.agent : null);
  const failed = (error: unknown): void => tell((error as Error).message);

  const add = (
    id: string,
    label: string,
    caption: string,
    execute: () => unknown,
    options: Partial<CommandRegistry.ICommandOptions> = {}
  ): void => {
    commands.addCommand(id, {
      label,
      caption,
      execute: () => Promise.resolve(execute()).catch(failed),
      describedBy: { args: { type: 'object', properties: {} } },
      ...options
    });
  };

  const isThere = (): boolean => place.isThere;
  add(Ids.open, words('Open the Agent Panel'), words('Write to the agent of this notebook'), () => place.open(), {
    isEnabled: isThere
  });
  add(
    Ids.toggle,
    words('Agent'),
    words('Show or hide the panel of the agent'),
    () => (place.isOpen ? place.close() : place.open()),
    { icon, isEnabled: isThere, isToggled: () => place.isOpen }
  );
  add(
    Ids.load,
    words('Load the Agent into This Kernel'),
    words('Load agent_magic without running a cell'),
    async () => {
      place.open();
      await following.agent?.load();
    },
    { isEnabled: () => following.agent !== null && !following.agent.isLoaded }
  );
  add(
    Ids.newConversation,
    words('New Conversation with the Agent'),
    words('Begin an empty conversation; the old one is kept'),
    async () => {
      await loaded()?.client.request('new', {});
      place.open();
    },
    { isEnabled: () => loaded() !== null }
  );
  add(
    Ids.askAboutCell,
    words('Ask the Agent about the Active Cell'),
    words('Attach the active cell and its outputs to a message'),
    () => {
      const agent = loaded();
      const cell = agent && agent.host.cellAttachment();
      if (cell) {
        agent.chat.attach(cell);
      }
      place.open();
    },
    { isEnabled: () => loaded() !== null }
  );
  add(
    Ids.attachSelection,
    words('Attach the Selected Text for the Agent'),
    words('Attach what is selected in the notebook to a message'),
    () => {
      const agent = loaded();
      const selection = agent && agent.host.selection();
      if (!selection) {
        return tell(words('Nothing is selected in the notebook.'));
      }
      agent.chat.attach(selection);
      place.open();
    },
    { isEnabled: () => loaded() !== null }
  );
  add(
    Ids.stop,
    words('Stop the Agent'),
    words('Stop the run that is going on in this kernel'),
    async () => {
      const agent = loaded();
      if (agent && !interrupted(agent.kernel)) {
        await agent.client.request('stop', {});
      }
    },
    { isEnabled: () => loaded() !== null }
  );

  following.changed.connect(() => Object.values(Ids).forEach(id => commands.notifyCommandChanged(id)));
}
