"""Whole answers of model servers, as dictionaries (source: Y SP-017, SP-018).

Format 1 nests the answer under `message`, as LM Studio and vLLM do and as each choice of a Chat Completion does;
format 2 has a list of content blocks. Both may carry `api`, `provider`, `model`, `usage` and `error_message`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import reading as read
from .config import StopReason
from .errors import ContentFilterError, InvalidDataError, ServerError
from .messages import AssistantMessage, Content, TextContent, ThinkingContent, ToolCall
from .models import API_ALIASES
from .stored_blocks import block_from_json
from .stored_models import usage_from_json
from .usage import Usage

Data = Mapping[str, Any]

_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


def message_from_response(response: Any) -> AssistantMessage:
    """The message of a whole answer in format 1 or 2, or of a Chat Completion.

    Raises `ProviderError` when the answer carries an error, `InvalidDataError` when it is no such answer.
    """
    response = read.mapping(response, "an object that holds a model's answer")
    _raise_error(response)
    choice = _choice(response)
    _raise_error(choice)
    content = blocks_of(_message(choice))
    reason = finish_reason(choice, response)
    usage = usage_of(read.first(response, "usage") or read.first(choice, "usage"))
    api = read.optional_text(response, "api") or ""
    message = AssistantMessage(
        content,
        api=API_ALIASES.get(api, api) if api else "",
        provider=read.optional_text(response, "provider") or "",
        model=read.optional_text(response, "model") or "",
        usage=usage,
        stop_reason=_stop_reason(reason, content),
        timestamp=_timestamp(response),
    )
    if reason == "content_filter":
        raise ContentFilterError(
            "The server's content filter stopped the answer; word the request differently.", partial=message
        )
    return message


def blocks_of(message: Data) -> list[Content]:
    """The blocks of a message: reasoning, content in its order, then the calls that stand beside the content."""
    blocks: list[Content] = []
    reasoning = next((message[key] for key in _REASONING if isinstance(message.get(key), str) and message[key]), None)
    if reasoning is not None:
        blocks.append(ThinkingContent(reasoning))
    blocks += _content(message)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not blocks:
        blocks.append(TextContent(refusal))
    blocks += _calls(message)
    legacy = message.get("function_call")
    if legacy is not None and not any(isinstance(block, ToolCall) for block in blocks):
        blocks.append(read.at("function_call", call_from_response, legacy))
    return blocks


def call_from_response(data: Any) -> ToolCall:
    """A call, its arguments a JSON text or an object; text that is neither gives `arguments_error`.

    Servers that give calls no id get one made up, so that results can be matched.
    """
    data = read.mapping(data, "a tool call")
    called = data.get("function")
    called = called if isinstance(called, Mapping) else data
    arguments, error = read.arguments(read.first(called, "arguments", "input"))
    identity = read.optional_text(data, "id", "tool_call_id", "toolCallId") or f"call_{os.urandom(12).hex()}"
    return ToolCall(identity, read.text(called, "name"), arguments, error)


def usage_of(data: Any) -> Usage | None:
    """Usage in the words of Chat Completions, or in those of `usage_from_json`; None where nothing is counted."""
    if data is None:
        return None
    counts = read.mapping(data, "an object of token counts")
    if read.first(counts, "prompt_tokens", "completion_tokens") is None:
        return read.at("usage", usage_from_json, counts)
    details = read.first(counts, "prompt_tokens_details") or {}
    spent = read.first(counts, "completion_tokens_details") or {}
    cached = read.integer(details, "cached_tokens") or read.integer(counts, "prompt_cache_hit_tokens")
    written = read.integer(details, "cache_write_tokens")
    prompt = read.integer(counts, "prompt_tokens")
    output = read.integer(counts, "completion_tokens")
    reasoning = read.optional_integer(spent, "reasoning_tokens")
    if reasoning and read.integer(counts, "total_tokens") == prompt + output + reasoning:
        output += reasoning  # xAI counts reasoning beside the completion, others inside it
    return Usage(max(prompt - cached - written, 0), output, cached, written, reasoning=reasoning)


def finish_reason(*places: Data) -> str | None:
    """The server's own word for why it stopped, from the first place that has one."""
    for place in places:
        word = read.optional_text(place, "finish_reason", "finishReason", "stop_reason", "stopReason")
        if word:
            return word
    return None


def _choice(response: Data) -> Data:
    choices = response.get("choices")
    if choices is None:
        return response
    if not read.at("choices", lambda each: read.items(each, "choices"), choices):
        raise InvalidDataError("holds no answer", "choices")
    return read.at("choices[0]", lambda each: read.mapping(each, "an object with a message"), choices[0])


def _message(choice: Data) -> Data:
    nested = choice.get("message")
    if nested is not None:
        return read.at("message", lambda each: read.mapping(each, "an object"), nested)
    if read.first(choice, "content", "tool_calls") is None:
        raise InvalidDataError("has neither message nor content, so it is no answer of a model in a known format")
    return choice


def _content(message: Data) -> list[Content]:
    content = message.get("content")
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [TextContent(content)]
    blocks: list[Content] = []
    for position, each in enumerate(read.at("content", lambda value: read.items(value, "blocks"), content)):
        blocks += read.at(f"content[{position}]", _blocks, each)
    return blocks


def _blocks(data: Any) -> list[Content]:
    kind = data.get("type") if isinstance(data, Mapping) else None
    if kind == "tool_calls":
        return list(_calls(data))
    if kind in ("tool_call", "toolCall", "tool", "function", "tool_use"):
        return [call_from_response(data)]
    if kind in ("thinking", "reasoning") and isinstance(data.get("thinking"), list):
        return [ThinkingContent("".join(str(read.first(part, "text") or "") for part in data["thinking"]))]
    block = block_from_json(data)
    return [] if isinstance(block, TextContent) and not block.text else [block]


def _calls(message: Data) -> list[ToolCall]:
    calls = message.get("tool_calls")
    if calls is None:
        return []
    listed = read.at("tool_calls", lambda each: read.items(each, "tool calls"), calls)
    return [read.at(f"tool_calls[{position}]", call_from_response, each) for position, each in enumerate(listed)]


def _stop_reason(word: str | None, content: list[Content]) -> StopReason | None:
    """Truncation wins over calls, and calls over any other word."""
    reason = None if word is None else StopReason.read(word)
    if reason is not StopReason.LENGTH and any(isinstance(block, ToolCall) for block in content):
        return StopReason.TOOL_CALL
    return reason


def _timestamp(response: Data) -> int:
    created = response.get("created")
    if type(created) is int:  # Chat Completions count seconds
        return created * 1000
    return read.timestamp(response, "timestamp")


def _raise_error(data: Data) -> None:
    """Raise what the server says went wrong; any non-null error counts, an empty one too."""
    fault = read.first(data, "error_message", "errorMessage", "error")
    if fault is None:
        return
    status = None
    if isinstance(fault, Mapping):
        code = read.first(fault, "code", "status")
        status = code if type(code) is int and 400 <= code < 600 else None
        fault = read.first(fault, "message", "type", "code") or dict(fault)
    raise ServerError(str(fault) or "The server reported an error without saying which.", status=status)
