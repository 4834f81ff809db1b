"""What a tool returned or displayed, as mimebundles that are safe to keep and to show."""

from __future__ import annotations

import base64
import html.parser
import json
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..messages import ImageContent, InlineData
from .limits import DETAIL_LIMIT, IMAGE_LIMIT, jsonable, whole_characters, with_note
from .pictures import figure_picture, fitted, pil_picture
from .tables import TABLE_TYPE, is_table, loaded, table_of
from .wording import one_line, without_ansi

Bundle = dict[str, Any]

IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif")
PLOTLY_TYPE = "application/vnd.plotly.v1+json"
_CHART_PREFIXES = (PLOTLY_TYPE, "application/vnd.vega")

_MAX_PARTS = 10
_PACKAGE = str(Path(__file__).resolve().parent.parent)


def output_bundles(value: Any, origin: str = "user") -> list[Bundle]:
    """The rich forms of a tool's result: tables, figures, images, charts, tracebacks.

    Empty for what its text says as well. Charts (plotly, altair) only from tools of origin `user`. No library is
    imported to find out.
    """
    if isinstance(value, (list, tuple)) and 0 < len(value) <= _MAX_PARTS:
        return [bundle for each in value for bundle in _one(each, origin)]
    return _one(value, origin)


def _one(value: Any, origin: str) -> list[Bundle]:
    if value is None or isinstance(value, (str, int, float, complex)):
        return []
    if isinstance(value, BaseException):
        return [{"text/plain": traceback_text(value)}]
    try:
        bundle = table_of(value) or _picture(value) or _chart(value, origin) or _document(value)
    except Exception:
        # A broken object of the user's must not break the run; its text is in the result all the same.
        return []
    return [bundle] if bundle else []


def media_bundle(kind: str, data: str) -> Bundle:
    """Media that a model made or a tool returned: a picture as itself, anything else by its name."""
    picture = fitted(kind, data) if kind in IMAGE_TYPES else {}
    return picture or {"text/plain": f"{one_line(kind)}, {len(data) * 3 // 4:,} bytes, not shown here"}


def content_bundles(content: Any) -> list[Bundle]:
    """The pictures and other media among the blocks of a message or a result."""
    blocks = content if isinstance(content, (list, tuple)) else ()
    return [
        media_bundle(block.mime_type, block.data)
        for block in blocks
        if isinstance(block, (ImageContent, InlineData)) and block.data
    ]


def is_chart(kind: str) -> bool:
    """Whether a MIME type is the JSON of a plotly or Vega chart."""
    return kind.startswith(_CHART_PREFIXES) and kind.endswith("json")


def safe_bundle(bundle: Mapping[str, Any], origin: str = "user") -> Bundle:
    """What may be kept of something displayed: pictures, text, and charts of the user's own tools.

    Never HTML, Markdown, JavaScript, SVG or widgets; something that is only HTML becomes its words.
    """
    kept: Bundle = {}
    for kind, data in bundle.items():
        if kind in IMAGE_TYPES:
            kept.update(fitted(kind, data))
        elif is_chart(kind) and origin == "user" and isinstance(data, Mapping):
            kept[kind] = jsonable_chart(data)
        elif kind == TABLE_TYPE and is_table(data):
            kept[kind] = jsonable(data)
    text = bundle.get("text/plain")
    text = "".join(text) if isinstance(text, (list, tuple)) else text
    foreign = bundle.get("text/html")
    if isinstance(foreign, str) and not kept and (not text or _is_bare_repr(str(text))):
        text = words_of_html(foreign) or text
    if text:
        kept["text/plain"] = with_note(without_ansi(str(text)), DETAIL_LIMIT)
    return kept


def traceback_text(error: BaseException) -> str:
    """The traceback of `error` without this package's own frames, and without colours."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(own)] if own else []
    lines += traceback.format_exception_only(type(error), error)
    return with_note(without_ansi("".join(lines)).rstrip("\n"), DETAIL_LIMIT)


# Pictures and charts --------------------------------------------------------------------------------------------------


def _picture(value: Any) -> Bundle | None:
    if isinstance(value, loaded("matplotlib.figure", "Figure")):
        return figure_picture(value)
    if isinstance(value, loaded("matplotlib.axes", "Axes")):
        return figure_picture(value.figure)
    if isinstance(value, loaded("PIL.Image", "Image")):
        return pil_picture(value)
    if isinstance(value, (bytes, bytearray)):
        for kind, start in (("image/png", b"\x89PNG"), ("image/jpeg", b"\xff\xd8\xff"), ("image/gif", b"GIF8")):
            if value.startswith(start):
                return fitted(kind, base64.b64encode(value).decode("ascii")) or None
    return None


def _chart(value: Any, origin: str) -> Bundle | None:
    if isinstance(value, loaded("plotly.basedatatypes", "BaseFigure")):
        kind, chart, name = PLOTLY_TYPE, json.loads(value.to_json()), "plotly figure"
    elif isinstance(value, loaded("altair", "TopLevelMixin")):
        chart, name = value.to_dict(), "altair chart"
        version = 5 if "/v5" in str(chart.get("$schema", "")) else 6
        kind = f"application/vnd.vegalite.v{version}+json"
    else:
        return None
    text = {"text/plain": f"{name} (drawn by the front end)"}
    return {kind: jsonable_chart(chart), **text} if origin == "user" else text


def jsonable_chart(chart: Mapping[str, Any]) -> Any:
    """A chart as strict JSON data; its texts are not cut, since they may be data."""
    text = whole_characters(json.dumps(chart, default=str, ensure_ascii=False))
    return json.loads(text, parse_constant=lambda name: None)


# Documents ------------------------------------------------------------------------------------------------------------


def _document(value: Any) -> Bundle | None:
    if isinstance(value, loaded("IPython.core.display", "HTML")):
        return {"text/plain": with_note(words_of_html(str(value.data)), DETAIL_LIMIT)}
    if isinstance(value, loaded("IPython.core.display", "Markdown")):
        return {"text/plain": with_note(str(value.data), DETAIL_LIMIT)}
    if isinstance(value, loaded("IPython.core.display", "Image")):
        found = value._repr_mimebundle_()
        data = found[0] if isinstance(found, tuple) else found
        return safe_bundle(data) or None
    return None


class _Words(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._skipped += 1
        elif tag in ("br", "p", "div", "tr", "li", "pre", "h1", "h2", "h3", "h4"):
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append("\t")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._skipped = max(0, self._skipped - 1)

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.pieces.append(data)


def words_of_html(source: str) -> str:
    """The text of some HTML, without its markup, scripts and styles."""
    words = _Words()
    words.feed(source[: IMAGE_LIMIT * 2])
    words.close()
    lines = (" ".join(line.split(" ")).strip() for line in "".join(words.pieces).splitlines())
    return "\n".join(line for line in lines if line)


def _is_bare_repr(text: str) -> bool:
    return text.startswith("<") and text.endswith(">") and "object" in text
