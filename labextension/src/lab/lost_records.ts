import type { IOutput } from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Client } from '../protocol/client';
import { runsShownIn } from './ended_runs';

// Milliseconds that the record of a run, which the kernel publishes, has to take the place of its widget.
const PATIENCE = 500;

/**
 * Has the record of a run that ended stand where the notebook still shows its widget, which is gone.
 *
 * A cell that is moved while it runs does not know its displays any more, and drops what is published for them.
 */
export class LostRecords {
  private run: string | null = null;

  constructor(
    private readonly notebook: NotebookPanel,
    private readonly client: Client
  ) {
    client.onState(({ run }) => {
      const ended = this.run === run ? null : this.run;
      this.run = run;
      if (ended !== null) {
        setTimeout(() => void this.find(ended), PATIENCE);
      }
    });
  }

  private async find(run: string): Promise<void> {
    if (this.places(run).length === 0) {
      return;
    }
    // Where the conversation has moved on from that run, what is there stays.
    const found = await this.client.request('bundle', { run }).catch(() => null);
    for (const { outputs, place } of found ? this.places(run) : []) {
      outputs.set(place, { ...outputs.get(place).toJSON(), data: found!.bundle } as IOutput);
    }
  }

  private places(run: string): ReturnType<typeof runsShownIn> {
    return this.notebook.isDisposed ? [] : runsShownIn(this.notebook).filter(({ record }) => record.run === run);
  }
}
