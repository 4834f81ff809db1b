"""The view of a run in a terminal: the answer as it comes, each tool call as one line, a last line with the figures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .record import Recorder
from .view import QuietView
from .wording import footer, one_line, state_line, thinking_line, visible

_OPEN = ("pending", "running")


class TerminalView(QuietView):
    """Only ever adds text, item by item, so nothing flickers and the output can be redirected."""

    def __init__(self, recorder: Recorder, origin_of: Callable[[str], str], shell: Any, number: int) -> None:
        super().__init__(recorder, origin_of)
        self._out = sys.stdout
        self._item = 0
        self._written = 0
        self._at_line_start = True

    def changed(self) -> None:
        items = self.recorder.record()["items"]
        while self._item < len(items) and self._write_item(items[self._item]):
            self._item += 1
            self._written = 0

    def finish(self) -> None:
        self.changed()
        self._line(" · ".join(footer(self.recorder.record())))

    def _write_item(self, item: dict[str, Any]) -> bool:
        """Write what is new of this item; whether it is complete."""
        kind, complete = item["kind"], item["state"] not in _OPEN
        if kind == "text":
            self._write(item["text"][self._written :])
            self._written = len(item["text"])
        elif kind == "thinking" and complete:
            self._line(thinking_line(item))
        elif kind == "tool" and complete:
            self._line(f"{one_line(item['name'])}({item.get('summary', '')})  {state_line(item)}")
        elif kind == "note":
            self._line(one_line(item["text"]))
        if kind == "text" and complete:
            self._end_line()
        return complete

    def _write(self, text: str) -> None:
        if text:
            self._out.write(visible(text))
            self._out.flush()
            self._at_line_start = text.endswith("\n")

    def _line(self, text: str) -> None:
        self._end_line()
        self._write(text + "\n")

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._write("\n")
