"""Pages that came to a run late, such as one that was loaded again: while it went on, or soon after its end.

They do not know the display of its cell any more, and drop what is published for it; so they are given the record.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import AgentMagicError
from .bundle import mimebundle
from .identity import cell_id
from .live import LiveOutput
from .run_methods import main_loop

if TYPE_CHECKING:
    from .connection import Connection
    from .kernel import NotebookKernel
    from .view import View

# Seconds that a page has to answer.
_PATIENCE = 30.0
# Seconds after the end of a run in which a page may still come that was loaded again while it went on.
KEPT = 60.0


@dataclass
class _CellRun:
    """A run of a cell. `pages` are those that were there, or were given its record."""

    view: LiveOutput
    cell: str
    pages: set[str]
    arrived: dict[str, Connection] = field(default_factory=dict)
    count: int = 0
    until: float = 0.0

    @property
    def outputs(self) -> dict[str, Any]:
        """The parameters of `set_outputs`."""
        bundles = [mimebundle(self.view.recorder.record()), *self.view.beyond]
        return {
            "id": self.cell,
            "run": self.view.recorder.run,
            "outputs": [{"output_type": "display_data", "data": bundle, "metadata": {}} for bundle in bundles],
            "execution_count": self.count,
        }


class LatePages:
    """Those of the run that goes on, and of what each cell ran last. May be used from any thread."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._lock = threading.Lock()
        self._run: _CellRun | None = None
        self._ended: dict[str, _CellRun] = {}

    def begin(self, view: View, pages: Iterable[str]) -> None:
        """A run begins; `pages` are there."""
        cell = cell_id(self._kernel.shell)
        with self._lock:
            self._run = None
            if isinstance(view, LiveOutput) and cell is not None:
                self._run = _CellRun(view, cell, set(pages))
                self._ended.pop(cell, None)

    def add(self, page: str, connection: Connection) -> None:
        """A page has come."""
        with self._lock:
            self._forget()
            for run in self._ended.values():
                self._give(run, page, connection)
            if self._run is not None:
                self._run.arrived[page] = connection

    def end(self) -> None:
        """The run has ended: give its record to those that came meanwhile."""
        with self._lock:
            run, self._run = self._run, None
            if run is None:
                return
            self._forget()
            run.count, run.until = self._kernel.shell.execution_count, time.monotonic() + KEPT
            self._ended[run.cell] = run
            for page, connection in run.arrived.items():
                self._give(run, page, connection)

    def _give(self, run: _CellRun, page: str, connection: Connection) -> None:
        if page not in run.pages:
            run.pages.add(page)
            asyncio.run_coroutine_threadsafe(_set(connection, page, run.outputs), main_loop(self._kernel))

    def _forget(self) -> None:
        now = time.monotonic()
        self._ended = {cell: run for cell, run in self._ended.items() if now < run.until}


async def _set(connection: Connection, page: str, params: dict[str, Any]) -> None:
    # One that shows another notebook has no such cell.
    with contextlib.suppress(AgentMagicError):
        await connection.ask(page, "set_outputs", params, _PATIENCE)
