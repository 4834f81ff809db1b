"""The traceback of an error of this package as IPython shows it: the user's own lines and the message."""

from __future__ import annotations

import os
import sys
from types import TracebackType

_PACKAGE = os.path.dirname(__file__) + os.sep


def lines_for_ipython(error: BaseException, with_cause: bool) -> list[str]:
    """The lines of IPython's own traceback, in its mode and colours, without the frames of this package.

    What led to an error that was raised in here is shown only `with_cause`. The error itself stays as it is, for
    `%debug` and `except`.
    """
    # Only IPython asks for them, so that it is there.
    formatter = sys.modules["IPython"].get_ipython().InteractiveTB
    outer, raised_inside = _outer_frames(error)
    cause, context, suppressed = error.__cause__, error.__context__, error.__suppress_context__
    if raised_inside and not with_cause:
        error.__cause__ = error.__context__ = None
    try:
        lines: list[str] = formatter.structured_traceback(type(error), error, outer)
    finally:
        error.__cause__, error.__context__ = cause, context
        error.__suppress_context__ = suppressed
    return lines


def _outer_frames(error: BaseException) -> tuple[TracebackType | None, bool]:
    """A copy of the traceback up to where it enters this package, and whether it does."""
    outer: list[TracebackType] = []
    each = error.__traceback__
    while each is not None and not each.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        outer.append(each)
        each = each.tb_next
    copy: TracebackType | None = None
    for place in reversed(outer):
        copy = TracebackType(copy, place.tb_frame, place.tb_lasti, place.tb_lineno)
    return copy, each is not None
