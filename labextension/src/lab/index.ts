import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'agent-magic:plugin',
  description: 'The panel that talks to the agent of the notebook\'s kernel.',
  autoStart: true,
  activate: () => undefined
};

export default plugin;
