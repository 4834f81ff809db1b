"""A session: one conversation as a tree on disk, of which the active branch is what the agent remembers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..errors import SessionError
from ..events import AgentEndEvent, MessageEndEvent, ToolExecutionEndEvent
from ..messages import ToolResultMessage, UserMessage, now
from ..models import Model
from ..usage import Usage, total_usage
from .context import context_messages, speaks
from .entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    Header,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    entry_to_json,
)
from .file import SessionFile, read_session
from .listing import StoredSession, find_session, list_sessions
from .location import session_name, sessions_folder
from .tree import Tree, model_of, usage_of

E = TypeVar("E", bound=Entry)
PathLike = str | os.PathLike[str]

logger = logging.getLogger(__name__)

# The type of the empty `custom` entry that keeps a move in the tree.
MOVE = "agent_magic.move"


class _Agent(Protocol):
    messages: Any

    def subscribe(self, listener: Callable[[Any], Any]) -> Callable[[], None]: ...


class Session:
    """A conversation that is written as it happens.

    Make one with `new`, `in_memory`, `open`, or `fork`. Appending adds a child to the entry where the conversation
    stands; nothing that was written is ever changed. The file, of mode 0600, appears with the first user message.

    >>> session = Session.in_memory()
    >>> _ = session.append(UserMessage("Hello"))
    >>> [message.text for message in session.messages]
    ['Hello']
    """

    def __init__(
        self,
        header: Header,
        tree: Tree,
        path: Path | None = None,
        file: SessionFile | None = None,
        pending: list[Entry] | None = None,
        skipped: int = 0,
    ) -> None:
        self.header = header
        # The file, which may not exist yet; None for a session in memory.
        self.path = path
        self.tree = tree
        # Lines of the file that could not be read; they stay where they are.
        self.skipped = skipped
        # Why the last write failed, else None. The conversation goes on in memory.
        self.problem: str | None = None
        self._file = file
        self._pending = pending
        self._last_write: Future[None] | None = None
        self._results: dict[str, str] = {}
        self._lock = threading.RLock()

    # Making and finding sessions ------------------------------------------------------------------------------------

    @classmethod
    def new(
        cls, folder: PathLike | None = None, *, path: PathLike | None = None, notebook: PathLike | None = None
    ) -> Session:
        """A new session in `folder` (the user's own by default), or in the file `path`.

        Raises `SessionError` when `path` holds something already.
        """
        header = Header.new(notebook)
        if path is None:
            place = Path(folder or sessions_folder()).absolute() / session_name(header.timestamp, header.id)
        else:
            place = Path(path).absolute()
            if place.exists() and place.stat().st_size:
                raise SessionError(f"{place} exists already and was left as it is. Open it, or choose another file.")
        return cls(header, Tree(), place, SessionFile.create(place), [])

    @classmethod
    def in_memory(cls) -> Session:
        """A new session without a file."""
        return cls(Header.new(None), Tree())

    @classmethod
    def open(cls, path: PathLike, *, read_only: bool = False) -> Session:
        """The session of a file, standing where it was left.

        A read-only session takes no lock and keeps what is appended in memory; its `fork` gets a file of its own.
        Raises `SessionLockedError` when another process has the file, `SessionError` when it is no session.
        """
        place = Path(path).absolute()
        file: SessionFile | None = None
        if read_only:
            contents = read_session(place)
        else:
            file, contents = SessionFile.open(place)
        if contents.header is None:
            if file is None:
                raise SessionError(f"{place} is empty; there is no session in it.")
            return cls(Header.new(None), Tree(), place, file, [])
        session = cls(contents.header, Tree(contents.entries), place, file, None, contents.skipped)
        session._recall_results()
        return session

    @staticmethod
    def list(folder: PathLike | None = None) -> tuple[StoredSession, ...]:
        """The sessions in `folder` (the user's own by default), the one last used first."""
        return list_sessions(Path(folder or sessions_folder()))

    @classmethod
    def find(cls, which: str = "", folder: PathLike | None = None, *, read_only: bool = False) -> Session:
        """Open the session whose id begins with `which`, or whose title is that; the one last used for the empty text.

        Raises `SessionError` when there is none, or more than one.
        """
        stored = find_session(which, Path(folder or sessions_folder()))
        return cls.open(stored.path, read_only=read_only)

    def fork(
        self, entry_id: str | None = None, folder: PathLike | None = None, *, path: PathLike | None = None
    ) -> Session:
        """A new session that begins with a copy of the branch up to `entry_id`, or up to where this one stands."""
        parent = self.path
        if folder is None and parent is not None:
            folder = parent.parent
        if entry_id is not None:
            self.tree[entry_id]
        branch = self.tree.path(entry_id)
        made = Session.new(folder, path=path, notebook=self.header.notebook) if folder or path else Session.in_memory()
        made.header = replace(made.header, parent_session=None if parent is None else str(parent))
        kept = {entry.id for entry in branch}
        for entry in branch:
            if not isinstance(entry, (LabelEntry, SessionInfoEntry)):
                made._add(entry.after(made.tree.leaf_id))
        for target, label in self.tree.labels.items():
            if target in kept:
                made.label(target, label)
        if self.tree.name:
            made.rename(self.tree.name)
        made._recall_results()
        return made

    # What it holds --------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self.header.id

    @property
    def name(self) -> str | None:
        return self.tree.name

    @property
    def branch(self) -> Sequence[Entry]:
        """The entries from the root to where the conversation stands."""
        return self.tree.path()

    def spoken_since(self, count: int) -> tuple[str, ...]:
        """The ids of the entries beyond the first `count` that speak to the model."""
        with self._lock:
            return tuple(entry.id for entry in islice(self.tree, count, None) if speaks(entry))

    @property
    def messages(self) -> tuple[Any, ...]:
        """What the agent remembers: the messages of the active branch, with the latest compaction applied.

        Results stand in the order of their calls; a call whose result never came has one that says so.
        """
        return tuple(context_messages(self.branch))

    @property
    def model(self) -> tuple[str, str] | None:
        """Provider and id of the model last used on the active branch."""
        return model_of(self.tree.upwards())

    @property
    def thinking_level(self) -> str:
        return self.tree.thinking_level

    @property
    def usage(self) -> Usage | None:
        """What the servers reported for all answers and summaries of all branches; None when they reported nothing."""
        return total_usage(usage for entry in self.tree if (usage := usage_of(entry)) is not None)

    # Appending ------------------------------------------------------------------------------------------------------

    def append(self, message: Any) -> str:
        """Add a message and return the id of its entry.

        A tool result may be added as soon as it is known; adding it again changes nothing.
        """
        with self._lock:
            is_result = isinstance(message, ToolResultMessage)
            if is_result and message.tool_call_id in self._results:
                return self._results[message.tool_call_id]
            entry = self._add(MessageEntry.of(*self._place(), message))
            if is_result:
                self._results[message.tool_call_id] = entry.id
            elif entry.role == "assistant":
                self._results.clear()
            return entry.id

    def append_compaction(self, summary: str, first_kept_entry_id: str, tokens_before: int, details: Any) -> str:
        with self._lock:
            return self._add(
                CompactionEntry(*self._place(), summary, first_kept_entry_id, tokens_before, details or None)
            ).id

    def append_branch_summary(self, summary: str, from_id: str, details: Any = None) -> str:
        with self._lock:
            return self._add(BranchSummaryEntry(*self._place(), from_id, summary, details or None)).id

    def append_custom(self, custom_type: str, data: Any = None) -> str:
        """Keep data that no model sees. `custom_type` says whose it is."""
        with self._lock:
            return self._add(CustomEntry(*self._place(), custom_type, data)).id

    def change_model(self, model: Model) -> None:
        """Note that the conversation goes on with another model."""
        with self._lock:
            if self.model != (model.provider, model.id):
                self._add(ModelChangeEntry(*self._place(), model.provider, model.id, model.api))

    def change_thinking_level(self, level: str) -> None:
        with self._lock:
            if self.thinking_level != str(level):
                self._add(ThinkingLevelChangeEntry(*self._place(), str(level)))

    def label(self, entry_id: str, label: str | None) -> None:
        """Name an entry, or take its name away with None."""
        with self._lock:
            self.tree[entry_id]
            self._add(LabelEntry(*self._place(), entry_id, label))

    def rename(self, name: str) -> None:
        """Give the session a title."""
        with self._lock:
            self._add(SessionInfoEntry(*self._place(), name))

    # Moving ---------------------------------------------------------------------------------------------------------

    def move_to(self, entry_id: str | None) -> None:
        """Go on from another entry, or from nothing for None. The branch that is left stays in the tree."""
        with self._lock:
            if entry_id == self.tree.leaf_id:
                return
            if entry_id is not None:
                self.tree[entry_id]
            self._add(CustomEntry(self.tree.new_id(), entry_id, now(), MOVE))
            self._recall_results()

    def undo(self) -> UserMessage | None:
        """Go back to before the last user message of the branch, and return that message; None when there is none."""
        with self._lock:
            for entry in reversed(self.branch):
                if isinstance(entry, MessageEntry) and entry.role == "user":
                    self.move_to(entry.parent_id)
                    message: UserMessage = entry.message
                    return message
            return None

    # With an agent --------------------------------------------------------------------------------------------------

    async def handle(self, event: Any) -> None:
        """A listener for `agent.subscribe`: keeps what the event brings, and returns when no kill can undo that.

        Subscribe it before any view, so that nothing is shown as done that is not kept. A disk that fails does not
        fail the run; `problem` tells of it.
        """
        if isinstance(event, MessageEndEvent):
            self.append(event.message)
        elif isinstance(event, ToolExecutionEndEvent):
            self.append(_result_message(event))
        elif not isinstance(event, AgentEndEvent):
            return
        if self._last_write is not None:
            with contextlib.suppress(SessionError):
                await asyncio.wrap_future(self._last_write)
                if isinstance(event, AgentEndEvent):
                    await asyncio.to_thread(self.flush)

    def attach(self, agent: _Agent) -> Callable[[], None]:
        """Give an agent the memory of this session and keep what it does from now on. Returns the way to stop that."""
        agent.messages = list(self.messages)
        return agent.subscribe(self.handle)

    # The file -------------------------------------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> None:
        """Return when everything is on the disk; `timeout` in seconds. Raises `SessionError` when that fails."""
        if self._file is not None:
            self._file.flush(timeout)

    def close(self, timeout: float | None = None) -> None:
        """Flush, which may take `timeout` seconds, and let go of the file. Raises `SessionError` as `flush` does."""
        if self._file is not None:
            self._file.close(timeout)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self.id!r}, path={str(self.path) if self.path else None!r}, entries={len(self.tree)})"

    def _place(self) -> tuple[str, str | None, int]:
        return self.tree.new_id(), self.tree.leaf_id, now()

    def _add(self, entry: E) -> E:
        """Write an entry, then take it into the tree: an interrupt in between leaves no child without its parent."""
        if self._file is not None and self._pending is None:
            self._write(self._file, [entry_to_json(entry)])
        elif self._file is not None and self._pending is not None:
            self._pending.append(entry)
            if isinstance(entry, MessageEntry) and entry.role == "user":
                self._write(self._file, [self.header.to_json(), *map(entry_to_json, self._pending)])
                self._pending = None
        self.tree.add(entry)
        return entry

    def _write(self, file: SessionFile, lines: Iterable[dict[str, Any]]) -> None:
        self._last_write = file.append(lines)
        self._last_write.add_done_callback(self._note_problem)

    def _note_problem(self, written: Future[None]) -> None:
        error = written.exception()
        problem = str(error) if error else None
        if problem and problem != self.problem:
            logger.warning("%s", problem)
        self.problem = problem

    def _recall_results(self) -> None:
        """Note which calls of the last answer on the branch have a result already."""
        self._results.clear()
        for entry in reversed(self.branch):
            if isinstance(entry, MessageEntry):
                if entry.role == "assistant":
                    return
                if entry.role == "toolResult":
                    self._results[str(entry.stored.get("toolCallId"))] = entry.id


def _result_message(event: ToolExecutionEndEvent) -> ToolResultMessage:
    result = event.result
    return ToolResultMessage(
        event.tool_call_id,
        event.tool_name,
        getattr(result, "content", ()),
        getattr(result, "details", None),
        getattr(result, "usage", None),
        getattr(result, "added_tool_names", None),
        event.is_error,
    )
