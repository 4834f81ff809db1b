"""What a tool showed that a record cannot carry, as outputs of their own: charts, and pictures that found no room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outputs import IMAGE_TYPES, is_chart, jsonable_chart


def beyond_record(shown: Mapping[str, Any], kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The part of the mimebundle `shown` that is not in `kept`, which the record took; at most one bundle.

    A chart counts as missing, since only the JSON form of a record has it. Nothing but pictures, charts and their
    plain text: never HTML, Markdown, JavaScript or widgets.
    """
    found = {kind: jsonable_chart(data) for kind, data in shown.items() if is_chart(kind) and isinstance(data, Mapping)}
    if not any(kind in kept for kind in IMAGE_TYPES):
        found |= {kind: data for kind, data in shown.items() if kind in IMAGE_TYPES and data}
    text = shown.get("text/plain")
    return [{**found, "text/plain": str(text or "chart or picture")}] if found else []
