"""Requests of the OpenAI Responses API: nothing is stored at the server, so its own items go back to it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..config import ImageConfig, PromptCaching, RequestConfig, ThinkingLevel
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
from .call_ids import with_fitting_ids
from .json_text import to_json_bytes
from .offered_tools import names_in, schema_of
from .placeholders import DATA_NOT_SENT, IMAGE_LEFT_OUT, NO_OUTPUT
from .quirks import Quirks
from .thinking import offered_level

_CALL_ID = re.compile(r"\S{1,64}")
_LONGEST_CACHE_KEY = 64
# The longer side of an image that is no square, and the side of one that is, in pixels.
_IMAGE_SIDES = {"1K": (1536, 1024), "2K": (2048, 2048)}
_RATIO = re.compile(r"([1-9]\d{0,3}):([1-9]\d{0,3})")

Wire = dict[str, Any]


def request_body(model: Model, context: Context, config: RequestConfig, quirks: Quirks) -> bytes:
    """The whole request as JSON. Each message's part is made once and kept with the message."""
    head: Wire = {"model": model.id}
    if context.system_prompt:
        head["instructions"] = context.system_prompt
    items = _items(with_fitting_ids(context.messages, _CALL_ID, model), model)
    rest = to_json_bytes(_settings(model, context, config, quirks))
    return b"".join((to_json_bytes(head)[:-1], b',"input":[', b",".join(items), b"],", rest[1:]))


def unsupported(model: Model, config: RequestConfig, quirks: Quirks) -> dict[str, str]:
    """The fields of `config` that this API, or this server, does not offer, with the reason."""
    found: dict[str, str] = {}
    not_reasoning = "the model is not declared to reason (reasoning=True)"
    if config.thinking_level not in (None, ThinkingLevel.OFF) and not model.reasoning:
        found["thinking_level"] = not_reasoning
    if config.thinking_summary and not model.reasoning:
        found["thinking_summary"] = not_reasoning
    if config.temperature is not None and model.reasoning and not quirks.reasoning_temperature:
        level = config.thinking_level
        if level is None or offered_level(level, model) is not ThinkingLevel.OFF:
            found["temperature"] = "the model takes it only with thinking_level off, if at all"
    if config.prompt_caching is PromptCaching.DISABLE:
        found["prompt_caching"] = "the server caches by itself and this cannot be switched off"
    if config.prompt_caching is PromptCaching.ENHANCE and not quirks.cache_retention:
        found["prompt_caching"] = "the server has no longer caching"
    if config.image_config is not None:
        if not quirks.image_tool:
            found["image_config"] = "the server has no tool that makes images"
        elif image_size(config.image_config) is None:
            found["image_config"] = "image_size is 1K or 2K, and aspect_ratio between 1:3 and 3:1, such as 3:2"
    if config.tts_config is not None:
        found["tts_config"] = "the API makes no speech"
    if config.response_schema is not None and not quirks.response_format:
        found["response_schema"] = "the server cannot be held to a schema"
    return found


# Settings -----------------------------------------------------------------------------------------------------------


def _settings(model: Model, context: Context, config: RequestConfig, quirks: Quirks) -> Wire:
    settings: Wire = {"stream": True, "store": False}
    if config.max_tokens is not None:
        settings["max_output_tokens"] = config.max_tokens
    if config.temperature is not None:
        settings["temperature"] = config.temperature
    settings |= _tool_settings(context.tools or {}, config, quirks)
    settings |= _thinking_settings(model, config, quirks)
    if config.response_schema is not None:
        settings["text"] = {"format": _response_format(config.response_schema, quirks)}
    if config.prompt_caching in (PromptCaching.ENABLE, PromptCaching.ENHANCE):
        settings["prompt_cache_key"] = cache_key(context, config)
    if config.prompt_caching is PromptCaching.ENHANCE:
        settings["prompt_cache_retention"] = quirks.cache_retention
    return settings | dict(model.compat.get("extra_body", {}))


