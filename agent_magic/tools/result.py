"""What a tool returned, as text and images that a model can read."""

from __future__ import annotations

from typing import Any

from .tool import AgentToolResult


def to_result(value: Any) -> AgentToolResult:
    if isinstance(value, AgentToolResult):
        return value
    return AgentToolResult(str(value), value=value)
