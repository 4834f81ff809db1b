"""Appends to a file from a thread of its own, so that a slow disk holds up nobody.

The thread lives only while there is something to write. A line is *written* when it has left this process, which no
kill can undo, and *durable* when the disk has it, which no power cut can undo.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from ..errors import SessionError

# Seconds: a burst of lines is synced once, this long after its last line, and never later than the second.
SETTLE = 0.05
OVERDUE = 0.5
# How long the end of the process waits for each file.
LAST_WAIT = 5.0


class Writer:
    """Appends lines to an open file, or to the one that a function gives, which the thread calls before the first line.

    What could not be written is tried again with the next line.
    """

    def __init__(self, file: io.FileIO | Callable[[], io.FileIO]) -> None:
        self._file = file
        self._changed = threading.Condition(threading.RLock())
        self._waiting: list[tuple[bytes, Future[None]]] = []
        self._unwritten: list[bytes] = []
        self._thread: threading.Thread | None = None
        self._closed = False
        self._urgent = False
        self._accepted = 0
        self._settled = 0
        self._error: SessionError | None = None

    def put(self, line: bytes) -> Future[None]:
        """Take a line. The future is done when the line is written; else its exception is a `SessionError`."""
        written: Future[None] = Future()
        with self._changed:
            if self._closed:
                raise SessionError("The session is closed. Open it again to go on with it.")
            self._waiting.append((line, written))
            self._accepted += 1
            # An interrupt may have come between making the thread and its start, so being there is not enough.
            if self._thread is None or not self._thread.is_alive():
                _busy.add(self)
                self._thread = threading.Thread(target=self._run, name="agent_magic session", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return written

    def flush(self, timeout: float | None = None) -> None:
        """Return when every line so far is durable. Raises `SessionError` when one could not be written."""
        with self._changed:
            if self._unwritten or self._settled < self._accepted:
                self.put(b"")  # has all that waits tried again
            wanted = self._accepted
            self._urgent = True
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._settled >= wanted, timeout):
                raise SessionError(f"The session was not written to disk within {timeout:g} seconds.")
            if self._error is not None:
                raise self._error

    def close(self, timeout: float | None = None) -> None:
        """Flush, close the file and give its lock back. Closing again does nothing."""
        if self._closed:
            return
        try:
            self.flush(timeout)
        finally:
            self._closed = True
            if isinstance(self._file, io.FileIO):
                self._file.close()

    def _run(self) -> None:
        unsynced_since = 0.0
        while True:
            with self._changed:
                if not self._waiting and not self._urgent:
                    self._changed.wait_for(lambda: bool(self._waiting) or self._urgent, SETTLE)
                taken, self._waiting = self._waiting, []
                accepted, urgent = self._accepted, self._urgent
            if taken:
                unsynced_since = unsynced_since or time.monotonic()
                self._write(taken)
                if not urgent and time.monotonic() - unsynced_since < OVERDUE:
                    continue
            self._sync()
            unsynced_since = 0.0
            with self._changed:
                self._settled, self._urgent = accepted, False
                self._changed.notify_all()
                if not self._waiting:
                    self._thread = None
                    _busy.discard(self)
                    return

    def _write(self, taken: list[tuple[bytes, Future[None]]]) -> None:
        lines = [*self._unwritten, *(line for line, _ in taken)]
        try:
            if not isinstance(self._file, io.FileIO):
                self._file = self._file()
            _append(self._file, b"".join(lines))
        except Exception as error:
            self._unwritten = lines
            self._error = error if isinstance(error, SessionError) else _failed(error)
            for _, written in taken:
                written.set_exception(self._error)
        else:
            self._unwritten, self._error = [], None
            for _, written in taken:
                written.set_result(None)

    def _sync(self) -> None:
        if isinstance(self._file, io.FileIO) and self._error is None:
            # Some file systems know no sync; what is written there is as durable as it gets.
            with contextlib.suppress(OSError):
                os.fsync(self._file.fileno())


def _append(file: io.FileIO, data: bytes) -> None:
    """Append all of `data`, or, on an error, nothing of it."""
    size = os.fstat(file.fileno()).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) or 0 :]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), size)
        raise


def _failed(error: Exception) -> SessionError:
    return SessionError(
        f"The session could not be written: {error}. The conversation goes on in memory; make room or fix the "
        "permissions, and the next message writes what is missing."
    )


_busy: set[Writer] = set()


def _finish() -> None:
    for writer in list(_busy):
        with contextlib.suppress(SessionError):
            writer.flush(LAST_WAIT)


atexit.register(_finish)
if hasattr(os, "register_at_fork"):
    # A forked child has neither these threads nor anything of its own to write.
    os.register_at_fork(after_in_child=_busy.clear)
