"""How a run that failed or was stopped ends its cell: one exception, shown without the frames that led to it."""

from __future__ import annotations

from typing import TypeVar

from .wording import visible

E = TypeVar("E", bound=BaseException)

STOPPED = "The agent was stopped."


def without_frames(error: E) -> E:
    """Have IPython show `error` as its type and message alone; for `except` and `%debug` it is the same as before."""
    text = visible(str(error))
    summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
    # IPython asks the exception itself for its traceback if it offers this.
    error._render_traceback_ = lambda: summary.splitlines()  # type: ignore[attr-defined]
    error.__suppress_context__ = True
    return error


def stopped() -> KeyboardInterrupt:
    """What ends a cell that the user stopped; it also keeps the queued cells from running."""
    return without_frames(KeyboardInterrupt(STOPPED))
