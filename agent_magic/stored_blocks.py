"""Content blocks as JSON and back (source: Y SP-005, SP-006; A content; H content items)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import reading as read
from .errors import InvalidDataError
from .messages import Content, Embedding, ImageContent, InlineData, TextContent, ThinkingContent, ToolCall

Json = dict[str, Any]
Data = Mapping[str, Any]


def block_to_json(block: Content) -> Json:
    """One content block as a JSON object."""
    stored: Json = {"type": block.type}
    if isinstance(block, TextContent):
        stored["text"] = block.text
    elif isinstance(block, ToolCall):
        stored.update(id=block.id, name=block.name, arguments=read.json_safe(block.arguments))
        if block.arguments_error is not None:
            stored["argumentsError"] = block.arguments_error
    elif isinstance(block, ThinkingContent):
        stored["text"] = block.text
        if block.data is not None:
            stored["data"] = block.data
        if block.mime_type is not None:
            stored["mimeType"] = block.mime_type
        if block.redacted:
            stored["redacted"] = True
    elif isinstance(block, ImageContent) and block.url:
        stored["url"] = block.url
    elif isinstance(block, Embedding):
        stored["embedding"] = list(block.embedding)
        return stored
    else:
        stored.update(data=block.data, mimeType=block.mime_type)
    if block.fidelity is not None:
        stored["fidelity"] = read.json_safe(block.fidelity)
    return stored


def block_from_json(data: Any) -> Content:
    """The content block that a JSON object, or a plain text, stands for."""
    if isinstance(data, str):
        return TextContent(data)
    data = read.mapping(data, "a content block")
    kind = data.get("type")
    if kind is None:
        kind = next((kind for key, kind in _TYPE_BY_KEY.items() if data.get(key) is not None), None)
    reader = _BLOCK_READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise InvalidDataError(f"{kind!r} is no type of a content block", "type")
    return reader(data)


def _read_text(data: Data) -> Content:
    return TextContent(read.text(data, "text"), _fidelity(data, "textSignature"))


def _read_image(data: Data) -> Content:
    url = read.first(data, "url", "image_url", "imageUrl")
    if isinstance(url, Mapping):
        url = read.text(url, "url")
    if url is not None and not isinstance(url, str):
        raise read.wrong("a URL", data, "url", "image_url", "imageUrl")
    inline = read.data_uri(url) if url else None
    if url and not inline:
        return ImageContent(url=url, fidelity=_fidelity(data))
    encoded, mime_type = inline or (read.binary(data, "data"), read.text(data, "mimeType", "mime_type"))
    return ImageContent(encoded, mime_type, fidelity=_fidelity(data))


def _read_thinking(data: Data) -> Content:
    media = read.binary(data, "data") if data.get("data") is not None else None
    return ThinkingContent(
        text=read.optional_text(data, "text", "thinking", "reasoning") or "",
        data=media,
        mime_type=read.optional_text(data, "mimeType", "mime_type"),
        redacted=read.flag(data, "redacted"),
        fidelity=_fidelity(data, "thinkingSignature", "thinking_signature", "signature"),
    )


def _read_call(data: Data) -> Content:
    called = data.get("function")
    called = called if isinstance(called, Mapping) else data
    arguments, error = read.arguments(read.first(called, "arguments", "input"))
    return ToolCall(
        id=read.text(data, "id", "toolCallId", "tool_call_id"),
        name=read.text(called, "name"),
        arguments=arguments,
        arguments_error=read.optional_text(data, "argumentsError", "arguments_error") or error,
        fidelity=_fidelity(data, "thoughtSignature", "thought_signature"),
    )


def _read_inline(data: Data) -> Content:
    return InlineData(read.binary(data, "data"), read.text(data, "mimeType", "mime_type"), _fidelity(data))


def _read_embedding(data: Data) -> Content:
    return Embedding(read.numbers(data, "embedding"))


def _fidelity(data: Data, *signatures: str) -> Json | None:
    """A block's fidelity; a signature of its own key, as pi stores it, becomes one."""
    kept = read.fidelity(data)
    signature = read.optional_text(data, *signatures) if signatures and kept is None else None
    return kept if signature is None else {"signature": signature}


_BLOCK_READERS: dict[str, Callable[[Data], Content]] = {
    "text": _read_text,
    **dict.fromkeys(("image", "image_url", "imageUrl"), _read_image),
    **dict.fromkeys(
        ("thinking", "reasoning", "reasoningContent", "reasoning_content", "inline_thinking", "inlineThinking"),
        _read_thinking,
    ),
    **dict.fromkeys(("toolCall", "tool_call", "tool", "function", "tool_use"), _read_call),
    **dict.fromkeys(("inlineData", "inline_data"), _read_inline),
    "embedding": _read_embedding,
}
# The type of a block that does not name it, by a key that only this type has.
_TYPE_BY_KEY = {
    "text": "text",
    "thinking": "thinking",
    "arguments": "toolCall",
    "function": "toolCall",
    "data": "image",
    "image_url": "image",
    "url": "image",
    "embedding": "embedding",
}


def blocks_to_json(blocks: Iterable[Content]) -> list[Json]:
    return [block_to_json(block) for block in blocks]


def blocks_from_json(data: Data, *keys: str) -> list[Content]:
    """The blocks under the first of `keys` (`content`): a list, one block, a text, or nothing."""
    keys = keys or ("content",)
    value = read.first(data, *keys)
    if value is None or value == "":
        return []
    if isinstance(value, (str, Mapping)):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise read.wrong("a list of content blocks", data, *keys)
    return [read.at(f"{keys[0]}[{position}]", block_from_json, each) for position, each in enumerate(value)]
