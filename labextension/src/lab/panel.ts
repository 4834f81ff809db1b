import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import type { Following } from './following';
import type { KernelAgent } from './kernel_agent';
import type { Words } from './words';

/** The side panel: the chat with the agent of the notebook that the user is in. */
export class AgentPanel extends Widget {
  private readonly _opened = new Signal<this, void>(this);
  private shown: KernelAgent | null = null;
  private readonly notice = document.createElement('p');

  constructor(
    private readonly following: Following,
    private readonly words: Words
  ) {
    super();
    this.id = 'agent-magic-panel';
    this.addClass('am-lab-panel');
    this.title.caption = words('Agent');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', words('Agent'));
    this.notice.className = 'am-lab-notice';
    following.changed.connect(this.follow, this);
    this.follow();
  }

  /** Told when the panel was shown or hidden. */
  get opened(): ISignal<this, void> {
    return this._opened;
  }

  protected override onAfterAttach(): void {
    this._opened.emit();
  }

  protected override onAfterDetach(): void {
    this._opened.emit();
  }

  protected override onAfterShow(): void {
    this._opened.emit();
  }

  protected override onAfterHide(): void {
    this._opened.emit();
  }

  protected override onActivateRequest(): void {
    if (this.shown) {
      this.shown.chat.focus();
    } else {
      this.node.tabIndex = -1;
      this.node.focus();
    }
  }

  private follow(): void {
    const { agent, notebook } = this.following;
    this.notice.textContent = notebook
      ? this.words('This notebook has no kernel. Choose one, and its agent answers here.')
      : this.words('Open a notebook, and the agent of its kernel answers here.');
    const drawn = agent?.node ?? this.notice;
    if (this.node.firstChild !== drawn) {
      this.node.replaceChildren(drawn);
    }
    this.shown = agent;
  }
}
