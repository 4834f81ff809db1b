"""Content blocks: what messages are made of (source: Y 1, A content types, H UniMessage).

Binary data is base64 text. Any block may carry `fidelity`, a JSON object that the model's server wants back unchanged.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from .errors import InvalidDataError

Fidelity = Mapping[str, Any]


def _encoded(data: str | bytes) -> str:
    return data if isinstance(data, str) else base64.b64encode(bytes(data)).decode("ascii")


@dataclass(frozen=True)
class TextContent:
    type: ClassVar[str] = "text"

    text: str
    fidelity: Fidelity | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidDataError(f"must be a text, not {type(self.text).__name__}", "text")


@dataclass(frozen=True)
class ImageContent:
    """An image: base64 `data` with its `mime_type`, or a `url`."""

    type: ClassVar[str] = "image"

    data: str = ""
    mime_type: str = ""
    url: str | None = None
    fidelity: Fidelity | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _encoded(self.data))
        if bool(self.data) == bool(self.url):
            raise InvalidDataError("an image needs either data with a mime_type, or a url")
        if self.data and not self.mime_type:
            raise InvalidDataError("an image with data needs a mime_type such as image/png", "mime_type")

    @property
    def bytes(self) -> bytes:
        return base64.b64decode(self.data)


@dataclass(frozen=True)
class ThinkingContent:
    """Reasoning of a model: readable `text`, or `data` with its `mime_type`; `redacted` when the server hides it."""

    type: ClassVar[str] = "thinking"

    text: str = ""
    data: str | None = None
    mime_type: str | None = None
    redacted: bool = False
    fidelity: Fidelity | None = None

    def __post_init__(self) -> None:
        if self.data is not None:
            object.__setattr__(self, "data", _encoded(self.data))

    @property
    def bytes(self) -> bytes:
        return base64.b64decode(self.data or "")


@dataclass(frozen=True)
class ToolCall:
    """A call that a model asks for; `arguments_error` is set, and `arguments` empty, when their text did not parse."""

    type: ClassVar[str] = "toolCall"

    id: str
    name: str
    arguments: dict[str, Any]
    arguments_error: str | None = None
    fidelity: Fidelity | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, dict):
            raise InvalidDataError(f"must be an object, not {type(self.arguments).__name__}", "arguments")


@dataclass(frozen=True)
class InlineData:
    """Media that a model made, such as an image or a sound."""

    type: ClassVar[str] = "inlineData"

    data: str
    mime_type: str
    fidelity: Fidelity | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _encoded(self.data))

    @property
    def bytes(self) -> bytes:
        return base64.b64decode(self.data)


@dataclass(frozen=True)
class Embedding:
    type: ClassVar[str] = "embedding"

    embedding: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "embedding", tuple(self.embedding))


Content = TextContent | ImageContent | ThinkingContent | ToolCall | InlineData | Embedding
CONTENT_TYPES: tuple[type[Content], ...] = (TextContent, ImageContent, ThinkingContent, ToolCall, InlineData, Embedding)

# What a message may be made from: a text, one block, or several of either.
ContentLike = str | Content | Iterable[str | Content]


def content_blocks(content: ContentLike) -> tuple[Content, ...]:
    """`content` as a tuple of blocks; a text is one `TextContent`, the empty text none."""
    if isinstance(content, str):
        return (TextContent(content),) if content else ()
    if isinstance(content, CONTENT_TYPES):
        return (content,)
    blocks: list[Content] = []
    for position, each in enumerate(cast("Iterable[str | Content]", content)):
        block = TextContent(each) if isinstance(each, str) else each
        if not isinstance(block, CONTENT_TYPES):
            raise InvalidDataError(f"{type(each).__name__} is no content block", f"content[{position}]")
        blocks.append(block)
    return tuple(blocks)


def joined_text(blocks: Iterable[Content]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextContent))
