"""Requests of the Anthropic Messages API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from ..config import PromptCaching, RequestConfig, ThinkingLevel
from ..errors import InvalidDataError
from ..messages import (
    AssistantMessage,
    Content,
    Context,
    ImageContent,
    InlineData,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)
from ..models import Model
from .anthropic_quirks import MessagesQuirks
from .anthropic_schema import enforceable
from .anthropic_thinking import length_and_thinking, requires_call, thinks
from .call_ids import with_fitting_ids
from .json_text import to_json_bytes
from .offered_tools import names_in, schema_of
from .placeholders import IMAGE_BELOW, IMAGE_LEFT_OUT, NO_OUTPUT
from .vendors import VENDORS

VERSION = "2023-06-01"
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_IMAGE_TYPES = {
    "image/png": "image/png",
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
# The API wants the user to begin; a history that was cut may not.
_BEGINNING = b'{"type":"text","text":"(The conversation goes on.)"}'

Wire = dict[str, Any]


class _Blocks(NamedTuple):
    """A message's blocks as JSON with commas between: those in its place, and those after the results of its turn."""

    here: bytes
    later: bytes


def request_url(model: Model) -> str:
    """The address of the API below the model's base_url, which may end with /v1 and whose query is kept."""
    vendor = VENDORS.get(model.provider)
    root = model.base_url or (vendor.base_url if vendor and vendor.api == "anthropic" else "")
    parts = urlsplit(root or VENDORS["anthropic"].base_url)
    path = parts.path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/v1/messages", parts.query, ""))


def request_body(model: Model, context: Context, config: RequestConfig, quirks: MessagesQuirks) -> bytes:
    """The whole request as JSON. Each message's part is made once and kept with the message."""
    mark = _cache_mark(config, quirks)
    head: Wire = {"model": model.id, "stream": True}
    tools = _tool_settings(context.tools or {}, config)
    if context.system_prompt.strip():
        head["system"] = [{"type": "text", "text": context.system_prompt, **mark}]
    elif tools.get("tools"):
        tools["tools"][-1] |= mark
    settings = length_and_thinking(model, config, quirks, context.messages)
    if config.temperature not in (None, 1):
        settings["temperature"] = config.temperature
    if config.response_schema is not None:
        answer = {"type": "json_schema", "schema": enforceable(config.response_schema)}
        settings["output_config"] = {**settings.get("output_config", {}), "format": answer}
    rest = to_json_bytes(tools | settings | dict(model.compat.get("extra_body", {})))
    messages = _messages(context.messages, model, quirks, to_json_bytes(mark)[1:-1])
    return b"".join((to_json_bytes(head)[:-1], b',"messages":[', b",".join(messages), b"],", rest[1:]))


def unsupported(model: Model, config: RequestConfig, quirks: MessagesQuirks) -> dict[str, str]:
    """The fields of `config` that this API, or this model, does not offer, with the reason."""
    found: dict[str, str] = {}
    if not model.reasoning:
        if config.thinking_level not in (None, ThinkingLevel.OFF):
            found["thinking_level"] = "the model is not declared to reason (reasoning=True)"
        if config.thinking_summary is not None:
            found["thinking_summary"] = "the model is not declared to reason (reasoning=True)"
    thinking = thinks(model, config, quirks)
    if config.temperature not in (None, 1):
        if not quirks.temperature:
            found["temperature"] = "the model takes none"
        elif thinking:
            found["temperature"] = "the model takes none while it thinks (thinking_level)"
    if requires_call(config) and thinking and not quirks.required_call_while_thinking:
        found["tool_choice"] = "no call can be required while the model thinks (thinking_level); use auto or none"
    if config.prompt_caching is PromptCaching.ENHANCE and not quirks.cache_marks:
        found["prompt_caching"] = "the server takes no marks for its cache"
    if config.response_schema is not None and not quirks.response_schema:
        found["response_schema"] = "the server cannot be held to a schema"
    if config.image_config is not None:
        found["image_config"] = "the API makes no images"
    if config.tts_config is not None:
        found["tts_config"] = "the API makes no speech"
    if config.embedding_config is not None:
        found["embedding_config"] = "the API makes no embeddings"
    return found


