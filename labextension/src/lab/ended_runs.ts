import type { ICodeCellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { RECORD_TYPE } from '../protocol/messages';
import { lastSeen } from '../view/last_seen';
import { isRecord, textOfRecord, type MimeBundle, type RunRecord, WIDGET_TYPE } from '../view/record';

type Tracker = Pick<INotebookTracker, 'widgetAdded' | 'forEach'>;

/**
 * Let the record stand where a run ended without its kernel saying so, in all notebooks of the page.
 *
 * The output of such a run still names its widget, before all else. No kernel has that: the notebook would show an error.
 */
export function showEndedRuns(tracker: Tracker): void {
  const add = (notebook: NotebookPanel): void => void new EndedRuns(notebook);
  tracker.widgetAdded.connect((_, notebook) => add(notebook));
  tracker.forEach(add);
}

/** The runs of one notebook, until it is closed. */
class EndedRuns {
  private isRestarting = false;

  constructor(private readonly notebook: NotebookPanel) {
    const { sessionContext } = notebook;
    sessionContext.kernelChanged.connect(() => void this.look(), this);
    sessionContext.statusChanged.connect((_, status) => this.follow(status), this);
    notebook.disposed.connect(() => Signal.clearData(this));
    void this.look();
  }

  private follow(status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting') {
      this.isRestarting = true;
    } else if (status === 'dead' || (status === 'idle' && this.isRestarting)) {
      this.isRestarting = false;
      void this.look();
    }
  }

  private async look(): Promise<void> {
    await Promise.all([this.notebook.context.ready, this.notebook.sessionContext.ready]);
    // A run that begins while the kernel answers is none of these.
    const asked = new Set(runsShownIn(this.notebook).map(({ widget }) => widget));
    const known = asked.size > 0 ? await this.widgetsOfKernel().catch(() => null) : null;
    if (known && !this.notebook.isDisposed) {
      runsShownIn(this.notebook)
        .filter(({ widget }) => asked.has(widget) && !known.has(widget))
        .forEach(({ outputs, place, record }) => {
          const output = outputs.get(place).toJSON();
          const seen = lastSeen(record.run);
          // Of one that was seen to end, the kernel tells the page the record and the number of the cell.
          if (!seen || seen.state === 'running') {
            const data = withoutWidget(output.data as MimeBundle, seen);
            outputs.set(place, { ...output, data } as IOutput);
          }
        });
    }
  }

  private async widgetsOfKernel(): Promise<Set<string>> {
    const kernel = this.notebook.sessionContext.session?.kernel;
    if (!kernel || kernel.status === 'dead') {
      return new Set();
    }
    const { content } = await kernel.requestCommInfo({ target_name: 'jupyter.widget' });
    if (content.status !== 'ok') {
      throw new Error('The kernel does not tell its widgets.');
    }
    return new Set(Object.keys(content.comms));
  }
}

/** The outputs of a notebook that hold both the widget of a run and its record. */
export function runsShownIn(
  notebook: NotebookPanel
): { outputs: ICodeCellModel['outputs']; place: number; widget: string; record: RunRecord }[] {
  const codes = [...(notebook.content.model?.cells ?? [])].filter(cell => cell.type === 'code');
  return codes.flatMap(cell => {
    const { outputs } = cell as ICodeCellModel;
    return Array.from({ length: outputs.length }, (_, place) => outputs.get(place).data).flatMap((data, place) => {
      const [widget, record] = [data[WIDGET_TYPE], data[RECORD_TYPE]] as [{ model_id?: string } | undefined, unknown];
      return widget?.model_id && isRecord(record) ? [{ outputs, place, widget: widget.model_id, record }] : [];
    });
  });
}

/** The output as it was saved with the run, or what a view of this page has seen of it since. */
function withoutWidget(data: MimeBundle, seen: RunRecord | null): MimeBundle {
  if (seen) {
    return { [RECORD_TYPE]: seen, 'text/plain': textOfRecord(seen) };
  }
  return Object.fromEntries(Object.entries(data).filter(([type]) => type !== WIDGET_TYPE));
}
