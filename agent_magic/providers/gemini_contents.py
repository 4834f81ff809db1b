"""Messages as contents of the Gemini API. Each message's part is made once and kept with the message."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import InvalidDataError
from ..messages import (
    AssistantMessage,
    Content,
    ImageContent,
    InlineData,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)
from ..models import Model
from ..reading import data_uri
from .gemini_family import is_signed, reads_media_in_results
from .json_text import to_json_bytes
from .placeholders import DATA_LEFT_OUT, IMAGE_BELOW, IMAGE_LEFT_OUT, NO_OUTPUT, SKIP_SIGNATURE

_MODEL, _USER, _RESULTS = "model", "user", "results"
_ROLES = {_MODEL: b"model", _USER: b"user", _RESULTS: b"user"}
# What a result may hold itself; other media follow it.
_IN_RESULTS = {"image/png", "image/jpeg", "image/webp", "application/pdf"}
_NO_NAME = re.compile(r"[^A-Za-z0-9_.:-]|^(?![A-Za-z_])")

Wire = dict[str, Any]


class _Parts(NamedTuple):
    """A message's parts as JSON with commas between: those in its place, and those after the results of its turn."""

    kind: str
    here: bytes
    later: bytes


def contents(messages: Iterable[Message], model: Model) -> list[bytes]:
    """The contents in order. Neighbours of one kind are merged, so that all results of a turn stand in one content."""
    slot = f"_gemini_{is_signed(model):d}{reads_media_in_results(model):d}{','.join(model.input)}"
    turns: list[tuple[str, list[bytes]]] = []
    later: list[bytes] = []
    for message in messages:
        parts: _Parts | None = message.__dict__.get(slot)
        if parts is None:
            parts = message.__dict__[slot] = parts_of(message, model)
        if later and parts.kind != _RESULTS:
            _add(turns, _USER, later)
            later = []
        if parts.here:
            _add(turns, parts.kind, [parts.here])
        if parts.later:
            later.append(parts.later)
    if later:
        _add(turns, _USER, later)
    return [b"".join((b'{"role":"', _ROLES[kind], b'","parts":[', b",".join(parts), b"]}")) for kind, parts in turns]


def _add(turns: list[tuple[str, list[bytes]]], kind: str, parts: list[bytes]) -> None:
    if turns and turns[-1][0] == kind:
        turns[-1][1].extend(parts)
    else:
        turns.append((kind, list(parts)))


def parts_of(message: Message, model: Model) -> _Parts:
    """One message as the API takes it."""
    if isinstance(message, AssistantMessage):
        return _Parts(_MODEL, _joined(_assistant(message, model)), b"")
    if isinstance(message, ToolResultMessage):
        result, later = _result(message, model)
        return _Parts(_RESULTS, _joined([result]), _joined(later))
    return _Parts(_USER, _joined(map(user_part, message.content)), b"")


def _joined(parts: Iterable[Wire]) -> bytes:
    return b",".join(map(to_json_bytes, parts))


def user_part(block: Content) -> Wire:
    """A block of the user's."""
    if isinstance(block, TextContent):
        return {"text": block.text}
    if isinstance(block, (ImageContent, InlineData)):
        return _media(block)
    raise InvalidDataError(f"a user message cannot hold {block.type} in the API gemini")


def _media(block: ImageContent | InlineData) -> Wire:
    url = block.url if isinstance(block, ImageContent) else None
    if not url:
        return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}
    inline = data_uri(url)
    if inline is not None:
        return {"inlineData": {"mimeType": inline[1], "data": inline[0]}}
    guessed = block.mime_type or mimetypes.guess_type(urlsplit(url).path)[0] or "image/jpeg"
    return {"fileData": {"mimeType": guessed, "fileUri": url}}


# Answers ------------------------------------------------------------------------------------------------------------


