"""The message of a cell: its text exactly as written, what its flags attach, and what its mentions add."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from ..messages import Content, UserMessage, joined_text
from .flags import CellOptions
from .images import image_named
from .interrupt import stoppable
from .kernel import NotebookKernel
from .mentions import name_of_block, split_content

if TYPE_CHECKING:
    from .attachments import Mentions


def text_of(first_line: str, body: str) -> str:
    """`first_line`, then `body` without the line end that IPython puts behind every cell."""
    body = body.removesuffix("\n")
    return "\n".join(part for part in (first_line, body) if part.strip())


async def message_of(kernel: NotebookKernel, options: CellOptions, body: str) -> UserMessage | None:
    """What the cell asks to send; None where it has neither text nor attachments, and the run goes on.

    Raises `UsageError` for what cannot be attached.
    """
    text = text_of(options.text, body)
    images = [image_named(name, kernel.shell.user_ns) for name in options.images]
    added = await added_by(kernel, text)
    return UserMessage([*([text] if text else []), *images, *added]) if text or images else None


async def added_by(kernel: NotebookKernel, text: str, names: Sequence[str] = ()) -> list[Content]:
    """What the mentions in `text`, and of these names, add. Stop ends the looking, and nothing is sent.

    Raises `UsageError` for a name that leads to nothing.
    """
    if "@" not in text and not names:
        return []
    mentions = _mentions(kernel)
    task = asyncio.current_task()
    assert task is not None
    async with stoppable(task.cancel, task.cancel):
        attached = await mentions.attachments(text, kernel.settings.mention_seconds)
        for name in names:
            found = await mentions.attachments(f"@{name}", kernel.settings.mention_seconds)
            if not found:
                raise UsageError(f"There is no variable {name} in the notebook any more.")
            attached += found
    return [block for each in {each.name: each for each in attached}.values() for block in each.blocks]


def slips_in(kernel: NotebookKernel, message: object) -> list[str]:
    """What to tell the user of mentions in `message` that lead to nothing, but surely were to."""
    if not isinstance(message, UserMessage):
        return []
    said, added = split_content(message.content)
    text = joined_text(said)
    return _mentions(kernel).slips(text, filter(None, map(name_of_block, added))) if "@" in text else []


def _mentions(kernel: NotebookKernel) -> Mentions:
    from .attachments import Mentions

    return Mentions(kernel.shell, kernel.namespace, kernel.last_error, kernel.folders)
