"""JSON with half characters in it."""

from __future__ import annotations

import pytest

from agent_magic.providers.json_text import NotJSONError, parse_json, to_json_bytes, to_json_texts


@pytest.mark.parametrize("text", ['{"a": "\\udc00"}', '{"a": "\udc00"}'])
def test_half_characters_are_no_reason_to_refuse_a_text(text: str) -> None:
    assert parse_json(text) == {"a": "\udc00"}


@pytest.mark.parametrize("text", ["", "{", "\udc00", '{"a": NaN}', b"\xff", "[" * 100_000, "[" * 600 + "]" * 600])
def test_what_is_no_json_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(NotJSONError):
        parse_json(text)


@pytest.mark.parametrize("texts", [[], [""], ['a",\n"b', "\n]", ",\n"], ["é\u2028", "half \udc00", "whole"]])
def test_texts_are_written_at_one_go_as_one_by_one(texts: list[str]) -> None:
    assert to_json_texts(texts) == [to_json_bytes(text) for text in texts]
