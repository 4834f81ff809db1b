"""What a model is told of a value that the user mentions, piece by piece, the most important first.

A summary is an iterator, so that what came before a time limit can be used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..messages import Content
from ..tools import figures
from ..tools.json_text import named
from ..tools.result import cut
from . import arrays, callables, frames
from .kinds import CONTAINERS, PLAIN, is_a, kind_of, library_of
from .outline import outline

Piece = str | Content

_TEXT = 6_000
_DRAWN = ("matplotlib", "seaborn", "plotly", "altair", "PIL")
_NO_REPR: Any = object.__repr__


def summary(value: Any) -> Iterator[Piece]:
    """The pieces of the summary of `value`: texts and images."""
    for describe in (frames.describe, arrays.describe, callables.describe):
        pieces = describe(value)
        if pieces is not None:
            return pieces
    if is_drawn(value):
        return _drawing(value)
    kind = type(value)
    if kind is str:
        return iter((kind_of(value), cut(value, _TEXT)))
    if kind in PLAIN or issubclass(kind, CONTAINERS):
        return iter((kind_of(value), cut(outline(value), _TEXT)))
    return _other(value)


def is_drawn(value: Any) -> bool:
    """Whether it may be a figure, chart, image or array of axes, by its class alone."""
    libraries = {str(kind.__module__).partition(".")[0] for kind in type(value).__mro__}
    return not libraries.isdisjoint(_DRAWN) or is_a(value, "numpy", "ndarray")


def _drawing(value: Any) -> Iterator[Piece]:
    yield f"{library_of(value)} {type(value).__name__}"
    drawn = figures.describe(value)
    yield from (_repr(value),) if drawn is None else drawn


def _other(value: Any) -> Iterator[Piece]:
    yield named(value)
    if type(value).__repr__ is not _NO_REPR:
        yield _repr(value)


def _repr(value: Any) -> str:
    return cut(repr(value), _TEXT)
