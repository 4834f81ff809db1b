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
    """Let `handler` receive SIGINT meanwhile. Does nothing away from the main thread, where no signal arrives.

    A cell may begin while a run of the panel has its handler there, and end after it. So a handler whose time is over
    passes on what it still gets, and takes away no other that was put in its place.
    """
    if not on_main_thread():
        yield
        return
    over = False

    def receive(signum: int, frame: FrameType | None) -> None:
        if not over:
            handler(signum, frame)
        elif callable(previous):
            previous(signum, frame)

    found = signal.signal(signal.SIGINT, receive)
    # None stands for a handler that was not installed from Python and cannot be put back.
    previous = signal.default_int_handler if found is None else found
    try:
        yield
    finally:
        try:
            if signal.getsignal(signal.SIGINT) is receive:
                signal.signal(signal.SIGINT, previous)
        finally:
            over = True


def sigint_raises() -> contextlib.AbstractContextManager[None]:
    """Let SIGINT raise KeyboardInterrupt meanwhile, as in a plain Python program."""
    return sigint_handled_by(signal.default_int_handler)


# Those that got a SIGINT of which their loop has not heard yet.
_unheard: set[Handler] = set()


def stop_is_unheard() -> bool:
    """Whether a SIGINT came in a `stoppable` whose loop was at work; what is about to hold the loop must not begin."""
    return bool(_unheard)


@contextlib.asynccontextmanager
async def stoppable(stop: Callable[[], object], cancel: Callable[[], object]) -> AsyncIterator[None]:
    """While this lasts the first SIGINT calls `stop()` on the running loop, every later one `cancel()`."""
    loop = asyncio.get_running_loop()
    remaining = [stop]

    def handle(signum: int, frame: FrameType | None) -> None:
        # A signal handler must not wait for a lock, so it only hands over.
        _unheard.add(handle)
        loop.call_soon_threadsafe(hear, remaining.pop() if remaining else cancel)

    def hear(act: Callable[[], object]) -> None:
        _unheard.discard(handle)
        act()

    heart = asyncio.ensure_future(_beat())
    try:
        with sigint_handled_by(handle):
            yield
    finally:
        _unheard.discard(handle)
        heart.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT)
