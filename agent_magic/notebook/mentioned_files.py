"""Files that a prompt mentions: found where the file tools may reach, and told by their beginning."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

from IPython.core.error import UsageError

from ..errors import ToolExecutionError
from ..tools.images import image_content, image_type
from ..tools.result import cut
from .flags import near
from .folders import Folders
from .limits import head
from .summaries import Piece
from .wording import count

_READ = 64_000
_TEXT = 6_000
_LARGEST_IMAGE = 20_000_000
_ROWS = 10
_COLUMNS = 30
_NEAR = 8


def file_at(folders: Folders, path: str) -> Path:
    """The file at `path`, seen from the notebook's folder.

    Raises `UsageError` where there is none, or where it lies outside of what the user allows.
    """
    text = f"To send it as text, put it between backticks: `@file:{path}`."
    try:
        found = folders.reached(os.path.expanduser(path))
    except ToolExecutionError as error:
        raise UsageError(f"@file: {error} {text}") from None
    if found.is_dir():
        raise UsageError(f"@file:{path} is a folder; name a file in it. {text}")
    if not found.is_file():
        raise UsageError(f"There is no file {path} in the notebook's folder.{_near(found)} {text}")
    return found


def _near(missing: Path) -> str:
    """What else lies in the folder of a file that is not there."""
    if not missing.parent.is_dir():
        return ""
    names = sorted(each.name for each in missing.parent.iterdir() if each.is_file() and not each.name.startswith("."))
    return near(missing.name, names) or (f" There are {', '.join(names[:_NEAR])}." if names else "")


def file_pieces(path: Path) -> Iterator[Piece]:
    """The size of a file and how it begins; an image itself."""
    size = path.stat().st_size
    yield f"file {path.name}, {count(size, 'byte')}"
    with path.open("rb") as file:
        data = file.read(_READ)
        kind = image_type(data)
        if kind is not None and size <= _LARGEST_IMAGE:
            yield image_content(data + file.read(), kind)
            return
    try:
        # The last character may be cut in two.
        text = data.decode("utf-8") if size <= _READ else data.decode("utf-8", "ignore")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        yield f"no text; it begins with the bytes {data[:32].hex(' ')}"
    elif path.suffix.lower() in (".csv", ".tsv"):
        yield _table(text, size, "\t" if path.suffix.lower() == ".tsv" else None)
    else:
        begin = head(text, _TEXT)
        rest = size - len(begin.encode("utf-8"))
        yield begin + (f"\n… {rest:,} more bytes" if rest > 0 else "")


def _table(text: str, size: int, separator: str | None) -> str:
    """The first rows of separated values, and how many there are if all of them were read."""
    if separator is None:
        first = text.partition("\n")[0]
        separator = max(",;\t|", key=first.count)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    whole = len(text.encode("utf-8")) >= size
    if not whole and rows:
        rows.pop()
    columns = max((len(row) for row in rows), default=0)
    lines = [separator.join(row[:_COLUMNS]) for row in rows[: _ROWS + 1]]
    notes = [count(len(rows) - 1, "row") if whole else f"more than {len(rows) - 1:,} rows", count(columns, "column")]
    if columns > _COLUMNS:
        notes.append(f"the last {columns - _COLUMNS:,} columns are not shown")
    return f"{', '.join(notes)}; it begins:\n" + cut("\n".join(lines), _TEXT)
