"""Plain annotations, such as `int`, `list[str]` or `Literal["a", "b"]`, and their JSON Schema.

They are written down here exactly as pydantic would do it (a test compares both), so that most tools can be defined
before pydantic is loaded, and fast.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import Any, Literal, Union

_PLAIN: dict[Any, dict[str, Any]] = {
    Any: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    list: {"items": {}, "type": "array"},
    dict: {"additionalProperties": True, "type": "object"},
}


def plain_schema(annotation: Any) -> dict[str, Any] | None:
    """The schema of a plain annotation, to be copied before it is changed; None for any other annotation."""
    try:
        return _by_annotation(annotation)
    except TypeError:  # Not hashable.
        return None


@functools.lru_cache(maxsize=1024)
def _by_annotation(annotation: Any) -> dict[str, Any] | None:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return _choice(parts)
    if origin in (Union, types.UnionType):
        schemas = [plain_schema(part) for part in parts]
        return None if None in schemas or {} in schemas else {"anyOf": schemas}
    if origin is list:
        items = plain_schema(parts[0])
        return None if items is None else {"items": items, "type": "array"}
    if origin is dict and parts[0] is str:
        values = plain_schema(parts[1])
        return None if values is None else {"additionalProperties": values or True, "type": "object"}
    return None


def _choice(values: tuple[Any, ...]) -> dict[str, Any] | None:
    for kind, name in ((str, "string"), (int, "integer")):
        if all(type(value) is kind for value in values):
            return {"const": values[0], "type": name} if len(values) == 1 else {"enum": list(values), "type": name}
    return None
