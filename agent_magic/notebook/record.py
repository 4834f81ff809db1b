"""The record of a run: what happened, as plain data that a saved notebook keeps (version 1).

`labextension/schema/record.v1.json` and `delta.v1.json` describe the shapes. Readers ignore unknown kinds and keys.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..agent.preflight import NOT_ALLOWED
from ..agent.reply import CORRECTION
from ..config import StopReason
from ..errors import AbortedError, BudgetExceededError
from ..events import (
    AgentEvent,
    InlineDataItem,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    NoteEvent,
    PartialToolCall,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallItem,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
)
from ..messages import Content, ImageContent, InlineData, TextContent, ThinkingContent, ToolCall, joined_text, now
from ..models import Model
from ..usage import Usage
from .journal import Bundle, Journal
from .limits import DETAIL_LIMIT, PROGRESS_LIMIT, THINKING_LIMIT, json_size, jsonable, whole_characters, with_note
from .mentions import name_of_block, split_content
from .outputs import media_bundle
from .wording import argument_summary, one_line, without_ansi

RECORD_TYPE = "application/vnd.agent-magic.run+json"
OPEN_STATES = ("pending", "running")

# A field of this many bytes is kept even where there is no room.
_SMALL = 200
# What the loop answers for a call that an abort kept from running or broke off.
_ABORTED = "Operation aborted"


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
        self._blocks: dict[int, str] = {}
        self._calls: dict[str, str] = {}
        self._with_content_images: set[str] = set()
        self._denied: dict[str, str] = {}
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

        While it waits it holds the `arguments` and the whole question uncut; `close_question` makes them fit again.
        """
        item = self.add_item("approval", "pending", arguments=arguments, **fields)
        self._journal.set(item, arguments=jsonable(arguments, limit=sys.maxsize), text=whole_characters(text))
        return item

    def holds_question(self, item: str, arguments: Mapping[str, Any]) -> bool:
        """Whether that item waits for an answer and shows exactly these `arguments`."""
        known = self._journal.item(item)
        return known.get("state") == "pending" and known.get("arguments") == arguments

    def close_question(self, item: str, state: str, arguments: Mapping[str, Any]) -> None:
        """The question has its answer, for these `arguments`."""
        self.change_item(item, state=state, arguments=arguments, text="")

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
        if tool_call_id in self._calls:
            self._set_arguments(self._calls[tool_call_id], arguments)

    def mark_denied(self, tool_call_id: str, reason: str = "") -> None:
        """The call was refused; its error result will not show as a failure."""
        self._denied[tool_call_id] = one_line(reason)

    def add_outputs(self, tool_call_id: str, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Add what a call displayed or returned, as `safe_bundle` or `output_bundles` give it.

        Returns the bundles that the record could not take whole.
        """
        item = self._calls.get(tool_call_id, "")
        if bundles and item in self._with_content_images:
            self._with_content_images.discard(item)
            self._journal.set(item, outputs=[])
        return self._journal.put_outputs(item, bundles)

    def finish(self, outcome: Any = None) -> None:
        """End the record. `outcome` is the `Reply`, the exception that ended the run, or None."""
        journal = self._journal
        if journal.fields["state"] != "running":
            return
        cause = _cause(outcome)
        broken = cause in ("error", "aborted")
        for item in journal.record()["items"]:
            if item["state"] in OPEN_STATES:
                self._close(item["id"], "aborted" if broken else "done")
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
        self._blocks = {}
        if self._failure is not None:
            self.add_note(f"The request failed and was sent again: {one_line(self._failure)}")
            self._failure = None

    def _on_message_update(self, event: MessageUpdateEvent) -> None:
        for item in event.assistant_message_event.items:
            self._on_stream_item(item)

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
        self._journal.put_outputs(item, _images(content))

    def _on_answer_end(self, message: Any) -> None:
        if self._blocks:
            self._mend_texts(message)
        else:
            for index, block in enumerate(message.content):
                self._on_block(index, block)
        broken = message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)
        for name in self._blocks.values():
            item = self._journal.item(name)
            # A whole call stays pending until it is executed; the calls of a broken answer never are.
            if item.get("state") in OPEN_STATES and (broken or item["kind"] != "tool"):
                self._close(name, "aborted" if broken else "done")
        self._blocks = {}
        if message.stop_reason is StopReason.ERROR:
            self._failure = message.error_message or "The model's answer broke off."
        self._uncounted = self._uncounted or (message.usage is None and bool(message.content))
        self._count(message.usage, of_model=True)

    def _mend_texts(self, message: Any) -> None:
        """Take the finished text where a streamed one holds halves of a character that have joined since."""
        for kind, block_type in (("text", TextContent), ("thinking", ThinkingContent)):
            items = [item for item in map(self._journal.item, self._blocks.values()) if item.get("kind") == kind]
            texts = [block.text for block in message.content if isinstance(block, block_type) and block.text]
            if len(items) != len(texts):
                continue
            for item, text in zip(items, texts, strict=True):
                if "\ufffd" in item["text"]:
                    self._journal.set(item["id"], text=whole_characters(text)[: len(item["text"])])

    def _on_block(self, index: int, block: Content) -> None:
        if isinstance(block, TextContent):
            self._on_stream_item(TextDelta(index, block.text))
        elif isinstance(block, ThinkingContent):
            self._on_stream_item(ThinkingDelta(index, block.text, redacted=block.redacted))
        elif isinstance(block, ToolCall):
            self._on_stream_item(ToolCallItem(index, block.id, block.name, block.arguments))
        elif isinstance(block, InlineData):
            self._on_stream_item(InlineDataItem(index, block.data, block.mime_type))

    def _on_stream_item(self, item: StreamItem) -> None:
        known = self._blocks.get(item.index)
        if known is None:
            self._close_thinking()
        if isinstance(item, TextDelta):
            if known is None:
                known = self._blocks[item.index] = self._journal.add("text", "running", text="")
            self._journal.append(known, "text", "answer", item.text)
        elif isinstance(item, ThinkingDelta):
            if known is None:
                known = self._blocks[item.index] = self._journal.add("thinking", "running", text="", started=now())
            if item.redacted:
                self._journal.set(known, redacted=True)
            self._journal.append(known, "text", "detail", item.text, THINKING_LIMIT)
        elif isinstance(item, PartialToolCall):
            if known is None:
                self._blocks[item.index] = self._add_call(item.tool_call_id, item.name, {})
        elif isinstance(item, ToolCallItem):
            if known is None:
                self._blocks[item.index] = self._add_call(item.id, item.name, item.arguments)
            else:
                self._set_arguments(known, item.arguments)
        elif isinstance(item, InlineDataItem) and not item.thinking:
            self._blocks[item.index] = media = self._journal.add("media", "done", outputs=[])
            self._journal.put_outputs(media, [media_bundle(item.mime_type, item.data)])

    def _close_thinking(self) -> None:
        for name in self._blocks.values():
            item = self._journal.item(name)
            if item.get("kind") == "thinking" and item["state"] == "running":
                self._close(name, "done")

    # Tool calls -------------------------------------------------------------------------------------------------------

    def _add_call(self, tool_call_id: str, name: str, arguments: Mapping[str, Any]) -> str:
        name = with_note(name, 200)
        item = self._journal.add(
            "tool", "pending", call_id=whole_characters(tool_call_id), name=name, arguments={}, summary=""
        )
        self._calls[tool_call_id] = item
        self._set_arguments(item, arguments)
        return item

    def _set_arguments(self, item: str, arguments: Mapping[str, Any]) -> None:
        clean = jsonable(arguments)
        if not clean or self._journal.item(item).get("arguments") == clean:
            return
        if not self._journal.room_for("detail", clean):
            self._journal.leave_out("characters", json_size(clean))
            self._journal.set(item, summary=argument_summary(clean))
        else:
            self._journal.set(item, arguments=clean, summary=argument_summary(clean))

    def _on_tool_start(self, event: ToolExecutionStartEvent) -> None:
        item = self._calls.get(event.tool_call_id)
        if item is None or self._journal.item(item).get("state") not in OPEN_STATES:
            item = self._add_call(event.tool_call_id, event.tool_name, event.args)
        self._journal.set(item, state="running", started=now())
        self._journal.set(None, calls=self._journal.fields["calls"] + 1)

    def _on_tool_update(self, event: ToolExecutionUpdateEvent) -> None:
        item = self._calls.get(event.tool_call_id)
        if self._journal.item(item).get("state") == "running":
            self._journal.set(item, progress=with_note(_text_of(event.partial_result), PROGRESS_LIMIT))

    def _on_tool_end(self, event: ToolExecutionEndEvent) -> None:
        item = self._calls.get(event.tool_call_id, "")
        if not self._journal.item(item):
            return
        text = _text_of(event.result)
        fields: dict[str, Any] = {"result": self._journal.fit("detail", with_note(text, DETAIL_LIMIT)), "progress": ""}
        denial = self._denied.pop(event.tool_call_id, None)
        state = "done"
        if event.is_error:
            fields["error"] = denial or one_line(next((line for line in text.splitlines() if line.strip()), ""))
            refused = denial is not None or text.startswith(NOT_ALLOWED)
            state = "denied" if refused else "aborted" if text.startswith(_ABORTED) else "failed"
        self._journal.set(item, **fields)
        self._close(item, state)
        images = _images(getattr(event.result, "content", ()))
        if images and not self._journal.item(item).get("outputs"):
            self._with_content_images.add(item)
            self._journal.put_outputs(item, images)
        self._count(getattr(event.result, "usage", None))

    def _close(self, name: str, state: str) -> None:
        began = self._journal.item(name).get("started")
        if began is None:
            self._journal.set(name, state=state)
        else:
            self._journal.set(name, state=state, seconds=round(max(0, now() - began) / 1000, 3))

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


def _text_of(result: Any) -> str:
    """The text of a tool's result, whatever it is."""
    content = getattr(result, "content", result)
    if isinstance(content, str):
        return without_ansi(content)
    if isinstance(content, (list, tuple)):
        return without_ansi(joined_text(content))
    return "" if content is None else without_ansi(str(content))


def _images(content: Any) -> list[Bundle]:
    blocks = content if isinstance(content, (list, tuple)) else ()
    return [
        media_bundle(block.mime_type, block.data)
        for block in blocks
        if isinstance(block, (ImageContent, InlineData)) and block.data
    ]


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
