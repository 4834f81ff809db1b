"""A pool of threads that never keeps the interpreter from ending."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonPool(Executor):
    """Runs functions in `size` threads, all started with the first one and kept.

    The standard pool joins its threads when Python ends, so that one function that hangs would hang the exit too;
    these threads are daemons.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._lock = threading.Lock()
        self._started = False
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with self._lock:
            if not self._started:
                self._started = True
                for number in range(self._size):
                    name = f"{self._name}-{number}"
                    threading.Thread(target=_serve, args=(self._work,), name=name, daemon=True).start()
        future: Future[T] = Future()
        self._work.put((future, functools.partial(function, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end after the work that is queued. It is not waited for."""
        with self._lock:
            if self._started:
                self._started = False
                for _ in range(self._size):
                    self._work.put(None)


def _serve(work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]) -> None:
    while (item := work.get()) is not None:
        future, function = item
        if future.set_running_or_notify_cancel():
            try:
                result = function()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
                del result
        # An idle thread must not keep the arguments and the result of its last call alive.
        del item, future, function
