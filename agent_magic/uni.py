"""Messages in the universal form of the third source document, and back (source: H UniMessage).

That form has no tool role: results stand in a user message. It names neither the producer of an answer nor the tool
of a result, and has no mark for a failed call; so those are found in the conversation, given, or lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import reading as read
from .config import StopReason
from .conversion import convert_to_llm
from .errors import InvalidDataError
from .messages import (
    AssistantMessage,
    Content,
    Embedding,
    ImageContent,
    InlineData,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from .models import Model
from .usage import Usage

Json = dict[str, Any]
Data = Mapping[str, Any]


def messages_from_uni(data: Iterable[Any], *, model: Model | None = None) -> list[Message]:
    """Read UniMessages. `model` names the producer of the answers, to which alone their fidelity may go back.

    A user message that holds tool results becomes one message for each result and one for the rest. Wrong data
    raises `InvalidDataError`, whose `path` names the place of the fault.
    """
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes, Mapping)):
        raise InvalidDataError(f"must be a list of messages, not {type(data).__name__}", "messages")
    found: list[Message] = []
    names: dict[str, str] = {}
    for position, each in enumerate(data):
        read_messages = read.at(f"messages[{position}]", lambda value: _read_message(value, names, model), each)
        for message in read_messages:
            if isinstance(message, AssistantMessage):
                names.update((call.id, call.name) for call in message.all_tool_calls)
        found += read_messages
    return found


def messages_to_uni(messages: Iterable[Any]) -> list[Json]:
    """Write messages as UniMessages: JSON objects, binary data as base64.

    Tool results that follow each other become one user message. Messages of other kinds are written as
    `convert_to_llm` gives them.
    """
    written: list[Json] = []
    results: Json | None = None
    for message in convert_to_llm(messages):
        if isinstance(message, ToolResultMessage):
            if results is None:
                results = {"role": "user", "content_items": [], "created_at": message.timestamp}
                written.append(results)
            results["content_items"].append(_write_result(message))
        else:
            results = None
            written.append(_write_message(message))
    return written


# Reading --------------------------------------------------------------------------------------------------------------


def _read_message(data: Any, names: Mapping[str, str], model: Model | None) -> list[Message]:
    data = read.mapping(data, "an object with a role")
    role = read.text(data, "role")
    moment = read.timestamp(data, "created_at", "createdAt")
    listed = read.first(data, "content_items", "contentItems")
    given = read.at("content_items", lambda each: read.items(each, "content items"), [] if listed is None else listed)
    pairs = [read.at(f"content_items[{position}]", _read_item, each) for position, each in enumerate(given)]
    if role == "assistant":
        return [_read_assistant(data, [block for block in pairs if not isinstance(block, _Result)], moment, model)]
    if role != "user":
        raise InvalidDataError(f"{role!r} is no role of this form; it has user and assistant", "role")
    messages: list[Message] = [
        ToolResultMessage(each.tool_call_id, names.get(each.tool_call_id, ""), each.content, timestamp=moment)
        for each in pairs
        if isinstance(each, _Result)
    ]
    rest = [each for each in pairs if not isinstance(each, _Result)]
    return [*messages, UserMessage(rest, moment)] if rest or not messages else messages


def _read_assistant(data: Data, content: list[Content], moment: int, model: Model | None) -> AssistantMessage:
    return AssistantMessage(
        content,
        api=model.api if model else "",
        provider=model.provider if model else "",
        model=model.id if model else "",
        usage=read.at("usage_metadata", usage_from_uni, read.first(data, "usage_metadata", "usageMetadata")),
        stop_reason=read.optional_text(data, "finish_reason", "finishReason"),
        timestamp=moment,
    )


def usage_from_uni(data: Any) -> Usage | None:
    """Token counts; a null counts as 0, and reasoning that is null is unknown."""
    if data is None:
        return None
    data = read.mapping(data, "an object of token counts")
    thoughts = read.optional_integer(data, "thoughts_tokens", "thoughtsTokens")
    return Usage(
        input=read.integer(data, "prompt_tokens", "promptTokens"),
        output=(thoughts or 0) + read.integer(data, "response_tokens", "responseTokens"),
        cache_read=read.integer(data, "cached_tokens", "cachedTokens"),
        reasoning=thoughts,
    )


class _Result:
    """A tool result on its way from an item to a message."""

    def __init__(self, tool_call_id: str, content: list[Content]) -> None:
        self.tool_call_id = tool_call_id
        self.content = content


def _read_item(data: Any) -> Content | _Result:
    data = read.mapping(data, "a content item")
    kind = read.text(data, "type")
    fidelity = read.fidelity(data)
    if kind == "text":
        return TextContent(read.text(data, "text"), fidelity)
    if kind == "image_url":
        return _image(read.text(data, "image_url", "imageUrl"), fidelity)
    if kind == "inline_data":
        return InlineData(read.binary(data, "data"), read.text(data, "mime_type", "mimeType"), fidelity)
    if kind == "thinking":
        return ThinkingContent(read.text(data, "thinking"), fidelity=fidelity)
    if kind == "inline_thinking":
        mime_type = read.text(data, "mime_type", "mimeType")
        return ThinkingContent("", read.binary(data, "data"), mime_type, fidelity=fidelity)
    if kind == "tool_call":
        arguments, error = read.arguments(data.get("arguments"))
        return ToolCall(
            read.text(data, "tool_call_id", "toolCallId"), read.text(data, "name"), arguments, error, fidelity
        )
    if kind == "tool_result":
        return _read_result(data)
    if kind == "embedding":
        return Embedding(read.numbers(data, "embedding"))
    raise InvalidDataError(f"{kind!r} is no type of a content item", "type")


def _read_result(data: Data) -> _Result:
    written = read.optional_text(data, "text")
    images = read.at("images", lambda each: read.items(each, "image URLs"), data.get("images") or [])
    content: list[Content] = [TextContent(written)] if written else []
    content += [read.at(f"images[{position}]", _image, each) for position, each in enumerate(images)]
    return _Result(read.text(data, "tool_call_id", "toolCallId"), content)


def _image(url: Any, fidelity: Json | None = None) -> ImageContent:
    if not isinstance(url, str) or not url:
        raise InvalidDataError(f"must be the URL of an image, not {type(url).__name__}")
    inline = read.data_uri(url)
    return ImageContent(*inline, fidelity=fidelity) if inline else ImageContent(url=url, fidelity=fidelity)


# Writing --------------------------------------------------------------------------------------------------------------


def _write_message(message: UserMessage | AssistantMessage) -> Json:
    written: Json = {"role": message.role, "content_items": [_write_item(block) for block in message.content]}
    if isinstance(message, AssistantMessage):
        written["usage_metadata"] = usage_to_uni(message.usage)
        known = (StopReason.STOP, StopReason.LENGTH, StopReason.TOOL_CALL)
        written["finish_reason"] = message.stop_reason.value if message.stop_reason in known else "unknown"
    written["created_at"] = message.timestamp
    return written


def usage_to_uni(usage: Usage | None) -> Json | None:
    """Token counts in the third document's split: input = cached + prompt, output = thoughts + response."""
    if usage is None:
        return None
    return {
        "cached_tokens": usage.cached_tokens,
        "prompt_tokens": usage.prompt_tokens,
        "thoughts_tokens": usage.thoughts_tokens,
        "response_tokens": usage.response_tokens,
    }


