"""JSON Schema of a function's parameters.

Plain annotations, such as `int`, `list[str]` or `Literal["a", "b"]`, are written down here, exactly as pydantic would
do it, so that most tools can be defined before pydantic is loaded; every other annotation is pydantic's.
"""

from __future__ import annotations

import functools
import math
import types
import typing
from typing import Any, Literal, Union

from ..errors import ToolDefinitionError
from .parameters import REQUIRED, Parameter, Signature

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


def input_schema(signature: Signature, tool_name: str) -> dict[str, Any]:
    """The JSON Schema of an object with one property a parameter; definitions stand at its top."""
    annotations = {each.name: each.annotation for each in signature.parameters.values()}
    schemas = {name: _plain(annotation) for name, annotation in annotations.items()}
    others = {name: annotations[name] for name, schema in schemas.items() if schema is None}
    definitions: dict[str, Any] = {}
    if others:
        from .adapters import schemas_of

        found, definitions = schemas_of(others, tool_name)
        schemas.update(found)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            each.name: _described(dict(schemas[each.name] or {}), each) for each in signature.parameters.values()
        },
        "additionalProperties": False,
    }
    required = [each.name for each in signature.parameters.values() if each.default is REQUIRED]
    if required:
        schema["required"] = required
    if signature.extra is not None:
        schema["additionalProperties"] = _plain(signature.extra) or True
    if definitions:
        schema["$defs"] = definitions
    return schema


def _described(schema: dict[str, Any], parameter: Parameter) -> dict[str, Any]:
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.default is not REQUIRED:
        schema.pop("default", None)
        schema.update(_default(parameter.default))
    return schema


def _default(value: Any) -> dict[str, Any]:
    """`{"default": ...}`, or nothing if the default value cannot be told in JSON."""
    if value is None or type(value) in (str, int, bool):
        return {"default": value}
    if isinstance(value, float):
        return {"default": value} if math.isfinite(value) else {}
    from pydantic_core import to_jsonable_python

    try:
        return {"default": to_jsonable_python(value)}
    except Exception:
        return {}


def _plain(annotation: Any) -> dict[str, Any] | None:
    """The schema of a plain annotation, None for any other."""
    try:
        return _plain_by_annotation(annotation)
    except TypeError:  # Not hashable.
        return None


@functools.lru_cache(maxsize=1024)
def _plain_by_annotation(annotation: Any) -> dict[str, Any] | None:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return _choice(parts)
    if origin in (Union, types.UnionType):
        schemas = [_plain(part) for part in parts]
        return None if None in schemas or {} in schemas else {"anyOf": schemas}
    if origin is list:
        items = _plain(parts[0])
        return None if items is None else {"items": items, "type": "array"}
    if origin is dict and parts[0] is str:
        values = _plain(parts[1])
        return None if values is None else {"additionalProperties": values or True, "type": "object"}
    return None


def _choice(values: tuple[Any, ...]) -> dict[str, Any] | None:
    for kind, name in ((str, "string"), (int, "integer")):
        if all(type(value) is kind for value in values):
            return {"const": values[0], "type": name} if len(values) == 1 else {"enum": list(values), "type": name}
    return None


def undescribable(tool_name: str, parameter: str, annotation: Any, reason: object) -> ToolDefinitionError:
    """The error for an annotation that has no JSON form."""
    return ToolDefinitionError(
        f"The parameter {parameter!r} of {tool_name} is annotated with {annotation!r}, which a model cannot write as "
        f"JSON. Take something that names it, such as a str, and look the object up inside. ({reason})"
    )
