"""What the code of a run without a cell prints and displays goes to the card of its call, and `input()` asks nobody.

Such a run lives beside the user's cells on one loop, so what is put in the place of `sys.stdout` and the like looks at
whose code calls it. A cell that begins meanwhile may put it back after the run has ended: then it only passes on.
"""

from __future__ import annotations

import builtins
import contextlib
import getpass
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TextIO

from ..tools.execution import running_call
from .capture import Bundle, Captured, refuse_unattended, unattended

_owner: ContextVar[PanelOutput | None] = ContextVar("agent_magic_panel_output", default=None)


class PanelOutput:
    """What one run printed and displayed, by the id of the call that did; None for code outside of calls."""

    def __init__(self) -> None:
        self._captured: dict[str | None, Captured] = {}

    def take(self, tool_call_id: str | None) -> list[Bundle]:
        """What a call has put out since this was last asked."""
        captured = self._captured.pop(tool_call_id, None)
        return [] if captured is None else captured.bundles

    @property
    def _current(self) -> Captured:
        return self._captured.setdefault(running_call(), Captured())

    @contextlib.contextmanager
    def catching(self, shell: Any) -> Iterator[None]:
        """Catch what this task, and all that it begins, puts out meanwhile."""
        token, other = _owner.set(self), unattended.set(True)
        try:
            with (
                _replaced(sys, "stdout", lambda stream: _Stream(self, stream)),
                _replaced(sys, "stderr", lambda stream: _Stream(self, stream)),
                _replaced(builtins, "input", _attended),
                _replaced(getpass, "getpass", _attended),
                _replaced(shell.display_pub, "publish", self._displaying),
                _replaced(shell.display_pub, "clear_output", self._clearing),
            ):
                yield
        finally:
            unattended.reset(other)
            _owner.reset(token)

    def _displaying(self, publish: Callable[..., None]) -> Callable[..., None]:
        def published(data: Bundle, metadata: Bundle | None = None, *more: Any, **named: Any) -> None:
            if _owner.get() is not self:
                publish(data, metadata, *more, **named)
                return
            name, update = (named.get("transient") or {}).get("display_id"), bool(named.get("update"))
            if update and not self._current.shows(name):
                # It changes what stands elsewhere in the notebook.
                publish(data, metadata, *more, **named)
            else:
                self._current.display(data, name, update)

        return published

    def _clearing(self, clear: Callable[..., None]) -> Callable[..., None]:
        def cleared(*more: Any, **named: Any) -> None:
            if _owner.get() is self:
                self._current.clear()
            else:
                clear(*more, **named)

        return cleared


class _Stream:
    """A standard stream that gives what `output` owns to it, and passes on all else."""

    def __init__(self, output: PanelOutput, original: TextIO) -> None:
        self._output = output
        self._original = original

    def write(self, text: str) -> int:
        if _owner.get() is not self._output:
            return self._original.write(text)
        self._output._current.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _attended(ask: Callable[..., str]) -> Callable[..., str]:
    def asked(*arguments: Any, **named: Any) -> str:
        refuse_unattended()
        return ask(*arguments, **named)

    return asked


@contextlib.contextmanager
def _replaced(holder: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    before, own = getattr(holder, name), name in vars(holder)
    ours = make(before)
    setattr(holder, name, ours)
    try:
        yield
    finally:
        # Else somebody has put something in its place, and will put ours back.
        if getattr(holder, name) is ours:
            if own:
                setattr(holder, name, before)
            else:
                delattr(holder, name)
