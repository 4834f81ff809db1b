import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Widget } from '@lumino/widgets';
import type { Place } from './commands';

// JupyterLab and Notebook 7 both have these, in shells of their own.
interface SideShell {
  collapseLeft?(): void;
  collapseRight?(): void;
}

/** A widget in one of the side areas of the page. */
export class SidePlace implements Place {
  private side: 'left' | 'right' | null = null;

  constructor(
    private readonly shell: JupyterFrontEnd.IShell,
    private readonly widget: Widget
  ) {}

  /** Put it there, or move it there. */
  moveTo(side: 'left' | 'right'): void {
    this.side = side;
    // A layout that is restored may have put it there before.
    if (![...this.shell.widgets(side)].includes(this.widget)) {
      this.widget.parent = null;
      this.shell.add(this.widget, side, { rank: 600, type: 'Agent' });
    }
  }

  get isThere(): boolean {
    return this.side !== null;
  }

  get isOpen(): boolean {
    return this.widget.isVisible;
  }

  open(): void {
    // Notebook 7.2 hides what is open already.
    if (!this.isOpen) {
      this.shell.activateById(this.widget.id);
    }
    this.widget.activate();
  }

  close(): void {
    const shell = this.shell as SideShell;
    if (this.side === 'left') {
      shell.collapseLeft?.();
    } else {
      shell.collapseRight?.();
    }
  }
}
