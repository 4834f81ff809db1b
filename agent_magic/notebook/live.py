"""The live output of a notebook: one display, updated while the run goes on, that becomes its record at the end."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from .bundle import mimebundle
from .html import HtmlWriter
from .record import Recorder
from .view import QuietView

# Seconds between two updates. More of them lose messages on the way to the page.
INTERVAL = 0.2
# A long record takes long to draw; at most this part of the time is spent on it.
SHARE = 0.2


class LiveOutput(QuietView):
    """Publishes through the display publisher that the cell had at the start, whatever is captured later."""

    def __init__(self, recorder: Recorder, shell: Any, updates: bool = True) -> None:
        super().__init__(recorder)
        self._publisher = shell.display_pub
        self._writer = HtmlWriter()
        self._updates = updates
        self._display_id = f"agent-magic-{recorder.record()['run']}"
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._changed = False
        self._shown = False

    def start(self) -> None:
        if self._updates:
            self._publish(live=True)
            self._due = 0.0  # the first token must not wait

    def changed(self) -> None:
        self._changed = True
        if not self._updates or self._timer is not None:
            return
        wait = self._due - time.monotonic()
        if wait <= 0:
            self.flush()
        else:
            self._timer = self._loop.call_later(wait, self.flush)

    def flush(self) -> None:
        self._cancel_timer()
        if self._changed and self._updates:
            self._publish(live=True)

    def finish(self) -> None:
        self._cancel_timer()
        self._publish(live=False)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _publish(self, live: bool) -> None:
        began = time.monotonic()
        data = mimebundle(self.recorder.record(), live=live, writer=self._writer)
        self._publisher.publish(data, {}, transient={"display_id": self._display_id}, update=self._shown)
        self._shown, self._changed = True, False
        now = time.monotonic()
        self._due = now + max(INTERVAL, (now - began) / SHARE)
