"""Figures and images: a PNG for models that see, and a sentence for those that do not. Never their JSON."""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ..messages import Content, TextContent
from .images import MAX_IMAGE, image_content, pil_content

# Dots per inch to draw a figure with, from the best to the smallest that can still be read.
_RESOLUTIONS = (100, 72, 50)

# How many artists of a list are asked for their figure.
MAX_ARTISTS = 100


def describe(value: Any) -> tuple[Content, ...] | None:
    """The content of a figure of matplotlib, plotly or altair, or of a PIL image; None for anything else."""
    figure = figure_of(value)
    if figure is not None:
        return _matplotlib(figure)
    for library, path, write in (
        ("plotly.basedatatypes", "BaseFigure", _plotly),
        ("altair", "TopLevelMixin", _altair),
        ("PIL.Image", "Image", _pil),
    ):
        kind = getattr(sys.modules.get(library), path, None)
        if isinstance(kind, type) and isinstance(value, kind):
            return write(value)
    return None


def figure_of(value: Any) -> Any:
    """The matplotlib figure that `value` is or belongs to, such as that of axes, artists or an array of axes."""
    if "matplotlib.figure" not in sys.modules:
        return None
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "hasobject", False):
        value = list(value.flat)
    if not isinstance(value, (list, tuple)):
        return _one_figure(value)
    figures = {id(each): each for each in map(_one_figure, value[:MAX_ARTISTS])}
    return next(iter(figures.values())) if len(figures) == 1 else None


def _one_figure(value: Any) -> Any:
    base = sys.modules["matplotlib.figure"].FigureBase
    return next((each for each in (value, _attribute(value, "figure")) if isinstance(each, base)), None)


def _attribute(value: Any, name: str) -> Any:
    """An attribute that a class may compute, as seaborn's grids do."""
    try:
        return getattr(value, name, None) if type(value).__module__.startswith(("matplotlib.", "seaborn.")) else None
    except Exception:
        return None


def _matplotlib(figure: Any) -> tuple[Content, ...]:
    if not hasattr(figure, "savefig"):  # A part of a figure.
        figure = figure.figure
    titles = [title for axes in figure.axes if (title := axes.get_title())]
    labels = [f"{axes.get_xlabel()} and {axes.get_ylabel()}" for axes in figure.axes if axes.get_xlabel()]
    data = b""
    for resolution in _RESOLUTIONS:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=resolution, bbox_inches="tight")
        data = buffer.getvalue()
        if len(data) <= MAX_IMAGE:
            break
    return (_sentence("Figure", titles, labels), image_content(data, "image/png"))


def _sentence(kind: str, titles: Iterable[Any], parts: Iterable[Any]) -> TextContent:
    title = "; ".join(str(each) for each in titles if each)
    detail = "; ".join(str(each) for each in parts if each)
    return TextContent(f"{kind}{f' “{title}”' if title else ''}{f' ({detail})' if detail else ''}, shown to the user.")


def _plotly(figure: Any) -> tuple[Content, ...]:
    title = figure.layout.title.text
    traces = [f"{trace.type} {trace.name}" if trace.name else str(trace.type) for trace in figure.data[:20]]
    sentence = _sentence("Plotly figure", [title], traces)
    return _with_image(sentence, "kaleido", lambda: figure.to_image(format="png"))


def _altair(chart: Any) -> tuple[Content, ...]:
    def draw() -> bytes:
        buffer = io.BytesIO()
        chart.save(buffer, format="png")
        return buffer.getvalue()

    # Undefined parts of a chart are objects of a class of their own.
    title = chart.title if isinstance(getattr(chart, "title", None), str) else ""
    mark = getattr(chart, "mark", "")
    mark = mark if isinstance(mark, str) else getattr(mark, "type", "")
    sentence = _sentence("Altair chart", [title], [mark if isinstance(mark, str) else ""])
    return _with_image(sentence, "vl_convert", draw)


def _with_image(sentence: TextContent, renderer: str, draw: Callable[[], bytes]) -> tuple[Content, ...]:
    """The sentence, and the image if the library that draws it without a browser is installed and works."""
    if importlib.util.find_spec(renderer) is None:
        return (sentence,)
    try:
        return (sentence, image_content(draw(), "image/png"))
    except Exception:
        return (sentence,)


def _pil(image: Any) -> tuple[Content, ...]:
    return (TextContent(f"Image of {image.width} x {image.height} pixels, shown to the user."), pil_content(image))
