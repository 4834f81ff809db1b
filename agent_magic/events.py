"""What happens while a model answers (`StreamEvent`), and while an agent runs (source: H UniEvent, A event types).

Items and events of the stream are slotted and never validated: one is made for every delta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .config import StopReason
from .messages import Fidelity, ToolResultMessage, now
from .usage import Usage

# Items of the stream --------------------------------------------------------------------------------------------------
# `index` is the position of the block that an item belongs to.


@dataclass(slots=True)
class TextDelta:
    type: ClassVar[str] = "text_delta"

    index: int
    text: str
    fidelity: Fidelity | None = None


@dataclass(slots=True)
class ThinkingDelta:
    type: ClassVar[str] = "thinking_delta"

    index: int
    text: str
    fidelity: Fidelity | None = None
    redacted: bool = False


@dataclass(slots=True)
class PartialToolCall:
    """First the announcement (name and id, no arguments), then fragments (arguments only)."""

    type: ClassVar[str] = "partial_tool_call"

    index: int
    name: str
    tool_call_id: str
    arguments: str


@dataclass(slots=True)
class ToolCallItem:
    """The whole call, its arguments an object; never emitted for anything else."""

    type: ClassVar[str] = "tool_call"

    index: int
    id: str
    name: str
    arguments: dict[str, Any]
    fidelity: Fidelity | None = None


@dataclass(slots=True)
class InlineDataItem:
    """Media in base64; `thinking` when it is part of the reasoning."""

    type: ClassVar[str] = "inline_data"

    index: int
    data: str
    mime_type: str
    fidelity: Fidelity | None = None
    thinking: bool = False


@dataclass(slots=True)
class EmbeddingItem:
    type: ClassVar[str] = "embedding"

    index: int
    embedding: tuple[float, ...]


StreamItem = TextDelta | ThinkingDelta | PartialToolCall | ToolCallItem | InlineDataItem | EmbeddingItem


@dataclass(slots=True)
class StreamEvent:
    """One step of an answer: `start` once, `delta` many times, `stop` once, with usage and finish reason."""

    role: str
    event_type: str
    items: tuple[StreamItem, ...] = ()
    usage: Usage | None = None
    finish_reason: StopReason | None = None
    created_at: int = 0


def start_event() -> StreamEvent:
    return StreamEvent("assistant", "start", created_at=now())


def delta_event(*items: StreamItem) -> StreamEvent:
    return StreamEvent("assistant", "delta", items, None, None, now())


def stop_event(finish_reason: StopReason, usage: Usage | None = None) -> StreamEvent:
    return StreamEvent("assistant", "stop", (), usage, finish_reason, now())


# Events of an agent ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgentStartEvent:
    type: ClassVar[str] = "agent_start"


@dataclass(frozen=True)
class AgentEndEvent:
    """`messages`: all messages of the run, the prompts included."""

    type: ClassVar[str] = "agent_end"

    messages: tuple[Any, ...]


@dataclass(frozen=True)
class TurnStartEvent:
    type: ClassVar[str] = "turn_start"


@dataclass(frozen=True)
class TurnEndEvent:
    type: ClassVar[str] = "turn_end"

    message: Any
    tool_results: tuple[ToolResultMessage, ...] = ()


@dataclass(frozen=True)
class MessageStartEvent:
    type: ClassVar[str] = "message_start"

    message: Any


@dataclass(frozen=True)
class MessageUpdateEvent:
    """`message` is a live view whose text is joined on demand; its `copy()` keeps it."""

    type: ClassVar[str] = "message_update"

    message: Any
    assistant_message_event: StreamEvent


@dataclass(frozen=True)
class MessageEndEvent:
    type: ClassVar[str] = "message_end"

    message: Any


@dataclass(frozen=True)
class ToolExecutionStartEvent:
    """`args` are the arguments as the model sent them."""

    type: ClassVar[str] = "tool_execution_start"

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class ToolExecutionUpdateEvent:
    type: ClassVar[str] = "tool_execution_update"

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    partial_result: Any


@dataclass(frozen=True)
class ToolExecutionEndEvent:
    type: ClassVar[str] = "tool_execution_end"

    tool_call_id: str
    tool_name: str
    result: Any
    is_error: bool


@dataclass(frozen=True)
class NoteEvent:
    """Something that the user should know, such as that a request is sent again in 20 s. `Reply.notes` has it too.

    It is ours: the source documents know no such event.
    """

    type: ClassVar[str] = "note"

    text: str


AgentEvent = (
    AgentStartEvent
    | AgentEndEvent
    | TurnStartEvent
    | TurnEndEvent
    | MessageStartEvent
    | MessageUpdateEvent
    | MessageEndEvent
    | ToolExecutionStartEvent
    | ToolExecutionUpdateEvent
    | ToolExecutionEndEvent
    | NoteEvent
)
