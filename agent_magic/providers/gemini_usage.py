"""The counts of tokens that the Gemini API reports."""

from __future__ import annotations

from typing import Any

from ..usage import Usage
from .gemini_fields import field

_COUNTS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
)


class GeminiUsage:
    """Takes in every report of one answer. Reports are running totals, so the last value of each count is kept."""

    def __init__(self) -> None:
        self._report: dict[str, Any] = {}

    def add(self, report: Any) -> None:
        if isinstance(report, dict):
            if None in report.values():
                report = {name: count for name, count in report.items() if count is not None}
            self._report.update(report)

    def usage(self) -> Usage | None:
        """None where the server reported nothing."""
        known = {name: field(self._report, name) for name in _COUNTS}
        counts = {name: count for name, count in known.items() if type(count) is int and count >= 0}
        if not counts:
            return None
        prompt, candidates, cached, thoughts, tools = (counts.get(name, 0) for name in _COUNTS)
        return Usage(
            max(0, prompt - cached) + tools,
            candidates + thoughts,
            cached,
            reasoning=counts.get("thoughtsTokenCount"),
            service_tier=_service(field(self._report, "serviceTier") or field(self._report, "trafficType")),
        )


def _service(name: Any) -> str | None:
    """The name as the prices have it: `ON_DEMAND_FLEX` and `SERVICE_TIER_FLEX` are both `flex`."""
    if not isinstance(name, str) or not name:
        return None
    word = name.lower().removeprefix("service_tier_")
    return None if word in ("unspecified", "traffic_type_unspecified") else word.removeprefix("on_demand_")
