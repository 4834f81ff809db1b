"""How Stop (SIGINT) reaches a run: while it waits, and while a function of the user holds the main thread."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import FrameType
from typing import Any

# Seconds. A loop that sleeps may notice a signal only when it wakes: on Windows, and where another handler is in place.
HEARTBEAT = 0.05

Handler = Callable[[int, FrameType | None], Any]


def on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def sigint_handled_by(handler: Handler) -> Iterator[None]:
    """Let `handler` receive SIGINT meanwhile. Does nothing away from the main thread, where no signal arrives."""
    if not on_main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None stands for a handler that was not installed from Python and cannot be put back.
        signal.signal(signal.SIGINT, signal.default_int_handler if previous is None else previous)


def sigint_raises() -> contextlib.AbstractContextManager[None]:
    """Let SIGINT raise KeyboardInterrupt meanwhile, as in a plain Python program."""
    return sigint_handled_by(signal.default_int_handler)


@contextlib.asynccontextmanager
async def stoppable(stop: Callable[[], object], cancel: Callable[[], object]) -> AsyncIterator[None]:
    """While this lasts the first SIGINT calls `stop()` on the running loop, every later one `cancel()`."""
    loop = asyncio.get_running_loop()
    remaining = [stop]

    def handle(signum: int, frame: FrameType | None) -> None:
        # A signal handler must not wait for a lock, so it only hands over.
        loop.call_soon_threadsafe(remaining.pop() if remaining else cancel)

    heart = asyncio.ensure_future(_beat())
    try:
        with sigint_handled_by(handle):
            yield
    finally:
        heart.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT)
