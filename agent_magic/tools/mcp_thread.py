"""An event loop in a thread of its own, for servers that outlive the runs which use them."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from ..errors import AgentMagicError

T = TypeVar("T")


def _new_loop() -> asyncio.AbstractEventLoop:
    # Elsewhere in the process Windows may have been told to use a loop that cannot start processes.
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.new_event_loop()


class LoopThread:
    """Runs coroutines that any thread submits."""

    def __init__(self, name: str) -> None:
        self._process = os.getpid()
        self._loop = _new_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    @property
    def in_this_process(self) -> bool:
        """False in a forked child, which has no such thread."""
        return self._process == os.getpid()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` on the loop; cancelling the future cancels it. Raises `AgentMagicError` in a forked child."""
        if not self.in_this_process or not self._thread.is_alive():
            work.close()
            raise AgentMagicError(
                "These MCP servers are closed, or belong to the process that this one was forked from."
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[[], object]) -> None:
        """Have the loop call `function` soon."""
        self._loop.call_soon_threadsafe(function)

    def close(self, timeout: float) -> None:
        """Stop the loop when what it is doing has ended, and wait for its thread."""
        if self.in_this_process and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout)
