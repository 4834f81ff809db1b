"""Where to cut a conversation: what a summary will stand for, and what is kept as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidDataError
from ..messages import AssistantMessage, TextContent, ToolResultMessage
from .context import kept_from, last_compaction, message_of, speaks
from .entries import CompactionEntry, Entry
from .tokens import message_tokens

# Tokens that a shortened result keeps at least.
SHORTEST = 200


@dataclass(frozen=True)
class Cut:
    """A conversation in parts.

    `history` ends where the turn begins that the cut falls into; `prefix` is that turn up to the cut, empty when the
    cut falls between turns; `kept` is the rest. `previous` is the compaction before this one. `shortened` is, by
    entry id, how many characters of a tool result in `kept` are left to the model.
    """

    history: Sequence[Entry]
    prefix: Sequence[Entry]
    kept: Sequence[Entry]
    previous: CompactionEntry | None = None
    shortened: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether this cut changes nothing."""
        return not self.history and not self.prefix and not self.shortened


def cut(path: Sequence[Entry], keep_tokens: int, room: int | None = None) -> Cut:
    """Cut a path so that about `keep_tokens` of its end, and at most half of it, are kept.

    A call is never parted from its result. Where what must be kept is more than `room` tokens, its largest tool
    results are shortened. What an earlier compaction kept is cut again, so that nothing falls between two summaries.
    """
    latest = last_compaction(path)
    previous = path[latest] if latest is not None else None
    start = kept_from(path, latest) if latest is not None else 0
    entries, messages = _readable(path[start:])
    sizes = [message_tokens(message) for message in messages]
    place = _cut_place(messages, sizes, min(keep_tokens, sum(sizes) // 2))
    turn = _turn_start(messages, place)
    return Cut(
        entries[:turn],
        entries[turn:place],
        entries[place:],
        previous if isinstance(previous, CompactionEntry) else None,
        {} if room is None else _shortened(entries[place:], messages[place:], sizes[place:], room),
    )


def messages_of(entries: Sequence[Entry]) -> list[Any]:
    return _readable(entries)[1]


def _readable(entries: Sequence[Entry]) -> tuple[list[Entry], list[Any]]:
    """The entries that a model is given as messages of their own, and these messages."""
    found: list[Entry] = []
    messages: list[Any] = []
    for entry in entries:
        if speaks(entry) and not isinstance(entry, CompactionEntry):
            try:
                messages.append(message_of(entry))
            except InvalidDataError:
                continue
            found.append(entry)
    return found, messages


def _cut_place(messages: Sequence[Any], sizes: Sequence[int], keep_tokens: int) -> int:
    """The position of the first message to keep; 0 keeps all.

    It is the first good place from where about `keep_tokens` are left; where none is so near the end, the last one.
    """
    places = _good_places(messages)
    total = 0
    for place in reversed(range(len(messages))):
        total += sizes[place]
        if total >= keep_tokens:
            later = [each for each in places if each >= place]
            return later[0] if later else max(places, default=0)
    return 0


def _good_places(messages: Sequence[Any]) -> list[int]:
    """The positions before which no call is still waiting for its result."""
    answered = {m.tool_call_id: place for place, m in enumerate(messages) if isinstance(m, ToolResultMessage)}
    places = []
    waiting_until = -1
    for place, message in enumerate(messages):
        if place > waiting_until and not isinstance(message, ToolResultMessage):
            places.append(place)
        if isinstance(message, AssistantMessage):
            results = [answered.get(call.id, -1) for call in message.all_tool_calls]
            waiting_until = max([waiting_until, *results])
    return places


def _turn_start(messages: Sequence[Any], place: int) -> int:
    """The position of the message that began the turn of the one at `place`."""
    if place >= len(messages) or not isinstance(messages[place], AssistantMessage):
        return place
    for start in reversed(range(place)):
        if not isinstance(messages[start], (AssistantMessage, ToolResultMessage)):
            return start
    return place


def _shortened(entries: Sequence[Entry], messages: Sequence[Any], sizes: Sequence[int], room: int) -> dict[str, int]:
    """Characters to leave of each tool result that is too large for all to fit into `room` tokens."""
    results = [place for place, message in enumerate(messages) if isinstance(message, ToolResultMessage)]
    if sum(sizes) <= room or not results:
        return {}
    left = room - (sum(sizes) - sum(sizes[place] for place in results))
    level = max(SHORTEST, _level([sizes[place] for place in results], left))
    return {
        entries[place].id: _length(messages[place]) * level // sizes[place] for place in results if sizes[place] > level
    }


def _level(sizes: Sequence[int], room: int) -> int:
    """The size to which the largest must come down so that all together fit into `room`."""
    ordered = sorted(sizes)
    for place, size in enumerate(ordered):
        share = room // (len(ordered) - place)
        if size > share:
            return share
        room -= size
    return ordered[-1]


def _length(message: ToolResultMessage) -> int:
    return sum(len(block.text) for block in message.content if isinstance(block, TextContent))
