"""JSON in and out: fast for what is valid, and forgiving towards half characters, which some servers send."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json, to_json

from .handoff import clean_text, clean_value


class NotJSONError(ValueError):
    """The text is no JSON. Never leaves the adapters."""


def parse_json(text: bytes | str) -> Any:
    """The value of a JSON text. Escaped lone surrogates are kept; anything that is not JSON is a `NotJSONError`."""
    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # The latter for half characters in the text itself.
        # What is nested deeper than that could be used nowhere.
        if "recursion limit" in str(error):
            raise NotJSONError(str(error)) from None
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotJSONError(str(error)) from None


def to_json_bytes(value: Any) -> bytes:
    """`value` as JSON in UTF-8, lone surrogates as U+FFFD."""
    try:
        return to_json(value)
    except ValueError:
        return to_json(clean_value(value))


def to_json_texts(texts: list[str]) -> list[bytes]:
    """Each text as JSON, as `to_json_bytes` makes it; at one go, since each call takes longer than most texts do."""
    try:
        lines = to_json(texts, indent=0)
    except ValueError:
        lines = to_json(clean_value(texts), indent=0)
    # Between "[\n" and "\n]" each has a line of its own: a JSON string holds no line break.
    found = lines.split(b",\n")
    found[0] = found[0][2:]
    found[-1] = found[-1][:-2]
    return found if texts else []


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


class HalfCharacters:
    """Joins characters whose two halves come in different pieces of one text; a half alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._waiting: dict[object, str] = {}

    def join(self, text: str, place: object) -> str:
        """`text` as valid Unicode, after what waits at `place` and without a first half at its end."""
        text = self._waiting.pop(place, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._waiting[place] = text[-1]
            text = text[:-1]
        return clean_text(text)

    def left_at(self, place: object) -> str:
        """What stands at the end of the text at `place`: nothing, or the sign for half a character."""
        return "\ufffd" if self._waiting.pop(place, "") else ""
