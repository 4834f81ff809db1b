"""The JSON values in the payloads of a stream, for every API alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic_core import from_json

from .json_text import HalfCharacters, NotJSONError, parse_json


class PayloadReader:
    """Reads payloads one after the other.

    `halves` is None until a payload holds half a character in an escape; from then on texts have to go through it.
    `words` are the first that were no JSON, which is how a server that fails may say why.
    """

    def __init__(self) -> None:
        self.halves: HalfCharacters | None = None
        self.words = ""

    def values(self, payload: bytes) -> Iterable[Any]:
        """The values of one payload: several where a server forgets the blank lines between its events.

        Raises `NotJSONError` where a value is broken; words that never were JSON are no values.
        """
        try:
            return (from_json(payload),)
        except ValueError:
            pass
        self.halves = self.halves or HalfCharacters()
        text = payload.decode("utf-8", "replace")
        try:
            return (parse_json(text),)
        except NotJSONError:
            pass
        if text[:1] not in ("{", "["):
            self.words = self.words or text
            return ()
        return [parse_json(line) for line in text.split("\n") if line.strip()]

    def join(self, text: str, place: object) -> str:
        """`text` as valid Unicode, with the half character that waits at `place`."""
        return text if self.halves is None else self.halves.join(text, place)

    def left_at(self, place: object) -> str:
        """The sign for half a character, if one still waits at `place`."""
        return "" if self.halves is None else self.halves.left_at(place)
