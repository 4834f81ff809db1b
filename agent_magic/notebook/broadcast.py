"""One run, told to every page that follows it: its record once, and then what changes in it."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from .connection import Connection
from .limits import json_size
from .pace import Pace
from .record import Recorder

# Messages a second. With the one saved up and the one borrowed these are at most 20 in any second.
RATE = 18.0
# Seconds in which changes are gathered before they are sent.
GATHERED = 0.005
# Seconds between two snapshots while something changes. A message may get lost on the way to the page.
SNAPSHOT = 5.0
# Bytes a second that snapshots may take: those of a long record come less often.
SNAPSHOT_BYTES = 1_000.0
# Bytes a second that all of them may take in the long run, and what a page may be sent before that counts. A long
# answer comes in larger pieces after its first seconds: 4,000 tokens shall cost at most 400 kB.
BYTES = 4_500.0
BYTES_SAVED = 60_000.0
# What the message around an event takes, and the most that an event counts for: nothing shall wait for a picture.
ENVELOPE = 650
COUNTED = 1_000


class Broadcast:
    """Sends the changes of `recorder` to the connections that are attached, gathered, at most 20 messages a second.

    While nobody is attached it does nothing. To be used from the thread of the run's loop, but for `attach`, `snapshot`
    and `detach`, which any thread may call.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._connections: tuple[Connection, ...] = ()
        self._pace = Pace(RATE, saved=1.0, borrowed=1.0)
        self._bytes = Pace(BYTES, saved=BYTES_SAVED, borrowed=0.0)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._late: threading.Timer | None = None
        self._held: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._over = False
        self._sent = 0
        self._snapshot_due = 0.0
        self.note()

    @property
    def followed(self) -> bool:
        """Whether a page follows the run."""
        return any(not connection.closed for connection in self._connections)

    @property
    def is_noted(self) -> bool:
        """Whether nothing has changed since the last `note`, as while the loop stands still; in any thread."""
        return bool(self._recorder.seq == self._noted["seq"])

    def note(self) -> None:
        """Remember how the record stands, for pages that ask while the loop stands still."""
        seq = self._recorder.seq
        self._noted: dict[str, Any] = {"run": self._recorder.run, "seq": seq, "record": self._recorder.record()}

    def snapshot(self, loop: asyncio.AbstractEventLoop) -> dict[str, Any]:
        """`{run, seq, record}`: the record of this run, whose loop is `loop`, after the change numbered `seq`.

        Away from the run's thread it is the last one that was noted, and what has changed since follows as an event.
        """
        if _is_running_here(loop):
            self.note()
            return self._noted
        noted = self._noted
        loop.call_soon_threadsafe(self._catch_up, noted["seq"])
        return noted

    def attach(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> dict[str, Any]:
        """Send the events of this run through `connection` from now on. Returns a `snapshot`."""
        with self._lock:
            snapshot = self.snapshot(loop)
            if not self._connections:
                self._sent = snapshot["seq"]
                self._snapshot_due = time.monotonic() + SNAPSHOT
            if connection not in self._connections:
                self._connections += (connection,)
            self._loop = loop
        return snapshot

    def detach(self, connection: Connection) -> None:
        """Send it nothing more."""
        with self._lock:
            self._connections = tuple(each for each in self._connections if each is not connection)

    def changed(self) -> None:
        """The record has changed: tell it soon."""
        if self._connections and self._timer is None and self._loop is not None and not self._over:
            wait = max(GATHERED, self._pace.wait, self._bytes.wait)
            self._timer = self._loop.call_later(wait, self._send_changes)

    def tell(self) -> None:
        """Tell at once what is not told yet."""
        if self._connections and not self._over:
            self._send_changes()

    def flush(self) -> None:
        """Tell what is not told yet, as the thread will be busy; where it is too early now, another thread will."""
        self.note()
        if not self._connections or self._over:
            return
        if self._pace.may_borrow:
            self.tell()
            return
        with self._lock:
            self._held = self._recorder.deltas_since(self._sent)
            if self._late is None:
                self._late = threading.Timer(self._pace.wait, self._send_held)
                self._late.daemon = True
                self._late.start()

    def finish(self) -> None:
        """The record is complete: tell it whole."""
        self.note()
        self._cancel_timer()
        if self._connections and not self._over:
            self._send_snapshot()
        self._over = True

    def _catch_up(self, seq: int) -> None:
        if not self._over and self._recorder.seq > seq:
            self._send_snapshot()

    def _send_changes(self) -> None:
        self._cancel_timer()
        with self._lock:
            due = time.monotonic() >= self._snapshot_due and self._recorder.seq > self._sent
            if not due:
                self._send_deltas(self._recorder.deltas_since(self._sent))
        if due:
            self._send_snapshot()

    def _send_snapshot(self) -> None:
        self.note()
        size = json_size(self._noted["record"])
        with self._lock:
            self._snapshot_due = time.monotonic() + max(SNAPSHOT, size / SNAPSHOT_BYTES)
            self._send({"type": "run", **self._noted}, self._noted["seq"], size)

    def _send_held(self) -> None:
        """In a thread of its own, because that of the loop is busy."""
        with self._lock:
            self._late = None
            self._send_deltas([delta for delta in self._held if delta["seq"] > self._sent])

    def _send_deltas(self, deltas: list[dict[str, Any]]) -> None:
        if deltas and not self._over:
            event = {"type": "deltas", "run": self._recorder.run, "deltas": deltas}
            self._send(event, deltas[-1]["seq"], json_size(deltas))

    def _send(self, event: dict[str, Any], seq: int, size: int) -> None:
        self._sent = seq
        self._pace.spend()
        self._bytes.spend(ENVELOPE + min(size, COUNTED))
        for connection in self._connections:
            connection.send(event)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
