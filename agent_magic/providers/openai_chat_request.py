"""Requests of the OpenAI Chat Completions API (source: Y SP-011 to SP-016)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..config import PromptCaching, RequestConfig, ThinkingLevel, ToolChoice
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
    UserMessage,
)
from ..models import Model
from .call_ids import with_fitting_ids
from .json_text import to_json_bytes, to_json_texts
from .offered_tools import names_in, schema_of
from .placeholders import ACKNOWLEDGED, DATA_NOT_SENT, IMAGE_BELOW, IMAGE_LEFT_OUT, NO_OUTPUT, SKIP_SIGNATURE
from .quirks import Quirks
from .thinking import offered_level

_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
# What stands around the only text of a message, by whether content is a plain string.
_BEFORE_TEXT: dict[bool, dict[type[Any], bytes]] = {
    plain: {kind: f'{{"role":"{kind.role}","content":{opening}'.encode() for kind in (UserMessage, AssistantMessage)}
    for plain, opening in ((True, ""), (False, '[{"type":"text","text":'))
}
_AFTER_TEXT = {True: b"}", False: b"}]}"}

Wire = dict[str, Any]


def request_body(model: Model, context: Context, config: RequestConfig, quirks: Quirks) -> bytes:
    """The whole request as JSON. What takes time to write of a message is made once and kept with it."""
    messages: list[bytes] = []
    if context.system_prompt:
        system = {"role": quirks.system_role, "content": _text_content([context.system_prompt], quirks)}
        messages += (to_json_bytes(system), b",")
    messages += _messages(with_fitting_ids(context.messages, _pattern(quirks.call_id_form), model), model, quirks)
    rest = to_json_bytes(_settings(model, context.tools or {}, config, quirks))
    head = to_json_bytes({"model": model.id})
    if messages:
        messages[-1] = messages[-1].removesuffix(b",")
    # Joined only once, since a long history is large.
    return b"".join((head[:-1], b',"messages":[', *messages, b"],", rest[1:]))


def unsupported(model: Model, config: RequestConfig, quirks: Quirks) -> dict[str, str]:
    """The fields of `config` that this API, or this server, does not offer, with the reason."""
    found: dict[str, str] = {}
    if config.thinking_level not in (None, ThinkingLevel.OFF):
        if not model.reasoning:
            found["thinking_level"] = "the model is not declared to reason (reasoning=True)"
        elif not quirks.thinking_form:
            found["thinking_level"] = "the server has no setting for it"
    if not chooses(config.tool_choice, quirks):
        found["tool_choice"] = f"the server takes only {' and '.join(quirks.tool_choices)}"
    if config.thinking_summary is not None and quirks.thinking_form != "openrouter":
        found["thinking_summary"] = "the API has no setting for it"
    if config.prompt_caching is PromptCaching.DISABLE:
        found["prompt_caching"] = "the server caches by itself and this cannot be switched off"
    if config.prompt_caching is PromptCaching.ENHANCE and not quirks.cache_retention:
        found["prompt_caching"] = "the server has no longer caching"
    if config.image_config is not None and not quirks.image_output:
        found["image_config"] = "the API makes no images"
    if config.tts_config is not None:
        found["tts_config"] = "the API makes no speech"
    if config.response_schema is not None and not quirks.response_format:
        found["response_schema"] = "the server cannot be held to a schema"
    return found


def chooses(choice: ToolChoice | None, quirks: Quirks) -> bool:
    """Whether the server takes this tool_choice."""
    return choice is None or (choice if isinstance(choice, str) else "required") in quirks.tool_choices


# Settings -----------------------------------------------------------------------------------------------------------


def _settings(model: Model, tools: Mapping[str, Any], config: RequestConfig, quirks: Quirks) -> Wire:
    settings: Wire = {"stream": True}
    if quirks.stream_usage:
        settings["stream_options"] = {"include_usage": True}
    if config.max_tokens is not None:
        settings[quirks.max_tokens_field] = config.max_tokens
    if config.temperature is not None:
        settings["temperature"] = config.temperature
    settings |= _tool_settings(tools, config)
    settings |= _thinking_settings(model, config, quirks)
    if config.response_schema is not None:
        settings["response_format"] = _response_format(config.response_schema, quirks)
    if config.prompt_caching is PromptCaching.ENHANCE:
        settings["prompt_cache_retention"] = quirks.cache_retention
    if config.image_config is not None:
        image = {"aspect_ratio": config.image_config.aspect_ratio, "image_size": config.image_config.image_size}
        settings["modalities"] = ["image", "text"]
        settings["image_config"] = {name: value for name, value in image.items() if value is not None}
    return settings | dict(quirks.also_send) | dict(model.compat.get("extra_body", {}))


def _tool_settings(tools: Mapping[str, Any], config: RequestConfig) -> Wire:
    choice, names = config.tool_choice, names_in(config.tool_choice, tools)
    if names is not None:
        # Offering only those and requiring a call is the one form of several names that every server knows.
        tools = {name: tools[name] for name in names}
    if not tools:
        return {}
    settings: Wire = {"tools": [tool_declaration(tool) for tool in tools.values()]}
    if isinstance(choice, str):
        settings["tool_choice"] = choice
    elif names is not None and len(names) == 1:
        settings["tool_choice"] = {"type": "function", "function": {"name": names[0]}}
    elif names is not None:
        settings["tool_choice"] = "required"
    return settings


def tool_declaration(tool: Any) -> Wire:
    """A tool as the API takes it (Y SP-016)."""
    parameters = schema_of(tool) or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _thinking_settings(model: Model, config: RequestConfig, quirks: Quirks) -> Wire:
    level = config.thinking_level
    if level is None or not model.reasoning:
        return {}
    level = offered_level(level, model)
    off = level is ThinkingLevel.OFF
    if quirks.thinking_form == "openrouter":
        reasoning: Wire = {"enabled": False} if off else {"effort": str(level)}
        if config.thinking_summary is not None:
            reasoning["exclude"] = not config.thinking_summary
        return {"reasoning": reasoning}
    if quirks.thinking_form == "thinking":
        return {"thinking": {"type": "disabled" if off else "enabled"}}
    if quirks.thinking_form == "enable":
        return {"enable_thinking": not off}
    if quirks.thinking_form == "enabled":
        return {"reasoning": {"enabled": not off}}
    if quirks.thinking_form == "template":
        return {"chat_template_kwargs": {"enable_thinking": not off}}
    effort = quirks.effort_off if off else str(level)
    return {"reasoning_effort": effort} if quirks.thinking_form and effort else {}


def _response_format(schema: Mapping[str, Any], quirks: Quirks) -> Wire:
    if quirks.response_format == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema)}}


# Messages -----------------------------------------------------------------------------------------------------------


def _messages(messages: Iterable[Message], model: Model, quirks: Quirks) -> list[bytes]:
    """The JSON of the messages in pieces, with a comma after each message."""
    plain = quirks.plain_string_content
    form = (plain, quirks.signed_calls, "image" in model.input)
    slot = f"_openai_chat_{quirks.reasoning_back}{form}"
    if "image" in model.input:
        messages = _with_images_below(messages)
    if quirks.roles_alternate:
        messages = _alternating(messages)
    pieces: list[bytes] = []
    before_text, after_text = _BEFORE_TEXT[plain], _AFTER_TEXT[plain]
    # By far the commonest messages are plain text. Writing those together takes less than keeping each would.
    openings: list[bytes] = []
    texts: list[str] = []

    for message in messages:
        text = message.plain_text
        if text is not None:
            openings.append(before_text[type(message)])
            texts.append(text)
            continue
        pieces += _of_texts(openings, texts, after_text)
        openings, texts = [], []
        wire: bytes | None = getattr(message, slot, None)
        if wire is None:
            wire = message.__dict__[slot] = to_json_bytes(wire_message(message, model, quirks))
        pieces += (wire, b",")
    return pieces + _of_texts(openings, texts, after_text)


def _of_texts(openings: list[bytes], texts: list[str], after: bytes) -> list[bytes]:
    """The JSON of messages that have one text each, in pieces as `_messages` gives them."""
    pieces = [after + b","] * (3 * len(texts))
    pieces[::3] = openings
    pieces[1::3] = to_json_texts(texts)
    return pieces


def _with_images_below(messages: Iterable[Message]) -> Iterator[Message]:
    """Images of results and answers, where the API takes none, follow the last result of the turn as the user's."""
    images: list[Content] = []
    for message in messages:
        if images and not isinstance(message, ToolResultMessage):
            yield UserMessage(images)
            images = []
        if not isinstance(message, UserMessage):
            images += [block for block in message.content if is_image(block)]
        yield message
    if images:
        yield UserMessage(images)


