import type { RunRecord } from '../protocol/messages';
import { arrange, setText } from '../view/element';
import type { RunActions } from '../view/view';
import { bubble } from './bubble';
import { button, element, icon } from './element';
import type { ChatHost } from './host';
import { type Possible, Turn, type TurnActions } from './turn';
import type { Words } from './words';

// Nearer to the end than this, in pixels, the log is at its end.
const NEAR = 24;
const THERE = 2;

/** A message that no run shows yet. */
export interface PendingMessage {
  text: string;
  attached: readonly string[];
  /** Such as "Queued". */
  note: string;
}

/**
 * The conversation. It follows its end as long as the user is there, and stays where he has scrolled to.
 * It is a log without being live: words that stream are no news to a screen reader; `Chat` says when there are some.
 */
export class Log {
  readonly element: HTMLElement;
  private readonly words: Words;
  private readonly host: ChatHost;
  private readonly actions: TurnActions;
  private readonly runActions: (run: string) => RunActions;
  private readonly scroller: HTMLElement;
  private readonly content: HTMLElement;
  private readonly list: HTMLElement;
  private readonly pending: HTMLElement;
  private readonly earlier: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly toEndButton: HTMLButtonElement;
  private readonly toEndText: HTMLElement;
  private readonly resizing: ResizeObserver;
  private turns: Turn[] = [];
  private described = '[]';
  private possible: Possible = 'nothing';
  private isFollowing = true;
  private lastTop = 0;

  constructor(words: Words, host: ChatHost, actions: TurnActions, runActions: (run: string) => RunActions) {
    this.words = words;
    this.host = host;
    this.actions = actions;
    this.runActions = runActions;
    this.list = element('div', { class: 'am-chat-turns' });
    this.pending = element('div', { class: 'am-chat-pending' });
    this.empty = element('p', { class: 'am-chat-empty' }, words('Ask something about this notebook.'));
    this.earlier = element('p', { class: 'am-chat-empty', hidden: true });
    this.content = element('div', { class: 'am-chat-log-content' }, this.earlier, this.empty, this.list, this.pending);
    this.scroller = element(
      'div',
      { class: 'am-chat-log', role: 'log', 'aria-live': 'off', 'aria-label': words('Conversation'), tabindex: '0' },
      this.content
    );
    this.toEndText = element('span', {}, words('To the end'));
    this.toEndButton = button(icon('toEnd'), () => this.toEnd(), {
      class: 'am-chat-button am-chat-to-end',
      hidden: true
    });
    this.toEndButton.append(this.toEndText);
    this.element = element('div', { class: 'am-chat-body' }, this.scroller, this.toEndButton);
    this.scroller.addEventListener('scroll', () => this.onScroll());
    // Who opens something wants to see it and not the end. The frame comes before the change of size is told.
    this.content.addEventListener('click', () => requestAnimationFrame(() => this.look()));
    this.resizing = new ResizeObserver(() => this.follow());
    this.resizing.observe(this.content);
    this.resizing.observe(this.scroller);
  }

  get last(): Turn | undefined {
    return this.turns[this.turns.length - 1];
  }

  /** What the user said, the oldest first. */
  get prompts(): string[] {
    return this.turns.flatMap(turn => turn.prompts);
  }

  get records(): RunRecord[] {
    return this.turns.map(turn => turn.record);
  }

  /** Show these runs in this order, below them the one that goes on. `earlier` runs are left out before them. */
  setRuns(records: readonly RunRecord[], current: string | null, earlier: number): void {
    this.earlier.hidden = earlier === 0;
    this.earlier.textContent = this.words('%1 earlier messages and their answers are not shown here.', earlier);
    const kept = new Map(this.turns.map(turn => [turn.record.run, turn]));
    const turns = records.map(record => {
      const turn = kept.get(record.run);
      kept.delete(record.run);
      turn?.update(record);
      return turn ?? this.turnOf(record);
    });
    for (const turn of kept.values()) {
      if (turn.record.run === current) {
        turns.push(turn);
      } else {
        turn.dispose();
      }
    }
    this.turns = turns;
    arrange(
      this.list,
      turns.map(turn => turn.element)
    );
    this.changed();
  }

  /** Draw a run, at the end if it is new. */
  update(record: RunRecord): void {
    const known = this.turns.find(turn => turn.record.run === record.run);
    if (known) {
      known.update(record);
      this.showQuestion();
      this.follow();
    } else {
      const turn = this.turnOf(record);
      this.turns.push(turn);
      this.list.append(turn.element);
      this.changed();
    }
  }

  setPending(messages: readonly PendingMessage[]): void {
    const described = JSON.stringify(messages);
    if (described === this.described) {
      return;
    }
    this.described = described;
    this.pending.replaceChildren(
      ...messages.map(({ text, attached, note }) => {
        const message = element('div', { class: 'am-chat-said am-chat-waiting' }, bubble(text, this.host));
        const facts = [...attached, note].filter(Boolean).join(' · ');
        if (facts) {
          message.append(element('div', { class: 'am-chat-said-note' }, facts));
        }
        return message;
      })
    );
    this.changed();
  }

  /** What can be done about turns now; nothing where the kernel cannot be reached. */
  setPossible(possible: Possible): void {
    this.possible = possible;
    this.placeTurns();
  }

  toEnd(): void {
    const hadFocus = document.activeElement === this.toEndButton;
    this.isFollowing = true;
    this.follow();
    if (hadFocus) {
      this.scroller.focus();
    }
  }

  dispose(): void {
    this.resizing.disconnect();
    this.turns.forEach(turn => turn.dispose());
  }

  private turnOf(record: RunRecord): Turn {
    return new Turn(record, this.words, this.actions, this.runActions(record.run), this.host);
  }

  private changed(): void {
    this.empty.hidden = this.turns.length > 0 || this.pending.childElementCount > 0;
    this.placeTurns();
    this.showQuestion();
    this.follow();
  }

  /** Who reads further up learns that he is waited for. */
  private showQuestion(): void {
    const isAsking = this.last?.isAsking ?? false;
    setText(this.toEndText, isAsking ? this.words('The agent waits for you') : this.words('To the end'));
    this.toEndButton.classList.toggle('am-chat-asking', isAsking);
  }

  private placeTurns(): void {
    this.turns.forEach(turn => turn.setPlace(this.possible, turn === this.last));
  }

  private get distance(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  private follow(): void {
    if (this.isFollowing) {
      this.scroller.scrollTop = this.scroller.scrollHeight;
    }
    this.toEndButton.hidden = this.isFollowing || this.distance <= NEAR;
  }

  /** Only the user scrolls up; that the text grows never ends the following. */
  private onScroll(): void {
    const top = this.scroller.scrollTop;
    if (top < this.lastTop) {
      this.isFollowing = this.distance <= THERE;
    } else if (this.distance <= NEAR) {
      this.isFollowing = true;
    }
    this.lastTop = top;
    this.toEndButton.hidden = this.isFollowing || this.distance <= NEAR;
  }

  private look(): void {
    this.isFollowing = this.distance <= NEAR;
    this.follow();
  }
}
