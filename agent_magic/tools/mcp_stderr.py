"""What a server prints beside the protocol, kept for when something goes wrong."""

from __future__ import annotations

import os
import threading
from typing import TextIO

from .mcp_text import without_hidden

# Bytes that are kept, the newest.
KEPT = 8_000
# Lines and characters of it that an error shows.
SHOWN_LINES = 8
SHOWN = 1_000


class StandardError:
    """A pipe for a process to write to, read by a thread: the standard error of a kernel is no file."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.writer: TextIO = os.fdopen(writing, "w")
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, args=(reading,), name="agent_magic mcp stderr", daemon=True)
        self._thread.start()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while data := pipe.read(4096):
                self._kept += data
                del self._kept[:-KEPT]

    def close(self) -> None:
        """Close our end, and wait a little for what the process has written."""
        self.writer.close()
        self._thread.join(0.3)

    @property
    def tail(self) -> str:
        """The last lines."""
        text = without_hidden(bytes(self._kept).decode("utf-8", "replace")).strip()
        return "\n".join(text.splitlines()[-SHOWN_LINES:])[-SHOWN:]
