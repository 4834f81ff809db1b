"""The counts of tokens that the Messages API reports."""

from __future__ import annotations

from typing import Any

from ..usage import Usage

_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class MessagesUsage:
    """Takes in every report of one answer. Reports are running totals, so the last value of each count is kept."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._service: str | None = None

    def add(self, report: Any) -> None:
        if not isinstance(report, dict):
            return
        for name in _COUNTS:
            self._keep(name, report.get(name))
        if isinstance(report.get("service_tier"), str):
            self._service = report["service_tier"]
        details = report.get("output_tokens_details")
        if isinstance(details, dict):
            self._keep("reasoning", details.get("thinking_tokens"))
        written = report.get("cache_creation")
        if isinstance(written, dict):
            self._keep("hour", written.get("ephemeral_1h_input_tokens"))
            self._keep("minutes", written.get("ephemeral_5m_input_tokens"))

    def _keep(self, name: str, count: Any) -> None:
        if isinstance(count, (int, float)) and not isinstance(count, bool) and count >= 0 and count == count // 1:
            self._counts[name] = int(count)

    def usage(self) -> Usage | None:
        """None where the server reported nothing."""
        counts = self._counts
        if "input_tokens" not in counts and "output_tokens" not in counts:
            return None
        fresh, output, read, written = (counts.get(name, 0) for name in _COUNTS)
        hour = counts.get("hour", 0)
        written = max(written, hour + counts.get("minutes", 0))
        return Usage(
            fresh,
            output,
            read,
            written,
            reasoning=counts.get("reasoning"),
            cache_write_1h=hour,
            service_tier=self._service,
        )
