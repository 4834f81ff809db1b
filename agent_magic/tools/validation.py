"""Checking the arguments of a call before the tool runs (sources: Y SP-023, SP-024)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import ToolValidationError
from ..messages import ToolCall
from .json_schema import required_names
from .tool import AgentTool

# Characters of the received arguments that an error shows.
SHOWN_ARGUMENTS = 2_000


def validate_required_args(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """None if `arguments` has every name that `schema` requires, else `Missing required arguments: a, b`."""
    missing = [str(name) for name in required_names(schema) if name not in arguments]
    return f"Missing required arguments: {', '.join(missing)}" if missing else None


def validate_tool_arguments(tool: AgentTool, call: ToolCall) -> dict[str, Any]:
    """The arguments of `call` as `tool` takes them: prepared, complete, checked and converted.

    `call.arguments` is left as it is. The tool's own `validate_required_args` goes before the default.

    Raises `ToolValidationError`, whose message opens with what is missing and lists every problem and the arguments
    that were received.
    """
    if call.arguments_error is not None:
        raise ToolValidationError(call.arguments_error)
    arguments = _prepared(tool, call)
    required = tool.validate_required_args
    opening = required(arguments) if required is not None else None
    opening = opening or validate_required_args(arguments, tool.input_schema)
    try:
        checked = tool.convert(arguments)
    except Exception as error:
        raise ToolValidationError(
            f"The arguments cannot be checked, because the input schema of the tool {tool.name!r} is broken: {error}"
        ) from error
    if opening is None and not checked.problems:
        return checked.values
    lines = [opening or f"The arguments do not fit the tool {tool.name!r}:"]
    lines += [f"- {problem}" for problem in checked.problems]
    raise ToolValidationError("\n".join([*lines, "Received arguments:", _shown(call.arguments)]))


def _prepared(tool: AgentTool, call: ToolCall) -> dict[str, Any]:
    # A tool that changes its arguments must not change the history.
    arguments: dict[str, Any] = _copied(call.arguments)
    if tool.prepare_arguments is None:
        return arguments
    try:
        return dict(tool.prepare_arguments(arguments))
    except Exception as error:
        raise ToolValidationError(
            f"The arguments could not be prepared for the tool {tool.name!r}: {error}\n"
            f"Received arguments:\n{_shown(call.arguments)}"
        ) from error


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _shown(arguments: Mapping[str, Any]) -> str:
    text = json.dumps(arguments, indent=2, ensure_ascii=False, default=repr)
    if len(text) <= SHOWN_ARGUMENTS:
        return text
    return f"{text[:SHOWN_ARGUMENTS]}\n[{len(text) - SHOWN_ARGUMENTS:,} characters left out]"