def _write_item(block: Content) -> Json:
    item = _item(block)
    if not isinstance(block, Embedding) and block.fidelity is not None:
        item["fidelity"] = read.json_safe(block.fidelity)
    return item


def _item(block: Content) -> Json:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageContent):
        return {"type": "image_url", "image_url": _url(block)}
    if isinstance(block, InlineData):
        return {"type": "inline_data", "data": block.data, "mime_type": block.mime_type}
    if isinstance(block, ToolCall):
        arguments = read.json_safe(block.arguments)
        return {"type": "tool_call", "name": block.name, "arguments": arguments, "tool_call_id": block.id}
    if isinstance(block, Embedding):
        return {"type": "embedding", "embedding": list(block.embedding)}
    if block.data is not None:
        return {"type": "inline_thinking", "data": block.data, "mime_type": block.mime_type or ""}
    return {"type": "thinking", "thinking": block.text}


def _write_result(message: ToolResultMessage) -> Json:
    item: Json = {"type": "tool_result", "text": message.text, "tool_call_id": message.tool_call_id}
    images = [_url(block) for block in message.content if isinstance(block, (ImageContent, InlineData))]
    return {**item, "images": images} if images else item


def _url(image: ImageContent | InlineData) -> str:
    if isinstance(image, ImageContent) and image.url:
        return image.url
    return f"data:{image.mime_type};base64,{image.data}"
