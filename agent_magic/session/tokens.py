"""How many tokens a conversation takes: what the server last counted, plus an estimate of what came since."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..config import StopReason
from ..conversion import convert_to_llm_message
from ..messages import (
    AssistantMessage,
    CompactionSummaryMessage,
    Content,
    ImageContent,
    InlineData,
    TextContent,
    ThinkingContent,
    ToolCall,
)

# Bytes of UTF-8 in a token. Counting bytes, not characters, keeps scripts other than Latin from being underestimated.
BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 1200


def text_tokens(text: str) -> int:
    """An estimate of the tokens of a text, rounded up."""
    return -(-_size(text) // BYTES_PER_TOKEN)


def message_tokens(message: Any) -> int:
    """An estimate of the tokens of one message; 0 for one that no model is sent."""
    sent = convert_to_llm_message(message)
    if sent is None:
        return 0
    return -(-sum(map(_block_size, sent.content)) // BYTES_PER_TOKEN)


def context_tokens(
    messages: Sequence[Any], system_prompt: str = "", tools: Mapping[str, Any] | Iterable[Any] | None = None
) -> int:
    """The tokens that a request with these messages takes.

    The last usage that a server reported counts for everything up to its answer, unless that answer is older than a
    compaction. Without one all is estimated, system prompt and tools included.
    """
    counted, rest = last_usage(messages)
    if not counted:
        counted = text_tokens(system_prompt) + sum(map(_tool_tokens, _tools(tools)))
    return counted + sum(map(message_tokens, messages[rest:]))


def last_usage(messages: Sequence[Any]) -> tuple[int, int]:
    """The total of the last valid usage and how many messages it covers; 0 and 0 when there is none."""
    compacted = max((each.timestamp for each in messages if isinstance(each, CompactionSummaryMessage)), default=-1)
    for place in reversed(range(len(messages))):
        message = messages[place]
        if not isinstance(message, AssistantMessage) or message.stop_reason in (StopReason.ERROR, StopReason.ABORTED):
            continue
        if message.timestamp <= compacted:
            break
        if message.usage is not None and message.usage.total_tokens:
            return message.usage.total_tokens, place + 1
    return 0, 0


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _block_size(block: Content) -> int:
    if isinstance(block, TextContent):
        return _size(block.text)
    if isinstance(block, ThinkingContent):
        return _size(block.text) + len(block.data or "")
    if isinstance(block, ToolCall):
        return _size(block.name) + _size(json.dumps(block.arguments, ensure_ascii=False, default=str))
    if isinstance(block, (ImageContent, InlineData)):
        return IMAGE_TOKENS * BYTES_PER_TOKEN
    return 0


def _tools(tools: Mapping[str, Any] | Iterable[Any] | None) -> Iterable[Any]:
    return tools.values() if isinstance(tools, Mapping) else tools or ()


def _tool_tokens(tool: Any) -> int:
    schema = json.dumps(getattr(tool, "input_schema", None) or {}, default=str)
    return text_tokens(f"{getattr(tool, 'name', '')}{getattr(tool, 'description', '')}{schema}")
