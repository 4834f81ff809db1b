"""Messages as JSON and back: the form in which conversations are kept.

Keys are the fields of the classes in camelCase, `role` names the kind of a message and `type` that of a block. What
is None is left out. Reading takes every spelling of the source documents and of sessions in the style of pi;
writing uses one (source: Y 1, A message types).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import reading as read
from .errors import InvalidDataError
from .messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ToolResultMessage,
    UserMessage,
)
from .models import API_ALIASES
from .stored_blocks import blocks_from_json, blocks_to_json
from .stored_models import usage_from_json, usage_to_json

Json = dict[str, Any]
Data = Mapping[str, Any]


def messages_to_json(messages: Iterable[Any]) -> list[Json]:
    """Messages as JSON objects. `details` that JSON has no form for are kept as their text.

    Raises `InvalidDataError` for an object of a class that has no stored form; see `register_stored`.
    """
    return [read.at(f"messages[{position}]", message_to_json, message) for position, message in enumerate(messages)]


def messages_from_json(data: Iterable[Any]) -> list[Any]:
    """The messages of a JSON array.

    Unknown keys are ignored. Wrong data raises `InvalidDataError`, whose `path` names the place of the fault, such as
    `messages[3].content[0].text`.
    """
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes, Mapping)):
        raise InvalidDataError(f"must be a list of messages, not {type(data).__name__}", "messages")
    return [read.at(f"messages[{position}]", message_from_json, each) for position, each in enumerate(data)]


def message_to_json(message: Any) -> Json:
    """One message as a JSON object."""
    for kind in type(message).__mro__:
        form = _WRITERS.get(kind)
        if form is not None:
            role, write = form
            try:
                stored = {"role": role, **write(message)}
            except RecursionError:
                raise InvalidDataError("holds data that is nested too deeply, or that contains itself") from None
            return {key: value for key, value in stored.items() if value is not None}
    raise InvalidDataError(
        f"{type(message).__name__} has no stored form; give it one with agent_magic.stored.register_stored"
    )


def message_from_json(data: Any) -> Any:
    """The message that one JSON object stands for."""
    data = read.mapping(data, "an object with a role")
    role = read.text(data, "role")
    reader = _READERS.get(role)
    if reader is None:
        raise InvalidDataError(f"{role!r} is no role of a message; known are {', '.join(_READERS)}", "role")
    return reader(data)


def register_stored(role: str, kind: type[Any], write: Callable[[Any], Json], read_back: Callable[[Data], Any]) -> None:
    """Give a class of messages a stored form: `write(message)` gives its fields, `read_back(object)` the message."""
    _WRITERS[kind] = (role, write)
    _READERS[role] = read_back


def _write_user(message: UserMessage) -> Json:
    return {"content": blocks_to_json(message.content), "timestamp": message.timestamp}


def _read_user(data: Data) -> UserMessage:
    return UserMessage(blocks_from_json(data), read.timestamp(data, "timestamp"))


def _write_assistant(message: AssistantMessage) -> Json:
    return {
        "content": blocks_to_json(message.content),
        "api": message.api,
        "provider": message.provider,
        "model": message.model,
        "usage": usage_to_json(message.usage),
        "stopReason": message.stop_reason.value,
        "errorMessage": message.error_message,
        "timestamp": message.timestamp,
    }


def _read_assistant(data: Data) -> AssistantMessage:
    blocks = blocks_from_json(data)
    if read.first(data, "toolCalls", "tool_calls") is not None:
        blocks += blocks_from_json(data, "toolCalls", "tool_calls")
    api = read.optional_text(data, "api") or ""
    return AssistantMessage(
        blocks,
        api=API_ALIASES.get(api, api) if api else "",
        provider=read.optional_text(data, "provider") or "",
        model=read.optional_text(data, "model") or "",
        usage=read.at("usage", usage_from_json, data.get("usage")),
        stop_reason=read.optional_text(data, "stopReason", "stop_reason"),
        error_message=read.optional_text(data, "errorMessage", "error_message"),
        timestamp=read.timestamp(data, "timestamp"),
    )


def _write_result(message: ToolResultMessage) -> Json:
    return {
        "toolCallId": message.tool_call_id,
        "toolName": message.tool_name,
        "content": blocks_to_json(message.content),
        "details": read.json_safe(message.details),
        "usage": usage_to_json(message.usage),
        "addedToolNames": None if message.added_tool_names is None else list(message.added_tool_names),
        "isError": message.is_error,
        "timestamp": message.timestamp,
    }


def _read_result(data: Data) -> ToolResultMessage:
    added = read.first(data, "addedToolNames", "added_tool_names")
    return ToolResultMessage(
        tool_call_id=read.text(data, "toolCallId", "tool_call_id"),
        tool_name=read.optional_text(data, "toolName", "tool_name", "name") or "",
        content=blocks_from_json(data),
        details=data.get("details"),
        usage=read.at("usage", usage_from_json, data.get("usage")),
        added_tool_names=None if added is None else read.at("addedToolNames", lambda e: read.items(e, "names"), added),
        is_error=read.flag(data, "isError", "is_error"),
        timestamp=read.timestamp(data, "timestamp"),
    )


def _write_bash(message: BashExecutionMessage) -> Json:
    return {
        "command": message.command,
        "output": message.output,
        "exitCode": message.exit_code,
        "cancelled": message.cancelled,
        "truncated": message.truncated,
        "fullOutputPath": message.full_output_path,
        "excludeFromContext": message.exclude_from_context,
        "timestamp": message.timestamp,
    }


def _read_bash(data: Data) -> BashExecutionMessage:
    return BashExecutionMessage(
        command=read.text(data, "command"),
        output=read.optional_text(data, "output") or "",
        exit_code=read.optional_integer(data, "exitCode", "exit_code"),
        cancelled=read.flag(data, "cancelled"),
        truncated=read.flag(data, "truncated"),
        full_output_path=read.optional_text(data, "fullOutputPath", "full_output_path"),
        exclude_from_context=read.flag(data, "excludeFromContext", "exclude_from_context"),
        timestamp=read.timestamp(data, "timestamp"),
    )


def _write_compaction(message: CompactionSummaryMessage) -> Json:
    return {"summary": message.summary, "tokensBefore": message.tokens_before, "timestamp": message.timestamp}


def _read_compaction(data: Data) -> CompactionSummaryMessage:
    return CompactionSummaryMessage(
        read.text(data, "summary"),
        read.integer(data, "tokensBefore", "tokens_before"),
        read.timestamp(data, "timestamp"),
    )


def _write_branch(message: BranchSummaryMessage) -> Json:
    return {"summary": message.summary, "fromId": message.from_id, "timestamp": message.timestamp}


def _read_branch(data: Data) -> BranchSummaryMessage:
    return BranchSummaryMessage(
        read.text(data, "summary"),
        read.optional_text(data, "fromId", "from_id") or "",
        read.timestamp(data, "timestamp"),
    )


def _write_custom(message: CustomMessage) -> Json:
    return {
        "customType": message.custom_type,
        "content": blocks_to_json(message.content),
        "display": message.display,
        "details": read.json_safe(message.details),
        "timestamp": message.timestamp,
    }


def _read_custom(data: Data) -> CustomMessage | BashExecutionMessage:
    if "command" in data and read.first(data, "customType", "custom_type") is None:
        return _read_bash(data)  # the second document gives bash executions the role `custom`
    return CustomMessage(
        read.text(data, "customType", "custom_type"),
        blocks_from_json(data),
        read.flag(data, "display", default=True),
        data.get("details"),
        read.timestamp(data, "timestamp"),
    )


_WRITERS: dict[type[Any], tuple[str, Callable[[Any], Json]]] = {
    UserMessage: ("user", _write_user),
    AssistantMessage: ("assistant", _write_assistant),
    ToolResultMessage: ("toolResult", _write_result),
    BashExecutionMessage: ("bashExecution", _write_bash),
    CompactionSummaryMessage: ("compactionSummary", _write_compaction),
    BranchSummaryMessage: ("branchSummary", _write_branch),
    CustomMessage: ("custom", _write_custom),
}
_READERS: dict[str, Callable[[Data], Any]] = {
    "user": _read_user,
    "assistant": _read_assistant,
    **dict.fromkeys(("toolResult", "tool", "tool_result"), _read_result),
    **dict.fromkeys(("bashExecution", "bash_execution"), _read_bash),
    **dict.fromkeys(("compactionSummary", "compaction_summary"), _read_compaction),
    **dict.fromkeys(("branchSummary", "branch_summary"), _read_branch),
    **dict.fromkeys(("custom", "hookMessage"), _read_custom),
}
