"""Plays a message that is known beforehand as the stream that a model's server would have sent."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator

from ..abort import AbortSignal
from ..events import (
    EmbeddingItem,
    InlineDataItem,
    PartialToolCall,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallItem,
)
from ..messages import (
    Content,
    Context,
    Embedding,
    ImageContent,
    InlineData,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from ..usage import Usage
from .offered_tools import schema_of

_WORD = re.compile(r"\s*\S+\s*|\s+")
_ARGUMENT_PIECE = 12
_CHARACTERS_A_TOKEN = 4
_TOKENS_AN_IMAGE = 500


def pieces(text: str) -> list[str]:
    """`text` in words, each with the white space around it."""
    return _WORD.findall(text)


def items_of(block: Content, index: int) -> Iterator[StreamItem]:
    """The items that a server would send for `block`, in small pieces."""
    if isinstance(block, TextContent):
        for piece in pieces(block.text):
            yield TextDelta(index, piece)
        if block.fidelity:
            yield TextDelta(index, "", block.fidelity)
    elif isinstance(block, ThinkingContent):
        yield from _thinking_items(block, index)
    elif isinstance(block, ToolCall):
        yield from _call_items(block, index)
    elif isinstance(block, InlineData):
        yield InlineDataItem(index, block.data, block.mime_type, block.fidelity)
    elif isinstance(block, Embedding):
        yield EmbeddingItem(index, block.embedding)
    elif isinstance(block, ImageContent) and block.data:
        yield InlineDataItem(index, block.data, block.mime_type, block.fidelity)


def _thinking_items(block: ThinkingContent, index: int) -> Iterator[StreamItem]:
    if block.data is not None:
        yield InlineDataItem(index, block.data, block.mime_type or "", block.fidelity, thinking=True)
        return
    for piece in pieces(block.text):
        yield ThinkingDelta(index, piece)
    if block.fidelity or block.redacted:
        yield ThinkingDelta(index, "", block.fidelity, block.redacted)


def _call_items(call: ToolCall, index: int) -> Iterator[StreamItem]:
    text = argument_text(call)
    yield PartialToolCall(index, call.name, call.id, "")
    for start in range(0, len(text), _ARGUMENT_PIECE):
        yield PartialToolCall(index, "", "", text[start : start + _ARGUMENT_PIECE])
    if call.arguments_error is None:
        yield ToolCallItem(index, call.id, call.name, call.arguments, call.fidelity)


def argument_text(call: ToolCall) -> str:
    """The JSON that the call came as; without its end where the call's arguments did not parse."""
    text = json.dumps(call.arguments, ensure_ascii=False)
    return text if call.arguments_error is None else text[:-1]


def estimated_usage(context: Context, answer: list[Content]) -> Usage:
    """Tokens by the rule of thumb of four characters each, the same for the same texts. No cost."""
    prompt = len(context.system_prompt)
    prompt += sum(_size(block) for message in context.messages for block in message.content)
    for tool in (context.tools or {}).values():
        prompt += len(tool.name) + len(tool.description) + len(json.dumps(schema_of(tool), default=str))
    thinking = [block for block in answer if isinstance(block, ThinkingContent)]
    reasoning = _tokens(sum(map(_size, thinking))) if thinking else None
    written = _tokens(sum(_size(block) for block in answer if not isinstance(block, ThinkingContent)))
    return Usage(input=_tokens(prompt), output=written + (reasoning or 0), reasoning=reasoning)


def _size(block: Content) -> int:
    if isinstance(block, (TextContent, ThinkingContent)):
        return len(block.text)
    if isinstance(block, ToolCall):
        return len(block.name) + len(argument_text(block))
    return _TOKENS_AN_IMAGE * _CHARACTERS_A_TOKEN


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_A_TOKEN)


async def pause(seconds: float, signal: AbortSignal | None) -> None:
    """Sleep; raises `AbortedError` as soon as the signal is given."""
    if signal is None:
        await asyncio.sleep(seconds)
        return
    signal.throw_if_aborted()
    if seconds <= 0:
        await asyncio.sleep(0)
        return
    aborted = asyncio.ensure_future(signal.wait())
    try:
        await asyncio.wait({aborted}, timeout=seconds)
    finally:
        aborted.cancel()
    signal.throw_if_aborted()
