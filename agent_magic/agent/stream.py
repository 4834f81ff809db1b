"""The events of a run for one reader, who may leave at any time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Protocol

from ..events import AgentEvent


class Channel:
    """Events on their way from a run to its reader; both live on one event loop.

    Putting never waits. The run waits, by `caught_up()`, before everything that cannot be undone, so that a reader who
    steers or aborts on what it saw is in time.
    """

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque()
        self._closed = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    def put(self, event: AgentEvent) -> None:
        if not self._closed:
            self._events.append(event)
            _wake(self._reader)

    def close(self) -> None:
        """No more events: the run has ended, or the reader left."""
        self._closed = True
        _wake(self._reader)
        _wake(self._writer)

    async def caught_up(self) -> None:
        """Return when the reader asks for more than there is."""
        while not self._closed and (self._events or self._reader is None):
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    async def get(self) -> AgentEvent | None:
        """The next event, None at the end."""
        while not self._events:
            if self._closed:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            _wake(self._writer)
            try:
                await self._reader
            finally:
                self._reader = None
        return self._events.popleft()


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


class ReadableRun(Protocol):
    """What a reader needs of a run."""

    def abandon(self) -> None: ...

    async def ended(self) -> None: ...

    def raise_interrupt(self) -> None: ...


class EventStream(AsyncIterator[AgentEvent]):
    """The events of a run. It starts with the first step; leaving early, by `break` or an exception, aborts it.

    A run that ends with an error ends the stream without raising; the last message and `agent.state` tell the error.
    """

    def __init__(self, start: Callable[[Channel], Awaitable[ReadableRun]]) -> None:
        self._start = start
        self._channel = Channel()
        self._run: ReadableRun | None = None
        self._left = False

    async def __anext__(self) -> AgentEvent:
        if self._left:
            raise StopAsyncIteration
        try:
            if self._run is None:
                self._run = await self._start(self._channel)
            event = await self._channel.get()
        except BaseException:
            await self.aclose()
            raise
        if event is None:
            self._left = True
            await self._run.ended()
            self._run.raise_interrupt()
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """Abort the run unless it has ended, and wait for its end."""
        self._leave()
        if self._run is not None:
            await self._run.ended()

    def _leave(self) -> None:
        if not self._left:
            self._left = True
            if self._run is not None:
                self._run.abandon()

    async def __aenter__(self) -> EventStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._leave()