def _alternating(messages: Iterable[Message]) -> Iterator[Message]:
    """User and assistant by turns: neighbours of one role become one, and a word stands after a turn's results."""
    last: Message | None = None
    for message in messages:
        if last is None:
            last = message
        elif type(message) is type(last) and not isinstance(message, ToolResultMessage):
            last = _merged(last, message)
        else:
            yield last
            if isinstance(last, ToolResultMessage) and isinstance(message, UserMessage):
                yield AssistantMessage(ACKNOWLEDGED)
            last = message
    if last is not None:
        yield last


def _merged(first: Message, second: Message) -> Message:
    if isinstance(first, UserMessage):
        return UserMessage((*first.content, *second.content), first.timestamp)
    return replace(first, content=(*first.content, *second.content))


def is_image(block: Content) -> bool:
    """Whether the block is an image, given or made."""
    return isinstance(block, ImageContent) or (isinstance(block, InlineData) and block.mime_type.startswith("image/"))


@lru_cache
def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(form)


def wire_message(message: Message, model: Model, quirks: Quirks) -> Wire:
    """One message as the API takes it (Y SP-012 to SP-015)."""
    if isinstance(message, AssistantMessage):
        return _assistant(message, model, quirks)
    if isinstance(message, ToolResultMessage):
        content = _result_content(message, model, quirks)
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    if len(texts) == len(message.content):
        return {"role": "user", "content": _text_content(texts or [""], quirks)}
    return {"role": "user", "content": [_user_block(block) for block in message.content]}


