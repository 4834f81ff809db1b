"""Any value as JSON text, written no further than a model will see, and whatever the value's own code does."""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import time
from contextvars import copy_context
from datetime import date, time as time_of_day, timedelta
from decimal import Decimal
from enum import Enum
from os import PathLike
from typing import Any

# Characters of text that a result gives to the model.
MAX_TEXT = 16_000

# Seconds that the reprs of objects of other people's classes may take, together.
MAX_REPR_SECONDS = 1.0

_NATIVE = (str, int, float, bool, type(None), dict, list, tuple)
_NO_REPR: Any = object.__repr__
_TEXTUAL = (date, time_of_day, timedelta, Decimal, PathLike)


def json_text(value: Any) -> str:
    """`value` as JSON; what is nothing of JSON as its `str` or repr; cut after 16,000 characters."""
    writer = _Writer()
    simple = value if isinstance(value, _NATIVE) else writer.simpler(value)
    if isinstance(simple, str):
        return simple
    pieces: list[str] = []
    length = 0
    try:
        # The streaming encoder takes the time of what is shown, not of what there is.
        for piece in json.JSONEncoder(ensure_ascii=False, default=writer.simpler).iterencode(simple):
            pieces.append(piece)
            length += len(piece)
            if length > MAX_TEXT:
                break
    except (TypeError, ValueError, RecursionError):
        return writer.repr(value)
    text = "".join(pieces)
    if length <= MAX_TEXT:
        return text
    size = f" of {len(simple):,} items" if isinstance(simple, (dict, list, tuple)) else ""
    note = f"\n[… the rest of this {type(value).__name__}{size} was left out]"
    return text[: MAX_TEXT - len(note)] + note


class _Writer:
    """Finds simpler forms of objects, and calls their reprs while there is time."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + MAX_REPR_SECONDS

    def simpler(self, value: Any) -> Any:
        """A form of `value` that is closer to JSON, in the end a text."""
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, (set, frozenset)):
            return list(value)
        if isinstance(value, _TEXTUAL) or type(value).__module__ == "uuid":
            return str(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
            return value.item()
        pydantic = sys.modules.get("pydantic")
        if pydantic is not None and isinstance(value, pydantic.BaseModel):
            from pydantic_core import to_jsonable_python

            return to_jsonable_python(value, fallback=self.repr)
        return self.repr(value)

    def repr(self, value: Any) -> str:
        """`repr(value)`, or a sentence if that fails or takes too long."""
        seconds = self._deadline - time.monotonic()
        if type(value).__repr__ is _NO_REPR or seconds <= 0:
            return named(value)
        outcome: list[str] = []
        # What hangs cannot be stopped, only left alone.
        thread = threading.Thread(target=copy_context().run, args=(_write_repr, value, outcome), daemon=True)
        thread.start()
        thread.join(seconds)
        return outcome[0] if outcome else f"{named(value)}; its repr took more than {MAX_REPR_SECONDS:g} s"


def _write_repr(value: Any, outcome: list[str]) -> None:
    try:
        outcome.append(repr(value))
    except BaseException as error:  # Nothing may leave a thread that nobody waits for.
        outcome.append(f"{named(value)}; its repr raised {type(error).__name__}")


def named(value: Any) -> str:
    """What `value` is, without asking it."""
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"An object of class {name}"
