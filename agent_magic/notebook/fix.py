"""`%agent fix`: shows the model the last error with its cell and variables, and offers the cell that it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..agent.reply import Reply
from ..messages import UserMessage
from .command import Answer, Errand, Words, flags_alone
from .kernel import NotebookKernel
from .kinds import kind_of
from .last_error import error_pieces
from .markdown import fenced
from .masking import masked
from .prose import parsed

REQUEST = (
    "My last cell failed. Say in a sentence or two what is wrong, then give the whole corrected cell in one fenced "
    "block of python. Change no more than the error needs."
)
NOTHING_FAILED = "There is no error to fix: no cell has failed since the kernel started."

# Variables that are described, and bytes of each fenced part.
_VARIABLES = 20
_PART = 12_000
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


def fix(kernel: NotebookKernel, words: Words) -> Answer:
    options = flags_alone(words)
    if options is None:
        return None
    error, code = kernel.last_error.found(), kernel.last_error.code
    if error is None:
        return NOTHING_FAILED

    async def message() -> Any:
        return UserMessage(request_about(error, code, kernel.shell.user_ns))

    def offer(reply: Reply) -> None:
        corrected = code_in(reply.text)
        if corrected:
            # Some front ends ignore this; the answer shows the same code.
            kernel.shell.set_next_input(corrected, replace=False)

    return Errand(options, message, offer)


def request_about(error: BaseException, code: str, namespace: dict[str, Any]) -> str:
    """The whole message: what is wanted, then the error, its cell and its variables as fenced data without keys."""
    parts = [REQUEST, fenced(masked("\n\n".join(error_pieces(error, code))), _PART, "error")]
    variables = "\n".join(variables_in(code, error, namespace))
    if variables:
        parts += ["Variables of that cell, with their types:", fenced(variables, _PART, "text")]
    return "\n\n".join(parts)


def variables_in(code: str, error: BaseException, namespace: dict[str, Any]) -> Iterator[str]:
    """One line for each variable that the cell names, such as `df: DataFrame 12 × 3`; no values."""
    message = str(error) if isinstance(error, (NameError, KeyError, AttributeError)) else ""
    names = dict.fromkeys(_NAME.findall(f"{code}\n{message}"))
    known = [name for name in names if name in namespace and not name.startswith("_")]
    for name in known[:_VARIABLES]:
        yield f"{name}: {_kind(namespace[name])}"


def _kind(value: Any) -> str:
    try:
        return kind_of(value)
    except Exception:
        # A class of the user's may fail at anything, and is perhaps what failed.
        return type(value).__name__


def code_in(answer: str) -> str:
    """The last block of Python in `answer`, without an end of line; empty where there is none."""
    blocks = [
        token.content
        for token in parsed(answer)
        if token.type == "fence" and token.info.strip().lower().partition(" ")[0] in ("", "python", "py", "ipython")
    ]
    return blocks[-1].rstrip("\n") if blocks else ""
