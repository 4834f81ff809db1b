/** Knows where the focus was before it came into `place`, so that it is not lost when what has it goes away. */
export class FocusBefore {
  private before: HTMLElement | null = null;

  constructor(private readonly place: HTMLElement) {
    place.addEventListener('focusin', ({ relatedTarget }) => {
      if (relatedTarget instanceof HTMLElement && relatedTarget !== document.body && !place.contains(relatedTarget)) {
        this.before = relatedTarget;
      }
    });
  }

  /** Give the focus back, if `place` has it, or a control in it had that was disabled. */
  giveBack(): void {
    const { activeElement: active } = document;
    const before = this.before?.isConnected ? this.before : null;
    this.before = null;
    if (this.place.contains(active)) {
      // A cell of the notebook, or the log of a chat.
      const around = this.place.parentElement?.closest<HTMLElement>('[tabindex]');
      (before ?? around)?.focus({ preventScroll: true });
    } else if (active === document.body) {
      before?.focus({ preventScroll: true });
    }
  }
}
