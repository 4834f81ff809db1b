"""The live output of a notebook: one display, updated while the run goes on, that becomes its record at the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from .bundle import mimebundle
from .html import HtmlWriter
from .record import Recorder
from .view import QuietView

# Updates a second. More of them lose messages on the way to the page.
RATE = 5.0
# So many may be saved up, and as many borrowed where the thread will be busy for a while.
SAVED = 3.0
# Seconds in which changes are gathered before they are drawn.
GATHERED = 0.02
# A long record takes long to draw; at most this part of the time is spent on it.
SHARE = 0.2


class LiveOutput(QuietView):
    """Publishes through the display publisher that the cell had at the start, whatever is captured later."""

    def __init__(self, recorder: Recorder, shell: Any, origin_of: Callable[[str], str], updates: bool = True) -> None:
        super().__init__(recorder, origin_of)
        self._publisher = shell.display_pub
        self._writer = HtmlWriter()
        self._updates = updates
        self._display_id = f"agent-magic-{recorder.record()['run']}"
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._credit = SAVED
        self._counted = time.monotonic()
        self._changed = False
        self._shown = False

    def start(self) -> None:
        self._changed = True
        self.flush()

    def changed(self) -> None:
        self._changed = True
        if self._updates and self._timer is None:
            wait = max(GATHERED, (1.0 - self._saved()) / RATE)
            self._timer = self._loop.call_later(wait, self._draw)

    def flush(self) -> None:
        if self._changed and self._updates and self._saved() > -SAVED:
            self._draw()

    def finish(self) -> None:
        self._cancel_timer()
        self._publish(live=False)
        for bundle in self.beyond:
            self._publisher.publish(bundle, {})

    def _saved(self) -> float:
        """How many updates may be made now; negative when some were borrowed."""
        now = time.monotonic()
        self._credit = min(SAVED, self._credit + (now - self._counted) * RATE)
        self._counted = now
        return self._credit

    def _draw(self) -> None:
        self._cancel_timer()
        self._publish(live=True)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _publish(self, live: bool) -> None:
        began = time.monotonic()
        data = mimebundle(self.recorder.record(), live=live, writer=self._writer)
        self._publisher.publish(data, {}, transient={"display_id": self._display_id}, update=self._shown)
        self._shown, self._changed = True, False
        self._credit -= max(1.0, (time.monotonic() - began) * RATE / SHARE)
