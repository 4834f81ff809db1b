"""What each model and each tool of this conversation was asked for, and what that took."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ..events import AgentEvent, MessageEndEvent, ToolExecutionEndEvent, ToolExecutionStartEvent
from ..usage import Usage, UsageCost


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
        entry = self.tools.setdefault(event.tool_name, Entry())
        entry.calls += 1
        entry.failed += bool(event.is_error)
        entry.seconds += time.monotonic() - self._began.pop(event.tool_call_id, time.monotonic())
        usage = getattr(event.result, "usage", None)
        if usage is not None:
            entry.usage += usage
