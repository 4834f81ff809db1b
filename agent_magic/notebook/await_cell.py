"""The input transformer that turns a cell of `%%agent`, or of one line `%agent`, into a top-level `await`.

The loop then runs on the kernel's own event loop, so that widget messages are handled and Stop arrives while it waits.
The transformer comes before IPython's own: these strip indentation and prompts such as `>>>` also from the body of a
cell magic, and refuse an empty body.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# `%%agent?` is a request for help, and `%%agent_x` another magic.
_CELL = re.compile(r"\s*%%agent(?:[ \t]+(?P<line>.*?))?\s*\Z", re.DOTALL)
_LINE = re.compile(r"\s*%agent(?:[ \t]+(?P<line>.*?))?\s*\Z", re.DOTALL)

Transformer = Callable[[list[str]], list[str]]


def await_transformer(shell: Any) -> Transformer:
    """The transformer for this shell. What it makes calls `shell.agent_magic`, which `extension.load` puts there."""

    def to_await(lines: list[str]) -> list[str]:
        start = next((number for number, line in enumerate(lines) if not line.isspace()), len(lines))
        if start == len(lines):
            return lines
        first, body = lines[start], "".join(lines[start + 1 :])
        nested = not shell.autoawait or in_running_cell(shell)
        if match := _CELL.match(first):
            line = match.group("line") or ""
            if nested:
                # IPython refuses a cell magic without a body.
                return [f"get_ipython().run_cell_magic('agent', {line!r}, {body or chr(10)!r})\n"]
            return [f"await get_ipython().agent_magic.run_cell({line!r}, {body!r})\n"]
        if not nested and not body.strip() and (match := _LINE.match(first)) and not first.rstrip().endswith("\\"):
            return [f"await get_ipython().agent_magic.run_line({match.group('line') or ''!r})\n"]
        return lines

    # IPython then leaves it out when it asks whether a cell is complete: in a terminal a cell magic ends with an empty
    # line, but what is made of it here would be complete after its first.
    to_await.has_side_effects = True  # type: ignore[attr-defined]
    return to_await


def in_running_cell(shell: Any) -> bool:
    """Whether code of a cell is running below the caller, as in `%%time`, `%%capture` or `run_cell`.

    `await` cannot be added there. The stack tells it without any state that could go wrong.
    """
    running = type(shell).run_code.__code__
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is running:
            return True
        frame = frame.f_back
    return False
