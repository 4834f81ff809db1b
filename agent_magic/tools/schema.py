"""JSON Schema of a function's parameters."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ToolDefinitionError
from .parameters import REQUIRED, Parameter, Signature
from .plain import plain_schema


def input_schema(signature: Signature, tool_name: str) -> dict[str, Any]:
    """The JSON Schema of an object with one property a parameter; definitions stand at its top."""
    annotations = {each.name: each.annotation for each in signature.parameters.values()}
    schemas = {name: plain_schema(annotation) for name, annotation in annotations.items()}
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
        schema["additionalProperties"] = plain_schema(signature.extra) or True
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


def undescribable(tool_name: str, parameter: str, annotation: Any, reason: object) -> ToolDefinitionError:
    """The error for an annotation that has no JSON form."""
    return ToolDefinitionError(
        f"The parameter {parameter!r} of {tool_name} is annotated with {annotation!r}, which a model cannot write as "
        f"JSON. Take something that names it, such as a str, and look the object up inside. ({reason})"
    )
