"""What a tool returned, as text and images that a model can read.

Everything is capped, with a note of what was left out. Nothing heavy is imported to find out what a value is: a value
can only be a frame of pandas if pandas is loaded. Whatever a value's own code does, the result is a result.
"""

from __future__ import annotations

import base64
import dataclasses
import sys
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import Any

from ..messages import CONTENT_TYPES, Content, ImageContent, TextContent
from .images import MAX_IMAGE, image_content, image_type
from .json_text import MAX_TEXT, json_text, named
from .tool import AgentToolResult

# Objects of a list or tuple that are drawn one by one, such as a frame and its figure.
MAX_PARTS = 8


def to_result(value: Any) -> AgentToolResult:
    """`value` as a result; its `content` is for the model, its `value` is the object itself."""
    if isinstance(value, AgentToolResult):
        content = capped(value.content)
        return value if content == value.content else dataclasses.replace(value, content=content, value=value.value)
    try:
        content = capped(_content(value))
    except Exception as error:
        content = (TextContent(f"{named(value)}; it could not be shown: {type(error).__name__}."),)
    return AgentToolResult(content, value=value)


def capped(content: Iterable[Content]) -> tuple[Content, ...]:
    """The blocks with their texts, together, at most 16,000 characters, and each image at most 300 kB."""
    left = MAX_TEXT
    blocks: list[Content] = []
    for block in content:
        if isinstance(block, TextContent):
            text = cut(block.text, left)
            left = max(0, left - len(block.text))
            block = block if text == block.text else TextContent(text)
        elif isinstance(block, ImageContent) and len(block.data) * 3 // 4 > MAX_IMAGE:
            block = image_content(block.bytes, block.mime_type)
        blocks.append(block)
    return tuple(blocks)


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """`text`, or its beginning and end with a note between them of what was left out."""
    if len(text) <= limit:
        return text
    # The note takes room too, which makes its number larger, and at the edge longer.
    room, note = limit, _note(len(text) - limit)
    while room > 0 and room + len(note) > limit:
        room = max(0, limit - len(note))
        note = _note(len(text) - room)
    tail = room // 4
    return f"{text[: room - tail]}{note}{text[len(text) - tail :]}"


def _note(left_out: int) -> str:
    return f"\n[… {left_out:,} characters left out …]\n"


def _content(value: Any) -> tuple[Content, ...]:
    if value is None:
        return (TextContent("Done. The tool returned nothing."),)
    if isinstance(value, str):
        return (TextContent(str(value) or "(an empty text)"),)
    if isinstance(value, CONTENT_TYPES):
        return (value,)
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, CONTENT_TYPES) for each in value):
        return tuple(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _of_bytes(bytes(value))
    from . import figures, tables

    for describe in (tables.describe, figures.describe, _of_display_object, _of_parts):
        content = describe(value)
        if content is not None:
            return content
    return (TextContent(json_text(value)),)


def _of_parts(value: Any) -> tuple[Content, ...] | None:
    """What a short list or tuple holds, one after the other, if a frame, figure or image is among it."""
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= MAX_PARTS:
        return None
    from . import figures, tables

    # Figure and axes are one figure.
    parts = {id(each): each for each in (figures.figure_of(each) or each for each in value)}
    drawn = [(each, tables.describe(each) or figures.describe(each)) for each in parts.values()]
    if all(content is None for _, content in drawn):
        return None
    return tuple(block for each, content in drawn for block in (content or _content(each)))


def _of_bytes(data: bytes) -> tuple[Content, ...]:
    kind = image_type(data)
    if kind is not None:
        return (image_content(data, kind),)
    try:
        return (TextContent(data.decode("utf-8") or "(no bytes)"),)
    except UnicodeDecodeError:
        return (TextContent(f"{len(data):,} bytes, beginning with {data[:32].hex(' ')}"),)


def _of_display_object(value: Any) -> tuple[Content, ...] | None:
    """The text or image of an object that a notebook would draw; never the JSON of a widget."""
    if "ipywidgets" in sys.modules and isinstance(value, sys.modules["ipywidgets"].Widget):
        return (TextContent(f"An interactive {type(value).__name__} is shown to the user."),)
    display = sys.modules.get("IPython.display")
    if display is not None and isinstance(value, display.DisplayObject):
        return _of_ipython(value)
    # Only methods of the class count: an object that answers to every name, such as a mock, has none of them.
    for method, read in _RICH:
        if callable(getattr(type(value), method, None)):
            drawn = getattr(value, method)()
            drawn = drawn[0] if isinstance(drawn, tuple) else drawn
            if drawn:
                return read(drawn)
    return None


def _of_ipython(value: Any) -> tuple[Content, ...]:
    data = getattr(value, "data", None)
    if isinstance(data, bytes):
        return _of_bytes(data)
    if not isinstance(data, str):
        return (TextContent(f"{type(value).__name__} is shown to the user."),)
    kind = type(value).__name__
    if kind == "HTML":
        return (TextContent(html_text(data)),)
    if kind in ("SVG", "Javascript", "JSON", "GeoJSON", "Audio", "Video"):
        return (TextContent(f"{kind} of {len(data):,} characters is shown to the user."),)
    return (TextContent(data),)


def _read_image(data: Any) -> tuple[Content, ...] | None:
    raw = base64.b64decode(data) if isinstance(data, str) else bytes(data)
    return _of_bytes(raw)


_RICH: tuple[tuple[str, Callable[[Any], tuple[Content, ...] | None]], ...] = (
    ("_repr_png_", _read_image),
    ("_repr_jpeg_", _read_image),
    ("_repr_markdown_", lambda text: (TextContent(str(text)),)),
    ("_repr_latex_", lambda text: (TextContent(str(text)),)),
    ("_repr_html_", lambda text: (TextContent(html_text(str(text))),)),
)


# HTML -----------------------------------------------------------------------------------------------------------------


class _TextOfHTML(HTMLParser):
    _HIDDEN = ("script", "style", "template", "head")
    _LINES = ("p", "div", "br", "li", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "ul", "ol")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in self._HIDDEN:
            self._hidden += 1
        elif tag in self._LINES:
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append("\t")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN and self._hidden:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def html_text(html: str) -> str:
    """What a reader of this HTML would read, roughly."""
    parser = _TextOfHTML()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split(" ")).strip() for line in "".join(parser.pieces).splitlines())
    return "\n".join(line for line in lines if line)
