/** What a page and the kernel say to each other: JSON objects with a `type`, the same over every transport. */

import type { ContextUse, Delta, MimeBundle, RunRecord } from '../view/record';

export type { ContextUse, Delta, Item, MimeBundle, RunRecord } from '../view/record';

export const PROTOCOL = 1;

/** Of a record in the outputs of a cell. */
export const RECORD_TYPE = 'application/vnd.agent-magic.run+json';

export type PageKind = 'cell' | 'panel' | 'widget';

/** Where a run stands: its record after the change numbered `seq`. */
export interface RunState {
  run: string;
  seq: number;
  record: RunRecord;
}

export interface AgentTool {
  name: string;
  on: boolean;
  origin: string;
  effect: string;
  description: string;
}

export interface AgentState {
  busy: boolean;
  run: string | null;
  /** The items of the run that wait for an answer. */
  questions: string[];
  model: { id: string; thinking: string };
  tools: AgentTool[];
  context: ContextUse | null;
  cost: number | null;
  session: { id: string; title: string };
  queue: string[];
  notebook: string | null;
  problems: string[];
  /** Another number whenever the earlier runs are others than before. */
  history: number;
}

export interface AttachResult {
  protocol: number;
  version: string;
  /** Of a cell: the run that it shows. */
  run?: RunState;
  /** Of a chat: what it is about, and what was said so far. */
  state?: AgentState;
  runs?: RunRecord[];
  /** So many runs before those are left out. */
  earlier?: number;
}

export type Attachment =
  | { kind: 'cell'; id: string; source: string; outputs_text?: string }
  | { kind: 'selection'; text: string; name: string }
  | { kind: 'variable'; name: string }
  | { kind: 'image'; mime: string; data: string };

export interface SessionInfo {
  id: string;
  title: string;
  messages: number;
  modified: number;
  notebook: string | null;
  current: boolean;
}

export interface ModelInfo {
  id: string;
  window: number | null;
  /** Of a million tokens, in and out: "0.25 / 2", "free", "?". */
  prices: string;
  thinking: string[];
  key: boolean;
}

export interface VariableInfo {
  name: string;
  type: string;
  summary: string;
}

export type Decision = 'once' | 'always' | 'deny';

/** The answer to a question; `hash` names the arguments that were shown, `arguments` are others to run with. */
export interface Answer {
  approval: string;
  decision: Decision;
  reason: string;
  arguments: Record<string, unknown> | null;
  hash: string;
}

type Nothing = Record<string, never>;

/** Each method that a page may request: its parameters and its result. */
export interface Methods {
  /** `looks`: see `look`; absent: yes. */
  attach: [{ page: string; protocol: number; kind: PageKind; notebook?: string; looks?: boolean }, AttachResult];
  /** Whether the user sees this page. While none of a connection is seen, no `run` and no `deltas` are sent to it. */
  look: [{ on: boolean }, Nothing];
  /** This page is gone; not answered where nobody is left to hear it. */
  detach: [Nothing, Nothing];
  code: [Nothing, { code: string }];
  snapshot: [{ run: string }, RunState];
  /** `seen`: whether the user sees it now, or is only told that a question waits. */
  shown: [{ approval: string; run: string; seen: boolean }, Nothing];
  answer: [Answer & { run: string }, Nothing];
  stop: [Nothing, Nothing];
  send: [{ text: string; attachments: Attachment[]; when: 'now' | 'next' }, { as: 'run' | 'steer' | 'follow_up' }];
  /** Gives up what no run has taken up yet; the texts of that, in the order of `queue`. */
  withdraw: [Nothing, { texts: string[] }];
  retry: [Nothing, Nothing];
  /** `run`: the last that the page shows; where that is not the last any more, nothing is taken back. */
  undo: [{ run: string }, Nothing];
  new: [Nothing, Nothing];
  edit: [{ run: string; text: string }, Nothing];
  sessions: [{ filter: string }, { sessions: SessionInfo[] }];
  resume: [{ session: string }, { note?: string }];
  fork: [{ session: string }, { note?: string }];
  models: [{ filter: string }, { models: ModelInfo[]; current: string }];
  set_model: [{ model: string }, Nothing];
  set_tool: [{ name: string; on: boolean }, Nothing];
  variables: [Nothing, { variables: VariableInfo[] }];
  bundle: [{ run: string }, { bundle: MimeBundle; source: string }];
  answer_ask: [{ ask: string; result: unknown } | { ask: string; error: string }, Nothing];
}

export type Method = keyof Methods;
export type Params = { [M in Method]: Methods[M][0] };
export type Result = { [M in Method]: Methods[M][1] };

export interface PageMessage {
  type: 'request';
  /** `<page>:<n>` */
  id: string;
  method: Method;
  params: Params[Method];
}

export type KernelMessage =
  | { type: 'response'; id: string; result: unknown }
  | { type: 'response'; id: string; error: string }
  | ({ type: 'run' } & RunState)
  | { type: 'deltas'; run: string; deltas: Delta[] }
  | { type: 'state'; state: AgentState }
  | { type: 'hello'; protocol: number; version: string }
  | { type: 'ask'; id: string; page: string; method: string; params: unknown };
