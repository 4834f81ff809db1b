import type { AgentState } from '../protocol/messages';
import type { KernelAgent } from './kernel_agent';
import type { Words } from './words';

// Milliseconds that a question has to be drawn, in a cell or in the panel.
const DRAWN = 500;

/** Says something that stays until it is called off by what this returns; `show` is what its button does. */
export type Notify = (text: string, label: string, show: () => void) => () => void;

/** Tells the user that an agent waits for an answer, where neither the panel nor a cell in view shows the question. */
export class Attention {
  private readonly calledOff = new Map<string, () => void>();

  constructor(
    private readonly agent: KernelAgent,
    private readonly isSeen: () => boolean,
    private readonly show: () => void,
    private readonly notify: Notify,
    private readonly words: Words
  ) {
    agent.client.onState(state => this.look(state));
    agent.ended.connect(() => this.keep([]));
  }

  private look({ run, questions }: AgentState): void {
    const pending = questions.map(id => `${run}:${id}`);
    this.keep(pending);
    for (const question of pending) {
      if (!this.calledOff.has(question)) {
        const timer = setTimeout(() => this.tell(question), DRAWN);
        this.calledOff.set(question, () => clearTimeout(timer));
      }
    }
  }

  private tell(question: string): void {
    if (!this.isSeen()) {
      const name = this.agent.notebook.context.path.split('/').pop()!;
      const text = this.words('The agent of %1 waits for your answer.', name);
      this.calledOff.set(question, this.notify(text, this.words('Show'), this.show));
    }
  }

  /** Call off all but these. */
  private keep(questions: string[]): void {
    for (const [question, callOff] of this.calledOff) {
      if (!questions.includes(question)) {
        this.calledOff.delete(question);
        callOff();
      }
    }
  }
}
