"""A message while it streams: grows by stream events, joins its text only when asked."""

from __future__ import annotations

from typing import Any

from .config import StopReason
from .events import (
    EmbeddingItem,
    InlineDataItem,
    PartialToolCall,
    StreamEvent,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallItem,
)
from .messages import (
    Answer,
    AssistantMessage,
    Content,
    Embedding,
    InlineData,
    TextContent,
    ThinkingContent,
    ToolCall,
    now,
)
from .models import Model
from .usage import Usage

CUT_OFF = "The output limit cut off the arguments of this call."


class _Growing:
    """A block of text or reasoning, or the argument text of a call, in pieces."""

    __slots__ = ("call", "fidelity", "pieces", "redacted", "thinking")

    def __init__(self, thinking: bool = False, call: PartialToolCall | None = None) -> None:
        self.pieces: list[str] = []
        self.fidelity: dict[str, Any] | None = None
        self.redacted = False
        self.thinking = thinking
        self.call = call

    def finished(self, arguments_error: str) -> Content | None:
        text = "".join(self.pieces)
        if self.call is not None:
            return ToolCall(self.call.tool_call_id, self.call.name, {}, arguments_error)
        if self.thinking:
            return ThinkingContent(text, redacted=self.redacted, fidelity=self.fidelity)
        return TextContent(text, self.fidelity) if text or self.fidelity else None


class PartialMessage(Answer):
    """The answer of `model` so far. It reads like an `AssistantMessage`; `copy()` makes one of it.

    `arguments_so_far(id)` is the argument text of a call that has not been completed. It exists only here and is
    never stored (source: Y SP-005, `partial_json`).
    """

    role = "assistant"

    def __init__(self, model: Model) -> None:
        self.api = model.api
        self.provider = model.provider
        self.model = model.id
        self.usage: Usage | None = None
        self.stop_reason: StopReason | None = None
        self.timestamp = now()
        self._blocks: dict[int, _Growing | Content] = {}

    def add(self, event: StreamEvent) -> None:
        """Take in one event of the stream."""
        for item in event.items:
            self._add_item(item)
        if event.usage is not None:
            self.usage = event.usage
        if event.finish_reason is not None:
            self.stop_reason = event.finish_reason

    def _add_item(self, item: StreamItem) -> None:
        block = self._blocks.get(item.index)
        if isinstance(item, (TextDelta, ThinkingDelta)):
            if not isinstance(block, _Growing):
                block = self._blocks[item.index] = _Growing(thinking=isinstance(item, ThinkingDelta))
            block.pieces.append(item.text)
            if item.fidelity:
                block.fidelity = {**(block.fidelity or {}), **item.fidelity}
            if isinstance(item, ThinkingDelta) and item.redacted:
                block.redacted = True
        elif isinstance(item, PartialToolCall):
            if not isinstance(block, _Growing):
                block = self._blocks[item.index] = _Growing(call=item)
            if item.arguments:
                block.pieces.append(item.arguments)
        elif isinstance(item, ToolCallItem):
            self._blocks[item.index] = ToolCall(item.id, item.name, item.arguments, None, item.fidelity)
        elif isinstance(item, InlineDataItem):
            self._blocks[item.index] = (
                ThinkingContent("", item.data, item.mime_type, fidelity=item.fidelity)
                if item.thinking
                else InlineData(item.data, item.mime_type, item.fidelity)
            )
        elif isinstance(item, EmbeddingItem):
            self._blocks[item.index] = Embedding(item.embedding)

    def _content(self, arguments_error: str) -> tuple[Content, ...]:
        blocks = (
            block.finished(arguments_error) if isinstance(block, _Growing) else block for block in self._blocks.values()
        )
        return tuple(block for block in blocks if block is not None)

    @property
    def content(self) -> tuple[Content, ...]:
        return self._content("The call is still being written.")

    def arguments_so_far(self, tool_call_id: str) -> str:
        for block in self._blocks.values():
            if isinstance(block, _Growing) and block.call is not None and block.call.tool_call_id == tool_call_id:
                return "".join(block.pieces)
        return ""

    def copy(self) -> AssistantMessage:
        """The answer so far as a message of its own."""
        return self._message(self.content, self.stop_reason or StopReason.UNKNOWN, None)

    def finished(self, arguments_error: str = CUT_OFF) -> AssistantMessage:
        """The whole answer. Calls that were announced and never completed carry `arguments_error`."""
        content = self._content(arguments_error)
        reason = self.stop_reason or StopReason.UNKNOWN
        if reason is not StopReason.LENGTH and any(isinstance(block, ToolCall) for block in content):
            reason = StopReason.TOOL_CALL
        return self._message(content, reason, None)

    def broken_off(self, stop_reason: StopReason, error_message: str) -> AssistantMessage:
        """What is kept after an error or abort: text and reasoning, no calls."""
        kept = tuple(block for block in self.content if not isinstance(block, ToolCall))
        return self._message(kept, stop_reason, error_message)

    def _message(self, content: tuple[Content, ...], reason: StopReason, error: str | None) -> AssistantMessage:
        return AssistantMessage(content, self.api, self.provider, self.model, self.usage, reason, error, self.timestamp)
