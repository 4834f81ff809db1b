"""Requests of the Gemini API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..config import ImageConfig, PromptCaching, RequestConfig, SpeakerConfig, ThinkingLevel
from ..errors import InvalidDataError
from ..messages import Context, TextContent, UserMessage
from ..models import Model
from .gemini_contents import contents
from .gemini_family import holds_answers_beside_tools, makes
from .gemini_schema import readable_schema
from .gemini_thinking import thinking_config
from .json_text import to_json_bytes
from .offered_tools import names_in, schema_of

_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
_MOST_SPEAKERS = 2
_SPEECH_TAKES = {"tts_config", "max_tokens", "temperature", "trace_id", "max_retries", "max_retry_delay", "timeout"}

Wire = dict[str, Any]


def request_body(model: Model, context: Context, config: RequestConfig) -> bytes:
    """The whole request as JSON, what stays the same from turn to turn first."""
    speaks = is_speech(model, config)
    head: Wire = {}
    if speaks:
        context = Context(messages=[_text_to_speak(context)])
    if context.system_prompt.strip():
        head["systemInstruction"] = {"parts": [{"text": context.system_prompt}]}
    head |= _tool_settings(context.tools or {}, config)
    generation = _speech_settings(config) if speaks else _answer_settings(model, config)
    if config.max_tokens is not None:
        generation["maxOutputTokens"] = config.max_tokens
    if config.temperature is not None:
        generation["temperature"] = config.temperature
    extra = dict(model.compat.get("extra_body", {}))
    generation |= extra.pop("generationConfig", {})
    if generation:
        head["generationConfig"] = generation
    body = to_json_bytes(head | extra)
    messages = b",".join(contents(context.messages, model))
    return b"".join((body[:-1], b"," if len(body) > 2 else b"", b'"contents":[', messages, b"]}"))


def is_speech(model: Model, config: RequestConfig) -> bool:
    """Whether a request asks for speech: by its config, or by the kind of its model."""
    return config.tts_config is not None or makes(model, "audio")


def unsupported(model: Model, config: RequestConfig) -> dict[str, str]:
    """The fields of `config` that this API, or this model, does not offer, with the reason."""
    if makes(model, "audio"):
        return {
            name: "a request for speech has no such setting" for name in config.given() if name not in _SPEECH_TAKES
        }
    found: dict[str, str] = {}
    if not model.reasoning:
        if config.thinking_level not in (None, ThinkingLevel.OFF):
            found["thinking_level"] = "the model is not declared to reason (reasoning=True)"
        if config.thinking_summary:
            found["thinking_summary"] = "the model is not declared to reason (reasoning=True)"
    if config.prompt_caching is PromptCaching.DISABLE:
        found["prompt_caching"] = "the server caches by itself and this cannot be switched off"
    if config.prompt_caching is PromptCaching.ENHANCE:
        found["prompt_caching"] = "the server has no longer caching without a store that is paid by the hour"
    if config.image_config is not None and not makes(model, "image"):
        found["image_config"] = "the model makes no images"
    if config.tts_config is not None:
        found["tts_config"] = "the model makes no speech"
    if config.response_schema is not None and config.tools and not holds_answers_beside_tools(model):
        found["response_schema"] = "the model takes no schema of the answer while it has tools"
    return found


# Settings -----------------------------------------------------------------------------------------------------------


def _tool_settings(tools: Mapping[str, Any], config: RequestConfig) -> Wire:
    choice, names = config.tool_choice, names_in(config.tool_choice, tools)
    if not tools:
        return {}
    settings: Wire = {"tools": [{"functionDeclarations": [tool_declaration(tool) for tool in tools.values()]}]}
    calling: Wire = {}
    if isinstance(choice, str):
        calling = {"mode": _MODES[choice]}
    elif names:
        calling = {"mode": "ANY", "allowedFunctionNames": names}
    elif names is not None:
        calling = {"mode": "NONE"}
    return {**settings, "toolConfig": {"functionCallingConfig": calling}} if calling else settings


def tool_declaration(tool: Any) -> Wire:
    """A tool as the API takes it."""
    schema = schema_of(tool)
    declared: Wire = {"name": tool.name, "description": tool.description}
    if schema:
        declared["parametersJsonSchema"] = {"type": "object", **readable_schema(schema)}
    return declared


def _answer_settings(model: Model, config: RequestConfig) -> Wire:
    settings: Wire = {}
    thinking = thinking_config(model, config)
    if thinking:
        settings["thinkingConfig"] = thinking
    if config.response_schema is not None:
        settings["responseMimeType"] = "application/json"
        settings["responseJsonSchema"] = readable_schema(config.response_schema)
    elif makes(model, "image"):
        settings["responseModalities"] = ["TEXT", "IMAGE"]
    if config.image_config is not None:
        settings["imageConfig"] = _image_settings(config.image_config)
    return settings


def _image_settings(image: ImageConfig) -> Wire:
    asked = {"aspectRatio": image.aspect_ratio, "imageSize": image.image_size}
    return {name: value for name, value in asked.items() if value is not None}


# Speech -------------------------------------------------------------------------------------------------------------


def _text_to_speak(context: Context) -> UserMessage:
    """The last words of the user. A model that speaks reads aloud what it is given and knows no conversation."""
    last = next((message for message in reversed(context.messages) if isinstance(message, UserMessage)), None)
    if last is None or not last.text.strip() or not all(isinstance(block, TextContent) for block in last.content):
        raise InvalidDataError("must end with a user message of text and nothing else, which is read aloud", "messages")
    return last


def _speech_settings(config: RequestConfig) -> Wire:
    settings: Wire = {"responseModalities": ["AUDIO"]}
    speakers = config.tts_config or ()
    if len(speakers) == 1:
        settings["speechConfig"] = {"voiceConfig": _voice(speakers[0])}
    elif len(speakers) > _MOST_SPEAKERS:
        raise InvalidDataError(f"may name {_MOST_SPEAKERS} speakers at most, not {len(speakers)}", "tts_config")
    elif speakers:
        if not all(each.speaker for each in speakers):
            raise InvalidDataError("needs the name of each speaker in a dialogue, as the text has it", "tts_config")
        dialogue = [{"speaker": each.speaker, "voiceConfig": _voice(each)} for each in speakers]
        settings["speechConfig"] = {"multiSpeakerVoiceConfig": {"speakerVoiceConfigs": dialogue}}
    return settings


def _voice(speaker: SpeakerConfig) -> Wire:
    return {"prebuiltVoiceConfig": {"voiceName": speaker.voice}}
