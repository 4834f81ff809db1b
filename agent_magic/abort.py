"""The abort signal: one live flag that a run, its request and its tools share (source: Y SP-022)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack

from .errors import AbortedError


class AbortSignal:
    """Says once, and for good, that work should stop. Safe to use from any thread.

    >>> signal = AbortSignal()
    >>> signal.aborted
    False
    >>> signal.abort("enough")
    >>> signal.reason
    'enough'
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._aborted = False
        self._reason = ""
        self._callbacks: list[Callable[[], object]] = []

    @property
    def aborted(self) -> bool:
        return self._aborted

    @property
    def reason(self) -> str:
        """Why the work was aborted; empty until then."""
        return self._reason

    def abort(self, reason: str = "Operation aborted") -> None:
        """Abort. The first reason stays; later calls do nothing. A callback that fails does not keep others waiting."""
        with self._lock:
            if self._aborted:
                return
            self._aborted, self._reason = True, reason
            callbacks, self._callbacks = self._callbacks, []
        with ExitStack() as stack:
            for callback in reversed(callbacks):
                stack.callback(callback)

    def throw_if_aborted(self) -> None:
        """Raise `AbortedError` if the signal was given."""
        if self._aborted:
            raise AbortedError(self._reason)

    def on_abort(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback()` on abort, in the thread that aborts, or at once if that has happened.

        Returns a function that takes the callback back.
        """
        with self._lock:
            if not self._aborted:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], object]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    async def wait(self) -> None:
        """Return when the signal is given."""
        loop = asyncio.get_running_loop()
        aborted = asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(aborted.set)

        forget = self.on_abort(wake)
        try:
            await aborted.wait()
        finally:
            forget()

    def __repr__(self) -> str:
        return f"AbortSignal(aborted={self._aborted}, reason={self._reason!r})"
