"""How often something may be sent to a page."""

from __future__ import annotations

import time


class Pace:
    """At most `rate` a second in the long run. `saved` may be saved up, and `borrowed` sent ahead of time."""

    def __init__(self, rate: float, saved: float, borrowed: float) -> None:
        self.rate = rate
        self._most = saved
        self._least = -borrowed
        self._credit = saved
        self._counted = time.monotonic()

    @property
    def wait(self) -> float:
        """Seconds until the next one is due."""
        return max(0.0, (1.0 - self._saved()) / self.rate)

    @property
    def may_borrow(self) -> bool:
        """Whether one may be sent now, also before it is due."""
        return self._saved() - 1.0 >= self._least

    def spend(self, amount: float = 1.0) -> None:
        self._credit = self._saved() - amount

    def _saved(self) -> float:
        now = time.monotonic()
        self._credit = min(self._most, self._credit + (now - self._counted) * self.rate)
        self._counted = now
        return self._credit
