"""The message of a cell: its text exactly as written, what its flags attach, and what its mentions add."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from IPython.core.error import UsageError

from ..messages import Content, UserMessage
from .flags import CellOptions
from .images import image_named
from .interrupt import stoppable
from .kernel import NotebookKernel


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
    from .attachments import Mentions

    mentions = Mentions(kernel.shell, kernel.namespace, kernel.last_error, kernel.folders)
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
