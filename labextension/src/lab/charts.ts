import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import { element } from '../view/element';
import { isChart } from '../view/outputs';
import type { MimeBundle } from '../view/record';

// Other outputs of a cell arrive right after the first one.
const PATIENCE = 150;

/** Charts of plotly and Vega, drawn by whatever extension of the page can. */
export class Charts {
  private readonly drawn = new Set<Widget>();

  /**
   * `rendermime` gives the renderers of the document that the charts stand in; null where there are none.
   * `isBeside` tells whether the page shows the charts of that type already.
   */
  constructor(
    private readonly rendermime: () => IRenderMimeRegistry | null,
    private readonly isBeside: (type: string) => boolean
  ) {}

  /** The place of a chart, which fills once it is in the page; null where nothing draws it. */
  draw(bundle: MimeBundle): HTMLElement | null {
    const rendermime = this.rendermime();
    const type = rendermime?.mimeTypes.find(known => isChart(known) && Object.hasOwn(bundle, known));
    if (!rendermime || type === undefined) {
      return null;
    }
    const renderer = rendermime.createRenderer(type);
    const model = rendermime.createModel({ data: bundle as Record<string, string>, trusted: false });
    const place = document.createElement('div');
    this.drawn.add(renderer);
    // Some renderers measure their place, which has no size before it is in the page.
    setTimeout(() => {
      if (!place.isConnected || renderer.isDisposed) {
        return;
      }
      if (this.isBeside(type)) {
        place.append(element('div', 'am-note', 'The chart is shown below.'));
        return;
      }
      Widget.attach(renderer, place);
      renderer.renderModel(model).catch((error: Error) => {
        place.textContent = `This chart could not be drawn: ${error.message}`;
      });
    }, PATIENCE);
    return place;
  }

  dispose(): void {
    for (const renderer of this.drawn) {
      if (!renderer.node.isConnected) {
        // Its place was drawn anew; Lumino would insist on taking it out of the page itself.
        renderer.clearFlag(Widget.Flag.IsAttached);
      }
      renderer.dispose();
    }
    this.drawn.clear();
  }
}
