"""JSON Schemas as the Gemini API reads them."""

from __future__ import annotations

from typing import Any

import pytest

from agent_magic.providers.gemini_schema import readable_schema

CITY = {"type": "object", "properties": {"name": {"type": "string"}}}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"$schema": "x", "type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
        ({"properties": {"$ref": {"type": "string"}}}, {"properties": {"$ref": {"type": "string"}}}),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"anyOf": [{"const": 1}, {"type": "null"}]}, {"anyOf": [{"enum": [1]}, {"type": "null"}]}),
        ({"$defs": {"City": CITY}, "type": "object"}, {"type": "object"}),
        (
            {"$defs": {"City": CITY}, "items": {"$ref": "#/$defs/City"}},
            {"items": {"$ref": "#/$defs/City"}, "$defs": {"City": CITY}},
        ),
        (
            {"definitions": {"City": CITY}, "items": {"$ref": "#/definitions/City", "description": "where"}},
            {"items": {**CITY, "description": "where"}},
        ),
        (
            {"$defs": {"City": CITY}, "items": {"allOf": [{"$ref": "#/$defs/City"}], "description": "where"}},
            {"items": {**CITY, "description": "where"}},
        ),
        (
            {"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]},
            {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        ),
        ({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}}, {**NODE, "$defs": {"Node": NODE}}),
        ({"items": {"$ref": "#/$defs/Gone", "title": "t"}}, {"items": {"title": "t"}}),
    ],
)
def test_a_schema_keeps_its_meaning_in_words_that_the_api_knows(schema: dict[str, Any], expected: Any) -> None:
    assert readable_schema(schema) == expected


def test_a_schema_that_holds_itself_with_words_beside_ends() -> None:
    child = {"$ref": "#/$defs/Node", "description": "below"}
    node = {"type": "object", "properties": {"left": child, "right": child}}
    found = readable_schema({"$defs": {"Node": node}, "properties": {"root": child}})
    assert found["properties"]["root"]["description"] == "below"
    assert found["properties"]["root"]["properties"]["left"] == {"$ref": "#/$defs/Node"}
    assert found["$defs"]["Node"]["properties"]["right"] == {"$ref": "#/$defs/Node"}
