"""Which call a piece of a Chat Completions stream belongs to. Servers number calls well, badly, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ToolCallArgumentParseError
from ..events import PartialToolCall, StreamItem
from .tool_call_assembly import CallInProgress, ToolCallAssembly


class ChatCalls:
    """The calls of one answer."""

    def __init__(self, next_index: Callable[[], int]) -> None:
        self._assembly = ToolCallAssembly("openai-chat", next_index)
        self._by_number: dict[tuple[int, int], CallInProgress] = {}
        self._by_id: dict[str, CallInProgress] = {}
        self._last: CallInProgress | None = None
        self._single: CallInProgress | None = None

    @property
    def any(self) -> bool:
        return bool(self._assembly.calls)

    def finish(self, truncated: bool) -> list[StreamItem]:
        return self._assembly.finish(truncated)

    def error(self) -> ToolCallArgumentParseError | None:
        return self._assembly.error()

    def read(self, entries: list[Any], choice: int) -> list[StreamItem]:
        """The items of a list of pieces, of one chunk and choice."""
        items: list[StreamItem] = []
        for position, entry in enumerate(entries):
            if isinstance(entry, dict):
                self._read_entry(entry, choice, position, items)
        return items

    def more_of_a_call(self, entries: Any, choice: Any) -> PartialToolCall | None:
        """The commonest piece read quickly: some more arguments of an announced call. None, and nothing read, else."""
        try:
            (entry,) = entries
            known = self._by_number[choice, entry["index"]]
            arguments = entry["function"]["arguments"]
            if len(entry) > 2 or len(entry["function"]) > 1:
                return None
        except (KeyError, TypeError, ValueError):
            return None
        if type(arguments) is not str or not arguments or arguments[0] == "{" or not known.announced:
            return None
        known.add(arguments)
        self._last = known
        return PartialToolCall(known.index, "", "", arguments)

    def read_single(self, piece: dict[str, Any]) -> list[StreamItem]:
        """The items of a piece of the older form `function_call`, which knows one call and no ids."""
        items: list[StreamItem] = []
        if self._single is None:
            self._single = self._assembly.open()
        items += self._assembly.identify(self._single, piece.get("name"))
        items += self._assembly.make_up_id(self._single)
        items += self._assembly.add_arguments(self._single, piece.get("arguments"))
        return items

    def _read_entry(self, entry: dict[str, Any], choice: int, position: int, items: list[StreamItem]) -> None:
        function = entry.get("function")
        if not isinstance(function, dict):
            function = entry
        number = _number(entry.get("index"))
        call_id, name, arguments = entry.get("id"), function.get("name"), function.get("arguments")
        call = self._call_of(choice, number, position, _text(call_id), _text(name), bool(arguments))
        self._last = call
        if number is not None:
            self._by_number[choice, number] = call
        if _text(call_id):
            self._by_id.setdefault(_text(call_id), call)
        extra = entry.get("extra_content")
        if extra is not None:
            call.fidelity = {**(call.fidelity or {}), "extra_content": extra}
        items += self._assembly.identify(call, name, call_id)
        items += self._assembly.add_arguments(call, arguments)

    def _call_of(
        self,
        choice: int,
        number: int | None,
        position: int,
        call_id: str,
        name: str,
        has_arguments: bool,
    ) -> CallInProgress:
        """A known id or number means more of that call; a new id, or a name after a whole call, a new one."""
        current = self._last if number is None else self._by_number.get((choice, number))
        if call_id and (current is None or current.id != call_id):
            known = self._by_id.get(call_id)
            if known is not None and (number is None or current is None or not name) and not known.is_whole():
                return known
            if current is not None and not name and has_arguments and current.name and not current.is_whole():
                # Some servers give each piece a new id; a call that begins says its name.
                return current
            if current is None or current.id:
                return self._assembly.open()
            if number is None and current.name:
                return self._assembly.open()
            return current
        if current is None:
            return self._assembly.open()
        if name and not call_id and current.name:
            another = name != current.name or (number is None and position > 0)
            if another or (has_arguments and current.is_whole()):
                return self._assembly.open()
        return current


def _number(value: Any) -> int | None:
    """The index of a piece; null, and what is no number, count as absent."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value if isinstance(value, int) else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
