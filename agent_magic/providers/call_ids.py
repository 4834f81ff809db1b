"""Ids of tool calls as an API takes them: in its own form, and no two calls of a conversation alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from ..messages import AssistantMessage, Message, ToolCall, ToolResultMessage
from ..models import Model

_SHORTEST = 9
_SLOT = "_with_other_call_ids"


def with_fitting_ids(messages: Sequence[Message], form: re.Pattern[str], model: Model) -> Sequence[Message]:
    """`messages` with every id that does not match `form`, or came before, replaced in calls and their results.

    What `model` itself made it takes back in any form. A new id depends only on the old one, on how often that came
    before, and on the earlier ids, so that it is the same in each request.
    """
    if ToolResultMessage not in set(map(type, messages)):
        return messages
    key = model.key
    fitting: list[Message] = []
    times: dict[str, int] = {}
    taken: set[str] = set()
    renamed: dict[str, str] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            renamed = {}
            for block in message.content:
                if isinstance(block, ToolCall):
                    times[block.id] = times.get(block.id, 0) + 1
                    own = bool(block.id) and message.model_key == key
                    fits = block.id not in taken and (own or form.fullmatch(block.id) is not None)
                    found = block.id if fits else _new_id(block.id, times[block.id], form, taken)
                    taken.add(found)
                    if found != block.id:
                        renamed[block.id] = found
        fitting.append(_renamed(message, renamed) if renamed else message)
    return fitting


def _new_id(call_id: str, time: int, form: re.Pattern[str], taken: set[str]) -> str:
    """`call_` and 24 hexadecimal digits; where the form has no room for that, nine digits alone."""
    digest = hashlib.sha256(f"{time} {call_id}".encode("utf-8", "replace")).hexdigest()
    long = f"call_{digest[:24]}"
    if form.fullmatch(long):
        return long
    short = (digest[place : place + _SHORTEST] for place in range(len(digest) - _SHORTEST))
    return next((each for each in short if each not in taken), digest[:_SHORTEST])


def _renamed(message: Message, renamed: dict[str, str]) -> Message:
    """The message with these ids replaced, kept with the original for the next request."""
    if not isinstance(message, (AssistantMessage, ToolResultMessage)):
        return message
    known = message.__dict__.get(_SLOT)
    if known is not None and known[0] == renamed:
        kept: Message = known[1]
        return kept
    if isinstance(message, ToolResultMessage):
        changed: Message = replace(message, tool_call_id=renamed.get(message.tool_call_id, message.tool_call_id))
    else:
        blocks = (
            replace(block, id=renamed.get(block.id, block.id)) if isinstance(block, ToolCall) else block
            for block in message.content
        )
        changed = replace(message, content=tuple(blocks))
    message.__dict__[_SLOT] = (dict(renamed), changed)
    return changed
