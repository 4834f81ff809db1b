"""Plays runs into a recorder, as the agent's events would."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema

from agent_magic.events import (
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    PartialToolCall,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallItem,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnStartEvent,
    delta_event,
)
from agent_magic.messages import AssistantMessage, Content, TextContent, ThinkingContent, ToolCall, UserMessage
from agent_magic.models import Model, ModelCost
from agent_magic.notebook.record import Recorder
from agent_magic.tools.tool import AgentToolResult
from agent_magic.usage import Usage

MODEL = Model("gpt-5-mini", provider="openai", cost=ModelCost("0.25", "2"), context_window=32_000)
SCHEMAS = Path(__file__).parents[2] / "labextension" / "schema"


@lru_cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def replayed(first: dict[str, Any], deltas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a reader makes of the deltas, by the words of delta.v1.json."""
    record, items = dict(first), {item["id"]: dict(item) for item in first["items"]}
    for delta in deltas:
        name = delta["item"]
        target = record if name is None else items.setdefault(name, {"id": name})
        target.update(delta.get("set", {}))
        for field, text in delta.get("append", {}).items():
            target[field] = target.get(field, "") + text
    return {**record, "items": list(items.values())}


def checked(recorder: Recorder) -> dict[str, Any]:
    """The record, after checking all that must hold for every record."""
    record, deltas = recorder.record(), recorder.deltas_since(0)
    _validator("record.v1.json").validate(record)
    for number, delta in enumerate(deltas, 1):
        assert delta["seq"] == number
        _validator("delta.v1.json").validate(delta)
    assert replayed(recorder.first_record(), deltas) == record
    assert len(json.dumps(record, ensure_ascii=False, allow_nan=False).encode()) <= 1_000_000
    return record


class Script:
    """A run, step by step."""

    def __init__(self, model: Model = MODEL) -> None:
        self.recorder = Recorder("run-1", None, model)

    @property
    def items(self) -> list[dict[str, Any]]:
        return self.recorder.record()["items"]

    def ask(self, content: str | list[Content]) -> Script:
        message = UserMessage(content)
        self.recorder.handle(MessageStartEvent(message))
        self.recorder.handle(MessageEndEvent(message))
        return self

    def begin(self) -> Script:
        self.recorder.handle(TurnStartEvent())
        self.recorder.handle(MessageStartEvent(AssistantMessage("")))
        return self

    def stream(self, *items: StreamItem) -> Script:
        for item in items:
            self.recorder.handle(MessageUpdateEvent(None, delta_event(item)))
        return self

    def end(
        self, *content: Content, stop_reason: str | None = None, usage: Usage | None = None, error: str = ""
    ) -> Script:
        message = AssistantMessage(content, stop_reason=stop_reason, usage=usage, error_message=error or None)
        self.recorder.handle(MessageEndEvent(message))
        return self

    def answer(self, text: str, thinking: str = "", usage: Usage | None = None, piece: int = 7) -> Script:
        self.begin()
        for start in range(0, len(thinking), piece):
            self.stream(ThinkingDelta(0, thinking[start : start + piece]))
        for start in range(0, len(text), piece):
            self.stream(TextDelta(1, text[start : start + piece]))
        blocks = [*([ThinkingContent(thinking)] if thinking else []), *([TextContent(text)] if text else [])]
        return self.end(*blocks, usage=usage)

    def calls(self, *calls: ToolCall) -> Script:
        self.begin()
        for index, call in enumerate(calls):
            self.stream(
                PartialToolCall(index, call.name, call.id, ""),
                PartialToolCall(index, "", "", json.dumps(call.arguments)),
                ToolCallItem(index, call.id, call.name, call.arguments),
            )
        return self.end(*calls)

    def start(self, call: ToolCall) -> Script:
        self.recorder.handle(ToolExecutionStartEvent(call.id, call.name, call.arguments))
        return self

    def progress(self, call: ToolCall, text: str) -> Script:
        self.recorder.handle(ToolExecutionUpdateEvent(call.id, call.name, call.arguments, AgentToolResult(text)))
        return self

    def result(self, call: ToolCall, content: Any, is_error: bool = False) -> Script:
        result = AgentToolResult(content, is_error=is_error)
        self.recorder.handle(ToolExecutionEndEvent(call.id, call.name, result, is_error))
        return self
