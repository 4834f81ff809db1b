"""How much a record and its readable forms may hold, and how values are made fit for them.

Sizes are bytes: of UTF-8 text, and of base64 for images, since that is what a saved notebook grows by.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

RECORD_LIMIT = 1_000_000
IMAGE_LIMIT = 300_000
FALLBACK_LIMIT = 2_000

# One tool result, or one text among the arguments, in the record.
DETAIL_LIMIT = 20_000
THINKING_LIMIT = 50_000
PROGRESS_LIMIT = 500

# Calls and pictures cannot crowd out the answer, nor the answer them.
ANSWER_ROOM = 380_000
DETAIL_ROOM = 600_000

_DEEPEST = 40

# How a text tells of an earlier cut: with a number, or without one where nobody has counted.
_CUT = re.compile(
    r"\n(?:\[… (?P<middle>[\d,]+) characters left out …\]\n|… (?P<end>[\d,]+) characters left out"
    r"|\[… the rest of this [^\n]* was left out\])"
)


def whole_characters(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced, so that every encoder takes it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def jsonable(value: Any, depth: int = 0, limit: int = DETAIL_LIMIT) -> Any:
    """`value` as strict JSON data. Texts are cut at `limit` bytes; what JSON cannot say becomes its text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {whole_characters(str(key)): jsonable(each, depth + 1, limit) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(each, depth + 1, limit) for each in value]
    return with_note(value if isinstance(value, str) else repr(value), limit)


def json_size(value: Any) -> int:
    """The bytes of `value` as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def head(text: str, limit: int) -> str:
    """The longest beginning of `text` that takes at most `limit` bytes."""
    if len(text) * 4 <= limit:
        return text
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= limit else encoded[:limit].decode("utf-8", "ignore")


def with_note(text: str, limit: int) -> str:
    """`text`, cut at `limit` bytes; then its end says how much was left out."""
    text = whole_characters(text)
    kept = head(text, limit)
    return kept if len(kept) == len(text) else f"{kept}\n… {left_out(text, len(kept))}"


def left_out(text: str, kept: int) -> str:
    """Words for what is gone of `text` but for its first `kept` characters, and for what was cut from it before."""
    number, counted = len(text) - kept, True
    for note in _CUT.finditer(text):
        if note.end() > kept:
            earlier = note["middle"] or note["end"]
            number += int((earlier or "0").replace(",", "")) - (note.end() - max(kept, note.start()))
            counted = counted and earlier is not None
    return f"{'' if counted else 'more than '}{number:,} characters left out"
