"""Checks arguments against a JSON Schema that somebody wrote by hand, such as that of an MCP tool.

The keywords that such schemas are made of are checked: `type enum const properties required additionalProperties
items minItems maxItems minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum anyOf oneOf allOf
$ref`, and `nullable`, as OpenAPI has it. Every other keyword, such as `format` or `if`, is left to the tool, which sees
the arguments anyway: a call must not fail here for a rule that was misread. So is a rule of another dialect, such as
the `exclusiveMinimum: true` of earlier drafts or a pattern that only JavaScript reads. A whole validator would cost
40 ms at the first call for no more than that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from ..errors import preview
from .tool import Arguments

# A value as it should be, and what is wrong with it.
Fit = tuple[Any, list[str]]

_IS: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}

_LIMITS: tuple[tuple[str, tuple[type, ...], Callable[[Any, Any], bool], str], ...] = (
    ("minimum", (int, float), lambda value, limit: value >= limit, "must be at least {}"),
    ("maximum", (int, float), lambda value, limit: value <= limit, "must be at most {}"),
    ("exclusiveMinimum", (int, float), lambda value, limit: value > limit, "must be more than {}"),
    ("exclusiveMaximum", (int, float), lambda value, limit: value < limit, "must be less than {}"),
    ("minLength", (str,), lambda value, limit: len(value) >= limit, "must have at least {} characters"),
    ("maxLength", (str,), lambda value, limit: len(value) <= limit, "must have at most {} characters"),
    ("pattern", (str,), lambda value, limit: _matches(limit, value), "must match {}"),
    ("minItems", (list,), lambda value, limit: len(value) >= limit, "must have at least {} items"),
    ("maxItems", (list,), lambda value, limit: len(value) <= limit, "must have at most {} items"),
)


def check(arguments: dict[str, Any], schema: Mapping[str, Any]) -> Arguments:
    """`arguments` with texts converted where the schema asks for a number, a truth value, a list or an object.

    Arguments that are missing at the top are not reported; `validate_required_args` does that.
    """
    values, problems = _Schema(schema).object(arguments, schema, "", report_missing=False)
    return Arguments(values, tuple(problems))


def required_names(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """The names that a schema requires; none where it says `required` in the way of a draft before 2013."""
    names = schema.get("required")
    return tuple(names) if isinstance(names, (list, tuple)) else ()


def unknown_argument(path: str, known: list[str]) -> str:
    """The line that says that there is no such argument, and which one may have been meant."""
    name = path.rpartition(".")[2]
    near = get_close_matches(name, known, 1)
    advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}." if known else "it takes none."
    return f"{path}: there is no such argument; {advice}"


class _Schema:
    """A whole schema, whose parts may refer to each other."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def fit(self, value: Any, schema: Any, path: str) -> Fit:
        schema = self._resolved(schema)
        if schema is False:
            return value, [f"{path}: is not allowed"]
        if not isinstance(schema, Mapping):
            return value, []
        value, problems = self._typed(value, schema, path)
        if problems:
            return value, problems
        problems += _limits(value, schema, path)
        if isinstance(value, dict):
            value, more = self.object(value, schema, path)
            problems += more
        elif isinstance(value, list):
            value, more = self._array(value, schema, path)
            problems += more
        return self._combined(value, schema, path, problems)

    def object(self, value: dict[str, Any], schema: Mapping[str, Any], path: str, report_missing: bool = True) -> Fit:
        known = schema.get("properties") or {}
        others = self._resolved(schema.get("additionalProperties", True))
        problems = [
            f"{_inside(path, name)}: is missing"
            for name in required_names(schema)
            if report_missing and name not in value
        ]
        patterns = schema.get("patternProperties") or {}
        fitted: dict[str, Any] = {}
        for name, each in value.items():
            place = _inside(path, name)
            if name not in known and any(_matches(pattern, name) for pattern in patterns):
                fitted[name] = each
                continue
            if name not in known and others is False:
                fitted[name] = each
                problems.append(unknown_argument(place, list(known)))
                continue
            fitted[name], more = self.fit(each, known.get(name, others), place)
            problems += more
        return fitted, problems

    def _array(self, value: list[Any], schema: Mapping[str, Any], path: str) -> Fit:
        pairs = [self.fit(each, schema.get("items", True), f"{path}[{place}]") for place, each in enumerate(value)]
        return [each for each, _ in pairs], [problem for _, problems in pairs for problem in problems]

    def _combined(self, value: Any, schema: Mapping[str, Any], path: str, problems: list[str]) -> Fit:
        for part in schema.get("allOf") or ():
            value, more = self.fit(value, part, path)
            problems += more
        for keyword in ("anyOf", "oneOf"):
            choices = schema.get(keyword)
            if choices:
                value, more = self._one_of(value, choices, path)
                problems += more
        return value, problems

    def _one_of(self, value: Any, choices: list[Any], path: str) -> Fit:
        fits = [self.fit(value, each, path) for each in choices]
        # An alternative that takes the value as it is goes before one that must convert it.
        good = [each for each, problems in fits if not problems]
        for each in good:
            if type(each) is type(value) and each == value:
                return each, []
        if good:
            return good[0], []
        return value, [f"{path}: fits none of {len(choices)} alternatives", *(f for _, fit in fits for f in fit)]

    def _typed(self, value: Any, schema: Mapping[str, Any], path: str) -> Fit:
        if "const" in schema and not _same(value, schema["const"]):
            return value, [f"{path}: must be {shown(schema['const'])}, not {shown(value)}"]
        kinds = schema.get("type") or []
        kinds = [kinds] if isinstance(kinds, str) else list(kinds)
        # What is no type of JSON Schema, such as `any` or `file`, says nothing that could be checked.
        known = all(isinstance(kind, str) and kind in _IS for kind in kinds)
        allowed = value is None and schema.get("nullable") is True
        if kinds and known and not allowed and not any(_IS[kind](value) for kind in kinds):
            converted = next((fit for kind in kinds for fit in _converted(value, kind)), None)
            if converted is None:
                return value, [f"{path}: must be of type {' or '.join(kinds)}, not {shown(value)}"]
            value = converted
        if (
            isinstance(schema.get("enum"), (list, tuple))
            and not allowed
            and not any(_same(value, each) for each in schema["enum"])
        ):
            return value, [f"{path}: must be one of {', '.join(map(shown, schema['enum']))}, not {shown(value)}"]
        return value, []

    def _resolved(self, schema: Any) -> Any:
        seen = 0
        while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str) and seen < 32:
            schema = self._at(schema["$ref"])
            seen += 1
        return schema

    def _at(self, reference: str) -> Any:
        """The part that a local reference names; one that leads nowhere allows everything."""
        place: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/") if reference.startswith("#") else ():
            name = step.replace("~1", "/").replace("~0", "~")
            if name:
                place = place.get(name, True) if isinstance(place, Mapping) else True
        return place if reference.startswith("#") else True


