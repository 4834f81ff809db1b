"""Messages that wait for their turn: steering and follow-ups."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any

from ..config import QueueMode


class MessageQueue:
    """First in, first out. `mode` says how many messages one turn takes, and a change of it acts at once.

    Messages may be put in from any thread.
    """

    def __init__(self, mode: str = QueueMode.ONE_AT_A_TIME) -> None:
        self.mode = QueueMode.of(mode)
        self._messages: deque[Any] = deque()

    @property
    def messages(self) -> tuple[Any, ...]:
        """What waits, oldest first."""
        return tuple(self._messages)

    def put(self, message: Any) -> None:
        self._messages.append(message)

    def take(self) -> list[Any]:
        """Remove and return what the next turn takes: the oldest message, or all of them."""
        count = len(self._messages) if self.mode is QueueMode.ALL else min(1, len(self._messages))
        taken: list[Any] = []
        # Another thread may clear the queue meanwhile.
        with suppress(IndexError):
            while len(taken) < count:
                taken.append(self._messages.popleft())
        return taken

    def clear(self) -> None:
        self._messages.clear()

    def __len__(self) -> int:
        return len(self._messages)
