"""Runs the user's functions on the kernel's main thread, one at a time.

They share the namespace, matplotlib and database handles with the user's cells, so they must run where cells run. One
that blocks there can be ended by a signal alone: a time-out, an abort and Stop all arrive as SIGINT, and the cause is
kept here.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

from .interrupt import on_main_thread, sigint_handled_by

T = TypeVar("T")


def interrupt_main_thread() -> None:
    """Send SIGINT to the main thread, from any thread."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


class Interruption:
    """Ends a call that holds the main thread; `cause` says why, None if nobody asked for it but the user."""

    def __init__(self) -> None:
        self.cause: BaseException | None = None
        self.came = False
        self._over = False
        self._lock = threading.Lock()

    def send(self, cause: BaseException) -> None:
        """Break the call off because of `cause`, from any thread. Does nothing once the call is over."""
        with self._lock:
            if self._over or self.cause is not None:
                return
            self.cause = cause
            interrupt_main_thread()

    @contextlib.contextmanager
    def armed(self, timeout: float | None, cause: Callable[[], BaseException]) -> Iterator[None]:
        """Let SIGINT raise KeyboardInterrupt here, and send it with `cause()` after `timeout` seconds."""
        timer = threading.Timer(timeout, lambda: self.send(cause())) if timeout is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        # A signal that was sent just before the end is still handled in here: `signal.signal` looks for it first.
        with sigint_handled_by(self._handle):
            try:
                yield
            finally:
                if timer is not None:
                    timer.cancel()
                with self._lock:
                    self._over = True

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._over and self.cause is not None:
            return
        self.came = True
        raise KeyboardInterrupt
