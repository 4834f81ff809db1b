"""What a subcommand of `%agent` is, and what it may answer."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from ..agent.reply import Reply
from .flags import CellOptions, parse
from .kernel import NotebookKernel
from .masking import masked

Words = Sequence[str]


@dataclass(frozen=True)
class Errand:
    """A run that a subcommand asks for: on what `message()` gives, which None lets go on from where it was.

    `message` is called when all that `options` asks for is known to be there. `after`, if given, gets the `Reply`.
    """

    options: CellOptions
    message: Callable[[], Awaitable[Any]]
    after: Callable[[Reply], None] | None = None


# A text to print, a mimebundle to show, or a run to make; None when the words do not fit the usage.
Answer = str | Mapping[str, Any] | Errand | None
Run = Callable[[NotebookKernel, Words], Answer]


@dataclass(frozen=True)
class Command:
    """One row of the table of subcommands."""

    name: str
    usage: str
    help: str
    run: Run

    def __call__(self, kernel: NotebookKernel, words: Words) -> str | Mapping[str, Any] | Errand:
        answer = self.run(kernel, words)
        if answer is None:
            usage = f"%agent {self.name} {self.usage}".rstrip()
            raise UsageError(f"Usage: {usage}. {as_message(' '.join((self.name, *words)))}")
        return answer


def as_message(line: str) -> str:
    return f"To send the line as a message: %agent -- {masked(line)}"


def flags_alone(words: Words) -> CellOptions | None:
    """The flags that `words` are; None when there is also a text among them."""
    options = parse(shlex.join(words))
    return None if options.text else options


def columns(rows: Sequence[tuple[str, str]], indent: int = 0) -> list[str]:
    """Rows of two columns as lines."""
    width = max((len(left) for left, _ in rows), default=0)
    return [f"{' ' * indent}{left:<{width}}  {right}".rstrip() for left, right in rows]
