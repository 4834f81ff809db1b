"""JSON with half characters in it."""

from __future__ import annotations

import pytest

from agent_magic.providers.json_text import NotJSONError, parse_json


@pytest.mark.parametrize("text", ['{"a": "\\udc00"}', '{"a": "\udc00"}'])
def test_half_characters_are_no_reason_to_refuse_a_text(text: str) -> None:
    assert parse_json(text) == {"a": "\udc00"}


@pytest.mark.parametrize("text", ["", "{", "\udc00", '{"a": NaN}', b"\xff", "[" * 100_000])
def test_what_is_no_json_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(NotJSONError):
        parse_json(text)
