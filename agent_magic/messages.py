"""Messages, made of the blocks in `content`: plain, frozen data (source: Y 1, A message types, H UniMessage).

Timestamps are integer Unix milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from .config import StopReason
from .content import (
    CONTENT_TYPES as CONTENT_TYPES,
    Content as Content,
    ContentLike as ContentLike,
    Embedding as Embedding,
    Fidelity as Fidelity,
    ImageContent as ImageContent,
    InlineData as InlineData,
    TextContent as TextContent,
    ThinkingContent as ThinkingContent,
    ToolCall as ToolCall,
    content_blocks as content_blocks,
    joined_text as joined_text,
)
from .contexts import AgentContext as AgentContext, Context as Context, tools_by_name as tools_by_name
from .usage import Usage


def now() -> int:
    """The time as integer Unix milliseconds."""
    return time.time_ns() // 1_000_000


class _Message:
    """What all messages share. Frozen, but not slotted: adapters cache a message's wire form in `__dict__`."""

    role: ClassVar[str]
    # The text of a message that holds nothing else, where every model may be sent it as it is. Known from the start,
    # since a long history is looked through at each request.
    plain_text: ClassVar[str | None] = None

    def _put(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _plain_text(kind: type[_Message], blocks: tuple[Content, ...]) -> str | None:
    # Of a class that is derived from these, `prepare_messages` first makes one of them.
    if len(blocks) != 1 or kind not in (UserMessage, AssistantMessage):
        return None
    block = blocks[0]
    if type(block) is not TextContent or block.fidelity:
        return None
    text = block.text
    return text if text.isascii() and text and not text.isspace() else None


@dataclass(frozen=True, init=False)
class UserMessage(_Message):
    role: ClassVar[str] = "user"

    content: tuple[Content, ...]
    timestamp: int

    def __init__(self, content: ContentLike = (), timestamp: int | None = None) -> None:
        blocks = content_blocks(content)
        self._put(
            content=blocks,
            timestamp=now() if timestamp is None else timestamp,
            plain_text=_plain_text(type(self), blocks),
        )

    @property
    def text(self) -> str:
        return joined_text(self.content)


class Answer:
    """How an answer reads, whole or while it comes."""

    if TYPE_CHECKING:

        @property
        def content(self) -> tuple[Content, ...]: ...

    @property
    def text(self) -> str:
        return joined_text(self.content)

    @property
    def thinking(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, ThinkingContent))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that can be run (Y SP-003); those whose arguments did not parse are only in `all_tool_calls`."""
        return tuple(call for call in self.all_tool_calls if call.arguments_error is None)

    @property
    def all_tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolCall))


@dataclass(frozen=True, init=False)
class AssistantMessage(Answer, _Message):
    """An answer: ordered blocks of text, reasoning, calls and data.

    `api`, `provider` and `model` name the producer. `usage` is None when the server reported none.
    """

    role: ClassVar[str] = "assistant"

    content: tuple[Content, ...]
    api: str
    provider: str
    model: str
    usage: Usage | None
    stop_reason: StopReason
    error_message: str | None
    timestamp: int

    def __init__(
        self,
        content: ContentLike = (),
        api: str = "",
        provider: str = "",
        model: str = "",
        usage: Usage | None = None,
        stop_reason: str | None = None,
        error_message: str | None = None,
        timestamp: int | None = None,
    ) -> None:
        blocks = content_blocks(content)
        if stop_reason is None:
            calls = any(isinstance(block, ToolCall) for block in blocks)
            stop_reason = StopReason.TOOL_CALL if calls else StopReason.STOP
        self._put(
            content=blocks,
            api=api,
            provider=provider,
            model=model or "",
            usage=usage,
            stop_reason=StopReason.read(stop_reason),
            error_message=error_message,
            timestamp=now() if timestamp is None else timestamp,
            plain_text=_plain_text(type(self), blocks),
        )

    @classmethod
    def from_response(cls, response: Mapping[str, Any]) -> AssistantMessage:
        """Read a whole answer in format 1 or 2 of the first document (Y SP-017, SP-018), or an SDK's dictionary.

        Raises `ProviderError` when the answer carries an error, `InvalidDataError` when it is no such answer.
        """
        from .response_formats import message_from_response

        return message_from_response(response)

    @property
    def model_key(self) -> tuple[str, str, str]:
        """Provider, api and id of the producer, to compare with `Model.key`."""
        return (self.provider, self.api, self.model)


@dataclass(frozen=True, init=False)
class ToolResultMessage(_Message):
    """What a tool call came to. `details` is for people and logs and never sent to a model."""

    role: ClassVar[str] = "toolResult"

    tool_call_id: str
    tool_name: str
    content: tuple[Content, ...]
    details: Any
    usage: Usage | None
    added_tool_names: tuple[str, ...] | None
    is_error: bool
    timestamp: int

    def __init__(
        self,
        tool_call_id: str = "",
        tool_name: str = "",
        content: ContentLike = (),
        details: Any = None,
        usage: Usage | None = None,
        added_tool_names: Iterable[str] | None = None,
        is_error: bool = False,
        timestamp: int | None = None,
    ) -> None:
        self._put(
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            content=content_blocks(content),
            details=details,
            usage=usage,
            added_tool_names=None if added_tool_names is None else tuple(added_tool_names),
            is_error=is_error,
            timestamp=now() if timestamp is None else timestamp,
        )

    @property
    def text(self) -> str:
        return joined_text(self.content)


@dataclass(frozen=True, init=False)
class BashExecutionMessage(_Message):
    """A command that the user ran and, unless `exclude_from_context`, shows to the model."""

    role: ClassVar[str] = "bashExecution"

    command: str
    output: str
    exit_code: int | None
    cancelled: bool
    truncated: bool
    full_output_path: str | None
    exclude_from_context: bool
    timestamp: int

    def __init__(
        self,
        command: str,
        output: str = "",
        exit_code: int | None = None,
        cancelled: bool = False,
        truncated: bool = False,
        full_output_path: str | None = None,
        exclude_from_context: bool = False,
        timestamp: int | None = None,
    ) -> None:
        self._put(
            command=command,
            output=output,
            exit_code=exit_code,
            cancelled=cancelled,
            truncated=truncated,
            full_output_path=full_output_path,
            exclude_from_context=exclude_from_context,
            timestamp=now() if timestamp is None else timestamp,
        )


@dataclass(frozen=True, init=False)
class CompactionSummaryMessage(_Message):
    """A summary that stands for earlier messages, which took `tokens_before` tokens."""

    role: ClassVar[str] = "compactionSummary"

    summary: str
    tokens_before: int
    timestamp: int

    def __init__(self, summary: str, tokens_before: int = 0, timestamp: int | None = None) -> None:
        self._put(summary=summary, tokens_before=tokens_before, timestamp=now() if timestamp is None else timestamp)


@dataclass(frozen=True, init=False)
class BranchSummaryMessage(_Message):
    """A summary of a branch that the conversation came back from; `from_id` names the branch point."""

    role: ClassVar[str] = "branchSummary"

    summary: str
    from_id: str
    timestamp: int

    def __init__(self, summary: str, from_id: str = "", timestamp: int | None = None) -> None:
        self._put(summary=summary, from_id=from_id, timestamp=now() if timestamp is None else timestamp)


@dataclass(frozen=True, init=False)
class CustomMessage(_Message):
    """A message of an extension; the model sees its content as a user message. `display` asks views to show it."""

    role: ClassVar[str] = "custom"

    custom_type: str
    content: tuple[Content, ...]
    display: bool
    details: Any
    timestamp: int

    def __init__(
        self,
        custom_type: str,
        content: ContentLike = (),
        display: bool = True,
        details: Any = None,
        timestamp: int | None = None,
    ) -> None:
        self._put(
            custom_type=custom_type,
            content=content_blocks(content),
            display=display,
            details=details,
            timestamp=now() if timestamp is None else timestamp,
        )

    @property
    def text(self) -> str:
        return joined_text(self.content)


# What a model can be sent, and what an agent's history may hold besides classes of one's own.
Message = UserMessage | AssistantMessage | ToolResultMessage
AgentMessage = Message | BashExecutionMessage | CompactionSummaryMessage | BranchSummaryMessage | CustomMessage
MESSAGE_TYPES: tuple[type[AgentMessage], ...] = (
    UserMessage,
    AssistantMessage,
    ToolResultMessage,
    BashExecutionMessage,
    CompactionSummaryMessage,
    BranchSummaryMessage,
    CustomMessage,
)
