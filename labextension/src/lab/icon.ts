import { LabIcon } from '@jupyterlab/ui-components';

/** What is said, with a spark: an outline like Lab's own icons, in the colours of the theme. */
export const agentIcon = new LabIcon({
  name: 'agent-magic:agent',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24">
  <g class="jp-icon3" fill="#616161">
    <path d="M4 3h9v2H5v11.2L6.8 15H19v-3h2v5H7.4L3 20V4a1 1 0 0 1 1-1z"/>
    <path d="M18 1.5l1.3 3.2 3.2 1.3-3.2 1.3L18 10.500l-1.300-3.200-3.200-1.300 3.200-1.300z"/>
  </g>
</svg>`
});
