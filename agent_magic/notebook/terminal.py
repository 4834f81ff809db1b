"""The view of a run in a terminal: the answer as it comes, each tool call as one line, a last line with the figures."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import Any

from .ansi import DIM, GREEN, RED, YELLOW, colours_for, markdown_ansi, rows_of, styled
from .prose import last_boundary
from .record import Recorder
from .view import QuietView
from .wording import footer, one_line, state_line, thinking_line, visible

_OPEN = ("pending", "running")
_STATE_COLOURS = {"done": GREEN, "failed": RED, "denied": YELLOW, "aborted": YELLOW}


class TerminalView(QuietView):
    """Adds text, item by item. Without colours that is all, so the output can be redirected.

    With colours a paragraph is shown as it comes, and drawn again in its styles when it is complete.
    """

    def __init__(self, recorder: Recorder, origin_of: Callable[[str], str], shell: Any, number: int) -> None:
        super().__init__(recorder, origin_of)
        self._out = sys.stdout
        self._colours = colours_for(self._out, shell)
        self._number = number
        self._item = 0
        self._written = 0
        self._at_line_start = True
        # What stands on the screen of a paragraph that is not complete.
        self._raw = ""

    def changed(self) -> None:
        super().changed()
        items = self.recorder.record()["items"]
        while self._item < len(items) and self._write_item(items[self._item]):
            self._item += 1
            self._written = 0

    def flush(self) -> None:
        """Leave what stands on the screen as it is: something else may be written below it now."""
        super().flush()
        self._raw = ""

    def finish(self) -> None:
        self.changed()
        parts = footer(self.recorder.record())
        if self.recorder.record()["calls"]:
            parts.append(f"%agent show {self._number} shows it in full")
        self._line(self._styled(" · ".join(parts), DIM))
        super().finish()

    def _styled(self, text: str, *styles: str) -> str:
        return styled(text, *styles) if self._colours else text

    def _write_item(self, item: dict[str, Any]) -> bool:
        """Write what is new of this item; whether it is complete."""
        kind, complete = item["kind"], item["state"] not in _OPEN
        if kind == "text":
            (self._write_styled if self._colours else self._write_plain)(item["text"], complete)
        elif kind == "thinking" and complete:
            self._line(self._styled(thinking_line(item), DIM))
        elif kind == "tool" and complete:
            state = self._styled(state_line(item), _STATE_COLOURS.get(item["state"], DIM))
            self._line(f"{one_line(item['name'])}({item.get('summary', '')})  {state}")
        elif kind == "note":
            self._line(self._styled(one_line(item["text"], 500), DIM))
        elif kind == "context" and item.get("title"):
            self._line(self._styled(one_line(item["title"], 500), DIM))
        if kind == "text" and complete:
            self._end_line()
        return complete

    # Text -------------------------------------------------------------------------------------------------------------

    def _write_plain(self, text: str, complete: bool) -> None:
        self._write(visible(text[self._written :]))
        self._written = len(text)

    def _write_styled(self, text: str, complete: bool) -> None:
        end = len(text) if complete else last_boundary(text, self._written)
        if end > self._written:
            self._replace_raw(text[self._written : end])
            self._written = end
        if not complete:
            self._show_raw(visible(text[self._written :]).expandtabs())

    def _show_raw(self, text: str) -> None:
        if not self._raw or not text.startswith(self._raw):
            if not self._erase(self._raw):
                self._end_line()
            self._raw = ""
        self._write(text[len(self._raw) :])
        self._raw = text

    def _replace_raw(self, paragraph: str) -> None:
        """Write a complete paragraph in its styles, in place of what is on the screen of it."""
        shown, plain = markdown_ansi(paragraph), visible(paragraph).expandtabs()
        raw, self._raw = self._raw, ""
        if plain.rstrip("\n") == shown and raw.startswith(plain):
            self._raw = raw[len(plain) :]
        elif plain.rstrip("\n") == shown and plain.startswith(raw):
            self._write(plain[len(raw) :])
        elif self._erase(raw):
            self._write(f"{shown}\n\n" if paragraph.endswith("\n\n") else f"{shown}\n")
        else:
            # Its beginning has left the screen, so that it stays as it came.
            self._write(plain[len(raw) :])

    def _erase(self, raw: str) -> bool:
        """Take `raw` from the screen again; whether that was possible."""
        # A terminal that does not tell its size says 0 on Python 3.10.
        columns, lines = (size or usual for size, usual in zip(shutil.get_terminal_size(), (80, 24), strict=True))
        rows = rows_of(raw, columns)
        if rows >= lines:
            return False
        if raw:
            self._out.write("\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\x1b[J")
            self._at_line_start = True
        self._end_line()
        return True

    # Lines ------------------------------------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        """Write text that holds no control characters but our own styles."""
        if text:
            self._out.write(text)
            self._out.flush()
            self._at_line_start = text.endswith("\n")

    def _line(self, text: str) -> None:
        self._end_line()
        self._write(text + "\n")

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._write("\n")
