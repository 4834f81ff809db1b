"""`typing.TypedDict` for pydantic on Python 3.10 and 3.11, where it reads only that of `typing_extensions`."""

from __future__ import annotations

import functools
import operator
import types
import typing
from typing import Any

import typing_extensions

_MARKS: tuple[Any, ...] = (typing_extensions.Required, typing_extensions.NotRequired)


def readable(annotation: Any) -> Any:
    """`annotation` with every `typing.TypedDict` in it replaced by an equal one that pydantic reads."""
    if typing.is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return _replaced(annotation)
    origin = typing.get_origin(annotation)
    parts = typing.get_args(annotation)
    if not parts or origin is typing.Literal:
        return annotation
    if origin is typing.Annotated:
        return operator.getitem(typing.Annotated, (readable(parts[0]), *annotation.__metadata__))
    replaced = tuple(part if isinstance(part, list) else readable(part) for part in parts)
    if replaced == parts:
        return annotation
    generic: Any = typing.Union if isinstance(annotation, types.UnionType) else origin
    return generic[replaced[0] if len(replaced) == 1 else replaced]


@functools.lru_cache(maxsize=256)
def _replaced(given: Any) -> Any:
    fields: dict[str, Any] = {}
    for name, hint in typing_extensions.get_type_hints(given, include_extras=True).items():
        mark: Any = _MARKS[name not in given.__required_keys__]
        marked = typing_extensions.get_origin(hint) in _MARKS
        fields[name] = readable(hint) if marked else mark[readable(hint)]
    make: Any = typing_extensions.TypedDict
    made = make(given.__name__, fields)
    made.__doc__, made.__module__, made.__qualname__ = given.__doc__, given.__module__, given.__qualname__
    return made