# Settings -----------------------------------------------------------------------------------------------------------


def _cache_mark(config: RequestConfig, quirks: MessagesQuirks) -> Wire:
    """What marks a block as the end of a prefix to cache; everything before it counts too, the tools first."""
    if config.prompt_caching is PromptCaching.DISABLE or not quirks.cache_marks:
        return {}
    longer = {"ttl": "1h"} if config.prompt_caching is PromptCaching.ENHANCE else {}
    return {"cache_control": {"type": "ephemeral", **longer}}


def _tool_settings(tools: Mapping[str, Any], config: RequestConfig) -> Wire:
    choice, names = config.tool_choice, names_in(config.tool_choice, tools)
    if names is not None and len(names) != 1:
        # The API knows no choice of several names, so only those are offered.
        tools = {name: tools[name] for name in names}
    if not tools:
        return {}
    settings: Wire = {"tools": [tool_declaration(tool) for tool in tools.values()]}
    if isinstance(choice, str):
        settings["tool_choice"] = {"type": "any" if choice == "required" else choice}
    elif names is not None and len(names) == 1:
        settings["tool_choice"] = {"type": "tool", "name": names[0]}
    elif names is not None:
        settings["tool_choice"] = {"type": "any"}
    return settings


def tool_declaration(tool: Any) -> Wire:
    """A tool as the API takes it."""
    declared: Wire = {"name": tool.name, "input_schema": {"type": "object", **schema_of(tool)}}
    return {**declared, "description": tool.description} if tool.description else declared


# Messages -----------------------------------------------------------------------------------------------------------


def _messages(messages: Sequence[Message], model: Model, quirks: MessagesQuirks, mark: bytes) -> list[bytes]:
    """Turns of user and assistant by turns. Results begin the user's turn, and the last block of the last is marked."""
    slot = f"_anthropic_{'image' in model.input:d}{quirks.unsigned_thinking:d}"
    turns: list[tuple[bytes, list[bytes]]] = []
    later: list[bytes] = []
    for message in with_fitting_ids(messages, _CALL_ID, model):
        blocks: _Blocks | None = message.__dict__.get(slot)
        if blocks is None:
            blocks = message.__dict__[slot] = _blocks_of(message, model, quirks)
        if later and not isinstance(message, ToolResultMessage):
            _add(turns, b"user", later)
            later = []
        if blocks.here:
            _add(turns, b"assistant" if isinstance(message, AssistantMessage) else b"user", [blocks.here])
        if blocks.later:
            later.append(blocks.later)
    if later:
        _add(turns, b"user", later)
    if turns and turns[0][0] == b"assistant":
        turns.insert(0, (b"user", [_BEGINNING]))
    last = next((parts for role, parts in reversed(turns) if role == b"user"), None)
    if mark and last:
        last[-1] = b"".join((last[-1][:-1], b",", mark, b"}"))
    return [b"".join((b'{"role":"', role, b'","content":[', b",".join(parts), b"]}")) for role, parts in turns]


def _add(turns: list[tuple[bytes, list[bytes]]], role: bytes, parts: list[bytes]) -> None:
    if turns and turns[-1][0] == role:
        turns[-1][1].extend(parts)
    else:
        turns.append((role, list(parts)))


def _blocks_of(message: Message, model: Model, quirks: MessagesQuirks) -> _Blocks:
    sees = "image" in model.input
    later: list[Wire] = []
    if isinstance(message, AssistantMessage):
        here = _assistant(message, quirks)
        if sees:
            later = _made_images(message)
    elif isinstance(message, ToolResultMessage):
        here = [_result(message, sees)]
        if sees and message.is_error:
            later = [_image(block) for block in message.content if _is_image(block)]
    else:
        here = [_user_block(block) for block in message.content]
    return _Blocks(_joined(here), _joined(later))


def _joined(blocks: list[Wire]) -> bytes:
    return b",".join(map(to_json_bytes, blocks))