def _tool_settings(tools: Mapping[str, Any], config: RequestConfig, quirks: Quirks) -> Wire:
    choice, names = config.tool_choice, names_in(config.tool_choice, tools)
    if names is not None and not quirks.allowed_tools:
        tools = {name: tools[name] for name in names}
    declared = [tool_declaration(tool) for tool in tools.values()]
    if config.image_config is not None:
        size = image_size(config.image_config)
        declared.append({"type": "image_generation", "size": size or "auto"})
    if not declared:
        return {}
    settings: Wire = {"tools": declared}
    if isinstance(choice, str):
        settings["tool_choice"] = choice
    elif names and len(names) == 1:
        settings["tool_choice"] = {"type": "function", "name": names[0]}
    elif names and quirks.allowed_tools:
        # All tools stay declared, so that the beginning of the request, and with it the cache, stays the same.
        allowed = [{"type": "function", "name": name} for name in names]
        settings["tool_choice"] = {"type": "allowed_tools", "mode": "required", "tools": allowed}
    elif names:
        settings["tool_choice"] = "required"
    elif names is not None:
        settings["tool_choice"] = "none"
    return settings


def tool_declaration(tool: Any) -> Wire:
    """A tool as the API takes it. It is not strict, since that allows only some schemas."""
    parameters = schema_of(tool) or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        "strict": False,
    }


def image_size(config: ImageConfig) -> str | None:
    """The size in pixels, sides divisible by 16, `auto` where nothing is asked for; None where it cannot be had."""
    if config.image_size is None and config.aspect_ratio is None:
        return "auto"
    ratio = _RATIO.fullmatch(config.aspect_ratio or "1:1")
    sides = _IMAGE_SIDES.get((config.image_size or "1K").upper())
    if ratio is None or sides is None:
        return None
    width, height = int(ratio[1]), int(ratio[2])
    if max(width, height) > 3 * min(width, height):
        return None
    longer = sides[width == height]
    shorter = round(longer * min(width, height) / max(width, height) / 16) * 16
    return f"{longer}x{shorter}" if width >= height else f"{shorter}x{longer}"


def _thinking_settings(model: Model, config: RequestConfig, quirks: Quirks) -> Wire:
    if not model.reasoning:
        return {}
    reasoning: Wire = {}
    if config.thinking_level is not None:
        level = offered_level(config.thinking_level, model)
        effort = quirks.effort_off if level is ThinkingLevel.OFF else str(level)
        if effort:
            reasoning["effort"] = effort
    if config.thinking_summary:
        reasoning["summary"] = "auto"
    settings: Wire = {"reasoning": reasoning} if reasoning else {}
    return {**settings, "include": ["reasoning.encrypted_content"]}


def _response_format(schema: Mapping[str, Any], quirks: Quirks) -> Wire:
    if quirks.response_format == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "name": "answer", "schema": dict(schema)}


def cache_key(context: Context, config: RequestConfig) -> str:
    """The name by which the server finds the cache: the trace's, else one for this system prompt and these tools."""
    if config.trace_id and len(config.trace_id) <= _LONGEST_CACHE_KEY:
        return config.trace_id
    tools = [tool_declaration(tool) for tool in (context.tools or {}).values()]
    same = to_json_bytes([config.trace_id, context.system_prompt, tools])
    return hashlib.sha256(same).hexdigest()[:32]


# Items --------------------------------------------------------------------------------------------------------------


def _items(messages: Iterable[Message], model: Model) -> list[bytes]:
    slot = f"_openai_responses_{'image' in model.input:d}"
    wires: list[bytes] = []
    for message in messages:
        wire = message.__dict__.get(slot)
        if wire is None:
            wire = to_json_bytes(wire_items(message, model))[1:-1]
            message.__dict__[slot] = wire
        if wire:
            wires.append(wire)
    return wires


def wire_items(message: Message, model: Model) -> list[Wire]:
    """The items that one message becomes."""
    if isinstance(message, AssistantMessage):
        return _answer_items(message, model)
    if isinstance(message, ToolResultMessage):
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": _output(message, model)}]
    content = [_input_part(block) for block in message.content] or [_text_part("")]
    return [{"type": "message", "role": "user", "content": content}]


def _input_part(block: Content) -> Wire:
    part = _text_part(block.text) if isinstance(block, TextContent) else _media_part(block)
    if part is None:
        what = f"data of the type {block.mime_type}" if isinstance(block, InlineData) else f"a block {block.type}"
        raise InvalidDataError(f"{what} cannot be sent by the API openai-responses")
    return part


