/**
 * What a chat and the page around it owe each other.
 *
 * The page makes a `Client` over its transport and a `Chat` with a `ChatHost`; it then tells the chat how the kernel
 * can be reached (`Chat.setConnection`) and what it talks to (`Chat.setPlace`). A control whose function the host does
 * not have is not shown.
 */
import type { Attachment, MimeBundle } from '../protocol/messages';
import type { ViewHost } from '../view/view';

/** Something of the page that the user can attach to his next message, as the "Attach" menu offers it. */
export interface AttachmentSource {
  /** The words of the menu, such as "Selected cell" (translated by the host). */
  label: string;
  /** A second line in the menu, such as the first line of the cell. */
  description?: string;
  /** Called when the user chooses it; null if it is gone by now. An error's message is shown to the user. */
  read(): Attachment | null | Promise<Attachment | null>;
}

/** What the page around a chat can do. All of it is optional. */
export interface ChatHost extends ViewHost {
  /** What can be attached now; asked each time the menu opens. Images and variables the chat offers by itself. */
  attachments?(): AttachmentSource[];
  /** Put the record of a run into the notebook as a cell: `source` is the cell, `bundle` its output. */
  insertRecord?(bundle: MimeBundle, source: string): void;
  /** Called by Escape in the composer: give the focus back, for instance to the notebook. */
  leave?(): void;
  /** Whether the user sees the chat now; absent: always. When that comes true, tell `Chat.seen`. */
  isSeen?(): boolean;
}

/** A button with which the user can mend a connection. */
export interface ConnectionAction {
  /** Such as "Load agent_magic" (translated by the host). */
  label: string;
  /** Runs while the button is disabled. If it fails, the error's message is shown below it. */
  run(): Promise<void>;
}

/**
 * How the kernel's agent can be reached.
 *
 * - `ready`: messages of the transport arrive, or soon will. Setting it makes the chat attach (again): after a restart of
 *   the kernel or a new comm, set `ready` once more. A new `Chat` begins so.
 * - `waiting`: for a moment nothing can be sent: the kernel starts or restarts, the server is away. What was said stays
 *   on the page; what the user writes stays in the composer.
 * - `absent`: there is nobody to talk to: no notebook is open, or its kernel has no agent. `text` fills the place of the
 *   conversation, with one button if something can be done.
 *
 * A mismatch of protocols needs no state of its own: the kernel's answer to `attach` says it, and the chat shows that.
 */
export type Connection =
  | { state: 'ready' }
  | { state: 'waiting'; text: string }
  | { state: 'absent'; text: string; action?: ConnectionAction };

export type SendKey = 'Enter' | 'Ctrl+Enter';

/**
 * What a page may ask of a chat; `Chat` in chat.ts is one. (`new Chat(element, client, host?)` attaches at once.)
 */
export interface ChatControl {
  /** Put the cursor into the composer, or on the button of an absent connection. */
  focus(): void;
  /** See `Connection`. */
  setConnection(connection: Connection): void;
  /** What the chat talks to, shown beside its title: "growth.ipynb · Python 3". */
  setPlace(place: string): void;
  /** Which key sends; the other one begins a line. Enter, unless this says otherwise. */
  setSendKey(key: SendKey): void;
  /** Add a chip to the next message, such as for a command "Attach the selection". */
  attach(attachment: Attachment): void;
  /** Put `text` into the composer, before what is there, for the user to complete and send. */
  draft(text: string): void;
  /** The user sees the chat now, which was hidden. */
  seen(): void;
  /** Take everything off the element and the client. The client is not disposed: whoever made it does that. */
  dispose(): void;
}
