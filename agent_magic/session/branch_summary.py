"""Leaving a branch of the tree with a summary of what was tried on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SessionError
from ..messages import ToolResultMessage
from ..models import Model
from ..stored_models import usage_to_json
from .compaction import CompactionSettings
from .context import message_of, speaks
from .cut import messages_of
from .entries import BranchSummaryEntry, CompactionEntry, Entry
from .files import Files
from .session import Session
from .summary import BRANCH, USUAL_WINDOW, Summarizer, serialized
from .tokens import text_tokens

MAX_TOKENS = 2048
ROOT = "root"
# A summary is worth squeezing in as long as no more than this part of the room is taken.
NEARLY_FULL = 0.9


async def leave_branch(
    session: Session, entry_id: str | None, model: Model, *, focus: str = "", settings: CompactionSettings | None = None
) -> str | None:
    """Go on from another entry, and give the model a summary of what is left behind.

    Returns the summary, None when there was nothing to summarise. The session changes only when the summary is
    there. Raises `ProviderError`, `AbortedError`, or `SessionError` for an entry that does not exist.
    """
    if entry_id == session.tree.leaf_id:
        return None
    branch = session.branch
    target = session.tree.path(session.tree[entry_id].id) if entry_id is not None else []
    shared = _shared(branch, target)
    left = branch[shared:]
    window = model.context_window or USUAL_WINDOW
    room = (settings or CompactionSettings()).threshold(window)
    messages = _newest(left, room)
    if not messages:
        session.move_to(entry_id)
        return None
    leaf = session.tree.leaf_id
    most = min(MAX_TOKENS, model.max_tokens or MAX_TOKENS)
    summary = await Summarizer(model, most, None, focus).summarize(messages, BRANCH)
    if session.tree.leaf_id != leaf:
        raise SessionError("The conversation went on while its branch was being summarised; try again.")
    earlier = [each.details for each in left if isinstance(each, (BranchSummaryEntry, CompactionEntry))]
    files = Files.of(messages_of(left), *earlier)
    details = files.details()
    if summary.usage is not None:
        details["usage"] = usage_to_json(summary.usage)
    text = files.appended_to(summary.text)
    session.move_to(entry_id)
    session.append_branch_summary(text, branch[shared - 1].id if shared else ROOT, details)
    return text


def _shared(one: Sequence[Entry], other: Sequence[Entry]) -> int:
    """How many entries two paths have in common."""
    both = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(both) if a.id != b.id), min(len(one), len(other)))


def _newest(entries: Sequence[Entry], room: int) -> list[Any]:
    """The messages at the end that fit into `room` tokens, without tool results: the calls tell enough.

    A compaction stands for all before it.
    """
    found: list[Any] = []
    taken = 0
    for entry in reversed(entries):
        if not speaks(entry):
            continue
        if isinstance(entry, CompactionEntry):
            readable: list[Any] = [message_of(entry)]
        else:
            readable = [each for each in messages_of([entry]) if not isinstance(each, ToolResultMessage)]
        size = sum(text_tokens(serialized(each)) for each in readable)
        is_summary = isinstance(entry, (CompactionEntry, BranchSummaryEntry))
        if taken + size > room and not (is_summary and taken < room * NEARLY_FULL):
            break
        found.extend(readable)
        taken += size
        if isinstance(entry, CompactionEntry):
            break
    return found[::-1]