def _matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; a pattern that Python cannot read keeps nothing out."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


def _limits(value: Any, schema: Mapping[str, Any], path: str) -> list[str]:
    return [
        f"{path}: {words.format(schema[keyword])}, not {shown(value)}"
        for keyword, kinds, holds, words in _LIMITS
        if isinstance(schema.get(keyword), str if keyword == "pattern" else (int, float))
        and not isinstance(schema[keyword], bool)
        and isinstance(value, kinds)
        and not isinstance(value, bool)
        and not holds(value, schema[keyword])
    ]


def _converted(value: Any, kind: str) -> list[Any]:
    """`value` as a `kind`, as a list of one, or nothing if that would be a guess."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return [int(value)]
    if not isinstance(value, str):
        return []
    if kind == "boolean":
        return [value.lower() == "true"] if value.lower() in ("true", "false") else []
    if kind not in ("integer", "number", "array", "object"):
        return []
    try:
        read = json.loads(value)
    except ValueError:
        return []
    if kind == "integer" and isinstance(read, float) and read.is_integer():
        read = int(read)
    return [read] if _IS[kind](read) and not (isinstance(read, float) and not math.isfinite(read)) else []


def _same(value: Any, other: Any) -> bool:
    """Equality of JSON, where true is not 1."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _inside(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def shown(value: Any) -> str:
    try:
        return preview(json.dumps(value, ensure_ascii=False, default=repr))
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"