def _text_content(texts: list[str], quirks: Quirks, between: str = "") -> str | list[Wire]:
    if quirks.plain_string_content:
        return between.join(texts)
    return [{"type": "text", "text": each} for each in texts]


def _user_block(block: Content) -> Wire:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageContent):
        return _image(block)
    if isinstance(block, InlineData):
        return _media(block)
    raise InvalidDataError(f"a user message cannot hold {block.type} in the API openai-chat")


def _image(block: ImageContent) -> Wire:
    url = block.url or f"data:{block.mime_type};base64,{block.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _media(block: InlineData) -> Wire:
    mime_type = block.mime_type.partition(";")[0].strip().lower()
    if mime_type in _AUDIO_FORMATS:
        return {"type": "input_audio", "input_audio": {"data": block.data, "format": _AUDIO_FORMATS[mime_type]}}
    url = f"data:{block.mime_type};base64,{block.data}"
    if mime_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    if mime_type == "application/pdf":
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    if mime_type.startswith("text/"):
        return {"type": "text", "text": block.bytes.decode("utf-8", "replace")}
    raise InvalidDataError(f"data of the type {block.mime_type} cannot be sent by the API openai-chat")


def _assistant(message: AssistantMessage, model: Model, quirks: Quirks) -> Wire:
    texts: list[str] = []
    calls: list[Wire] = []
    thoughts: list[ThinkingContent] = []
    for block in message.content:
        if isinstance(block, TextContent):
            if block.text:
                texts.append(block.text)
        elif isinstance(block, ToolCall):
            calls.append(_call(block))
        elif isinstance(block, ThinkingContent):
            thoughts.append(block)
        elif is_image(block):
            texts.append(_instead_of_image(model))
    content = _text_content(texts or [""], quirks) if texts or not calls else None
    wire: Wire = {"role": "assistant", "content": content}
    if calls:
        wire["tool_calls"] = calls
        if quirks.signed_calls and "extra_content" not in calls[0]:
            calls[0]["extra_content"] = {"google": {"thought_signature": SKIP_SIGNATURE}}
    if thoughts and quirks.reasoning_back != "never":
        wire |= _reasoning(thoughts, bool(calls))
    return wire


def _call(call: ToolCall) -> Wire:
    function = {"name": call.name, "arguments": to_json_bytes(call.arguments).decode()}
    return {"id": call.id, "type": "function", "function": function, **(call.fidelity or {})}


def _reasoning(thoughts: list[ThinkingContent], has_calls: bool) -> Wire:
    """Reasoning in the field it came in, for the model that made it. Some servers insist on it during a tool loop."""
    found: Wire = {}
    for block in thoughts:
        if not block.fidelity:
            continue
        details = block.fidelity.get("reasoning_details")
        if details:
            found["reasoning_details"] = [*found.get("reasoning_details", ()), *details]
        field = block.fidelity.get("reasoning_field")
        if has_calls and field:
            found[field] = found.get(field, "") + block.text
    return found


def _result_content(message: ToolResultMessage, model: Model, quirks: Quirks) -> str | list[Wire]:
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    if any(map(is_image, message.content)):
        texts.append(_instead_of_image(model))
    others = [block for block in message.content if isinstance(block, InlineData) and not is_image(block)]
    texts += [DATA_NOT_SENT.format(block.mime_type) for block in others]
    return _text_content(texts or [NO_OUTPUT], quirks, "\n")


def _instead_of_image(model: Model) -> str:
    return IMAGE_BELOW if "image" in model.input else IMAGE_LEFT_OUT
