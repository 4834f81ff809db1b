"""Blocking calls of async work: one warm event loop in a thread of its own, and callers that wait and can help.

A caller waits in a queue, and while it waits it runs functions for the work it waits for: this is how a tool gets
onto the main thread although the loop lives elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, TypeVar

from ..errors import AbortedError, AgentBusyError

T = TypeVar("T")

# A thread that waits on a lock for good does not notice Ctrl-C on Windows, so there it looks up now and then.
WAIT_SECONDS = None if os.name == "posix" else 0.1


class Waiter:
    """A thread that waits for work and meanwhile runs functions for it."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self._inbox: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._closed = False
        self._interrupted = False
        self._lock = threading.Lock()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Have `function` run by the waiting thread; cancelled when that waits no longer.

        KeyboardInterrupt in the function interrupts the wait; the future then has an `AbortedError`.
        """
        future: Future[T] = Future()

        def run() -> None:
            try:
                if not future.set_running_or_notify_cancel():
                    return
                result = function()
            except KeyboardInterrupt:
                self._interrupted = True
                future.set_exception(AbortedError("Operation aborted"))
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._lock:
            if self._closed:
                future.cancel()
            else:
                self._inbox.put(run)
        return future

    def wait(self, done: Future[T]) -> None:
        """Run what is submitted until `done` is done."""
        done.add_done_callback(lambda _: self._inbox.put(None))
        while not done.done():
            try:
                run = self._inbox.get(timeout=WAIT_SECONDS)
            except queue.Empty:
                continue
            if run is not None:
                run()
            if self._interrupted:
                self._interrupted = False
                raise KeyboardInterrupt

    def close(self) -> None:
        with self._lock:
            self._closed = True


_waiter: ContextVar[Waiter | None] = ContextVar("agent_magic_waiter", default=None)


def current_waiter() -> Waiter | None:
    """The waiter of the thread that waits for the running work, None when nobody waits."""
    return _waiter.get()


def submit_to_waiter(function: Callable[[], T]) -> Future[T]:
    """Have `function` run by the thread that waits for the running work.

    Raises `RuntimeError` when the work was not started by `run_blocking`.
    """
    waiter = _waiter.get()
    if waiter is None:
        raise RuntimeError("No thread waits for this work; it was not started by run_blocking.")
    return waiter.submit(function)


class BackgroundLoop:
    """An event loop in a daemon thread. It stays warm, and with it the connections that it opened."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        self.thread = threading.Thread(target=self._serve, name="agent_magic loop", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    @property
    def usable(self) -> bool:
        """False in a forked child, where the thread does not exist."""
        return self.process == os.getpid() and self.thread.is_alive()


_lock = threading.Lock()
_background: BackgroundLoop | None = None


def background_loop() -> BackgroundLoop:
    """The one loop of this process, started at first use."""
    global _background
    with _lock:
        if _background is None or not _background.usable:
            _background = BackgroundLoop()
        return _background


def run_blocking(coroutine_function: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], object]) -> T:
    """Run the coroutine on the background loop, wait for it, and give its result or raise its exception.

    On KeyboardInterrupt `on_interrupt()` is called, the end of the work is awaited, and the interrupt is raised again;
    a second one is raised at once. Works in any thread, whether an event loop runs in it or not, except in the
    background loop's own.
    """
    background = background_loop()
    if threading.current_thread() is background.thread:
        raise AgentBusyError(
            "An async tool or hook must not call run(), which would wait for itself. There, use "
            "`await agent.prompt(...)`."
        )
    waiter = Waiter()
    done: Future[T] = Future()

    async def work() -> None:
        _waiter.set(waiter)
        try:
            done.set_result(await coroutine_function())
        except BaseException as error:  # raised here, an interrupt would stop the loop of everybody
            done.set_exception(error)

    background.loop.call_soon_threadsafe(lambda: _keep(background.loop.create_task(work())))
    try:
        try:
            waiter.wait(done)
        except KeyboardInterrupt:
            on_interrupt()
            waiter.wait(done)
            raise
    finally:
        waiter.close()
    return done.result()


# The loop itself holds its tasks only weakly.
_tasks: set[asyncio.Task[None]] = set()


def _keep(task: asyncio.Task[None]) -> None:
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
