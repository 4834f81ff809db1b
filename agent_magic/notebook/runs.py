"""The runs that this kernel has shown, so that they can be shown again."""

from __future__ import annotations

from collections import deque
from typing import Any

Record = dict[str, Any]

# A record has up to one megabyte.
KEPT = 50


class Runs:
    """The records of the last 50 runs, numbered from 1 since the kernel started."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: deque[Record] = deque(maxlen=KEPT)

    def add(self, record: Record) -> None:
        self._kept.append(record)
        self.count += 1

    @property
    def numbers(self) -> range:
        """The numbers of the runs that are still there."""
        return range(self.count - len(self._kept) + 1, self.count + 1)

    def __getitem__(self, number: int) -> Record:
        """The record of that run. Raises `IndexError` for one that is not there."""
        if number not in self.numbers:
            raise IndexError(number)
        return self._kept[number - self.numbers.start]
