"""Plain containers and values as short text. What is not plain shows its kind alone: no `repr` of it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .kinds import CONTAINERS, PLAIN, kind_of

# Entries shown of the outermost container, and of those inside it.
_OUTER, _INNER = 30, 8
_DEEPEST = 3
_TEXT = 200
# More digits take Python noticeable time to write.
_BITS = 4_000
_BRACKETS: dict[type, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}


def outline(value: Any, depth: int = 0) -> str:
    """`value` in a few hundred characters, such as `{"a": [1, 2, … 8 more], "b": <DataFrame 12 × 3>}`."""
    kind = type(value)
    if kind in PLAIN:
        return _plain(value)
    base = next((each for each in CONTAINERS if issubclass(kind, each)), None)
    if base is None or (depth > _DEEPEST and base.__len__(value)):
        return f"<{kind_of(value)}>"
    entries = list(_entries(base, value, depth))
    left = base.__len__(value) - len(entries)
    if left > 0:
        entries.append(f"… {left:,} more")
    begin, end = _BRACKETS.get(base, ("{", "}"))
    separator = ",\n " if base is dict and depth == 0 else ", "
    return f"{begin}{separator.join(entries)}{end}"


def _entries(base: Any, value: Any, depth: int) -> Iterator[str]:
    most = _OUTER if depth == 0 else _INNER
    # The methods of the base class: a subclass may do anything in its own.
    if base is dict:
        for key, each in islice(dict.items(value), most):
            yield f"{outline(key, depth + 1)}: {outline(each, depth + 1)}"
    else:
        for each in islice(base.__iter__(value), most):
            yield outline(each, depth + 1)


def _plain(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        short = value[:_TEXT]
        text = json.dumps(short, ensure_ascii=False) if isinstance(short, str) else repr(short)
        return text if len(value) <= _TEXT else f"{text}… ({len(value):,} in all)"
    if type(value) is int and value.bit_length() > _BITS:
        return f"<an integer of {value.bit_length():,} bits>"
    return repr(value)
