import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { RECORD_TYPE } from '../protocol/messages';
import { TYPESET } from '../view/prose';
import { textBlock } from '../view/code';
import { takeReading } from '../view/reading';
import { brokenOff, isRecord, type RunRecord, WIDGET_TYPE } from '../view/record';
import { RecordView } from '../view/view';
import { Charts } from './charts';

const WORDS = 'This run did not end here: its kernel ended, or the notebook was saved, while it went on.';

/** A saved record as the cards that it was live, without what acts; drawn when it comes into sight. */
class RecordRenderer extends Widget implements IRenderMime.IRenderer {
  private readonly charts = new Charts(
    () => areaAround(this)?.rendermime ?? null,
    type => isShown(type, areaAround(this))
  );
  private view: RecordView | null = null;
  private record: RunRecord | null = null;
  private sight: IntersectionObserver | null = null;

  constructor(typesetter: IRenderMime.ILatexTypesetter | null) {
    super();
    this.addClass('am-record');
    this.node.addEventListener(TYPESET, event => {
      if (typesetter && event.target instanceof HTMLElement) {
        event.stopPropagation();
        typesetter.typeset(event.target);
      }
    });
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const data: unknown = model.data[RECORD_TYPE];
    if (!isRecord(data)) {
      const words = model.data['text/plain'] ?? 'This run was saved by a later version of agent_magic.';
      this.node.replaceChildren(textBlock(String(words)));
      return;
    }
    // While it is with its widget, the run may go on.
    const brokeOff = data.state === 'running' && !(WIDGET_TYPE in model.data);
    this.record = brokeOff ? { ...brokenOff(data, WORDS), seconds: data.seconds } : data;
    if (this.view || typeof IntersectionObserver === 'undefined') {
      this.draw();
    } else if (!this.sight) {
      // Until then about as much room as it will take, so that the page does not jump.
      this.node.style.minHeight = `${Math.min(600, 40 + 36 * this.record.items.length)}px`;
      this.sight = new IntersectionObserver(entries => entries.some(entry => entry.isIntersecting) && this.draw(), {
        rootMargin: '300px'
      });
      this.sight.observe(this.node);
    }
  }

  override dispose(): void {
    this.sight?.disconnect();
    this.view?.dispose();
    this.charts.dispose();
    super.dispose();
  }

  private draw(): void {
    this.sight?.disconnect();
    this.node.style.minHeight = '';
    this.view ??= new RecordView(this.node, { host: { renderMime: bundle => this.charts.draw(bundle) } });
    this.view.update(this.record!);
    this.goOn(this.view, this.record!.run);
  }

  /** Go on where somebody was in the live view, whose place this takes at the end of the run. */
  private goOn(view: RecordView, run: string): void {
    const reading = takeReading(run);
    if (!reading) {
      return;
    }
    const isLost = reading.focused !== null && document.activeElement === document.body;
    if (!view.goOn(isLost ? reading : { ...reading, focused: null }) && isLost) {
      // With the focus nowhere, no key would reach the notebook.
      this.node.closest<HTMLElement>('.jp-Cell')?.focus({ preventScroll: true });
    }
  }
}

/** What is used here of the output area of a cell. */
interface OutputArea {
  readonly rendermime: IRenderMimeRegistry;
  readonly model?: { readonly length: number; get(place: number): { readonly data: object } };
}

/** The output area that `widget` stands in: a MIME extension gets to know neither renderers nor other outputs. */
function areaAround(widget: Widget): OutputArea | null {
  for (let around = widget.parent; around; around = around.parent) {
    if ('rendermime' in around) {
      return around as Widget & OutputArea;
    }
  }
  return null;
}

/** Whether an output of `area` is of that type: charts of a run are also outputs of their own, for other front ends. */
function isShown(type: string, area: OutputArea | null): boolean {
  return Array.from({ length: area?.model?.length ?? 0 }, (_, place) => area!.model!.get(place)).some(
    output => type in output.data
  );
}

const extension: IRenderMime.IExtension = {
  id: 'agent-magic:mime',
  rendererFactory: {
    safe: true,
    mimeTypes: [RECORD_TYPE],
    createRenderer: options => new RecordRenderer(options.latexTypesetter)
  },
  rank: 0,
  dataType: 'json'
};

export default extension;
