"""`%agent sessions`, `resume`, `fork`, `compact` and `edit`: conversations that are kept, and going between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..messages import ImageContent, UserMessage, joined_text
from .command import Answer, Words
from .exchanges import NOTHING_SAID
from .interrupt import sigint_raises
from .kernel import NotebookKernel
from .mentions import split_content
from .wording import count, one_line

if TYPE_CHECKING:
    from ..session.compaction import Compacted
    from ..session.listing import StoredSession
    from .lacks import Lacks

# So many sessions are listed without a filter.
_SHOWN = 20
# Digits of an id that are shown; they nearly always tell sessions apart.
_ID = 8
NO_SUMMARY = "demo is no language model and can write no summary. Choose a model first: %agent model ID"


def sessions(kernel: NotebookKernel, words: Words) -> Answer:
    conversation = kernel.conversation
    wanted = " ".join(words)
    found = found_sessions(kernel, wanted)
    if not found:
        if kernel.settings.sessions == "off":
            return "Conversations are kept nowhere: AgentMagic.sessions is off."
        return f"There is no session{' like that' if wanted else ''} in {conversation.folder} yet."
    shown = found if wanted else found[:_SHOWN]
    rows = [("", "id", "last used", "messages", "title", "notebook"), *(_row(each, conversation.id) for each in shown)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).strip("\n").rstrip()
        for row in rows
    ]
    left = len(found) - len(shown)
    more = (
        f"\n{count(left, 'older session')} more; %agent sessions TEXT finds by id, title or notebook." if left else ""
    )
    return "\n".join(lines) + f"\n\n%agent resume ID goes on with one.{more}"


def found_sessions(kernel: NotebookKernel, wanted: str) -> list[StoredSession]:
    """The sessions of the kernel's folder whose id, title or notebook holds `wanted`, the one last used first."""
    found = kernel.conversation.stored()
    return [each for each in found if wanted.lower() in f"{each.id} {each.title} {each.notebook}".lower()]


def _row(stored: StoredSession, current: str | None) -> Sequence[str]:
    when = datetime.fromtimestamp(stored.modified / 1000).strftime("%Y-%m-%d %H:%M")
    notebook = Path(stored.notebook).name if stored.notebook else ""
    return (
        "*" if stored.id == current else " ",
        stored.id[:_ID],
        when,
        f"{stored.messages:>8,}",
        one_line(stored.title, 50),
        one_line(notebook, 40),
    )


def resume(kernel: NotebookKernel, words: Words) -> Answer:
    if not words and not kernel.conversation.others():
        return f"There is no other session in {kernel.conversation.folder} yet."
    lacks = kernel.conversation.resume(" ".join(words))
    return arrived(kernel, "Resumed", lacks)


def fork(kernel: NotebookKernel, words: Words) -> Answer:
    if not words and not kernel.agent.messages:
        return "The conversation is empty; there is nothing to copy."
    lacks = kernel.conversation.fork(" ".join(words))
    return arrived(kernel, "The conversation goes on in a copy", lacks)


def title_of(kernel: NotebookKernel) -> str:
    """The title of the present conversation: its name, else the start of its first message; empty where it has none."""
    first = next((each for each in kernel.agent.messages if isinstance(each, UserMessage)), None)
    said = "" if first is None else joined_text(split_content(first.content)[0])
    return one_line(kernel.conversation.session.name or said, 80)


def arrived(kernel: NotebookKernel, how: str, lacks: Lacks | None) -> str:
    """What the user is told after going to another conversation."""
    session = kernel.conversation.session
    title = title_of(kernel)
    spoken = sum(getattr(each, "role", "") != "custom" for each in kernel.agent.messages)
    lines = [f"{how}: {session.id[:_ID]} {title} ({count(spoken, 'message')})".replace("  ", " ")]
    if lacks is not None and lacks.note:
        lines.append(lacks.note)
    if session.skipped:
        lines.append(f"{count(session.skipped, 'line')} of the file could not be read and was left out.")
    return "\n".join(lines)


def compact(kernel: NotebookKernel, words: Words) -> Answer:
    from ..agent.background import run_blocking
    from ..session.compaction import NothingToCompactError

    cancel: list[Callable[[], object]] = []

    async def work() -> Compacted:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        cancel.append(lambda: loop.call_soon_threadsafe(task.cancel))
        return await kernel.conversation.compact(" ".join(words))

    kernel.agent.check_idle()
    if kernel.agent.model.api == "demo":
        return NO_SUMMARY
    try:
        with sigint_raises():
            return run_blocking(work, lambda: [each() for each in cancel]).note
    except NothingToCompactError as nothing:
        return str(nothing)


def edit(kernel: NotebookKernel, words: Words) -> Answer:
    if words:
        return None
    taken = kernel.conversation.take_back()
    if taken is None:
        return NOTHING_SAID
    said, _ = split_content(taken.content)
    text = "".join(getattr(block, "text", "") for block in said)
    kernel.shell.set_next_input(f"%%agent\n{text}")
    images = any(isinstance(block, ImageContent) for block in said)
    return "Taken back; it stands in the next cell." + (" Attach its images again with -i." if images else "")
