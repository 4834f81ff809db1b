"""Run a notebook in a real kernel and show in the terminal what its reader would see, as it comes.

    python scripts/demo.py [NOTEBOOK]

The notebook, by default notebooks/quickstart.ipynb, is executed from top to bottom. Answers are shown while they
stream. The executed copy and an HTML page of it are saved in build/demo. No key and no network are needed.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parent.parent
SAVED = ROOT / "build" / "demo"
COLOURS = sys.stdout.isatty() and "NO_COLOR" not in os.environ
# How the line of a call that is not done shows it.
UNSETTLED = ("○ waiting", "● running")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """Prints outputs. An updated one is written on from where it differs: in place on a terminal, else below."""

    def __init__(self) -> None:
        self._display: str | None = None
        self._printed = ""
        self._newest = ""

    def heading(self, text: str) -> None:
        self._write(f"\n{text}\n")

    def text(self, text: str) -> None:
        self._write(text)

    def output(self, text: str, display: str | None) -> None:
        """Show an output. `display` names one that may be updated; its last paragraph is held back until it settles."""
        if display is None:
            self._write(f"{text.rstrip()}\n")
            return
        if display != self._display:
            self.settle()
            self._display = display
        self._newest = text
        begun = text.rpartition("\n\n")[0]
        self._advance(begun if COLOURS else settled_part(begun))

    def settle(self) -> None:
        """Print what was held back; the output is as it stays."""
        if self._display is not None:
            self._advance(self._newest)
            self._write_raw("\n")
        self._display, self._printed, self._newest = None, "", ""

    def _advance(self, text: str) -> None:
        if not text.startswith(self._printed):
            kept = common_lines(text, self._printed)
            self._write_raw(erasure(self._printed[len(kept) :]) if COLOURS else "\n")
            self._printed = kept
        self._write_raw(text[len(self._printed) :])
        self._printed = text

    def _write(self, text: str) -> None:
        self.settle()
        self._write_raw(text)

    def _write_raw(self, text: str) -> None:
        sys.stdout.write(text if COLOURS else ANSI.sub("", text))
        sys.stdout.flush()


class ShownClient(NotebookClient):
    """Executes a notebook and shows each message of the kernel on arrival."""

    screen: Screen

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        content = msg["content"]
        if msg["msg_type"] == "stream":
            self.screen.text(content["text"])
        elif msg["msg_type"] in ("display_data", "update_display_data", "execute_result"):
            kinds = content["data"]
            text = kinds.get("text/plain") or f"[{', '.join(kinds)}]"
            self.screen.output(text, content.get("transient", {}).get("display_id"))
        elif msg["msg_type"] == "error":
            self.screen.text("\n".join(content["traceback"]) + "\n")
        return super().process_message(msg, cell, cell_index)


def settled_part(text: str) -> str:
    """`text` before the first call that is not done: what was written to a file cannot be redrawn."""
    lines = text.splitlines(keepends=True)
    return "".join(itertools.takewhile(lambda line: not any(sign in line for sign in UNSETTLED), lines))


def common_lines(first: str, second: str) -> str:
    """The lines with which both texts begin."""
    pairs = zip(first.splitlines(keepends=True), second.splitlines(keepends=True), strict=False)
    return "".join(line for line, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def erasure(text: str) -> str:
    """What takes `text` off a terminal again when the cursor stands at its end."""
    columns = shutil.get_terminal_size().columns or 80
    rows = sum(max(1, -(-len(line) // columns)) for line in text.split("\n")) - 1
    return f"\r\x1b[{rows}A\x1b[J" if rows else "\r\x1b[J"


def bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if COLOURS else text


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if COLOURS else text


def main() -> int:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "notebooks" / "quickstart.ipynb"
    notebook = nbformat.read(source, as_version=4)
    screen, started, number = Screen(), time.monotonic(), itertools.count(1)

    def show_cell(cell: Any, cell_index: int) -> None:
        if cell.cell_type == "code" and cell.source.strip():
            lines = "\n".join(f"{dim('│')} {line}" for line in cell.source.splitlines())
            screen.heading(f"{bold(f'In [{next(number)}]')}\n{lines}")
        elif cell.source.strip():
            screen.heading(cell.source)

    client = ShownClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(source.parent)}},
        on_cell_start=show_cell,
        on_cell_executed=lambda **_: screen.settle(),
        on_cell_error=lambda **_: screen.settle(),
    )
    client.screen = screen
    failed = False
    try:
        client.execute(env={**os.environ, "AGENT_MAGIC_MODEL": "demo"})
    except CellExecutionError:
        failed = True
    saved = save(notebook, source.stem)
    screen.heading(dim(f"{'Failed' if failed else 'Done'} after {time.monotonic() - started:.1f} s. Saved:"))
    for path in saved:
        screen.text(f"  {os.path.relpath(path)}\n")
    if not failed:
        screen.text("Next: `make lab` opens the same notebook for you to change and run.\n")
    return int(failed)


def save(notebook: Any, name: str) -> tuple[Path, Path]:
    """Write the executed notebook and a page of it; returns where they are."""
    SAVED.mkdir(parents=True, exist_ok=True)
    executed, page = SAVED / f"{name}.ipynb", SAVED / f"{name}.html"
    nbformat.write(notebook, executed)
    body, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    page.write_text(body, encoding="utf-8")
    return executed, page


if __name__ == "__main__":
    sys.exit(main())
