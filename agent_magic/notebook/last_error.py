"""The error of the last cell that failed: remembered, and told with what matters of its traceback."""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from ..tools.result import cut
from .wording import without_ansi

_FRAMES = 12
_CODE = 4_000
_MESSAGE = 4_000
_CHAIN = 3
_MACHINERY = ("IPython", "ipykernel", "agent_magic")


class LastError:
    """`error` and `code` of the last cell of the user's that failed; both are empty before one did."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.code = ""

    def watch(self, shell: Any) -> Callable[[], None]:
        """From now on look at how cells end. Returns how to end it."""
        shell.events.register("post_run_cell", self._ended)
        return lambda: shell.events.unregister("post_run_cell", self._ended)

    def _ended(self, result: Any) -> None:
        error = result.error_before_exec or result.error_in_exec
        code = str(getattr(getattr(result, "info", None), "raw_cell", "") or "")
        if error is not None and not code.lstrip().startswith(("%%agent", "%agent")):
            self.error, self.code = error, code

    def found(self) -> BaseException | None:
        """The error; one from before the extension was loaded, if there was none since."""
        error = self.error or getattr(sys, "last_value", None)
        return error if isinstance(error, BaseException) else None


def error_pieces(error: BaseException, code: str) -> Iterator[str]:
    """The error in one line, the cell that raised it, and the traceback without the frames of the machinery."""
    yield _headline(error)
    if code.strip():
        yield f"The cell:\n{cut(code.strip(chr(10)), _CODE)}"
    for each in reversed(_chain(error)):
        yield from _traceback(each)


def _headline(error: BaseException) -> str:
    return cut(without_ansi("".join(traceback.format_exception_only(type(error), error)).rstrip("\n")), _MESSAGE)


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what it was raised from, and so on."""
    chain = [error]
    while len(chain) < _CHAIN:
        last = chain[-1]
        cause = last.__cause__ or (None if last.__suppress_context__ else last.__context__)
        if cause is None or cause in chain:
            break
        chain.append(cause)
    return chain


def _traceback(error: BaseException) -> Iterator[str]:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_machinery(frame.filename)]
    if not frames:
        return
    left = len(frames) - _FRAMES
    lines = [f"Traceback of {type(error).__name__}, the last call at the end:"]
    if left > 0:
        lines.append(f"  … {left:,} calls left out")
    for frame in frames[-_FRAMES:]:
        lines.append(f"  {_place(frame.filename)}, line {frame.lineno}, in {frame.name}")
        source = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
        if source:
            lines.append(f"    {source}")
    yield "\n".join([*lines, _headline(error)])


def _is_machinery(filename: str) -> bool:
    parts = PurePath(filename).parts
    return any(name in parts for name in _MACHINERY)


def _place(filename: str) -> str:
    """The file without what tells of this machine; the code of a cell is said to be one."""
    path = PurePath(filename)
    if filename.startswith("<ipython-input") or any(part.startswith("ipykernel_") for part in path.parts):
        return "a cell"
    if "site-packages" in path.parts:
        return "/".join(path.parts[path.parts.index("site-packages") + 1 :])
    return path.name
