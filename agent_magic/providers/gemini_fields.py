"""Names of fields in the Gemini API: camelCase, or snake_case where a gateway stands between."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any


def field(value: Mapping[str, Any], name: str) -> Any:
    """The field of this camelCase name under either spelling; None where there is none."""
    found = value.get(name)
    return value.get(_snake(name)) if found is None else found


@lru_cache(maxsize=64)
def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
