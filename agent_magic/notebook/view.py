"""What shows a run while it goes on: a live output in a notebook, lines in a terminal, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..events import AgentEvent, ToolExecutionEndEvent
from .capture import Bundle
from .outputs import output_bundles, safe_bundle
from .record import Recorder


class View(Protocol):
    """Draws what its recorder holds. All methods are called from the thread of the run's loop."""

    recorder: Recorder

    def start(self) -> None:
        """The run begins."""

    def changed(self) -> None:
        """The record has changed; may be drawn now or soon."""

    def flush(self) -> None:
        """Draw what is not drawn yet: the thread will be busy for a while."""

    def finish(self) -> None:
        """The record is complete."""

    def handle(self, event: AgentEvent) -> None:
        """Take in one event of the agent."""

    def add_outputs(self, tool_call_id: str, bundles: Sequence[Bundle], origin: str) -> None:
        """Put what a call displayed into its card."""


class QuietView:
    """Shows nothing; the base of the views that do."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def start(self) -> None:
        pass

    def changed(self) -> None:
        pass

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        pass

    def handle(self, event: AgentEvent) -> None:
        self.recorder.handle(event)
        if isinstance(event, ToolExecutionEndEvent):
            value = getattr(event.result, "value", None)
            self.recorder.add_outputs(event.tool_call_id, output_bundles(value))
        self.changed()

    def add_outputs(self, tool_call_id: str, bundles: Sequence[Bundle], origin: str) -> None:
        safe = [safe_bundle(bundle, origin) for bundle in bundles]
        self.recorder.add_outputs(tool_call_id, [bundle for bundle in safe if bundle])
        self.changed()
