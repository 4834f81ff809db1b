"""A history made fit for one model: nothing dangling, nothing empty, nothing that only another model understands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from ..config import StopReason
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
    UserMessage,
)
from ..models import Model
from .placeholders import DATA_LEFT_OUT, IMAGE_LEFT_OUT

NO_RESULT = "No result provided"
_KINDS = (UserMessage, AssistantMessage, ToolResultMessage)
# Where a message keeps its form for the model that made it, and for all others.
_SAME, _OTHER = "_form_for_its_model", "_form_for_others"


class _Form(NamedTuple):
    """A message as it may be sent, and what of it matters to its neighbours in a history.

    `message` is None where the message may be sent as it is: a reference to itself would be a cycle.
    """

    message: Message | None = None
    calls: Mapping[str, str] | None = None
    has_media: bool = False


def prepare_messages(messages: Iterable[Message], model: Model) -> list[Message]:
    """`messages` as they may be sent to `model`.

    Every call is followed by its result, a made-up error result if need be, and no result stands without its call.
    Of answers that broke off only the text is kept. What is opaque (`fidelity`, reasoning) goes back to the model
    that made it and to no other. Lone surrogates become U+FFFD. The cleaned form of a message is kept with it.
    Images and other media that the user has shown to another model give way to words where this one cannot read them.
    What is of a derived class becomes one of the class that it was derived from.
    """
    prepared: list[Message] = []
    key = model.key
    waiting: dict[str, str] = {}
    unanswered: list[int] = []
    for position, original in enumerate(messages):
        if getattr(original, "plain_text", None) is not None and not waiting and not unanswered:
            prepared.append(original)
            continue
        form = _kept_form(original, key, position)
        message = form.message or original
        if isinstance(message, ToolResultMessage):
            if waiting.pop(message.tool_call_id, None) is not None:
                prepared.append(message)
            continue
        if waiting:
            prepared += _made_up(waiting)
            waiting = {}
        if isinstance(original, AssistantMessage):
            if unanswered and original.model_key != key:
                for place in unanswered:
                    prepared[place] = _readable(prepared[place], model)
            unanswered = []
            if not message.content:
                continue
        elif form.has_media:
            unanswered.append(len(prepared))
        prepared.append(message)
        if form.calls:
            waiting = dict(form.calls)
    return prepared + _made_up(waiting)


def _readable(message: Message, model: Model) -> Message:
    """A user message with words in the place of what the model is not declared to read; alike ones stand once."""
    blocks: list[Content] = []
    for block in message.content:
        if isinstance(block, (ImageContent, InlineData)):
            kind = media_kind(block)
            if kind not in model.input:
                block = TextContent(IMAGE_LEFT_OUT if kind == "image" else DATA_LEFT_OUT.format(block.mime_type))
                if blocks and blocks[-1] == block:
                    continue
        blocks.append(block)
    return message if tuple(blocks) == message.content else replace(message, content=tuple(blocks))


def media_kind(block: ImageContent | InlineData) -> str:
    """What a model must be able to read to read this, in the words of `Model.input`."""
    if isinstance(block, ImageContent):
        return "image"
    mime_type = block.mime_type.partition(";")[0].strip().lower()
    return "pdf" if mime_type == "application/pdf" else mime_type.partition("/")[0]


def clean_text(text: str) -> str:
    """`text` as valid Unicode: halves of a character that stand together are joined, others become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_value(value: Any) -> Any:
    """A JSON value with every text in it made valid Unicode."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_value(key): clean_value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_value(each) for each in value]
    return value


def _made_up(waiting: dict[str, str]) -> list[Message]:
    return [ToolResultMessage(call_id, name, NO_RESULT, is_error=True) for call_id, name in waiting.items()]


def _kept_form(message: Message, key: tuple[str, str, str], position: int) -> _Form:
    """The form of a message, made at first and then kept with it."""
    same = isinstance(message, AssistantMessage) and message.model_key == key
    slot = _SAME if same else _OTHER
    form: _Form | None = getattr(message, slot, None)
    if form is None:
        form = _form_of(message, same, position)
        message.__dict__[slot] = form
    return form


def _form_of(message: Message, same: bool, position: int) -> _Form:
    kind = next((each for each in _KINDS if isinstance(message, each)), None)
    if kind is None:
        raise InvalidDataError(
            f"a {type(message).__name__} cannot be sent; convert_to_llm makes messages of it",
            f"messages[{position}]",
        )
    blocks = _blocks_of(message, same)
    changed = None if type(message) is kind and blocks == message.content else _as(kind, message, blocks)
    calls = {block.id: block.name for block in blocks if isinstance(block, ToolCall)}
    has_media = any(isinstance(block, (ImageContent, InlineData)) for block in blocks)
    return _Form(changed, calls, has_media)


def _as(kind: type[Message], message: Message, blocks: tuple[Content, ...]) -> Message:
    """The message around other blocks, made by `kind` itself: a derived class may be made of something else."""
    return kind(**{field.name: getattr(message, field.name) for field in fields(kind)} | {"content": blocks})


def _blocks_of(message: Message, same: bool) -> tuple[Content, ...]:
    blocks = message.content
    if isinstance(message, AssistantMessage) and message.stop_reason in (StopReason.ERROR, StopReason.ABORTED):
        blocks = tuple(block for block in blocks if isinstance(block, TextContent))
        same = False
    cleaned = [_cleaned(block, same) for block in blocks]
    return tuple([block for block in cleaned if block is not None])


def _cleaned(block: Content, same: bool) -> Content | None:
    """The block as it may be sent, itself where nothing changes, or None when it may not."""
    fidelity = getattr(block, "fidelity", None) if same else None
    if isinstance(block, TextContent):
        text = clean_text(block.text)
        if not fidelity and (not text or text.isspace()):
            return None
        return block if text is block.text and fidelity is block.fidelity else TextContent(text, fidelity)
    if isinstance(block, ThinkingContent):
        return replace(block, text=clean_text(block.text)) if same else None
    if isinstance(block, ToolCall):
        return ToolCall(block.id, clean_text(block.name), clean_value(block.arguments), block.arguments_error, fidelity)
    if isinstance(block, (ImageContent, InlineData)) and block.fidelity is not None and not same:
        return replace(block, fidelity=None)
    return block
