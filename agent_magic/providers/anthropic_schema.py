"""JSON Schemas in the form in which the Messages API can hold an answer, or a call, to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEPT = frozenset({"type", "enum", "const", "$ref", "title", "description", "required"})
_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_LISTS = frozenset({"anyOf", "allOf"})
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})


def enforceable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with closed objects, and with what the API cannot enforce moved into descriptions."""
    found: dict[str, Any] = {}
    told: list[str] = []
    for name, value in schema.items():
        if name in _OF_SCHEMAS and isinstance(value, Mapping):
            found[name] = {key: _inner(each) for key, each in value.items()}
        elif name in _LISTS and isinstance(value, (list, tuple)):
            found[name] = [_inner(each) for each in value]
        elif name == "oneOf" and isinstance(value, (list, tuple)):
            found.setdefault("anyOf", [_inner(each) for each in value])
        elif name == "items" and isinstance(value, Mapping):
            found[name] = enforceable(value)
        elif name in _KEPT or (name == "format" and value in _FORMATS) or (name == "minItems" and value in (0, 1)):
            found[name] = value
        elif name != "$schema" and not (name == "additionalProperties" and isinstance(value, bool)):
            told.append(f"{name}: {value}")
    if schema.get("type") == "object" or "properties" in schema:
        found["additionalProperties"] = False
    if told:
        before = f"{found['description']}\n\n" if found.get("description") else ""
        found["description"] = f"{before}{{{', '.join(told)}}}"
    return found


def _inner(schema: Any) -> Any:
    return enforceable(schema) if isinstance(schema, Mapping) else schema
