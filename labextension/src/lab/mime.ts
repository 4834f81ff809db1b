import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

export const RECORD_TYPE = 'application/vnd.agent-magic.run+json';

class RecordRenderer extends Widget implements IRenderMime.IRenderer {
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.node.textContent = JSON.stringify(model.data[RECORD_TYPE]);
  }
}

const extension: IRenderMime.IExtension = {
  id: 'agent-magic:mime',
  rendererFactory: { safe: true, mimeTypes: [RECORD_TYPE], createRenderer: () => new RecordRenderer() },
  rank: 0,
  dataType: 'json'
};

export default extension;
