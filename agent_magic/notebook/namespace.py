"""The names of a notebook: those that its user made, and what a dotted name leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .kinds import FUNCTIONS, MISSING, is_a, plain_attribute

_FRAMES = (("pandas", "DataFrame"), ("polars", "DataFrame"))


class Namespace:
    """The namespace of a shell, without what IPython itself put there."""

    def __init__(self, values: Mapping[str, Any], hidden: Mapping[str, Any]) -> None:
        self._values = values
        self._hidden = hidden

    def names(self, start: str = "") -> Iterator[str]:
        """The public names that begin with `start`, in the order in which they were made."""
        # A copy, since other threads may bind names meanwhile.
        for name in list(self._values):
            if isinstance(name, str) and name.startswith(start) and name[0] != "_" and self._is_made(name):
                yield name

    def _is_made(self, name: str) -> bool:
        return self._values.get(name, MISSING) is not self._hidden.get(name, MISSING)

    def value(self, name: str) -> Any:
        """The value of one name; `MISSING` where the user has made none."""
        return self._values.get(name, MISSING) if self._is_made(name) else MISSING

    def lookup(self, dotted: str) -> tuple[str, Any]:
        """The longest beginning of `dotted` that leads to a value, and that value; else an empty name.

        After the first dot come columns of frames and attributes that are stored, never such as would be computed.
        """
        first, *steps = dotted.split(".")
        found = self.value(first)
        if found is MISSING:
            return "", MISSING
        reached = first
        for step in steps:
            inner = _inside(found, step)
            if inner is MISSING:
                break
            reached, found = f"{reached}.{step}", inner
        return reached, found


def _inside(value: Any, name: str) -> Any:
    if any(is_a(value, module, kind) for module, kind in _FRAMES):
        return value[name] if name in list(value.columns) else MISSING
    found = plain_attribute(value, name)
    # `df.head` in a sentence is about `df`; a function of a module or class is meant itself.
    belongs = issubclass(type(found), FUNCTIONS) and not isinstance(value, type) and not hasattr(value, "__spec__")
    return MISSING if belongs else found
