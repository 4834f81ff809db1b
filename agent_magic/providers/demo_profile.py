"""What the demo model knows of a tool: its parameters by kind, and the words that speak for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .demo_words import GENERIC, is_empty, listed, name_words, related, stem
from .offered_tools import OfferedTool, schema_of

_WRITING = frozenset(
    map(stem, listed("text message query sentence phrase note title content body prompt question comment"))
)
_PLACE = frozenset(
    map(stem, listed("city place location town country region address destination origin airport station"))
)
_CODE = frozenset(map(stem, listed("code symbol ticker abbreviation currency")))
_FILE = frozenset(map(stem, listed("file path filename folder directory")))
_TO = re.compile(r"\b(to|into|target|destination|result(?:ing)?|output)\b")
_FROM = re.compile(r"\b(from|source|origin|input|given)\b")
_EXAMPLES = re.compile(
    r"(?:such as|e\.g\.|for example|for instance|like|one of|example:?|either)\s+([^.;)]+)", re.IGNORECASE
)


@dataclass(frozen=True)
class Parameter:
    """One argument: `kind` is choice, number, integer, boolean, date, date-time, time, text, list or other."""

    name: str
    kind: str
    description: str = ""
    required: bool = True
    choices: tuple[Any, ...] = ()
    item: Parameter | None = None
    minimum: float | None = None
    maximum: float | None = None

    @cached_property
    def name_stems(self) -> tuple[str, ...]:
        return tuple(stem(word) for word in name_words(self.name))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Content words of name and description."""
        words = [*name_words(self.name), *re.findall(r"[^\W\d_]{2,}", self.description)]
        return frozenset(stem(word) for word in words if not is_empty(word))

    @cached_property
    def examples(self) -> dict[str, str]:
        """The values that the description gives as examples, by their lower-case form."""
        found: dict[str, str] = {}
        for few in _EXAMPLES.findall(self.description):
            for each in re.split(r",|\bor\b|\band\b", few):
                word = each.strip(" `'\"“”‘’")
                if word and len(word.split()) <= 3:
                    found[word.lower()] = word
        codes = re.findall(r"\b[A-Z][A-Z0-9]+\b", self.description)
        return found | {code.lower(): code for code in codes}

    @property
    def is_year(self) -> bool:
        return self.kind == "integer" and "year" in self.stems

    @property
    def is_writing(self) -> bool:
        return bool(_WRITING & set(self.name_stems))

    @property
    def is_place(self) -> bool:
        return bool(_PLACE & set(self.name_stems))

    @property
    def is_code(self) -> bool:
        return bool(_CODE & self.stems)

    @property
    def is_file(self) -> bool:
        return bool(_FILE & set(self.name_stems))

    @cached_property
    def direction(self) -> str:
        """`to` or `from` where name or description say so, else empty."""
        name = " ".join(self.name_stems)
        for text in (name, self.description.lower()):
            to, from_ = bool(_TO.search(text)), bool(_FROM.search(text))
            if to != from_:
                return "to" if to else "from"
        return ""


@dataclass(frozen=True)
class ToolProfile:
    """A tool with the weight of every word that speaks for it."""

    tool: OfferedTool
    parameters: tuple[Parameter, ...]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(each for each in self.parameters if each.required)


def profile_of(tool: OfferedTool) -> ToolProfile:
    schema = schema_of(tool)
    required = set(schema.get("required", ()))
    parameters = tuple(
        _parameter(name, each, name in required, schema.get("$defs", {}))
        for name, each in schema.get("properties", {}).items()
    )
    return ToolProfile(tool, parameters, _weights(tool, parameters))


def _weights(tool: OfferedTool, parameters: tuple[Parameter, ...]) -> dict[str, float]:
    first, _, rest = tool.description.strip().partition("\n")
    of_parameters = {each for parameter in parameters for each in parameter.name_stems}
    found: dict[str, float] = {}

    def add(words: list[str], weight: float) -> None:
        for word in words:
            if not is_empty(word) and len(word) > 1:
                value = weight * (0.2 if word.lower() in GENERIC else 1.0)
                found[stem(word)] = max(found.get(stem(word), 0.0), value)

    names = name_words(tool.name)
    add(names, 3.0)
    if all(word.lower() in GENERIC or is_empty(word) for word in names):
        found |= {stem(word): 2.0 for word in names}
    described = re.findall(r"[^\W\d_]{2,}", first)
    add([word for word in described if stem(word) not in of_parameters], 1.5)
    add([word for word in described if stem(word) in of_parameters], 0.7)
    add(re.findall(r"[^\W\d_]{2,}", rest), 0.3)
    for parameter in parameters:
        add(name_words(parameter.name), 0.5)
        add(re.findall(r"[^\W\d_]{2,}", parameter.description), 0.3)
    for word, weight in list(found.items()):
        for other in related(word):
            if weight >= 1.5:
                found[other] = max(found.get(other, 0.0), 0.8 * weight)
    return found


def _parameter(name: str, schema: Any, required: bool, definitions: Mapping[str, Any]) -> Parameter:
    schema = schema if isinstance(schema, Mapping) else {}
    description = str(schema.get("description") or "")
    schema = _resolved(schema, definitions)
    kind, choices, item = "other", (), None
    shape = schema.get("type")
    if "enum" in schema or "const" in schema:
        given = schema.get("enum", (schema.get("const"),))
        kind, choices = "choice", tuple(each for each in given if isinstance(each, (int, float)) or _is_name(each))
    elif shape == "array":
        kind = "list"
        item = _parameter(name, schema.get("items", {"type": "string"}), True, definitions)
    elif shape in ("number", "integer", "boolean"):
        kind = shape
    elif shape == "string":
        kind = {"date": "date", "date-time": "date-time", "time": "time"}.get(schema.get("format", ""), "text")
        if kind == "text" and name_words(name)[-1:] and name_words(name)[-1].lower() in ("date", "day", "time"):
            kind = "time" if name_words(name)[-1].lower() == "time" else "date"
    least, most = _limit(schema, "minimum", "exclusiveMinimum"), _limit(schema, "maximum", "exclusiveMaximum")
    return Parameter(name, kind, description, required, choices, item, least, most)


def _is_name(choice: Any) -> bool:
    return isinstance(choice, str) and any(character.isalnum() for character in choice)


def _limit(schema: Mapping[str, Any], *names: str) -> float | None:
    found = (schema.get(name) for name in names)
    return next((each for each in found if isinstance(each, (int, float)) and not isinstance(each, bool)), None)


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """`schema` without references and without the alternative null."""
    for _ in range(8):
        if "$ref" in schema:
            schema = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
            continue
        parts = [each for key in ("anyOf", "oneOf", "allOf") for each in schema.get(key, ())]
        parts = [each for each in parts if isinstance(each, Mapping) and each.get("type") != "null"]
        if not parts:
            break
        constants = [each["const"] for each in parts if "const" in each]
        schema = {"enum": constants} if len(constants) == len(parts) else parts[0]
    if isinstance(schema.get("type"), list):
        kinds = [each for each in schema["type"] if each != "null"]
        schema = {**schema, "type": kinds[0] if kinds else "string"}
    return schema
