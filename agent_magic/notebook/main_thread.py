"""Runs the user's functions on the kernel's main thread, one at a time.

They share the namespace, matplotlib and database handles with the user's cells, so they must run where cells run. One
that blocks there can be ended by a signal alone: a time-out, an abort and Stop all arrive as SIGINT, and the cause is
kept here.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

from ..agent.background import current_waiter
from ..errors import AbortedError
from .interrupt import on_main_thread, sigint_handled_by, stop_is_unheard

T = TypeVar("T")


def main_thread_is_free() -> bool:
    """Whether the running work can have functions run by the main thread: it is there itself, or it waits for it."""
    waiter = current_waiter()
    return on_main_thread() or (waiter is not None and waiter.thread is threading.main_thread())


async def on_main(function: Callable[[], T], interruption: Interruption) -> T:
    """Have the main thread call `function`, at once if it runs this loop, else when it comes to it.

    When cancelled, the function is broken off and its end is awaited: nothing else could use the thread before.
    KeyboardInterrupt in the function becomes an `AbortedError`, and interrupts a thread that waits for this work.
    """
    waiter = current_waiter()
    if on_main_thread() or waiter is None:
        try:
            return function()
        except KeyboardInterrupt:
            raise AbortedError("Operation aborted") from None
    call = waiter.submit(function)
    waiting = asyncio.wrap_future(call)
    try:
        await asyncio.wait({waiting})
    except asyncio.CancelledError:
        if not call.cancel():
            interruption.send(AbortedError("Operation aborted"))
            await asyncio.wait({waiting})
        if not waiting.cancelled():
            waiting.exception()
        raise
    return waiting.result()


def interrupt_main_thread() -> None:
    """Send SIGINT to the main thread, from any thread."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


class Interruption:
    """What may break off a call that holds the main thread: `send`, a time-out, or SIGINT of the user."""

    def __init__(self) -> None:
        self._cause: BaseException | None = None
        self._came = False
        self._running = False
        self._over = False
        self._lock = threading.Lock()

    def send(self, cause: BaseException) -> None:
        """Break the call off because of `cause`, from any thread; one that has not begun will not begin."""
        with self._lock:
            if self._over or self._cause is not None:
                return
            self._cause = cause
            if self._running:
                interrupt_main_thread()

    def guard(self, function: Callable[[], T], timeout: float | None, timed_out: Callable[[], BaseException]) -> T:
        """Call `function` so that it can be broken off, if this is the main thread.

        Raises `timed_out()` after `timeout` seconds, the cause that was sent, or KeyboardInterrupt if it was the user,
        also where the function swallowed the interrupt.
        """
        if not on_main_thread():
            return function()
        try:
            with self._armed(timeout, timed_out):
                result = function()
        except BaseException:
            self._explain()
            raise
        self._explain()
        return result

    @contextlib.contextmanager
    def _armed(self, timeout: float | None, timed_out: Callable[[], BaseException]) -> Iterator[None]:
        timer = threading.Timer(timeout or 0.0, lambda: self.send(timed_out()))
        timer.daemon = True
        # A signal that was sent just before the end is still handled in here: `signal.signal` looks for it first.
        with sigint_handled_by(self._handle):
            try:
                with self._lock:
                    self._running = True
                self._came = self._came or stop_is_unheard()
                self._explain()
                if timeout is not None:
                    timer.start()
                yield
            finally:
                timer.cancel()
                with self._lock:
                    self._over = True

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._over and self._cause is not None:
            return
        self._came = self._came or self._cause is None
        raise KeyboardInterrupt

    def _explain(self) -> None:
        if self._came:
            raise KeyboardInterrupt
        if self._cause is not None:
            raise self._cause from None
