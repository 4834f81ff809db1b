"""The record of a run: what happened, as plain data that a saved notebook keeps (version 1).

`labextension/schema/record.v1.json` and `delta.v1.json` describe the shapes. Readers ignore unknown kinds and keys.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..agent.reply import CORRECTION
from ..config import StopReason
from ..errors import AbortedError, BudgetExceededError
from ..events import (
    AgentEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    NoteEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
)
from ..messages import Content, joined_text, now
from ..models import Model
from ..usage import Usage
from .answer_items import AnswerItems
from .call_items import CallItems
from .journal import OPEN_STATES, Bundle, Journal
from .limits import DETAIL_LIMIT, json_size, jsonable, whole_characters, with_note
from .mentions import name_of_block, split_content
from .outputs import content_bundles
from .wording import one_line, without_ansi

RECORD_TYPE = "application/vnd.agent-magic.run+json"

# A field of this many bytes is kept even where there is no room.
_SMALL = 200


class Recorder:
    """Makes the record of one run from the agent's events, and the deltas by which a live view follows it.

    `session` is the id of the conversation, None where it is kept nowhere. To be used from the thread of the run's
    loop.
    """

    def __init__(self, run: str, session: str | None, model: Model) -> None:
        self._window = model.context_window
        self._began = time.monotonic()
        self._journal = Journal(
            version=1,
            run=run,
            session=session,
            model=model.label,
            state="running",
            started=now(),
            seconds=None,
            turns=0,
            calls=0,
            usage=None,
            cost=None,
            context=None,
            stop_cause=None,
        )
        self._calls = CallItems(self._journal)
        self._answer = AnswerItems(self._journal, self._calls)
        self._usage: Usage | None = None
        # Whether a model said something and nobody told what it took.
        self._uncounted = False
        self._failure: str | None = None
        self._noted: set[str] = set()

    @property
    def run(self) -> str:
        """The id of the run."""
        return str(self._journal.fields["run"])

    # What a view reads ------------------------------------------------------------------------------------------------

    def record(self) -> dict[str, Any]:
        """The record so far. An item that has not changed since the last call is the same object again."""
        return self._journal.record()

    def first_record(self) -> dict[str, Any]:
        """The record before anything happened, from which the deltas start."""
        return self._journal.first_record()

    @property
    def seq(self) -> int:
        """The number of the last delta, with which `record()` agrees."""
        return self._journal.seq

    def deltas_since(self, seq: int) -> list[dict[str, Any]]:
        """The deltas after the one numbered `seq`, all of them after 0 (see `Journal` for their form)."""
        return self._journal.deltas_since(seq)

    # What the notebook adds -------------------------------------------------------------------------------------------

    def handle(self, event: AgentEvent) -> None:
        """Take in one event of the agent."""
        take_in = _EVENTS.get(type(event))
        if take_in is not None:
            take_in(self, event)

    def add_item(self, kind: str, state: str = "done", /, **fields: Any) -> str:
        """Add an item of `kind`, such as an approval; returns its id for `change_item`."""
        return self._journal.add(kind, state, **self._fitting(fields))

    def add_question(self, text: str, arguments: Mapping[str, Any], **fields: Any) -> str:
        """Add an approval that waits for its answer; returns its id.

        While it waits it holds the `arguments`, the `reason`, which may show what a call would change or run, and the
        whole question uncut; `close_question` makes them fit again.
        """
        item = self.add_item("approval", "pending", arguments=arguments, **fields)
        whole = {"arguments": jsonable(arguments, limit=sys.maxsize), "text": whole_characters(text)}
        if fields.get("reason"):
            whole["reason"] = whole_characters(str(fields["reason"]))
        self._journal.set(item, **whole)
        return item

    def holds_question(self, item: str, arguments: Mapping[str, Any]) -> bool:
        """Whether that item waits for an answer and shows exactly these `arguments`."""
        known = self._journal.item(item)
        return known.get("state") == "pending" and known.get("arguments") == arguments

    def close_question(self, item: str, state: str, arguments: Mapping[str, Any]) -> None:
        """The question has its answer, for these `arguments`."""
        reason = self._journal.item(item).get("reason")
        self.change_item(item, state=state, arguments=arguments, text="", **({"reason": reason} if reason else {}))

    def change_item(self, item: str, /, **fields: Any) -> None:
        self._journal.set(item, **self._fitting(fields))

    def _fitting(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = jsonable(fields)
        if self._journal.room_for("detail", clean):
            return clean
        self._journal.leave_out("characters", json_size(clean))
        return {name: value if json_size(value) <= _SMALL else type(value)() for name, value in clean.items()}

    def add_note(self, text: str) -> None:
        self._journal.add("note", "done", text=self._journal.fit("answer", with_note(text, DETAIL_LIMIT)))

    def add_usage(self, usage: Usage | None) -> None:
        """Count what was used beside answers and tools, such as for a summary."""
        self._count(usage)

    def mark_edited(self, tool_call_id: str, arguments: Mapping[str, Any]) -> None:
        """The call runs with these arguments, and not with those that the model gave."""
        self._calls.mark_edited(tool_call_id, arguments)

    def mark_denied(self, tool_call_id: str, reason: str = "") -> None:
        """The call was refused; its error result will not show as a failure."""
        self._calls.mark_denied(tool_call_id, reason)

    def add_outputs(self, tool_call_id: str, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Add what a call displayed or returned, as `safe_bundle` or `output_bundles` give it.

        Returns the bundles that the record could not take whole.
        """
        return self._calls.add_outputs(tool_call_id, bundles)

    def finish(self, outcome: Any = None) -> None:
        """End the record. `outcome` is the `Reply`, the exception that ended the run, or None."""
        journal = self._journal
        if journal.fields["state"] != "running":
            return
        cause = _cause(outcome)
        broken = cause in ("error", "aborted")
        for item in journal.record()["items"]:
            if item["state"] in OPEN_STATES:
                journal.close(item["id"], "aborted" if broken else "done")
        for note in getattr(outcome, "notes", ()):
            if note not in self._noted:
                self.add_note(note)
        if cause == "error":
            text = _error_text(outcome) if isinstance(outcome, BaseException) else self._failure or "The run failed."
            journal.add("error", "failed", text=journal.fit("answer", with_note(without_ansi(text), DETAIL_LIMIT)))
        if self._usage is None and not self._uncounted:
            # Nothing came of any model, so that this price is known.
            journal.set(None, cost=0.0)
        journal.set(
            None,
            state={"error": "failed", "aborted": "aborted"}.get(cause, "done"),
            stop_cause=cause,
            seconds=round(time.monotonic() - self._began, 3),
        )

    def _on_note(self, event: NoteEvent) -> None:
        self._noted.add(event.text)
        self.add_note(event.text)

    # Messages ---------------------------------------------------------------------------------------------------------

    def _on_turn_start(self, event: TurnStartEvent) -> None:
        self._journal.set(None, turns=self._journal.fields["turns"] + 1)

    def _on_message_start(self, event: MessageStartEvent) -> None:
        if event.message.role != "assistant":
            return
        self._answer.begin()
        if self._failure is not None:
            self.add_note(f"The request failed and was sent again: {one_line(self._failure)}")
            self._failure = None

    def _on_message_update(self, event: MessageUpdateEvent) -> None:
        for item in event.assistant_message_event.items:
            self._answer.take(item)

    def _on_message_end(self, event: MessageEndEvent) -> None:
        message = event.message
        if message.role == "assistant":
            self._on_answer_end(message)
        elif message.role == "user":
            said, added = split_content(message.content)
            self._add_content("user", said)
            if added:
                names = ", ".join(filter(None, map(name_of_block, added)))
                self._add_content("context", added, title=f"What the model saw of {with_note(names, _SMALL)}")
        elif message.role == "custom" and message.display:
            named = {"title": _sent_back(message.text)} if message.custom_type == CORRECTION else {}
            self._add_content("context", message.content, **named)
        elif message.role in ("compactionSummary", "branchSummary"):
            summary = self._journal.fit("detail", message.summary)
            self._journal.add("context", "done", title="Summary of earlier messages", text=summary)

    def _add_content(self, kind: str, content: Sequence[Content], **fields: str) -> None:
        item = self._journal.add(kind, "done", text="", **fields)
        self._journal.append(item, "text", "answer", joined_text(content))
        self._journal.put_outputs(item, content_bundles(content))

    def _on_answer_end(self, message: Any) -> None:
        self._answer.end(message)
        if message.stop_reason is StopReason.ERROR:
            self._failure = message.error_message or "The model's answer broke off."
        self._uncounted = self._uncounted or (message.usage is None and bool(message.content))
        self._count(message.usage, of_model=True)

    # Tool calls -------------------------------------------------------------------------------------------------------

    def _on_tool_start(self, event: ToolExecutionStartEvent) -> None:
        self._calls.start(event)
        self._journal.set(None, calls=self._journal.fields["calls"] + 1)

    def _on_tool_update(self, event: ToolExecutionUpdateEvent) -> None:
        self._calls.update(event)

    def _on_tool_end(self, event: ToolExecutionEndEvent) -> None:
        if self._calls.end(event):
            self._count(getattr(event.result, "usage", None))

    # Usage ------------------------------------------------------------------------------------------------------------

    def _count(self, usage: Usage | None, of_model: bool = False) -> None:
        if usage is None:
            return
        self._usage = total = usage if self._usage is None else self._usage + usage
        names = ("input", "output", "cache_read", "cache_write", "reasoning", "total_tokens")
        fields: dict[str, Any] = {
            "usage": {name: getattr(total, name) for name in names},
            "cost": None if total.cost is None else float(total.cost.total),
        }
        if of_model:
            fraction = round(usage.total_tokens / self._window, 4) if self._window else None
            fields["context"] = {"used": usage.total_tokens, "window": self._window, "fraction": fraction}
        self._journal.set(None, **fields)


_EVENTS: dict[type, Callable[[Recorder, Any], None]] = {
    TurnStartEvent: Recorder._on_turn_start,
    MessageStartEvent: Recorder._on_message_start,
    MessageUpdateEvent: Recorder._on_message_update,
    MessageEndEvent: Recorder._on_message_end,
    ToolExecutionStartEvent: Recorder._on_tool_start,
    ToolExecutionUpdateEvent: Recorder._on_tool_update,
    ToolExecutionEndEvent: Recorder._on_tool_end,
    NoteEvent: Recorder._on_note,
}


def _cause(outcome: Any) -> str:
    if isinstance(outcome, (AbortedError, KeyboardInterrupt, asyncio.CancelledError)):
        return "aborted"
    if isinstance(outcome, BudgetExceededError):
        return "budget_exceeded"
    if isinstance(outcome, BaseException):
        return "error"
    return str(getattr(outcome, "stop_cause", None) or "completed")


def _sent_back(text: str) -> str:
    """The line for what the loop told the model about its answer, of which the first lines say what is wrong."""
    return f"Sent back to the model: {one_line(text, _SMALL)}"


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
