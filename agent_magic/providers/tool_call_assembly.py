"""Puts tool calls together from the pieces that a server streams, for every API alike.

Each call is announced once, with name and id, before the first of its arguments; pieces that come earlier are held
back. Arguments are joined and parsed once, at the end (source: H, tool-call streaming protocol).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ToolCallArgumentParseError
from ..events import PartialToolCall, StreamItem, ToolCallItem
from ..messages import Fidelity
from .handoff import clean_text, clean_value
from .json_text import NotJSONError, parse_json, to_json_bytes

UNNAMED = "unnamed_tool"


class CallInProgress:
    """One call: its identity as far as it is known, and the pieces of its argument text."""

    __slots__ = ("_read", "_read_length", "announced", "fidelity", "id", "index", "length", "name", "pieces")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.length = 0
        self.announced = False
        self.fidelity: Fidelity | None = None
        self._read: dict[str, Any] | None = None
        self._read_length = -1

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def add_object(self, value: dict[str, Any], text: str) -> None:
        """Add `text`, which was made of `value`."""
        self.add(text)
        # JSON in which these stand is none, whatever the server reads it with.
        if self.length == len(text) and "NaN" not in text and "Infinity" not in text:
            self._read, self._read_length = clean_value(value), self.length

    def arguments(self) -> dict[str, Any] | None:
        """The object that the argument text stands for, None where it is none. A long one is read once."""
        if self._read_length != self.length:
            self._read, self._read_length = parse_arguments(self.text), self.length
        return self._read

    def is_whole(self) -> bool:
        """Whether the argument text is an object by now. Joins the text only if it may be."""
        return bool(self.pieces) and self.pieces[-1].rstrip().endswith("}") and self.arguments() is not None


class ToolCallAssembly:
    """The calls of one answer. `client` is the name of the API; `next_index` gives each new block its index."""

    def __init__(self, client: str, next_index: Callable[[], int]) -> None:
        self.calls: list[CallInProgress] = []
        self._client = client
        self._next_index = next_index

    def open(self) -> CallInProgress:
        """A new call, of which nothing is known."""
        call = CallInProgress(self._next_index())
        self.calls.append(call)
        return call

    def identify(self, call: CallInProgress, name: Any = None, call_id: Any = None) -> Iterable[StreamItem]:
        """Take in what a piece says of the identity. What was known first stays."""
        if isinstance(name, str) and name and not call.name:
            call.name = clean_text(name)
        if not call.id and isinstance(call_id, (str, int)) and call_id != "":
            call.id = self._unique(clean_text(str(call_id)))
        if call.name and call.id and not call.announced:
            return self._announce(call)
        return ()

    def add_arguments(self, call: CallInProgress, arguments: Any) -> Iterable[StreamItem]:
        """Take in a piece of the arguments: text, or a value that the server has parsed already."""
        if arguments is None or arguments == "":
            return ()
        text = arguments if isinstance(arguments, str) else to_json_bytes(arguments).decode()
        if text.startswith("{") and call.pieces and self._repeats(call, arguments, text):
            return ()
        if isinstance(arguments, dict):
            call.add_object(arguments, text)
        else:
            call.add(text)
        return (PartialToolCall(call.index, "", "", text),) if call.announced else ()

    def make_up_id(self, call: CallInProgress) -> Iterable[StreamItem]:
        """Give an id to a call whose server gives none."""
        return () if call.id else self.identify(call, call_id=f"call_{secrets.token_hex(8)}")

    def finish(self, truncated: bool) -> list[StreamItem]:
        """The items that end all calls: late announcements and a `ToolCallItem` for each whole call.

        Bad arguments of a `truncated` answer are passed over, since the message says so by its stop reason. For
        others ask `error` afterwards.
        """
        items: list[StreamItem] = []
        for call in self.calls:
            items += self.identify(call, name=UNNAMED)
            items += self.make_up_id(call)
            cut = truncated and not call.text.strip()
            arguments = None if cut else call.arguments()
            if arguments is not None:
                items.append(ToolCallItem(call.index, call.id, call.name, arguments, call.fidelity))
        return items

    def error(self) -> ToolCallArgumentParseError | None:
        """The error of the first call whose arguments are no JSON object."""
        for call in self.calls:
            if call.arguments() is None:
                return ToolCallArgumentParseError(self._client, call.name, call.id, clean_text(call.text))
        return None

    @staticmethod
    def _repeats(call: CallInProgress, arguments: Any, text: str) -> bool:
        """Whether a whole object only says again what was streamed, as some servers do at the end."""
        if call.length != len(text) and isinstance(arguments, str):
            return False
        return call.is_whole() and call.arguments() == parse_arguments(text)

    def _announce(self, call: CallInProgress) -> Iterable[StreamItem]:
        call.announced = True
        items = [PartialToolCall(call.index, call.name, call.id, "")]
        if call.pieces:
            items.append(PartialToolCall(call.index, "", "", call.text))
        return items

    def _unique(self, call_id: str) -> str:
        """Two calls of one id could not be told apart by their results."""
        taken = {call.id for call in self.calls}
        number, unique = 1, call_id
        while unique in taken:
            number += 1
            unique = f"{call_id}_{number}"
        return unique


def parse_arguments(text: str) -> dict[str, Any] | None:
    """The object that an argument text stands for, or None; no text at all, and `null`, mean no arguments."""
    stripped = text.strip()
    if stripped in ("", "null"):
        return {}
    try:
        value = parse_json(stripped)
    except NotJSONError:
        return None
    return clean_value(value) if isinstance(value, dict) else None