def _assistant(message: AssistantMessage, model: Model) -> list[Wire]:
    parts = [part for block in message.content for part in _answered(block, model)]
    if is_signed(model):
        _sign(parts)
    return parts


def _answered(block: Content, model: Model) -> list[Wire]:
    """The parts that a block was made from, with the signatures that they had."""
    fidelity = getattr(block, "fidelity", None) or {}
    signature = {"thoughtSignature": fidelity["signature"]} if fidelity.get("signature") else {}
    if isinstance(block, TextContent):
        return _signed_text(block.text, fidelity, signature)
    if isinstance(block, ToolCall):
        call = {"id": block.id, "name": _fitting_name(block.name), "args": block.arguments}
        return [{"functionCall": call, **signature}]
    if isinstance(block, (ImageContent, InlineData)):
        part = _media(block)
        return [{**part, **signature} if signature or _kind_of(part) in model.input else _left_out(part)]
    if isinstance(block, ThinkingContent) and signature:
        if block.data is not None:
            blob = {"mimeType": block.mime_type or "image/png", "data": block.data}
            return [{"inlineData": blob, "thought": True, **signature}]
        return [{**part, "thought": True} for part in _signed_text(block.text, fidelity, signature)]
    return []


def _fitting_name(name: str) -> str:
    """The name of a tool in a form that the API takes; that of another model's tool may have any form."""
    return _NO_NAME.sub("_", name)


def _signed_text(text: str, fidelity: Any, signature: Wire) -> list[Wire]:
    begin = fidelity.get("from") if signature else 0
    begin = begin if isinstance(begin, int) else 0
    before = [{"text": text[:begin]}] if begin else []
    return [*before, {"text": text[begin:], **signature}] if text or signature else []


def _sign(parts: list[Wire]) -> None:
    """Mark what another model made: the first call, unless it has a signature, and every such image."""
    first_call = next((part for part in parts if "functionCall" in part), None)
    for part in parts:
        made = part is first_call or "inlineData" in part
        if made and "thoughtSignature" not in part:
            part["thoughtSignature"] = SKIP_SIGNATURE


# Results ------------------------------------------------------------------------------------------------------------


def _result(message: ToolResultMessage, model: Model) -> tuple[Wire, list[Wire]]:
    """The result, and the media of it that can only follow it."""
    texts: list[str] = []
    inside: list[Wire] = []
    later: list[Wire] = []
    for block in message.content:
        if isinstance(block, TextContent):
            texts.append(block.text)
        elif isinstance(block, (ImageContent, InlineData)):
            part = _media(block)
            if _kind_of(part) not in model.input:
                texts.append(_left_out(part)["text"])
            elif "inlineData" in part and _fits_result(part, model):
                inside.append(part)
            else:
                later.append(part)
    if later:
        texts.append(IMAGE_BELOW)
    output = "\n".join(texts) or ("" if inside else NO_OUTPUT)
    response = {"error" if message.is_error else "output": output}
    result: Wire = {"id": message.tool_call_id, "name": _fitting_name(message.tool_name), "response": response}
    if inside:
        result["parts"] = inside
    return {"functionResponse": result}, later


def _mime_type_of(part: Wire) -> str:
    (data,) = part.values()
    mime_type: str = data["mimeType"].partition(";")[0].strip().lower()
    return mime_type


def _kind_of(part: Wire) -> str:
    """What a model must be able to read, in the words of `Model.input`."""
    mime_type = _mime_type_of(part)
    return "pdf" if mime_type == "application/pdf" else mime_type.partition("/")[0]


def _left_out(part: Wire) -> Wire:
    """The words in the place of what the model is not declared to read."""
    return {"text": IMAGE_LEFT_OUT if _kind_of(part) == "image" else DATA_LEFT_OUT.format(_mime_type_of(part))}


def _fits_result(part: Wire, model: Model) -> bool:
    return reads_media_in_results(model) and _mime_type_of(part) in _IN_RESULTS
