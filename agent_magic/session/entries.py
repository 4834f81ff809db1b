"""The lines of a session file: a header, then entries, each of which names the entry it follows.

The shape is version 3 of pi's session files. Versions 1 and 2 are read as they are and never rewritten. A move in the
tree is kept as an empty `custom` entry that follows the place moved to, so that every reader finds the same branch.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, ClassVar

from .. import reading as read
from ..errors import InvalidDataError
from ..messages import BranchSummaryMessage, CompactionSummaryMessage, CustomMessage, now
from ..stored import message_from_json, message_to_json

VERSION = 3
Json = dict[str, Any]
Data = Mapping[str, Any]


@dataclass(frozen=True)
class Header:
    """The first line: `cwd` and `notebook` are paths, `parent_session` is the file this was forked from."""

    id: str
    timestamp: int
    cwd: str = ""
    notebook: str | None = None
    parent_session: str | None = None
    version: int = VERSION

    def to_json(self) -> Json:
        stored: Json = {
            "type": "session",
            "version": self.version,
            "id": self.id,
            "timestamp": iso(self.timestamp),
            "cwd": self.cwd,
            "notebook": self.notebook,
            "parentSession": self.parent_session,
        }
        return {key: value for key, value in stored.items() if value is not None}

    @classmethod
    def new(cls, notebook: str | os.PathLike[str] | None) -> Header:
        """That of a session that begins now, in the working directory."""
        try:
            folder = os.getcwd()
        except OSError:  # it was deleted
            folder = ""
        return cls(str(uuid.uuid4()), now(), folder, None if notebook is None else os.fspath(notebook))

    @classmethod
    def from_json(cls, data: Any) -> Header:
        """Raises `InvalidDataError` when this is no header of a session."""
        if not isinstance(data, Mapping) or data.get("type") != "session" or not isinstance(data.get("id"), str):
            raise InvalidDataError("is not the first line of a session")
        return cls(
            data["id"],
            read.timestamp(data, "timestamp"),
            read.optional_text(data, "cwd") or "",
            read.optional_text(data, "notebook"),
            read.optional_text(data, "parentSession"),
            read.optional_integer(data, "version") or 1,
        )


@dataclass(frozen=True)
class Entry:
    """A node of the tree. `parent_id` is None at a root; `timestamp` is in Unix milliseconds."""

    type: ClassVar[str] = ""

    id: str
    parent_id: str | None
    timestamp: int

    def after(self, parent_id: str | None) -> Entry:
        """The same entry after another parent."""
        if self.parent_id == parent_id:
            return self
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__, parent_id=parent_id)
        return copied


@dataclass(frozen=True)
class MessageEntry(Entry):
    """A message of any kind, in its stored form; `message` is made of it when it is first asked for."""

    type: ClassVar[str] = "message"

    stored: Data = field(repr=False, compare=False)

    @cached_property
    def message(self) -> Any:
        """Raises `InvalidDataError` when the stored form is not that of a message."""
        return message_from_json(self.stored)

    @property
    def role(self) -> str:
        return str(self.stored.get("role"))

    @classmethod
    def of(cls, id: str, parent_id: str | None, timestamp: int, message: Any) -> MessageEntry:
        try:
            stored = message_to_json(message)
        except InvalidDataError:
            if getattr(message, "details", None) is None:
                raise
            # Only people and logs read the details, and what the model was told must not be lost with them.
            stored = message_to_json(replace(message, details=None))
        entry = cls(id, parent_id, timestamp, stored)
        entry.__dict__["message"] = message
        return entry


@dataclass(frozen=True)
class CustomMessageEntry(Entry):
    """A message of an extension that the model sees (kept as an entry of its own by pi)."""

    type: ClassVar[str] = "custom_message"

    custom_type: str
    content: Any
    display: bool = True
    details: Any = None

    @cached_property
    def message(self) -> Any:
        stored = {"customType": self.custom_type, "content": self.content, "display": self.display}
        message = message_from_json({"role": "custom", "timestamp": self.timestamp, **stored})
        return CustomMessage(self.custom_type, message.content, self.display, self.details, self.timestamp)


@dataclass(frozen=True)
class ModelChangeEntry(Entry):
    type: ClassVar[str] = "model_change"

    provider: str
    model_id: str
    api: str | None = None


@dataclass(frozen=True)
class ThinkingLevelChangeEntry(Entry):
    type: ClassVar[str] = "thinking_level_change"

    thinking_level: str


@dataclass(frozen=True)
class CompactionEntry(Entry):
    """A summary that stands for all that comes before `first_kept_entry_id`.

    `details` may hold `readFiles` and `modifiedFiles` (paths), `shortened` (entry id of a tool result to the number of
    characters that the model still sees) and `usage` of the request that made the summary.
    """

    type: ClassVar[str] = "compaction"

    summary: str
    first_kept_entry_id: str
    tokens_before: int = 0
    details: Any = None

    @property
    def shortened(self) -> Mapping[str, int]:
        found = self.details.get("shortened") if isinstance(self.details, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def message(self) -> CompactionSummaryMessage:
        return CompactionSummaryMessage(self.summary, self.tokens_before, self.timestamp)


@dataclass(frozen=True)
class BranchSummaryEntry(Entry):
    """A summary of a branch that was left; `from_id` is the entry where the branches part, or `root`."""

    type: ClassVar[str] = "branch_summary"

    from_id: str
    summary: str
    details: Any = None

    @cached_property
    def message(self) -> BranchSummaryMessage:
        return BranchSummaryMessage(self.summary, self.from_id, self.timestamp)


@dataclass(frozen=True)
class CustomEntry(Entry):
    """Data of an extension that no model sees."""

    type: ClassVar[str] = "custom"

    custom_type: str
    data: Any = None


@dataclass(frozen=True)
class LabelEntry(Entry):
    """A name for another entry; None takes it away, the last one counts."""

    type: ClassVar[str] = "label"

    target_id: str
    label: str | None = None


@dataclass(frozen=True)
class SessionInfoEntry(Entry):
    """The title of the session; the last one counts."""

    type: ClassVar[str] = "session_info"

    name: str | None = None


@dataclass(frozen=True)
class UnknownEntry(Entry):
    """An entry of a kind we do not know; it keeps its place in the tree."""

    stored: Data = field(repr=False, compare=False)


_KINDS: dict[str, type[Entry]] = {
    each.type: each
    for each in (
        CustomMessageEntry,
        ModelChangeEntry,
        ThinkingLevelChangeEntry,
        CompactionEntry,
        BranchSummaryEntry,
        CustomEntry,
        LabelEntry,
        SessionInfoEntry,
    )
}
_PLACE = ("id", "parent_id", "timestamp")


def iso(timestamp: int) -> str:
    """Unix milliseconds as an ISO text in UTC."""
    moment = datetime.fromtimestamp(timestamp / 1000, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(data: Data) -> int:
    """The `timestamp` of an entry in Unix milliseconds; quick for the form that `iso` and JavaScript write."""
    text = data.get("timestamp")
    if isinstance(text, str) and len(text) == 24 and text[-1] == "Z":
        try:
            return round(datetime.fromisoformat(f"{text[:-1]}+00:00").timestamp() * 1000)
        except ValueError:
            pass
    return read.timestamp(data, "timestamp")


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


# Field and key of everything that an entry of a kind holds besides its place in the tree.
_KEYS = {
    kind: tuple((each.name, camel(each.name)) for each in fields(kind) if each.name not in _PLACE)
    for kind in _KINDS.values()
}


def entry_to_json(entry: Entry) -> Json:
    """An entry as a JSON object."""
    if isinstance(entry, UnknownEntry):
        return dict(entry.stored)
    place: Json = {"type": entry.type, "id": entry.id, "parentId": entry.parent_id, "timestamp": iso(entry.timestamp)}
    if isinstance(entry, MessageEntry):
        return {**place, "message": entry.stored}
    values = ((key, read.json_safe(getattr(entry, name))) for name, key in _KEYS[type(entry)])
    return place | {key: value for key, value in values if value is not None}


def numbered(position: int) -> str:
    """The id of an entry that has none: its position in the file, where the header is 0 (version 1)."""
    return f"{position:08x}"


def entry_from_json(data: Any, position: int = 0, previous_id: str | None = None) -> Entry:
    """The entry of a JSON object.

    Entries of version 1 have neither id nor parent: their `position` in the file names them, and they follow the
    entry before. Raises `InvalidDataError` when it is no entry.
    """
    if not isinstance(data, dict):
        raise InvalidDataError("is not an entry of a session")
    id, parent_id = data.get("id"), data.get("parentId")
    if not isinstance(id, str):
        id, parent_id = numbered(position), previous_id
    elif parent_id is not None and not isinstance(parent_id, str):
        raise InvalidDataError("must be the id of an entry", "parentId")
    kind = data.get("type")
    timestamp = moment(data)
    if kind == "message" and isinstance(data.get("message"), dict):
        return MessageEntry(id, parent_id, timestamp, data["message"])
    if kind not in _KINDS:
        return UnknownEntry(id, parent_id, timestamp, data)
    values = {name: data[key] for name, key in _KEYS[_KINDS[kind]] if key in data}
    if isinstance(data.get("firstKeptEntryIndex"), int):
        values["first_kept_entry_id"] = numbered(data["firstKeptEntryIndex"])
    try:
        return _KINDS[kind](id, parent_id, timestamp, **values)
    except TypeError:
        return UnknownEntry(id, parent_id, timestamp, data)
