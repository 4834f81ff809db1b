"""The counts of tokens that servers of the Chat Completions API report, under their several names."""

from __future__ import annotations

from typing import Any

from ..usage import Usage

_PROMPT = ("prompt_tokens", "input_tokens", "inputTokens")
_COMPLETION = ("completion_tokens", "output_tokens", "outputTokens")
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens")
_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")


class UsageCount:
    """Takes in every report of one answer. Reports are running totals, so the last value of each count is kept."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._service: str | None = None

    def add(self, report: Any) -> None:
        if not isinstance(report, dict):
            return
        inside: dict[str, Any] = {}
        for name in _DETAILS:
            if isinstance(report.get(name), dict):
                inside = report[name]
        beside: dict[str, Any] = {}
        for name in _OUTPUT_DETAILS:
            if isinstance(report.get(name), dict):
                beside = report[name]
        self._keep("prompt", _count(report, _PROMPT))
        self._keep("completion", _count(report, _COMPLETION))
        self._keep("total", _count(report, ("total_tokens",)))
        cached = _count(inside, ("cached_tokens",))
        self._keep("read", _count(report, _CACHED) if cached is None else cached)
        self._keep("written", _count(inside, ("cache_write_tokens", "cache_creation_tokens")))
        reasoning = _count(beside, ("reasoning_tokens",))
        self._keep("reasoning", _count(report, ("reasoning_tokens",)) if reasoning is None else reasoning)

    def served_by(self, service: Any) -> None:
        """Take in which service the server says that it gave."""
        if isinstance(service, str) and service:
            self._service = service

    def _keep(self, name: str, count: int | None) -> None:
        if count is not None:
            self._counts[name] = count

    def usage(self) -> Usage | None:
        """None where the server reported nothing."""
        counts = self._counts
        if "prompt" not in counts and "completion" not in counts:
            return None
        prompt, output = counts.get("prompt", 0), counts.get("completion", 0)
        read, written = counts.get("read", 0), counts.get("written", 0)
        reasoning = counts.get("reasoning")
        # Some servers count reasoning beside the completion; their total, or the size of it, gives that away.
        if reasoning and (reasoning > output or counts.get("total") == prompt + output + reasoning):
            output += reasoning
        fresh = max(0, prompt - read - written)
        return Usage(fresh, output, read, written, reasoning=reasoning, service_tier=self._service)


def _count(report: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = report.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 and value == value // 1:
            return int(value)
    return None
