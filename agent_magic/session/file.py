"""One session file: read whole, appended to line by line, held by one process, never rewritten."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidDataError, SessionError, SessionLockedError
from .entries import Entry, Header, entry_from_json
from .lock import lock
from .writer import Writer

_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
PRIVATE = 0o600


@dataclass(frozen=True)
class Contents:
    """What a file holds; `header` is None when it is empty, `skipped` counts the lines that could not be read."""

    header: Header | None
    entries: Sequence[Entry] = ()
    skipped: int = 0


class SessionFile:
    """The end of a session file, held for appending."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    @classmethod
    def create(cls, path: Path) -> SessionFile:
        """A file that is made with its first line. It must not exist by then, unless it is empty."""
        return cls(Writer(lambda: _created(path)))

    @classmethod
    def open(cls, path: Path) -> tuple[SessionFile, Contents]:
        """Lock the file, mend a last line that was torn by a crash, and read it.

        Raises `SessionLockedError` when another process has it, `SessionError` when it is no session.
        """
        try:
            file = _locked(path, os.open(path, _APPEND))
        except OSError as error:
            raise SessionError(f"The session {path} cannot be opened: {error.strerror or error}.") from None
        try:
            data = path.read_bytes()
            contents = parse(data, path)
            _mend(file, data)
        except BaseException:
            file.close()
            raise
        return cls(Writer(file)), contents

    def append(self, lines: Iterable[dict[str, Any]]) -> Future[None]:
        """Append JSON objects, one a line, all or none. The future is done when they have left this process."""
        return self._writer.put(b"".join(_line(each) for each in lines))

    def flush(self, timeout: float | None = None) -> None:
        """Return when all is on the disk."""
        self._writer.flush(timeout)

    def close(self, timeout: float | None = None) -> None:
        self._writer.close(timeout)


def read_session(path: Path) -> Contents:
    """What the file holds, without taking it. Raises `SessionError` when it cannot be read or is no session."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror or error}.") from None
    return parse(data, path)


def parse(data: bytes, path: Path) -> Contents:
    """The header and entries of a file's bytes. A line that is no entry is skipped and counted.

    An entry that followed one of those follows the one before it in the file, else all before the fault were forgotten.
    """
    if not data.strip():
        return Contents(None)
    lines = [line for line in data.split(b"\n") if line.strip()]
    try:
        header = Header.from_json(load_line(lines[0]))
    except (InvalidDataError, ValueError):
        raise SessionError(f"{path} is not a session. It was left as it is; choose another file.") from None
    entries: list[Entry] = []
    known: set[str | None] = {None}
    previous: str | None = None
    for number, line in enumerate(lines[1:]):
        try:
            entry = entry_from_json(load_line(line), len(entries) + 1, previous)
        except ValueError:
            continue
        if entry.parent_id not in known and number > len(entries):
            entry = entry.after(previous)
        entries.append(entry)
        previous = entry.id
        known.add(previous)
    return Contents(header, entries, len(lines) - 1 - len(entries))


def load_line(line: bytes) -> Any:
    """The JSON of a line. Raises `ValueError`."""
    from pydantic_core import from_json

    try:
        return from_json(line)
    except ValueError:
        # The fast parser refuses lone surrogates, which may stand in the output of a tool.
        try:
            return json.loads(line)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _line(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(data, separators=(',', ':'), default=str)}\n".encode("ascii")


def _created(path: Path) -> io.FileIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = _locked(path, os.open(path, _APPEND | os.O_CREAT, PRIVATE))
    if os.fstat(file.fileno()).st_size:
        file.close()
        raise SessionError(f"{path} exists already and was left as it is. Open it, or choose another file.")
    return file


def _locked(path: Path, descriptor: int) -> io.FileIO:
    file = io.FileIO(descriptor, "ab")
    if lock(descriptor):
        return file
    file.close()
    raise SessionLockedError(
        f"The session {path} is in use by another kernel or process. Shut that one down, or fork the session to go on "
        "in a file of its own."
    )


def _mend(file: io.FileIO, data: bytes) -> None:
    """End the last line of a file: one that is whole gets its newline, one that was torn is taken away."""
    kept = data.rfind(b"\n") + 1
    torn = data[kept:]
    if not torn:
        return
    try:
        whole = isinstance(load_line(torn), dict)
    except ValueError:
        whole = False
    if whole:
        file.write(b"\n")
    else:
        os.ftruncate(file.fileno(), kept)
