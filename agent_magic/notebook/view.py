"""What shows a run while it goes on: a live output in a notebook, lines in a terminal, or nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

from ..events import AgentEvent, ToolExecutionEndEvent, ToolExecutionUpdateEvent
from .beyond import beyond_record
from .broadcast import Broadcast
from .capture import Bundle
from .key_guard import without_keys
from .outputs import output_bundles, safe_bundle
from .question import Question
from .record import Recorder


class View(Protocol):
    """Draws what its recorder holds. All methods are called from the thread of the run's loop."""

    recorder: Recorder
    broadcast: Broadcast
    # Those that wait for an answer, by their items in the record.
    questions: dict[str, Question]
    # Whether the run began in a cell, so that its page takes input().
    in_cell: bool

    @property
    def may_be_followed(self) -> bool:
        """Whether a page follows the run, or may be about to."""

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


def _foreign(tool_name: str) -> str:
    return "mcp"


class QuietView:
    """Shows nothing in its cell; the base of the views that do. Pages may follow each of them by `broadcast`.

    `origin_of` tells where a tool of that name comes from. `beyond` gathers what the record could not carry and the
    front end may draw all the same.
    """

    in_cell = True

    def __init__(self, recorder: Recorder, origin_of: Callable[[str], str] = _foreign) -> None:
        self.recorder = recorder
        self.broadcast = Broadcast(recorder)
        self.questions: dict[str, Question] = {}
        self.beyond: list[Bundle] = []
        self._origin_of = origin_of

    @property
    def may_be_followed(self) -> bool:
        return self.broadcast.followed

    def start(self) -> None:
        pass

    def changed(self) -> None:
        self.broadcast.changed()

    def flush(self) -> None:
        self.broadcast.flush()

    def finish(self) -> None:
        self.broadcast.finish()

    def handle(self, event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionUpdateEvent):
            event = dataclasses.replace(event, partial_result=without_keys(event.partial_result))
        self.recorder.handle(event)
        if isinstance(event, ToolExecutionEndEvent):
            origin = self._origin_of(event.tool_name)
            value = getattr(event.result, "value", None)
            bundles = [without_keys(bundle) for bundle in output_bundles(value, origin)]
            self._add(event.tool_call_id, [(bundle, bundle) for bundle in bundles], origin)
        self.changed()

    def add_outputs(self, tool_call_id: str, bundles: Sequence[Bundle], origin: str) -> None:
        clean = [without_keys(bundle) for bundle in bundles]
        self._add(tool_call_id, [(bundle, safe_bundle(bundle, origin)) for bundle in clean], origin)
        self.changed()

    def _add(self, tool_call_id: str, bundles: Sequence[tuple[Bundle, Bundle]], origin: str) -> None:
        """Put bundles into the record; each with what of it is safe."""
        kept = [safe for _, safe in bundles if safe]
        refused = {id(bundle) for bundle in self.recorder.add_outputs(tool_call_id, kept)}
        if origin == "user":
            for shown, safe in bundles:
                self.beyond += beyond_record(shown, {} if id(safe) in refused else safe)