def _user_block(block: Content) -> Wire:
    if isinstance(block, TextContent):
        return _text(block.text)
    if isinstance(block, ImageContent) or (isinstance(block, InlineData) and block.mime_type.startswith("image/")):
        if not _is_image(block):
            raise InvalidDataError(
                f"images of the type {block.mime_type} cannot be sent by the API anthropic; send PNG or JPEG"
            )
        return _image(block)
    if isinstance(block, InlineData):
        document = _document(block)
        if document is not None:
            return document
        raise InvalidDataError(f"data of the type {block.mime_type} cannot be sent by the API anthropic")
    raise InvalidDataError(f"a user message cannot hold {block.type} in the API anthropic")


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _plain_type(mime_type: str) -> str:
    return mime_type.partition(";")[0].strip().lower()


def _is_image(block: Content) -> bool:
    if isinstance(block, ImageContent) and block.url:
        return True
    return isinstance(block, (ImageContent, InlineData)) and _plain_type(block.mime_type) in _IMAGE_TYPES


def _image(block: Content) -> Wire:
    assert isinstance(block, (ImageContent, InlineData))
    url = getattr(block, "url", None)
    if url:
        return {"type": "image", "source": {"type": "url", "url": url}}
    media_type = _IMAGE_TYPES[_plain_type(block.mime_type)]
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": block.data}}


def _document(block: InlineData) -> Wire | None:
    if _plain_type(block.mime_type) == "application/pdf":
        source: Wire = {"type": "base64", "media_type": "application/pdf", "data": block.data}
    elif _plain_type(block.mime_type) == "text/plain":
        source = {"type": "text", "media_type": "text/plain", "data": block.bytes.decode("utf-8", "replace")}
    else:
        return None
    return {"type": "document", "source": source}


def _assistant(message: AssistantMessage, quirks: MessagesQuirks) -> list[Wire]:
    blocks: list[Wire] = []
    for block in message.content:
        if isinstance(block, TextContent) and block.text.strip():
            blocks.append(_text(block.text))
        elif isinstance(block, ThinkingContent):
            blocks += _thinking(block, quirks)
        elif isinstance(block, ToolCall):
            name = _NO_NAME.sub("_", block.name)
            blocks.append({"type": "tool_use", "id": block.id, "name": name, "input": block.arguments})
    # The API refuses an answer that ends with thinking.
    while blocks and blocks[-1]["type"].endswith("thinking"):
        blocks.pop()
    return blocks


def _thinking(block: ThinkingContent, quirks: MessagesQuirks) -> list[Wire]:
    """Thinking as it came, without which the API refuses what follows it."""
    fidelity = block.fidelity or {}
    if "redacted_thinking" in fidelity:
        return [{"type": "redacted_thinking", "data": fidelity["redacted_thinking"]}]
    if "signature" in fidelity or (quirks.unsigned_thinking and block.text):
        return [{"type": "thinking", "thinking": block.text, "signature": fidelity.get("signature", "")}]
    return []


def _made_images(message: AssistantMessage) -> list[Wire]:
    """Images that a model made. Here only the user shows images, so they come with the user's next turn."""
    images = [_image(block) for block in message.content if _is_image(block)]
    return [_text("(The image of your answer:)"), *images] if images else []


def _result(message: ToolResultMessage, sees: bool) -> Wire:
    blocks = [each for block in message.content if (each := _result_block(block, sees, message.is_error)) is not None]
    wire = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": blocks or [_text(NO_OUTPUT)]}
    return {**wire, "is_error": True} if message.is_error else wire


def _result_block(block: Content, sees: bool, is_error: bool) -> Wire | None:
    if isinstance(block, TextContent):
        return _text(block.text)
    if isinstance(block, ImageContent) or _is_image(block):
        if not sees:
            return _text(IMAGE_LEFT_OUT)
        if not _is_image(block):
            return _text(f"(An image was left out: the type {getattr(block, 'mime_type', '')} cannot be sent.)")
        # A result that is an error may hold text only.
        return _text(IMAGE_BELOW) if is_error else _image(block)
    if isinstance(block, InlineData):
        document = None if is_error else _document(block)
        return document or _text(f"(Data was left out: the type {block.mime_type} cannot be sent.)")
    return None
