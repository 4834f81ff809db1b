"""The present state of a record: its items, the deltas that led to them, and the room that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import now
from .limits import ANSWER_ROOM, DETAIL_ROOM, IMAGE_LIMIT, head, json_size, whole_characters

Bundle = Mapping[str, Any]
OPEN_STATES = ("pending", "running")

# The bytes that an item takes before it holds anything.
_ITEM_FRAME = 300


class Journal:
    """Items in order, and fields of the record itself; every change is kept as a delta.

    A delta is `{seq, item, set}` or `{seq, item, append}`: fields that replaced others, or text that was added to
    fields, of the item with that id (an unknown id is a new item at the end; None is the record itself). Applied in
    the order of `seq`, which counts from 1, they turn the first record into the present one.

    There is room for the `answer` (texts, errors, the items themselves) and for `detail` (arguments, results,
    reasoning, pictures). What finds none is left out and counted in the field `omitted`.
    """

    def __init__(self, **fields: Any) -> None:
        self.fields: dict[str, Any] = {**fields, "omitted": []}
        self._first = dict(self.fields)
        self._items: dict[str, dict[str, Any]] = {}
        self._deltas: list[dict[str, Any]] = []
        # How many of them have been read, and must not change any more.
        self._read = 0
        self._names = 0
        self._unwritten: tuple[str, str, list[str]] | None = None
        self._lengths: dict[tuple[str, str], int] = {}
        self._room = {"answer": ANSWER_ROOM, "detail": DETAIL_ROOM}
        self._left_out: dict[str, int] = {}

    # Reading ----------------------------------------------------------------------------------------------------------

    def record(self) -> dict[str, Any]:
        self._write()
        return {**self.fields, "items": list(self._items.values())}

    def first_record(self) -> dict[str, Any]:
        return {**self._first, "items": []}

    def deltas_since(self, seq: int) -> list[dict[str, Any]]:
        self._write()
        self._read = len(self._deltas)
        return self._deltas[max(0, seq) :]

    @property
    def seq(self) -> int:
        """The number of the last delta, which then changes no more: `record()` is what all up to it lead to."""
        self._write()
        self._read = len(self._deltas)
        return self._read

    def item(self, name: str | None) -> Mapping[str, Any]:
        """The item of that id; empty where there is none, or where it found no room."""
        self._write()
        return self._items.get(name or "", {})

    # Changing ---------------------------------------------------------------------------------------------------------

    def add(self, kind: str, state: str, /, **fields: Any) -> str:
        """Add an item; returns its id, by which nothing is found if there was no room for it."""
        self._names += 1
        name = str(self._names)
        if self._takes("answer", _ITEM_FRAME):
            self._items[name] = {"id": name}
            self.set(name, kind=kind, state=state, **fields)
        else:
            self.leave_out("steps", 1)
        return name

    def set(self, name: str | None, /, **fields: Any) -> None:
        self._write()
        if name is None:
            self.fields.update(fields)
        elif name in self._items:
            # A new object: whoever drew the old one can tell by identity that it has changed.
            self._items[name] = {**self._items[name], **fields}
        else:
            return
        last = self._deltas[-1] if len(self._deltas) > self._read else {}
        if "set" in last and last["item"] == name:
            self._deltas[-1] = {**last, "set": {**last["set"], **fields}}
        else:
            self._deltas.append({"seq": len(self._deltas) + 1, "item": name, "set": fields})

    def close(self, name: str, state: str) -> None:
        """End an item, with the seconds that it took where it tells when it `started`."""
        began = self.item(name).get("started")
        if began is None:
            self.set(name, state=state)
        else:
            self.set(name, state=state, seconds=round(max(0, now() - began) / 1000, 3))

    def append(self, name: str, field: str, pool: str, text: str, limit: int = ANSWER_ROOM) -> None:
        if name not in self._items:
            return
        place = (name, field)
        text = self.fit(pool, text, limit - self._lengths.get(place, 0))
        if not text:
            return
        self._lengths[place] = self._lengths.get(place, 0) + len(text)
        if self._unwritten is not None and self._unwritten[:2] == place:
            self._unwritten[2].append(text)
        else:
            self._write()
            self._unwritten = (name, field, [text])

    def _write(self) -> None:
        """Turn appended text into one delta; done when somebody looks, so that a token costs next to nothing."""
        if self._unwritten is None:
            return
        name, field, pieces = self._unwritten
        self._unwritten = None
        text = "".join(pieces)
        known = self._items[name]
        self._items[name] = {**known, field: known.get(field, "") + text}
        self._deltas.append({"seq": len(self._deltas) + 1, "item": name, "append": {field: text}})

    def put_outputs(self, name: str, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Add mimebundles to an item. Returns those that were left out, wholly or in part."""
        refused: list[Bundle] = []
        taken: list[Bundle] = []
        for bundle in bundles:
            kept = {kind: data for kind, data in bundle.items() if json_size(data) <= IMAGE_LIMIT}
            if name in self._items and kept and self.room_for("detail", kept):
                taken.append(kept)
                if len(kept) == len(bundle):
                    continue
            refused.append(bundle)
            self.leave_out("images" if any(kind.startswith("image/") for kind in bundle) else "displayed values", 1)
        if taken:
            self.set(name, outputs=[*self._items[name].get("outputs", ()), *taken])
        return refused

    # Room -------------------------------------------------------------------------------------------------------------

    def room_for(self, pool: str, value: Any) -> bool:
        """Whether `value` finds room; if so, it is taken."""
        return self._takes(pool, json_size(value))

    def _takes(self, pool: str, size: int) -> bool:
        if size > self._room[pool]:
            return False
        self._room[pool] -= size
        return True

    def fit(self, pool: str, text: str, limit: int = ANSWER_ROOM) -> str:
        """The part of `text` that finds room, at most `limit` characters."""
        text = whole_characters(text)
        kept = text[: max(0, limit)]
        if not self.room_for(pool, kept):
            # JSON writes a character in up to six bytes for each of its own.
            kept = head(kept, self._room[pool] // 6)
            self._room[pool] = 0
        if len(kept) < len(text):
            self.leave_out("characters", len(text) - len(kept))
        return kept

    def leave_out(self, what: str, amount: int) -> None:
        self._left_out[what] = self._left_out.get(what, 0) + amount
        self.set(None, omitted=[f"{number:,} {name} left out" for name, number in self._left_out.items()])
