"""From an answer that is being read to the events of the stream, for every API alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from ..config import StopReason
from ..errors import ProviderError, StreamInterruptedError
from ..events import StreamEvent, StreamItem, delta_event, stop_event
from ..usage import Usage


class Answer(Protocol):
    """One answer while it is read. `failure` is set as soon as the server, or the end, says that it failed."""

    failure: ProviderError | None

    @property
    def is_complete(self) -> bool:
        """Whether the server has said that the answer is at its end."""

    @property
    def stop_reason(self) -> StopReason: ...

    def usage(self) -> Usage | None: ...

    def read(self, payloads: list[bytes]) -> list[StreamItem]:
        """The items of these payloads."""

    def end(self, broken: ProviderError | None) -> list[StreamItem]:
        """The items that were held back, once nothing more comes; `broken` is how the connection ended, if badly."""


async def events_of(
    answer: Answer, reads: AsyncGenerator[list[bytes], None]
) -> AsyncGenerator[list[StreamEvent], None]:
    """What `reads` brings, as events; the stop comes also before a failure is raised, so that its usage counts."""
    broken: StreamInterruptedError | None = None
    try:
        async with aclosing(reads):
            async for payloads in reads:
                items = answer.read(payloads)
                if items:
                    yield [delta_event(*items)]
                if answer.failure is not None:
                    break
    except StreamInterruptedError as error:
        # Once the server has said why it finished, a connection that breaks off loses nothing.
        broken = None if answer.is_complete else error
    items = answer.end(broken)
    if items:
        yield [delta_event(*items)]
    yield [stop_event(answer.stop_reason, answer.usage())]
    if answer.failure is not None:
        raise answer.failure
