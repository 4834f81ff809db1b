"""The message that a page sends: its text, and what the user attached, in the same blocks that mentions make."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidDataError
from ..messages import Content, ImageContent, UserMessage, joined_text
from ..tools.images import image_content, image_type
from .attachments import block_of
from .kernel import NotebookKernel
from .limits import DETAIL_LIMIT
from .mentions import find_mentions, name_of_block, split_content
from .prompt import added_by

Attached = Mapping[str, Any]
# Pictures among what the user said, and blocks behind it.
Kept = tuple[Sequence[Content], Sequence[Content]]


async def chat_message(
    kernel: NotebookKernel, text: str, attached: Sequence[Attached] = (), kept: Kept = ((), ())
) -> UserMessage:
    """The message of `text`, what it mentions, these attachments, and what was `kept` of an earlier one.

    Raises `InvalidDataError` for an attachment that is none, and where there is nothing to send; `UsageError` for a
    file or variable that cannot be attached.
    """
    pictures, others = kept
    images = [_image(each) for each in attached if each.get("kind") == "image"]
    variables = [_field(each, "name") for each in attached if each.get("kind") == "variable"]
    blocks = [_block(each) for each in attached if each.get("kind") not in ("image", "variable")]
    if not (text.strip() or images or variables or blocks or pictures or others):
        raise InvalidDataError("The message is empty. Write something, or attach something.")
    added = await added_by(kernel, text, variables)
    return UserMessage([*([text] if text.strip() else []), *pictures, *images, *added, *others, *blocks])


def kept_of(before: UserMessage) -> Kept:
    """What stays of a message when its text is edited: its pictures, and what was attached other than by a mention."""
    said, added = split_content(before.content)
    mentioned = {mention.text for mention in find_mentions(joined_text(said))}
    kept: list[Content] = []
    keeps = False
    for block in added:
        name = name_of_block(block)
        if name is not None:
            keeps = name not in mentioned
        if keeps:
            kept.append(block)
    return [block for block in said if isinstance(block, ImageContent)], kept


def _field(attached: Attached, name: str, default: str | None = None) -> str:
    value = attached.get(name, default)
    if not isinstance(value, str):
        raise InvalidDataError("must be a text", f"attachments.{name}")
    return value


def _block(attached: Attached) -> Content:
    kind = attached.get("kind")
    if kind == "cell":
        outputs = _field(attached, "outputs_text", "")
        text = f"code of the cell\n{_field(attached, 'source')}"
        text = f"{text}\n\nits output\n{outputs}" if outputs else text
        return block_of(f"@cell:{_field(attached, 'id')}", text, DETAIL_LIMIT)
    if kind == "selection":
        return block_of(f"@selection:{_field(attached, 'name', '')}", _field(attached, "text"), DETAIL_LIMIT)
    raise InvalidDataError(f"must be cell, selection, variable or image, not {kind!r}", "attachments.kind")


def _image(attached: Attached) -> ImageContent:
    try:
        data = base64.b64decode(_field(attached, "data"), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidDataError("must be base64", "attachments.data") from None
    kind = image_type(data)
    found = image_content(data, kind) if kind is not None else None
    if not isinstance(found, ImageContent):
        raise InvalidDataError("must be a PNG, JPEG, GIF or WebP image that a model can be sent", "attachments.data")
    return found
