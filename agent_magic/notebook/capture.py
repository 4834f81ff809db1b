"""Catches what a function prints, displays and plots on one thread, so that it can go into the card of its call.

Standard streams and the display publisher belong to the whole process, so what other threads write meanwhile is passed
on to where it was going.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TextIO

from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError

Bundle = dict[str, Any]


class Captured:
    """What was caught, in order. Printed text is one bundle of `text/plain` until something is displayed.

    `figures` are those of matplotlib that were displayed since they were left open.
    """

    def __init__(self) -> None:
        self._entries: list[Bundle | list[str]] = []
        self._displays: dict[str, int] = {}
        self.figures: list[Any] = []

    @property
    def bundles(self) -> list[Bundle]:
        return [{"text/plain": "".join(each)} if isinstance(each, list) else each for each in self._entries if each]

    def write(self, text: str) -> None:
        if self._entries and isinstance(self._entries[-1], list):
            self._entries[-1].append(text)
        else:
            self._entries.append([text])

    def display(self, data: Bundle, display_id: str | None = None, update: bool = False) -> None:
        """Add an output, or replace the earlier one of that `display_id`."""
        place = self._displays.get(display_id) if display_id is not None else None
        if update and place is not None:
            self._entries[place] = dict(data)
        else:
            if display_id is not None:
                self._displays[display_id] = len(self._entries)
            self._entries.append(dict(data))

    def shows(self, display_id: str | None) -> bool:
        """Whether there is an output of that id."""
        return display_id in self._displays

    def clear(self) -> None:
        self._entries.clear()
        self._displays.clear()


class _Stream(io.TextIOBase):
    encoding = "utf-8"

    def __init__(self, captured: Captured, original: TextIO) -> None:
        self._captured = captured
        self.original = original
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            return self.original.write(text)
        self._captured.write(text)
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self.original.flush()

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    def __init__(self, captured: Captured, original: Any) -> None:
        begin: Any = super().__init__
        begin()
        self._captured = captured
        self._original = original
        self._thread = threading.get_ident()

    def publish(self, data: Bundle, metadata: Bundle | None = None, *args: Any, **more: Any) -> None:
        if threading.get_ident() != self._thread:
            self._original.publish(data, metadata, *args, **more)
            return
        display_id = (more.get("transient") or {}).get("display_id")
        self._captured.display(data, display_id, bool(more.get("update")))

    def set_parent(self, parent: Any) -> None:
        """ipykernel tells of every message that it takes in, also of a page's in a subshell while a function runs."""
        tell = getattr(self._original, "set_parent", None)
        if tell is not None:
            tell(parent)

    def clear_output(self, wait: bool = False) -> None:
        if threading.get_ident() != self._thread:
            self._original.clear_output(wait)
        else:
            self._captured.clear()


@contextlib.contextmanager
def capture(shell: Any, captured: Captured) -> Iterator[None]:
    """Let everything that this thread prints, displays and plots meanwhile go to `captured`."""
    streams, publisher = (sys.stdout, sys.stderr), shell.display_pub
    sys.stdout, sys.stderr = _Stream(captured, streams[0]), _Stream(captured, streams[1])
    shell.display_pub = _Publisher(captured, publisher)
    figures_before = set(_inline_figures())
    ask = builtins.input
    builtins.input = functools.partial(_ask_openly, ask)
    try:
        yield
    finally:
        try:
            captured.figures += _display_figures(shell, figures_before)
        finally:
            sys.stdout, sys.stderr = streams
            shell.display_pub = publisher
            builtins.input = ask


# Whether the running code was begun by no cell, so that nobody answers its `input()`.
unattended: ContextVar[bool] = ContextVar("agent_magic_unattended", default=False)


def refuse_unattended() -> None:
    """Raise `StdinNotImplementedError` where nobody answers `input()`."""
    if unattended.get():
        raise StdinNotImplementedError(
            "There is nobody to ask: this run was begun in the panel, not in a cell. Give what is asked for as an "
            "argument."
        )


def _ask_openly(ask: Callable[..., str], prompt: object = "") -> str:
    """`input`, with its question where the user can see it."""
    refuse_unattended()
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_beyond, streams)
    try:
        return ask(prompt)
    finally:
        sys.stdout, sys.stderr = streams


def _beyond(stream: Any) -> Any:
    while isinstance(stream, _Stream):
        stream = stream.original
    return stream


def _inline_figures() -> dict[int, Any]:
    """Open figures by number where IPython shows figures in the page; elsewhere they have windows of their own."""
    matplotlib, helpers = sys.modules.get("matplotlib"), sys.modules.get("matplotlib._pylab_helpers")
    if matplotlib is None or helpers is None or "inline" not in str(matplotlib.get_backend()):
        return {}
    return {manager.num: manager for manager in helpers.Gcf.get_all_fig_managers()}


def _display_figures(shell: Any, before: set[int]) -> list[Any]:
    """Show the figures that were opened since, and close them, as IPython does at the end of a cell."""
    shown = []
    for number, manager in _inline_figures().items():
        if number not in before:
            data, metadata = shell.display_formatter.format(manager.canvas.figure)
            if data:
                shell.display_pub.publish(data, metadata)
            sys.modules["matplotlib._pylab_helpers"].Gcf.destroy(manager)
            shown.append(manager.canvas.figure)
    return shown
