"""A real kernel driven by raw protocol, so that a test sees every message with the time it arrived."""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

Message = dict[str, Any]

LOADING = ("%load_ext agent_magic", "load_ipython_extension")


@dataclass
class Cell:
    """What came back from one cell: the reply and the messages of its own, with `_time` (seconds) each."""

    sent: float
    messages: list[Message] = field(default_factory=list)
    reply: Message | None = None
    asked: list[str] = field(default_factory=list)

    def of_type(self, *types: str) -> list[Message]:
        return [message for message in self.messages if message["msg_type"] in types]

    @property
    def displays(self) -> list[Message]:
        return self.of_type("display_data", "update_display_data")

    @property
    def bundle(self) -> dict[str, Any]:
        """The last state of the last display."""
        return dict(self.displays[-1]["content"]["data"])

    @property
    def text(self) -> str:
        """The plain text of the final display."""
        return str(self.bundle["text/plain"])

    @property
    def record(self) -> dict[str, Any]:
        return dict(self.bundle["application/vnd.agent-magic.run+json"])

    @property
    def printed(self) -> str:
        return "".join(message["content"]["text"] for message in self.of_type("stream"))

    @property
    def error(self) -> Message | None:
        errors = self.of_type("error")
        return errors[0]["content"] if errors else None

    @property
    def error_time(self) -> float:
        return float(self.of_type("error")[0]["_time"])

    @property
    def status(self) -> str:
        return str(self.reply["content"]["status"]) if self.reply else "none"


class Kernel:
    """Starts a kernel and runs cells in it. `answers` are given to its questions; when they run out, it has to wait.

    `python` is the interpreter whose ipykernel this is, by default this one; `folder` is where it works.
    """

    def __init__(self, python: str = sys.executable, folder: Path | None = None, **environment: str) -> None:
        self.python = python
        self.manager = KernelManager(kernel_name="python3")
        assert self.manager.kernel_spec is not None
        self.manager.kernel_spec.argv[0] = python
        self.manager.start_kernel(env={**os.environ, **environment}, cwd=folder)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        # How many it has asked since the last cells were sent.
        self.questions = 0

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def restart(self) -> None:
        self.manager.restart_kernel(now=True)
        self.client.wait_for_ready(timeout=60)

    def interrupt(self) -> float:
        """Press Stop; returns when."""
        when = time.monotonic()
        self.manager.interrupt_kernel()
        return when

    def run(self, *cells: str, **more: Any) -> Cell:
        """Run one cell."""
        (cell,) = self.run_all(*cells, **more)
        return cell

    def run_all(
        self,
        *codes: str,
        on_message: Callable[[Message], object] = lambda message: None,
        on_silence: Callable[[], object] = lambda: None,
        answers: tuple[str, ...] | None = None,
        page: bool = True,
        timeout: float = 30,
    ) -> list[Cell]:
        """Send the cells at once, as "Run all" does, and wait until the last one is done.

        Input is allowed where there are `answers`, and in a cell that loads the extension, as from a `page`: else the
        comm of the panel would not be opened.
        """
        cells: dict[str, Cell] = {}
        self.questions = 0
        for code in codes:
            allowed = answers is not None or (page and any(words in code for words in LOADING))
            identity = self.client.execute(code, allow_stdin=allowed, stop_on_error=True)
            cells[identity] = Cell(time.monotonic())
        left, idle = list(answers or ()), set()
        end = time.monotonic() + timeout
        while len(idle) < len(cells) or any(cell.reply is None for cell in cells.values()):
            assert time.monotonic() < end, f"the kernel did not come to rest in {timeout} s"
            self._read_replies(cells)
            if answers is not None:
                self._answer(cells, left)
            message = self._read()
            if message is None:
                on_silence()
                continue
            message["_time"] = time.monotonic()
            parent = message["parent_header"].get("msg_id")
            if parent in cells:
                cells[parent].messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                idle |= {parent} & set(cells)
            on_message(message)
        return list(cells.values())

    def _read(self) -> Message | None:
        try:
            return dict(self.client.get_iopub_msg(timeout=0.02))
        except queue.Empty:
            return None

    def _read_replies(self, cells: dict[str, Cell]) -> None:
        while self.client.shell_channel.msg_ready():
            reply = self.client.get_shell_msg(timeout=1)
            parent = reply["parent_header"].get("msg_id")
            if parent in cells:
                cells[parent].reply = reply

    def _answer(self, cells: dict[str, Cell], left: list[str]) -> None:
        if self.client.stdin_channel.msg_ready():
            question = self.client.get_stdin_msg(timeout=1)
            self.questions += 1
            cells[question["parent_header"]["msg_id"]].asked.append(question["content"]["prompt"])
            if left:
                self.client.input(left.pop(0))
