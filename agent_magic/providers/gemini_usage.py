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
        self._counts: dict[str, int] = {}

    def add(self, report: Any) -> None:
        if isinstance(report, dict):
            for name in _COUNTS:
                count = field(report, name)
                if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
                    self._counts[name] = count

    def usage(self) -> Usage | None:
        """None where the server reported nothing."""
        if not self._counts:
            return None
        prompt, candidates, cached, thoughts, tools = (self._counts.get(name, 0) for name in _COUNTS)
        return Usage(
            max(0, prompt - cached) + tools, candidates + thoughts, cached, 0, reasoning=self._counts.get(_COUNTS[3])
        )
