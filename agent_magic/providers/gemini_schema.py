"""JSON Schemas in the part of the language that the Gemini API reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LISTS = frozenset({"anyOf", "oneOf", "prefixItems"})
_ONE = frozenset({"items", "additionalProperties"})
_PREFIXES = ("#/$defs/", "#/definitions/")

_LEFT_OUT = frozenset({"$schema", "$defs", "definitions", "const"})
# References with something beside them are copied in no deeper than this.
_DEEPEST = 3

Schema = dict[str, Any]
Definitions = Mapping[str, Any]


def readable_schema(schema: Mapping[str, Any]) -> Schema:
    """`schema` without what the API refuses: words that it does not know, and references with something beside them."""
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    found = _readable(schema, definitions, ())
    used = {name: _readable(definitions[name], definitions, (name,)) for name in definitions}
    needed = _names_referred_to(found, used)
    return {**found, "$defs": {name: used[name] for name in needed}} if needed else found


def _readable(schema: Any, definitions: Definitions, inside: tuple[str, ...]) -> Any:
    """`inside` names the definitions that this is a part of."""
    if not isinstance(schema, Mapping):
        return schema
    if isinstance(schema.get("$ref"), str):
        name = _name_in(schema["$ref"])
        if len(schema) > 1 or name not in definitions:
            return _resolved(schema, definitions, inside)
        return {"$ref": f"#/$defs/{name}"}
    found: Schema = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            found[key] = {name: _readable(each, definitions, inside) for name, each in value.items()}
        elif key in _LISTS and isinstance(value, (list, tuple)):
            found[key] = [_readable(each, definitions, inside) for each in value]
        elif key in _ONE:
            found[key] = _readable(value, definitions, inside)
        elif key == "allOf" and isinstance(value, (list, tuple)):
            for each in value:
                _merge(found, _resolved(each, definitions, inside))
        elif key == "const" and isinstance(value, (str, int, float)) and not isinstance(value, bool):
            found.setdefault("enum", [value])
        elif key not in _LEFT_OUT:
            found[key] = value
    return found


def _resolved(schema: Any, definitions: Definitions, inside: tuple[str, ...]) -> Any:
    """The schema with its own reference replaced by what it leads to, as long as that does not go in circles."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
        return _readable(schema, definitions, inside)
    name = _name_in(schema["$ref"])
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    if name not in definitions:
        return _readable(beside, definitions, inside)
    if name in inside or len(inside) > _DEEPEST:
        return {"$ref": f"#/$defs/{name}"}
    return _readable({**definitions[name], **beside}, definitions, (*inside, name))


def _merge(found: Schema, other: Any) -> None:
    """Make `found` demand what `other` demands too, as `allOf` means."""
    for key, value in other.items() if isinstance(other, Mapping) else ():
        if key == "properties" and isinstance(found.get(key), Mapping):
            found[key] = {**found[key], **value}
        elif key == "required" and isinstance(found.get(key), list):
            found[key] = list(dict.fromkeys([*found[key], *value]))
        else:
            found.setdefault(key, value)


def _name_in(reference: str) -> str:
    for prefix in _PREFIXES:
        reference = reference.removeprefix(prefix)
    return reference


def _names_referred_to(schema: Any, definitions: Definitions) -> list[str]:
    """The definitions that the schema still leads to, directly or through others."""
    names: list[str] = []
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            reference = value.get("$ref")
            name = _name_in(reference) if isinstance(reference, str) else ""
            if name in definitions and name not in names:
                names.append(name)
                waiting.append(definitions[name])
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            waiting += value
    return sorted(names)
