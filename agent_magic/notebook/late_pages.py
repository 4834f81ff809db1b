"""Pages that came to a run while it went on, such as one that was loaded again.

They do not know the display of its cell any more, and drop what is published for it; so they are given the record.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ..errors import AgentMagicError
from .bundle import mimebundle
from .identity import cell_id
from .live import LiveOutput

if TYPE_CHECKING:
    from .connection import Connection
    from .kernel import NotebookKernel
    from .view import View

# Seconds that a page has to answer.
_PATIENCE = 30.0


class LatePages:
    """Those of the run that goes on."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._view: LiveOutput | None = None
        self._cell: str | None = None
        self._arrived: dict[str, Connection] = {}

    def begin(self, view: View) -> None:
        """A run begins, which none has missed yet."""
        self._arrived = {}
        self._view = view if isinstance(view, LiveOutput) else None
        self._cell = cell_id(self._kernel.shell)

    def add(self, page: str, connection: Connection) -> None:
        """A page has come. Does nothing where no cell shows a run."""
        if self._view is not None and self._cell is not None:
            self._arrived[page] = connection

    def end(self, loop: asyncio.AbstractEventLoop) -> None:
        """The run has ended: give its record to those that came meanwhile. `loop` is the kernel's own."""
        view, self._view = self._view, None
        if view is None or not self._arrived:
            return
        bundles = [mimebundle(view.recorder.record()), *view.beyond]
        params = {
            "id": self._cell,
            "outputs": [{"output_type": "display_data", "data": bundle, "metadata": {}} for bundle in bundles],
            "execution_count": self._kernel.shell.execution_count,
        }
        for page, connection in self._arrived.items():
            asyncio.run_coroutine_threadsafe(_give(connection, page, params), loop)


async def _give(connection: Connection, page: str, params: dict[str, Any]) -> None:
    # One that shows another notebook has no such cell.
    with contextlib.suppress(AgentMagicError):
        await connection.ask(page, "set_outputs", params, _PATIENCE)
