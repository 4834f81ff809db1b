"""The sessions of a folder: a line about each, without reading its messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import AgentMagicError, SessionError
from ..messages import TextContent, UserMessage
from ..stored import message_from_json
from .entries import Header
from .file import load_line
from .location import SUFFIX

TITLE_LENGTH = 80


@dataclass(frozen=True)
class StoredSession:
    """A session on disk. `title` is its name, else the start of its first prompt; times are in Unix milliseconds."""

    path: Path
    id: str
    title: str
    created: int
    modified: int
    messages: int
    cwd: str
    notebook: str | None


def list_sessions(folder: Path) -> tuple[StoredSession, ...]:
    """The sessions of a folder, the one last written first. Other files are passed over."""
    found = (_stored(path) for path in folder.glob(f"*{SUFFIX}"))
    return tuple(sorted((each for each in found if each), key=lambda each: each.modified, reverse=True))


def find_session(which: str, folder: Path) -> StoredSession:
    """The session whose id begins with `which`, or whose title is that; the one last written for the empty text.

    Raises `SessionError` when there is none, or more than one.
    """
    stored = list_sessions(folder)
    if not stored:
        raise SessionError(f"There is no session in {folder} yet.")
    if not which:
        return stored[0]
    found = [each for each in stored if each.id.startswith(which) or each.title == which]
    if not found:
        last = ", ".join(f"{each.id[:8]} {each.title}".rstrip() for each in stored[:3])
        raise SessionError(
            f"No session in {folder} has an id that begins with {which!r}, or that title. The last ones are {last}."
        )
    if len(found) > 1:
        ids = ", ".join(each.id for each in found)
        raise SessionError(f"{which!r} may mean several sessions; give more of the id: {ids}.")
    return found[0]


def _stored(path: Path) -> StoredSession | None:
    try:
        data = path.read_bytes()
        modified = path.stat().st_mtime_ns // 1_000_000
        header = Header.from_json(load_line(data.partition(b"\n")[0]))
    except (OSError, ValueError):
        return None
    return StoredSession(
        path,
        header.id,
        _name(data) or _first_prompt(data),
        header.timestamp,
        modified,
        data.count(b'"type":"message"'),
        header.cwd,
        header.notebook,
    )


def _name(data: bytes) -> str:
    entry = _line_with(data, data.rfind(b'"type":"session_info"'))
    return str(entry.get("name") or "") if entry.get("type") == "session_info" else ""


def _first_prompt(data: bytes) -> str:
    entry = _line_with(data, data.find(b'"message":{"role":"user"'))
    try:
        message = message_from_json(entry.get("message"))
    except AgentMagicError:
        return ""
    content = message.content if isinstance(message, UserMessage) else ()
    # What was mentioned in the prompt stands in texts of its own behind it.
    prompt = next((block.text for block in content if isinstance(block, TextContent)), "")
    words = " ".join(prompt.split())
    return words if len(words) <= TITLE_LENGTH else f"{words[: TITLE_LENGTH - 1]}…"


def _line_with(data: bytes, place: int) -> dict[str, Any]:
    """The JSON object of the line around a place; an empty one for no place."""
    if place < 0:
        return {}
    end = data.find(b"\n", place)
    try:
        entry = load_line(data[data.rfind(b"\n", 0, place) + 1 : None if end < 0 else end])
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
