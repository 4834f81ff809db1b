"""The comm by which the panel of JupyterLab and Notebook 7 reaches this kernel."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..errors import AgentMagicError
from .connection import PROTOCOL, Connection
from .kernel import NotebookKernel
from .run_methods import kernel_loop, main_loop
from .run_widget import answer_where_asked

TARGET = "agent_magic"

_logger = logging.getLogger(__name__)


class Panel:
    """Opens the comm and hands over what comes through it. Nothing else is loaded before the first message.

    One comm serves all pages that show the notebook.
    """

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._comm: Any = None
        self._connection: Connection | None = None
        # A page closes a comm that it does not know.
        self.refused = False
        self._waits = False

    @property
    def pages(self) -> int:
        """How many pages show the panel."""
        return 0 if self._connection is None else len(self._connection.pages)

    def announce(self) -> None:
        """Tell the pages of this kernel that its agent can be reached; those that know already are told nothing new.

        Who runs a notebook without a page warns of a comm, so there it waits for code that a page may have sent.
        """
        if self.pages:
            return
        if not self._may_be_heard():
            self._wait()
            return
        self._wait_no_longer()
        if self._comm is not None:
            self._comm.close()
        self._take(self._new_comm(data={"type": "hello", "protocol": PROTOCOL, "version": __version__}))

    def open(self) -> bool:
        """Have the page that was last used show its panel; False where there is none."""
        found = self._kernel.chat.page() if self.pages else None
        if found is None:
            return False
        connection, page = found
        asyncio.run_coroutine_threadsafe(_open(connection, page.id), main_loop(self._kernel))
        return True

    def send(self, message: Mapping[str, Any]) -> None:
        """The transport of the connection."""
        if self._comm is not None:
            self._comm.send(dict(message))

    def close(self) -> None:
        """Close the comm at both ends."""
        self._wait_no_longer()
        comm, self._comm = self._comm, None
        if self._connection is not None:
            self._connection.close()
        if comm is not None:
            comm.close()

    def _may_be_heard(self) -> bool:
        """Whether a page may have sent the code that runs: it allows input in cells, and loads us silently.

        Before the first request the kernel starts, and whoever comes later finds the comm.
        """
        find: Any = getattr(self._kernel.shell.kernel, "get_parent", dict)
        content = (find() or {}).get("content") or {}
        return bool(content.get("silent", True) or content.get("allow_stdin", True))

    def _wait(self) -> None:
        if not self._waits:
            self._waits = True
            self._kernel.shell.events.register("pre_execute", self.announce)

    def _wait_no_longer(self) -> None:
        if self._waits:
            self._waits = False
            self._kernel.shell.events.unregister("pre_execute", self.announce)

    def _take(self, comm: Any) -> None:
        answer_where_asked(comm)
        comm.on_msg(self._receive)
        comm.on_close(self._closed)
        self._comm = comm

    def _receive(self, message: Mapping[str, Any]) -> None:
        """Hand over a message, in whatever thread it came."""
        data = message["content"]["data"]
        if self._connection is not None:
            self._connection.receive(data)
        else:
            kernel_loop(self._kernel).call_soon_threadsafe(self._receive_first, data)

    def _receive_first(self, data: Any) -> None:
        if self._connection is None:
            try:
                self._connection = self._kernel.chat.connect(self)
            except Exception as error:
                _logger.exception("The chat of the panel could not be made.")
                if isinstance(data, Mapping) and "id" in data:
                    words = f"The agent of this kernel cannot be used: {error}"
                    self.send({"type": "response", "id": data["id"], "error": words})
                return
        self._connection.receive(data)

    def _closed(self, message: Mapping[str, Any]) -> None:
        """A page closed the comm, as one does that does not know it. Others may: let it be found as it was."""
        if self._comm is not None:
            self.refused = True
            again = self._new_comm(comm_id=self._comm.comm_id, primary=False)
            self._manager.register_comm(again)
            self._take(again)

    @property
    def _manager(self) -> Any:
        return self._kernel.shell.kernel.comm_manager

    def _new_comm(self, **named: Any) -> Any:
        """A comm of this kernel; in an old ipykernel those of the package `comm`, if it is there, lead nowhere."""
        comm = sys.modules.get("comm")
        if comm is not None and comm.get_comm_manager() is self._manager:
            return comm.create_comm(target_name=TARGET, **named)
        from ipykernel.comm import Comm

        make: Any = Comm
        return make(target_name=TARGET, **named)


async def _open(connection: Connection, page: str) -> None:
    # An earlier version of the page does not know how.
    with contextlib.suppress(AgentMagicError):
        await connection.ask(page, "open_panel", {}, 10.0)
