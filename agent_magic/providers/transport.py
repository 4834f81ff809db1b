"""What HTTP traffic is made of here, whichever library carries it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from ..models import Model
from ..secret import BLANKED, Secret

# Silence is counted in this many steps of a running loop. A step that ends late does not count: the loop was blocked,
# such as by a cell of the user, and has yet to read what has arrived meanwhile.
_STEPS = 10


@dataclass(frozen=True)
class HTTPRequest:
    """A request to send. Values of `headers` that must stay secret are `Secret`; `timeout` is seconds of silence."""

    model: Model
    url: str
    headers: Mapping[str, str | Secret]
    body: bytes
    timeout: float | None
    method: str = "POST"

    def shown_headers(self) -> dict[str, str]:
        """The headers as they may be logged: keys, and whatever the user added, are blanked."""
        own = {name.lower() for name in self.model.headers}
        return {
            name: value if isinstance(value, str) and name not in own else BLANKED
            for name, value in self.headers.items()
        }


@dataclass(frozen=True)
class HTTPResponse:
    """An answer: its status, its headers in small letters, and its body as it comes, already decompressed."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterable[bytes]


# Gives the response within an `async with`, whose end closes the connection unless the body was read to its end. It is
# left without an exception when the whole answer was read, even if the connection was not closed by then.
# Raises `ProviderError` and nothing else when the way to the server fails.
Transport = Callable[[HTTPRequest], "AbstractAsyncContextManager[HTTPResponse]"]


@dataclass(frozen=True)
class HTTPEvent:
    """What `observe` shows: `kind` is `request`, `response`, `data`, `end` or `error`. Keys are blanked."""

    kind: str
    url: str
    headers: Mapping[str, str]
    status: int | None = None
    data: bytes = b""
    error: str = ""


class SilenceWatch:
    """Cancels the task that entered it after `limit` seconds without `heard()`; then `expired` is True."""

    def __init__(self, limit: float | None) -> None:
        self.expired = False
        self._limit = limit
        self._quiet_steps = 0
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0

    def __enter__(self) -> SilenceWatch:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def heard(self) -> None:
        self._quiet_steps = 0

    def shorten(self, limit: float) -> None:
        """Wait no longer than `limit` seconds from now on."""
        self.__exit__()
        self._limit, self._quiet_steps = limit, 0
        self._wait()

    def forgive(self) -> None:
        """Take back the cancellation, so that the task can go on to report it."""
        uncancel = getattr(self._task, "uncancel", None)
        if uncancel is not None:
            uncancel()

    def _wait(self) -> None:
        if self._limit is not None:
            self._due = self._loop.time() + self._limit / _STEPS
            self._timer = self._loop.call_at(self._due, self._step)

    def _step(self) -> None:
        assert self._limit is not None
        if self._loop.time() - self._due < self._limit / _STEPS:
            self._quiet_steps += 1
        if self._quiet_steps < _STEPS or self._task is None:
            self._wait()
        else:
            self.expired = True
            self._task.cancel()
