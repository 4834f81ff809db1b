"""The runs that this kernel has shown, so that they can be shown again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..session.session import Session

Record = dict[str, Any]

# A record has up to one megabyte.
KEPT = 50


class Runs:
    """The records of the last 50 runs, numbered from 1 since the kernel started."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: deque[tuple[Record, frozenset[str]]] = deque(maxlen=KEPT)
        self._session: Session | None = None
        self._before = 0

    def begin(self, session: Session) -> None:
        """A run begins, and adds to `session`."""
        self._session, self._before = session, len(session.tree)

    @property
    def going_on(self) -> bool:
        return self._session is not None

    @property
    def said(self) -> frozenset[str]:
        """The ids of the entries that the run which goes on has added; empty while none does."""
        return frozenset(() if self._session is None else self._session.spoken_since(self._before))

    def add(self, record: Record) -> None:
        """Keep the record of the run that has ended."""
        self._kept.append((record, self.said))
        self._session = None
        self.count += 1

    def kept(self) -> tuple[tuple[Record, frozenset[str]], ...]:
        """The records that are still there, each with what its run added to the session."""
        return tuple(self._kept)

    @property
    def numbers(self) -> range:
        """The numbers of the runs that are still there."""
        return range(self.count - len(self._kept) + 1, self.count + 1)

    def __getitem__(self, number: int) -> Record:
        """The record of that run. Raises `IndexError` for one that is not there."""
        if number not in self.numbers:
            raise IndexError(number)
        return self._kept[number - self.numbers.start][0]
