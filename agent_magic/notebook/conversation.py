"""The conversation of a kernel: its agent's history, kept in a session as it grows, and every way to go elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agent.loop_config import Turn, TurnUpdate
from ..errors import InvalidDataError, SessionError, SessionLockedError
from ..events import AgentEndEvent, AgentEvent, AgentStartEvent, MessageUpdateEvent
from ..messages import CustomMessage, ToolResultMessage, UserMessage
from ..session.compaction import Compacted, CompactionSettings, Compactor
from ..session.context import context_entries, last_compaction, message_of
from ..session.entries import CustomMessageEntry, Entry, MessageEntry
from ..session.listing import StoredSession
from ..session.location import sessions_folder
from ..session.session import Session
from ..session.tree import usage_of
from .identity import notebook_path
from .lacks import RESTART, Lacks, lacks

if TYPE_CHECKING:
    from .kernel import NotebookKernel
    from .notebook_agent import NotebookAgent

# Seconds that the end of a session may take; a disk that hangs must not hang the kernel.
LAST_WAIT = 5.0


class Conversation:
    """Moves the agent and its session together; the session is where the history is, the agent has a copy.

    Whatever goes elsewhere raises `AgentBusyError` during a run.
    """

    def __init__(self, kernel: NotebookKernel, agent: NotebookAgent) -> None:
        self._kernel = kernel
        self._agent = agent
        self._met: set[str] = set()
        self._told: set[str] = set()
        self._take(self._new_session())
        # Before any view, so that nothing is shown as done that is not kept.
        self._unsubscribe = agent.subscribe(self.handle)
        kernel.settings.observe(self._setting_changed, ["sessions", "compaction"])
        agent.loop_config = agent.loop_config.replace(prepare_next_turn=self._prepare_next_turn)

    @property
    def id(self) -> str | None:
        """The id of the session; None where it is kept nowhere."""
        return self.session.id if self.session.path is not None else None

    @property
    def notebook(self) -> Path | None:
        return notebook_path(self._kernel.shell.user_ns)

    @property
    def folder(self) -> Path:
        """Where the sessions of this kernel are."""
        beside = self.notebook if self._kernel.settings.sessions == "notebook" else None
        return sessions_folder(beside)

    def stored(self) -> tuple[StoredSession, ...]:
        """All sessions in the folder, the one last used first."""
        return Session.list(self.folder)

    def others(self) -> tuple[StoredSession, ...]:
        """Those of `stored` that this kernel is not in."""
        return tuple(each for each in self.stored() if each.id != self.session.id)

    # Keeping what the agent does --------------------------------------------------------------------------------------

    def handle(self, event: AgentEvent) -> Awaitable[None] | None:
        """The listener of the agent."""
        return None if isinstance(event, MessageUpdateEvent) else self._keep(event)

    async def _keep(self, event: AgentEvent) -> None:
        if isinstance(event, AgentStartEvent):
            self.follow()
            self.session.change_model(self._agent.model_in_use)
            self.session.change_thinking_level(str(getattr(self._agent.thinking_level, "value", "off")))
        await self.session.handle(event)
        if isinstance(event, AgentEndEvent):
            self._note_history()

    def follow(self) -> None:
        """Take up what was assigned to the agent's messages since the last run."""
        messages = list(self._agent.messages)
        if self._agent.messages is self._history and len(messages) == self._length:
            return
        entries = context_entries(self.session.branch)
        shared = 0
        with contextlib.suppress(InvalidDataError):
            while shared < min(len(entries), len(messages)) and _same(message_of(entries[shared]), messages[shared]):
                shared += 1
        if shared < len(entries):
            # What a compaction kept stands before it in the tree, so the tree has no such place.
            shared = 0 if last_compaction(self.session.branch) is not None else shared
            self.session.move_to(entries[shared - 1].id if shared else None)
        for message in messages[shared:]:
            self.session.append(message)
        self._note_history()

    def append(self, message: Any) -> None:
        """Add a message to the conversation, which nothing answers yet."""
        self._agent.check_idle()
        self.follow()
        self.session.append(message)
        self._remember()

    def problems(self) -> list[str]:
        """What the user should be told about the file, each once."""
        problem = self.session.problem
        if problem is None or problem in self._told:
            return []
        self._told.add(problem)
        return [problem]

    def end(self) -> None:
        """Keep nothing more of what the agent does."""
        self._unsubscribe()
        self.close()

    def close(self) -> None:
        """Write what is not written, and let go of the file."""
        with contextlib.suppress(SessionError):
            self.session.close(LAST_WAIT)

    def _setting_changed(self, change: Any) -> None:
        if change.name == "compaction":
            self.compactor.settings = CompactionSettings(enabled=change.new)
        elif not self.session.messages:
            self._take(self._new_session())

    # Going elsewhere --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin an empty conversation."""
        self._agent.check_idle()
        self._go_to(self._new_session())

    def take_back(self) -> UserMessage | None:
        """Go back to before the last message of the user; returns it, None where there is none."""
        self._agent.check_idle()
        self.follow()
        taken = self.session.undo()
        self._arrive()
        return taken

    def go_before(self, entry: Entry) -> None:
        """Go back to before an entry of the conversation."""
        self._agent.check_idle()
        self.follow()
        self.session.move_to(entry.parent_id)
        self._arrive()

    def _arrive(self) -> None:
        if self._restart is not None and self._restart not in self.session.messages:
            self.session.append(self._restart)
        self._remember()

    def resume(self, which: str = "") -> Lacks | None:
        """Go on with a session: one whose id begins with `which` or that has this title, else the one last used.

        Returns what the model was told that this kernel lacks, None where this kernel knows the conversation.
        Raises `SessionError` when there is none, `SessionLockedError` when another process has it.
        """
        self._agent.check_idle()
        found = self._found(which)
        if found.id == self.session.id:
            raise SessionError("This kernel is in that conversation already.")
        try:
            session = Session.open(found.path)
        except SessionLockedError:
            named = f"{found.id[:8]} {found.title}".rstrip()
            raise SessionLockedError(
                f"Another kernel has the conversation {named}. Shut that kernel down, or go on in a copy: "
                f"%agent fork {found.id[:8]}"
            ) from None
        return self._go_to(session)

    def fork(self, which: str = "") -> Lacks | None:
        """Go on with a copy: of this conversation as it stands, or of a session, which another kernel may have open."""
        self._agent.check_idle()
        self.follow()
        if which:
            return self._go_to(Session.open(self._found(which).path, read_only=True).fork())
        if not self.session.messages:
            raise SessionError("The conversation is empty; there is nothing to fork.")
        made = self.session.fork()
        self._met.add(made.id)
        return self._go_to(made)

    def _found(self, which: str) -> StoredSession:
        if which:
            from ..session.listing import find_session

            return find_session(which, self.folder)
        others = self.others()
        if not others:
            raise SessionError(f"There is no other session in {self.folder} yet.")
        mine = str(self.notebook or "")
        return next((each for each in others if mine and each.notebook == mine), others[0])

    def _new_session(self) -> Session:
        if self._kernel.settings.sessions == "off":
            made = Session.in_memory()
        else:
            made = Session.new(self.folder, notebook=self.notebook)
        self._met.add(made.id)
        return made

    def _go_to(self, session: Session) -> Lacks | None:
        """Leave the session for another one, and forget what belonged to it."""
        self.close()
        self._agent.reset()
        if self._agent.policy is not None:
            self._agent.policy.forget()
        self._take(session)
        self._kernel.ledger.recount(session.tree)
        for entry in session.tree:
            self._agent.add_usage(usage_of(entry))
        if session.id in self._met:
            return None
        self._met.add(session.id)
        return self._tell_of_restart()

    def _take(self, session: Session) -> None:
        self.session = session
        # What the model was told of a restart; it holds on whatever branch the conversation goes on.
        self._restart: CustomMessage | None = None
        self.compactor = Compactor(
            session,
            lambda: self._agent.model_in_use,
            settings=CompactionSettings(enabled=self._kernel.settings.compaction),
            on_compacted=self._compacted,
            on_problem=self._note,
        )
        self._remember()

    def _tell_of_restart(self) -> Lacks:
        """Tell the model what this kernel lacks; what it was told at an earlier restart just before is replaced."""
        last = next((each for each in reversed(self.session.branch) if isinstance(each, _SPEAKING)), None)
        if last is not None and getattr(last.message, "custom_type", "") == RESTART:
            self.session.move_to(last.parent_id)
        found = lacks(self.session.branch, self._kernel.namespace, self._kernel.known_tools())
        self._restart = CustomMessage(RESTART, found.text, display=False)
        self.session.append(self._restart)
        self._remember()
        return found

    def _remember(self) -> None:
        self._agent.messages = list(self.session.messages)
        self._note_history()

    def _note_history(self) -> None:
        self._history = self._agent.messages
        self._length = len(self._history)

    # Compaction -------------------------------------------------------------------------------------------------------

    async def compact(self, focus: str = "") -> Compacted:
        """Put a summary in the place of the older part. Raises as `session.compaction.compact` does."""
        self._agent.check_idle()
        self.follow()
        done = await self.compactor.compact(focus)
        self._remember()
        return done

    async def _prepare_next_turn(self, turn: Turn) -> TurnUpdate | None:
        return await self.compactor(turn)

    def _compacted(self, done: Compacted) -> None:
        self._agent.add_usage(done.usage)
        self._kernel.ledger.count_request(self._agent.model_in_use.label, done.usage)
        view = self._kernel.view
        if view is not None:
            view.recorder.add_usage(done.usage)
            self._note(done.note)

    def _note(self, text: str) -> None:
        view = self._kernel.view
        if view is not None:
            view.recorder.add_note(text)
            view.changed()


def _same(kept: Any, message: Any) -> bool:
    # A result is kept as soon as it is known, before the run makes its message.
    if isinstance(kept, ToolResultMessage) and isinstance(message, ToolResultMessage):
        return kept.tool_call_id == message.tool_call_id and kept.content == message.content
    return bool(kept == message)


_SPEAKING = (MessageEntry, CustomMessageEntry)
