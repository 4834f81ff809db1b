"""A text that must never be shown: keys are held as `Secret` and revealed only where a request is made."""

from __future__ import annotations

import re

# What stands in the place of a key.
BLANKED = "…"

_USER = re.compile(r"//[^/@\s]*@")
# A value of a query; one that only names a variable of the environment is no secret.
_SECRET_VALUE = re.compile(
    r"([?&][^=&#\s]*(?:key|token|secret|passw|credential|auth|signature)[^=&#\s]*=)(?!\$\{)[^&#\s]+", re.IGNORECASE
)


def shown_url(url: str) -> str:
    """`url` without user and password, and without the values of its query whose names say that they are secret."""
    return _SECRET_VALUE.sub(rf"\g<1>{BLANKED}", _USER.sub(f"//{BLANKED}@", url))


class Secret:
    """Holds a key. Its `repr`, `str` and format hide the text; `reveal()` gives it; it cannot be pickled."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def of(cls, value: str | Secret | None) -> Secret | None:
        """`value` as a secret; None and the empty text are no secret."""
        if value is None or isinstance(value, Secret):
            return value
        return cls(value) if value else None

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret('…')"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(("Secret", self._text))

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memory: dict[int, object]) -> Secret:
        return self

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("A secret cannot be pickled; give the key again where it is needed.")
