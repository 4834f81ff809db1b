import type { Attachment, RunRecord } from '../protocol/messages';
import { nameOf } from './attachments';
import type { PendingMessage } from './log';
import type { Words } from './words';

/** What the log shows. */
interface Said {
  readonly records: readonly RunRecord[];
  /** What the user said, the oldest first. */
  readonly prompts: readonly string[];
}

/** A message on its way. */
export interface SentMessage {
  text: string;
  attachments: readonly Attachment[];
  /** The runs, and how often the same was said, when this was sent. */
  runs: ReadonlySet<string>;
  saidBefore: number;
  /** What the kernel made of it, once it has answered. */
  as?: 'run' | 'steer' | 'follow_up';
}

/** The messages that were sent, until a run or the queue of the kernel shows them. */
export class Outbox {
  private readonly words: Words;
  private readonly said: Said;
  private sent: SentMessage[] = [];
  /** What the kernel has queued for a run that goes on, until it is said or taken back. */
  private waiting: SentMessage[] = [];

  constructor(words: Words, said: Said) {
    this.words = words;
    this.said = said;
  }

  get texts(): string[] {
    return this.sent.map(message => message.text);
  }

  add(text: string, attachments: readonly Attachment[]): SentMessage {
    const runs = new Set(this.said.records.map(record => record.run));
    const message = { text, attachments, runs, saidBefore: this.saidTimes(text) };
    this.sent.push(message);
    return message;
  }

  /** The kernel has taken it. */
  accept(message: SentMessage, as: NonNullable<SentMessage['as']>): void {
    message.as = as;
    if (as !== 'run') {
      this.waiting.push(message);
    }
  }

  /** It was not sent. */
  remove(message: SentMessage): void {
    this.sent = this.sent.filter(other => other !== message);
  }

  /** The kernel has given up a message of these words that waited; returns what was attached to it here. */
  takeBack(text: string): readonly Attachment[] {
    const message = this.waiting.find(message => message.text === text);
    this.waiting = this.waiting.filter(other => other !== message);
    this.sent = this.sent.filter(other => other !== message);
    return message?.attachments ?? [];
  }

  /** What the log does not show, given what waits in the kernel and whether it is at work. */
  pending(queue: readonly string[], busy: boolean): PendingMessage[] {
    this.sent = this.sent.filter(message => !this.isShown(message, queue, busy));
    const known = new Set([...queue, ...this.texts]);
    this.waiting = this.waiting.filter(({ text }) => known.has(text));
    const soon = this.words('Told to the agent at its next step');
    const noteOf = (text: string) =>
      !busy
        ? this.words('Not told yet: goes with your next message')
        : this.waiting.some(message => message.text === text && message.as === 'steer')
          ? soon
          : this.words('Queued');
    return [
      ...this.sent.map(({ text, attachments, as }) => ({
        text,
        attached: attachments.map(attachment => nameOf(attachment, this.words)),
        note: as === 'steer' ? soon : ''
      })),
      ...queue.map(text => ({ text, attached: [], note: noteOf(text) }))
    ];
  }

  private isShown({ text, as, runs, saidBefore }: SentMessage, queue: readonly string[], busy: boolean): boolean {
    if (this.saidTimes(text) > saidBefore) {
      return true;
    }
    switch (as) {
      case undefined:
        return false;
      case 'run':
        // It failed before it came to what was said.
        return !busy && this.said.records.some(({ run }) => !runs.has(run));
      default:
        return !busy || queue.includes(text);
    }
  }

  private saidTimes(text: string): number {
    return this.said.prompts.filter(prompt => prompt.trim() === text).length;
  }
}
