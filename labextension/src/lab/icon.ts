import { LabIcon } from '@jupyterlab/ui-components';

/** What is said, with a spark: an outline like Lab's own icons, in the colours of the theme. */
export const agentIcon = new LabIcon({
  name: 'agent-magic:agent',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24">
  <g class="jp-icon3" fill="#616161">
    <path d="M4 3h16a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2h-8.5L6 22v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zm0 2v11h4v2l2.8-2H20V5z"/>
    <path d="M12 6.2l1.2 3.1 3.1 1.2-3.1 1.2L12 14.8l-1.2-3.1-3.1-1.2 3.1-1.2z"/>
  </g>
</svg>`
});
