"""The tools that a request offers, and which of them it names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from ..config import ToolChoice
from ..errors import InvalidDataError


class OfferedTool(Protocol):
    """What a model sees of a tool, besides its schema."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


def schema_of(tool: OfferedTool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, whichever of its two classes it is of; empty where it takes none."""
    return dict(getattr(tool, "input_schema", None) or getattr(tool, "parameters", None) or {})


def names_in(choice: ToolChoice | None, tools: Collection[str]) -> list[str] | None:
    """The tools of which one must be called, each once, None where the choice names none.

    Raises `InvalidDataError` for a name that is not among `tools`.
    """
    if choice is None or isinstance(choice, str):
        return None
    names = list(dict.fromkeys(choice))
    missing = [name for name in names if name not in tools]
    if missing:
        raise InvalidDataError(f"names no tool that is given: {', '.join(missing)}", "tool_choice")
    return names