def _text_part(text: str) -> Wire:
    return {"type": "input_text", "text": text}


def _media_part(block: Content) -> Wire | None:
    """An image or a PDF, given or made, as input; None for what the API cannot take."""
    if isinstance(block, ImageContent):
        url = block.url or f"data:{block.mime_type};base64,{block.data}"
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if not isinstance(block, InlineData):
        return None
    mime_type = block.mime_type.partition(";")[0].strip().lower()
    url = f"data:{mime_type};base64,{block.data}"
    if mime_type.startswith("image/"):
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if mime_type == "application/pdf":
        return {"type": "input_file", "filename": "document.pdf", "file_data": url}
    if mime_type.startswith("text/"):
        return _text_part(block.bytes.decode("utf-8", "replace"))
    return None


def _shown_part(block: ImageContent | InlineData, model: Model) -> Wire:
    """Media of a tool or of a model, or words in their place."""
    part = _media_part(block)
    if part is None:
        return _text_part(DATA_NOT_SENT.format(block.mime_type))
    return part if part["type"] != "input_image" or "image" in model.input else _text_part(IMAGE_LEFT_OUT)


def _output(message: ToolResultMessage, model: Model) -> str | list[Wire]:
    """A result as one text, or as parts where it has more than text and the model can read it."""
    parts = [
        _text_part(block.text) if isinstance(block, TextContent) else _shown_part(block, model)
        for block in message.content
        if isinstance(block, (TextContent, ImageContent, InlineData))
    ]
    if any(part["type"] != "input_text" for part in parts):
        return parts
    return "\n".join(part["text"] for part in parts) or NO_OUTPUT


def _answer_items(message: AssistantMessage, model: Model) -> list[Wire]:
    """The items of an answer in their order.

    Reasoning goes back only with what follows it, and whole: what the server neither stored nor encrypted it does
    not know again. Then the ids of its neighbours, by which it would ask for the reasoning, stay away too.
    """
    reasoning = [block for block in message.content if isinstance(block, ThinkingContent)]
    with_ids = all(_can_go_back(block) for block in reasoning)
    items: list[Wire] = []
    media: list[Wire] = []
    for block in message.content:
        fidelity = (getattr(block, "fidelity", None) or {}) if with_ids or isinstance(block, ThinkingContent) else {}
        if isinstance(block, ThinkingContent) and _can_go_back(block):
            items.append({"type": "reasoning", "summary": [], **fidelity})
        elif isinstance(block, TextContent) and (block.text or fidelity):
            items.append(_message_item(block, fidelity))
        elif isinstance(block, ToolCall):
            items.append(_call_item(block, fidelity))
        elif isinstance(block, InlineData) and fidelity.get("id"):
            made = {"type": "image_generation_call", "id": fidelity["id"], "status": "completed"}
            items.append({**made, "result": block.data})
        elif isinstance(block, (ImageContent, InlineData)):
            media.append(_shown_part(block, model))
    while items and items[-1]["type"] == "reasoning":
        items.pop()
    # Only users can show what another model made.
    return items + ([{"type": "message", "role": "user", "content": media}] if media else [])


def _can_go_back(block: ThinkingContent) -> bool:
    fidelity = block.fidelity or {}
    return bool(fidelity.get("id") and (fidelity.get("encrypted_content") or fidelity.get("content")))


def _message_item(block: TextContent, fidelity: Mapping[str, Any]) -> Wire:
    phase = {"phase": fidelity["phase"]} if fidelity.get("phase") else {}
    if not fidelity.get("id"):
        return {"type": "message", "role": "assistant", "content": block.text, **phase}
    part = {"type": "output_text", "text": block.text, "annotations": []}
    item = {"type": "message", "id": fidelity["id"], "role": "assistant", "status": "completed", "content": [part]}
    return {**item, **phase}


def _call_item(call: ToolCall, fidelity: Mapping[str, Any]) -> Wire:
    identity = {"id": fidelity["id"]} if fidelity.get("id") else {}
    arguments = to_json_bytes(call.arguments).decode()
    return {"type": "function_call", **identity, "call_id": call.id, "name": call.name, "arguments": arguments}
