"""What each model and each tool of this conversation was asked for, and what that took."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InvalidDataError
from ..events import AgentEvent, MessageEndEvent, ToolExecutionEndEvent, ToolExecutionStartEvent
from ..usage import Usage, UsageCost

if TYPE_CHECKING:
    from ..session.entries import Entry as SessionEntry, MessageEntry

# What stands for the models of summaries that were made before.
_SUMMARIES = "summaries"


@dataclass
class Entry:
    """One model or tool. `usage` adds up what was reported; its cost is None as soon as one was not known."""

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=lambda: Usage(cost=UsageCost()))


class Ledger:
    """Counts by the events of the agent, whoever started the run."""

    def __init__(self) -> None:
        self.models: dict[str, Entry] = {}
        self.tools: dict[str, Entry] = {}
        self._began: dict[str, float] = {}

    def clear(self) -> None:
        self.models.clear()
        self.tools.clear()
        self._began.clear()

    @property
    def total(self) -> Usage:
        """What all took together."""
        total = Usage(cost=UsageCost())
        for entry in (*self.models.values(), *self.tools.values()):
            total = total + entry.usage
        return total

    def recount(self, entries: Iterable[SessionEntry]) -> None:
        """Count anew, from what a session has kept; how long its tools took is not known."""
        from ..session.entries import BranchSummaryEntry, CompactionEntry, MessageEntry
        from ..session.tree import usage_of

        self.clear()
        for entry in entries:
            if isinstance(entry, MessageEntry) and entry.role in ("assistant", "toolResult"):
                self._count_kept(entry)
            elif isinstance(entry, (CompactionEntry, BranchSummaryEntry)):
                self.count_request(_SUMMARIES, usage_of(entry))

    def _count_kept(self, entry: MessageEntry) -> None:
        try:
            message = entry.message
        except InvalidDataError:
            return
        if entry.role == "assistant":
            self._count_answer(message)
        else:
            self._count_result(message.tool_name, message.is_error, message.usage)

    def count_request(self, model: str, usage: Usage | None) -> None:
        """Count a request that was no answer of the conversation, such as for a summary."""
        entry = self.models.setdefault(model, Entry())
        entry.calls += 1
        entry.usage += Usage(cost=None) if usage is None else usage

    def handle(self, event: AgentEvent) -> None:
        if isinstance(event, MessageEndEvent) and event.message.role == "assistant":
            self._count_answer(event.message)
        elif isinstance(event, ToolExecutionStartEvent):
            self._began[event.tool_call_id] = time.monotonic()
        elif isinstance(event, ToolExecutionEndEvent):
            self._count_call(event)

    def _count_answer(self, message: Any) -> None:
        name = f"{message.provider}/{message.model}" if message.provider else message.model
        entry = self.models.setdefault(name or "unknown", Entry())
        entry.calls += 1
        entry.failed += message.error_message is not None
        if message.usage is not None:
            entry.usage += message.usage
        elif message.content:
            entry.usage += Usage(cost=None)

    def _count_call(self, event: ToolExecutionEndEvent) -> None:
        entry = self._count_result(event.tool_name, event.is_error, getattr(event.result, "usage", None))
        entry.seconds += time.monotonic() - self._began.pop(event.tool_call_id, time.monotonic())

    def _count_result(self, tool: str, is_error: bool, usage: Usage | None) -> Entry:
        entry = self.tools.setdefault(tool, Entry())
        entry.calls += 1
        entry.failed += bool(is_error)
        if usage is not None:
            entry.usage += usage
        return entry
