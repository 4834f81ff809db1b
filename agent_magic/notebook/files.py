"""The tools `read_file` and `write_file`, which stay inside the notebook's folder unless the user allows more."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..config import ToolExecutionMode
from ..errors import ToolExecutionError
from ..messages import Content, TextContent
from ..tools.images import image_content, image_type
from ..tools.tool import AgentTool, AgentToolResult, ToolContext
from .folders import Folders
from .limits import whole_characters
from .wording import count

# Lines and characters of one reading; bytes of a file that is looked at, and of one that is written.
LINES = 2_000
CHARACTERS = 14_000
LARGEST_READ = 20_000_000
LARGEST_WRITTEN = 2_000_000
_DIFF_LINES = 400


def file_tools(folders: Callable[[], Folders]) -> list[AgentTool]:
    """Both tools; `folders()` tells where they may reach at the time of a call."""

    def read_file(arguments: dict[str, Any], context: ToolContext) -> AgentToolResult:
        reach = folders()
        found = reach.reached(arguments["path"])
        content = read(found, arguments.get("offset") or 1, arguments.get("limit") or LINES)
        return AgentToolResult(content, untrusted=not reach.is_home(found))

    def write_file(arguments: dict[str, Any], context: ToolContext) -> AgentToolResult:
        reach = folders()
        found, text = reach.reached_to_write(arguments["path"]), arguments["content"]
        before = write(found, text)
        # Printed, so that it stands in the card: the model knows what it wrote.
        print(difference(before, text, reach.named(found)))
        lines = count(len(text.splitlines()), "line")
        return AgentToolResult(f"{'Wrote' if before is None else 'Replaced'} {reach.named(found)}: {lines}.")

    path = {"type": "string", "description": "Path of the file, seen from the notebook's folder."}
    return [
        AgentTool(
            "read_file",
            "Read a text file or an image in the notebook's folder. A long text comes in parts.",
            {
                "type": "object",
                "properties": {
                    "path": path,
                    "offset": {"type": "integer", "minimum": 1, "description": "Number of the first line; 1 at first."},
                    "limit": {"type": "integer", "minimum": 1, "description": f"Lines to read, at most {LINES:,}."},
                },
                "required": ["path"],
            },
            read_file,
            effect="read",
            origin="builtin",
            thread=True,
        ),
        AgentTool(
            "write_file",
            "Write a text file in the notebook's folder. Replaces the whole file if there is one.",
            {
                "type": "object",
                "properties": {"path": path, "content": {"type": "string", "description": "The whole text."}},
                "required": ["path", "content"],
            },
            write_file,
            execution_mode=ToolExecutionMode.SEQUENTIAL,
            effect="write",
            origin="builtin",
        ),
    ]


def read(path: Path, offset: int = 1, limit: int = LINES) -> list[Content]:
    """Lines of the text file at `path` from `offset` (counted from 1) on, or the image in it.

    Raises `ToolExecutionError` for what cannot be read.
    """
    data = _bytes_of(path)
    kind = image_type(data)
    if kind is not None:
        return [image_content(data, kind)]
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ToolExecutionError(f"{path.name} is no text in UTF-8, but {count(len(data), 'byte')} of data.") from None
    if offset > max(1, len(lines)):
        raise ToolExecutionError(f"{path.name} has {count(len(lines), 'line')}; there is no line {offset:,}.")
    shown: list[str] = []
    room = CHARACTERS
    for line in lines[offset - 1 : offset - 1 + min(limit, LINES)]:
        room -= len(line) + 1
        if room < 0:
            # Of one very long line at least the beginning.
            shown += (
                [] if shown else [f"{line[:CHARACTERS]} [… {len(line) - CHARACTERS:,} characters of the line left out]"]
            )
            break
        shown.append(line)
    last = offset - 1 + len(shown)
    note = (
        f"\n[Lines {offset:,} to {last:,} of {len(lines):,}. Go on with offset={last + 1}.]"
        if last < len(lines)
        else ""
    )
    return [TextContent(("\n".join(shown) or "(an empty file)") + note)]


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        names = sorted(each.name + "/" * each.is_dir() for each in path.iterdir())[:200]
        raise ToolExecutionError(f"{path.name} is a folder. It holds: {', '.join(names) or 'nothing'}.")
    # A pipe or a device would be waited for.
    if not path.is_file():
        there = sorted(each.name for each in path.parent.iterdir())[:50] if path.parent.is_dir() else []
        raise ToolExecutionError(f"There is no file {path.name} there. There are: {', '.join(there) or 'none'}.")
    try:
        size = path.stat().st_size
        if size > LARGEST_READ:
            raise ToolExecutionError(f"{path.name} has {count(size, 'byte')}, more than {LARGEST_READ:,}.")
        return path.read_bytes()
    except OSError as error:
        raise ToolExecutionError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def write(path: Path, text: str) -> str | None:
    """Put `text` into the file at `path`, whole or not at all; returns what was there, None for a new file.

    Raises `ToolExecutionError` for what cannot be written.
    """
    data = whole_characters(text).encode("utf-8")
    if len(data) > LARGEST_WRITTEN:
        raise ToolExecutionError(f"The text has {count(len(data), 'byte')}, more than {LARGEST_WRITTEN:,}.")
    if path.exists() and not path.is_file():
        raise ToolExecutionError(f"{path.name} is no ordinary file, so nothing was written.")
    try:
        before = path.read_bytes() if path.exists() and path.stat().st_size <= LARGEST_WRITTEN else None
        existed = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        raise ToolExecutionError(f"{path.name} cannot be written: {error.strerror or error}.") from error
    if before is None:
        return "" if existed else None
    return before.decode("utf-8", "replace")


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file and move it there, so that nobody ever reads half of it."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # A temporary file is for its owner alone; this one is as any other.
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def difference(before: str | None, after: str, name: str) -> str:
    """What changed, as a unified diff of at most 400 lines."""
    lines = list(
        difflib.unified_diff(
            (before or "").splitlines(),
            after.splitlines(),
            "nothing" if before is None else f"{name} before",
            f"{name} now",
            lineterm="",
        )
    )
    left_out = len(lines) - _DIFF_LINES
    note = [f"… {count(left_out, 'more line')}"] if left_out > 0 else []
    return "\n".join([*lines[:_DIFF_LINES], *note]) or f"{name} is as it was."
