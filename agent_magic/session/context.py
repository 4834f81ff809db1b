"""The messages that a model is given for a path of the tree: compaction applied, tool results in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..config import StopReason
from ..errors import InvalidDataError
from ..messages import AssistantMessage, Content, TextContent, ToolResultMessage
from .entries import BranchSummaryEntry, CompactionEntry, CustomMessageEntry, Entry, MessageEntry

UNFINISHED = (
    "This call was still running when the process ended. Its result is lost, and it is not known whether it took "
    "effect; check before you call it again."
)


def context_entries(path: Sequence[Entry]) -> list[Entry]:
    """The entries of a path that speak to the model: the latest compaction first, then what it kept, then the rest."""
    latest = last_compaction(path)
    if latest is None:
        return [entry for entry in path if speaks(entry)]
    compaction = path[latest]
    assert isinstance(compaction, CompactionEntry)
    start = kept_from(path, latest)
    kept = [each for each in path[start:] if speaks(each) and not isinstance(each, CompactionEntry)]
    return [compaction, *kept]


def context_messages(path: Sequence[Entry]) -> list[Any]:
    """The messages of a path. A message that cannot be read is left out; calls without a result get one."""
    shortened: dict[str, int] = {}
    for entry in path:
        if isinstance(entry, CompactionEntry):
            shortened.update(entry.shortened)
    messages = []
    for entry in context_entries(path):
        try:
            message = message_of(entry)
        except InvalidDataError:
            continue
        limit = shortened.get(entry.id)
        messages.append(message if limit is None else shorten(message, limit))
    return in_call_order(messages)


def last_compaction(path: Sequence[Entry]) -> int | None:
    """The position of the latest compaction of a path."""
    return next((place for place in reversed(range(len(path))) if isinstance(path[place], CompactionEntry)), None)


def kept_from(path: Sequence[Entry], compaction: int) -> int:
    """The position of the first entry that the compaction at this position kept."""
    entry = path[compaction]
    wanted = entry.first_kept_entry_id if isinstance(entry, CompactionEntry) else ""
    return next((place for place in range(compaction) if path[place].id == wanted), compaction)


def speaks(entry: Entry) -> bool:
    return isinstance(entry, (MessageEntry, CustomMessageEntry, CompactionEntry, BranchSummaryEntry))


def message_of(entry: Entry) -> Any:
    """The message that an entry is for the model. Raises `InvalidDataError` where it cannot be read."""
    if isinstance(entry, (MessageEntry, CustomMessageEntry, CompactionEntry, BranchSummaryEntry)):
        return entry.message
    raise InvalidDataError(f"an entry of type {entry.type!r} is no message")


def shorten(message: Any, limit: int) -> Any:
    """A tool result whose texts together keep `limit` characters, half from each end, around a note."""
    if not isinstance(message, ToolResultMessage):
        return message
    blocks: list[Content] = []
    for block in message.content:
        if not isinstance(block, TextContent):
            continue
        text = shortened_text(block.text, limit)
        limit = max(0, limit - len(block.text))
        blocks.append(TextContent(text))
    left_out = len(message.content) - len(blocks)
    if left_out:
        blocks.append(TextContent(f"[images and other data left out of this result to save room: {left_out}]"))
    return replace(message, content=tuple(blocks))


def shortened_text(text: str, limit: int) -> str:
    """`text` when it has at most `limit` characters, else its two ends around a note of how much is missing."""
    if len(text) <= limit:
        return text
    end = limit // 2
    note = f"[{len(text) - 2 * end:,} of {len(text):,} characters left out here to save room]"
    return f"{text[:end]}\n{note}\n{text[len(text) - end :]}"


def in_call_order(messages: Iterable[Any]) -> list[Any]:
    """The messages, the results of each answer in the order of its calls, and none of them missing.

    Results are kept as they become known, so that a process that dies, or a call that hangs, takes none with it.
    """
    ordered: list[Any] = []
    pending: dict[str, ToolResultMessage] = {}
    others: list[Any] = []

    def settle() -> None:
        ordered.extend(pending.values())
        ordered.extend(others)
        pending.clear()
        others.clear()

    for message in messages:
        if isinstance(message, AssistantMessage):
            settle()
            ordered.append(message)
            if message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED):
                pending.update({call.id: _unfinished(call.id, call.name, message) for call in message.all_tool_calls})
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in pending:
            pending[message.tool_call_id] = message
        else:
            others.append(message)
    settle()
    return ordered


def _unfinished(call_id: str, name: str, message: AssistantMessage) -> ToolResultMessage:
    return ToolResultMessage(call_id, name, UNFINISHED, is_error=True, timestamp=message.timestamp)
