"""The message of a cell: its text exactly as written, and what its flags attach."""

from __future__ import annotations

from ..messages import UserMessage
from .flags import CellOptions
from .images import image_named
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
    return UserMessage([*([text] if text else []), *images]) if text or images else None
