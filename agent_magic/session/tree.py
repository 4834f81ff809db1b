"""The tree of a session: every entry names the one it follows, and one of them is where the conversation stands."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import InvalidDataError, SessionError
from ..stored_models import usage_from_json
from ..usage import Usage
from .entries import (
    BranchSummaryEntry,
    CompactionEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)


class Tree:
    """Entries by id, in the order in which they were added. `leaf_id` is the last entry, None in an empty tree."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        self.leaf_id: str | None = None
        self.name: str | None = None
        self.labels: dict[str, str] = {}
        self._thinking_levels: dict[str, str] = {}
        for entry in entries:
            self.add(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._entries

    def __getitem__(self, entry_id: str) -> Entry:
        try:
            return self._entries[entry_id]
        except KeyError:
            raise SessionError(f"The session has no entry {entry_id!r}.") from None

    def add(self, entry: Entry) -> None:
        """Add an entry, which becomes the leaf."""
        self._entries[entry.id] = entry
        self.leaf_id = entry.id
        if isinstance(entry, SessionInfoEntry):
            self.name = entry.name
        elif isinstance(entry, LabelEntry):
            if entry.label:
                self.labels[entry.target_id] = entry.label
            else:
                self.labels.pop(entry.target_id, None)

    def new_id(self) -> str:
        """Eight hexadecimal digits that no entry has."""
        while (found := secrets.token_hex(4)) in self._entries:
            pass
        return found

    def path(self, leaf_id: str | None = None) -> list[Entry]:
        """The entries from the root to `leaf_id`, or to the leaf. A missing parent ends the path, as a root does."""
        return list(self.upwards(leaf_id))[::-1]

    def upwards(self, leaf_id: str | None = None) -> Iterator[Entry]:
        """The same from the leaf to the root."""
        seen: set[str] = set()
        entry = self._entries.get(leaf_id or self.leaf_id or "")
        while entry is not None and entry.id not in seen:
            seen.add(entry.id)
            yield entry
            entry = self._entries.get(entry.parent_id or "")

    @property
    def thinking_level(self) -> str:
        """The level last chosen on the way to the leaf; `off` at first."""
        found = "off"
        for entry in self.upwards():
            if isinstance(entry, ThinkingLevelChangeEntry):
                found = entry.thinking_level
                break
            # An entry is looked for once only, so that a long conversation costs each turn no more than a short one.
            if entry.id in self._thinking_levels:
                found = self._thinking_levels[entry.id]
                break
        if self.leaf_id is not None:
            self._thinking_levels[self.leaf_id] = found
        return found

    def children(self, entry_id: str | None) -> list[Entry]:
        """The entries that follow this one, or the roots for None."""
        return [entry for entry in self if entry.parent_id == entry_id]


def model_of(upwards: Iterable[Entry]) -> tuple[str, str] | None:
    """Provider and id of the model last chosen or heard on a path, which is given from its leaf to its root."""
    for entry in upwards:
        if isinstance(entry, ModelChangeEntry):
            return entry.provider, entry.model_id
        if isinstance(entry, MessageEntry) and entry.role == "assistant" and entry.stored.get("model"):
            return str(entry.stored.get("provider") or ""), str(entry.stored["model"])
    return None


def usage_of(entry: Entry) -> Usage | None:
    """The usage that an entry tells of: of an answer, a tool, or the request for a summary."""
    stored: Any = None
    if isinstance(entry, MessageEntry):
        stored = entry.stored.get("usage")
    elif isinstance(entry, (CompactionEntry, BranchSummaryEntry)) and isinstance(entry.details, Mapping):
        stored = entry.details.get("usage")
    try:
        return usage_from_json(stored)
    except InvalidDataError:
        return None
