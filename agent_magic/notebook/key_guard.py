"""Keeps the keys that this process holds out of results, outputs and records, and warns of keys in a message."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..messages import Content, TextContent
from ..tools.tool import AgentToolResult
from .masking import first_key, without_known_keys

# The beginning of a key that is shown, so that its owner can tell which it is.
_SHOWN = 5


def guarding(hook: Callable[..., Any] | None) -> Callable[..., Any]:
    """An `after_tool_call` that does what `hook` does, then hides known keys in the result."""

    async def after_tool_call(call: Any, result: AgentToolResult, context: Any) -> Any:
        changed = hook(call, result, context) if hook is not None else None
        if inspect.isawaitable(changed):
            changed = await changed
        return without_keys(result if changed is None else changed)

    return after_tool_call


def without_keys(value: Any) -> Any:
    """`value` without known keys: a text, a result, or data made of mappings, lists and texts; else as it is."""
    if isinstance(value, str):
        return without_known_keys(value)
    if isinstance(value, AgentToolResult):
        content = tuple(_hidden(block) for block in value.content)
        return dataclasses.replace(value, content=content, details=without_keys(value.details), value=value.value)
    if isinstance(value, Mapping):
        return {key: each if _is_picture(key) else without_keys(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(without_keys(each) for each in value)
    return value


def _hidden(block: Content) -> Content:
    return dataclasses.replace(block, text=without_known_keys(block.text)) if isinstance(block, TextContent) else block


def _is_picture(kind: Any) -> bool:
    return isinstance(kind, str) and kind.startswith("image/")


def warning_about(text: str) -> str | None:
    """What to tell the user about a key in the message `text`; None where there is none."""
    key = first_key(text)
    if key is None:
        return None
    return (
        f"The message holds what looks like a key ({key[:_SHOWN]}…). It is sent to the model and stays in the "
        "notebook. If it is real, delete it here and at its provider, and give keys to %agent login only."
    )
