"""The end of a long output; all of it goes to a file once it is too long to be kept."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from typing import TextIO

from .wording import without_ansi

LINES = 2_000
BYTES = 50_000

# Control characters but line ends and tabs; also line ends of other systems.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
# The beginning of a sequence that moves the cursor, colours, or names the window.
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,200}\x1b?)?\Z")


class Tail:
    """Keeps the last 2,000 lines, and of these the last `limit` bytes. May be written by another thread than reads."""

    def __init__(self, limit: int = BYTES, lines: int = LINES) -> None:
        self.path: str | None = None
        self.total = 0
        self._limit = limit
        self._most_lines = lines
        self._kept = ""
        self._lines = 0
        self._file: TextIO | None = None
        self._cut = ""
        self._closed = False
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Add text as it comes, control characters left out."""
        with self._lock:
            if self._closed:
                return
            text, self._cut = _whole_sequences(self._cut + text)
            text = _CONTROL.sub("", without_ansi(text))
            self.total += len(text)
            self._lines += text.count("\n")
            self._kept += text
            if self._file is not None:
                self._file.write(text)
            elif len(self._kept) > self._limit or self._lines > self._most_lines:
                self._file = self._new_file()
                self._file.write(self._kept)
            if len(self._kept) > 4 * self._limit:
                self._kept = self._last(self._kept)

    def _new_file(self) -> TextIO:
        number, self.path = tempfile.mkstemp(prefix="agent-magic-", suffix=".log")
        return os.fdopen(number, "w", encoding="utf-8", errors="replace", newline="\n")

    def close(self) -> None:
        """Nothing comes any more."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()
            elif len(self._kept.encode("utf-8", "replace")) > self._limit:
                with self._new_file() as file:
                    file.write(self._kept)

    @property
    def text(self) -> str:
        """What is kept."""
        with self._lock:
            return self._last(self._kept).rstrip("\n")

    @property
    def truncated(self) -> bool:
        """Whether more came than is kept."""
        with self._lock:
            return len(self._last(self._kept)) < self.total

    @property
    def note(self) -> str:
        """What was left out and where all of it is; empty where nothing was."""
        if not self.truncated:
            return ""
        shown, total = self.text.count("\n") + 1, self._lines + (not self._kept.endswith("\n"))
        return f"[Output truncated: the last {shown:,} of {total:,} lines. Full output: {self.path}]"

    def last_lines(self, number: int) -> str:
        """The end of what has come so far, for a view of progress."""
        return "\n".join(self.text[-4_000:].split("\n")[-number:])

    def _last(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        text = "".join(lines[-self._most_lines :])
        data = text.encode("utf-8", "replace")
        if len(data) <= self._limit:
            return text
        end = data[-self._limit :].decode("utf-8", "ignore")
        # Begin with a whole line, unless it is one line alone.
        _, line_end, rest = end.partition("\n")
        return rest if line_end and rest else end


def _whole_sequences(text: str) -> tuple[str, str]:
    """`text`, and the beginning of a control sequence at its end that has not come whole."""
    found = _UNFINISHED.search(text, max(0, len(text) - 300))
    return (text, "") if found is None else (text[: found.start()], found.group())
