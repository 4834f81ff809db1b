import { uniqueId } from '../view/element';
import { element } from './element';

// Of the height of a panel, in pixels.
const LEAST = 120;
const MOST = 420;
const MARGIN = 12;

/**
 * A panel that a button opens and closes, over the chat. It has no say over the rest of the page: Escape, a click
 * elsewhere or the focus moving elsewhere closes it; Escape and a choice give the focus back.
 */
export class Popup {
  readonly panel: HTMLElement;
  private readonly opener: HTMLButtonElement;
  private readonly root: HTMLElement;
  private readonly onOpen: () => void;
  private readonly onPress = (event: Event) => {
    const target = event.composedPath()[0] as Node;
    if (!this.panel.contains(target) && !this.opener.contains(target)) {
      this.close(false);
    }
  };

  /** `root` is the element in which the panel is laid out; `role` that of the panel. */
  constructor(
    opener: HTMLButtonElement,
    root: HTMLElement,
    role: 'dialog' | 'menu',
    label: string,
    onOpen: () => void
  ) {
    const id = uniqueId();
    this.opener = opener;
    this.root = root;
    this.onOpen = onOpen;
    this.panel = element('div', { class: 'am-chat-popup', id, role, 'aria-label': label, hidden: true });
    opener.setAttribute('aria-haspopup', role);
    opener.setAttribute('aria-controls', id);
    opener.setAttribute('aria-expanded', 'false');
    opener.addEventListener('click', () => (this.isOpen ? this.close() : this.open()));
    this.panel.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.preventDefault();
        event.stopPropagation();
        this.close();
      }
    });
    this.panel.addEventListener('focusout', event => {
      const next = event.relatedTarget as Node | null;
      if (next && !this.panel.contains(next) && next !== this.opener) {
        this.close(false);
      }
    });
    root.append(this.panel);
  }

  get isOpen(): boolean {
    return !this.panel.hidden;
  }

  open(): void {
    this.panel.style.maxHeight = `${this.room}px`;
    this.panel.hidden = false;
    this.opener.setAttribute('aria-expanded', 'true');
    this.root.ownerDocument.addEventListener('pointerdown', this.onPress, true);
    this.onOpen();
  }

  close(returnFocus = true): void {
    if (!this.isOpen) {
      return;
    }
    this.root.ownerDocument.removeEventListener('pointerdown', this.onPress, true);
    this.panel.hidden = true;
    this.opener.setAttribute('aria-expanded', 'false');
    if (returnFocus) {
      this.opener.focus();
    }
  }

  dispose(): void {
    this.close(false);
    this.panel.remove();
  }

  /** The pixels between the root and the farther end of the chat. */
  private get room(): number {
    const root = this.root.getBoundingClientRect();
    const chat = (this.root.closest('.am-chat') ?? this.root).getBoundingClientRect();
    return Math.max(LEAST, Math.min(MOST, Math.max(root.top - chat.top, chat.bottom - root.bottom) - MARGIN));
  }
}

/** Let the arrow keys, Home and End move the focus among what `selector` finds in `list`. */
export function moveFocusByArrows(list: HTMLElement, selector: string): void {
  list.addEventListener('keydown', event => {
    const targets = [...list.querySelectorAll<HTMLElement>(selector)];
    const place = targets.indexOf(document.activeElement as HTMLElement);
    const next = {
      ArrowDown: place + 1,
      ArrowUp: place < 0 ? targets.length - 1 : place - 1,
      Home: 0,
      End: targets.length - 1
    }[event.key];
    const isTextField = event.target instanceof HTMLInputElement;
    if (next === undefined || targets.length === 0 || (isTextField && event.key !== 'ArrowDown')) {
      return;
    }
    event.preventDefault();
    targets[(next + targets.length) % targets.length]!.focus();
  });
}
