"""`%agent new`, `undo`, `retry` and `show`: going back in the conversation, and looking back."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError

from ..messages import UserMessage
from .bundle import mimebundle
from .command import Answer, Errand, Words, flags_alone
from .kernel import NotebookKernel
from .plain import whole_record
from .wording import count, one_line

NOTHING_SAID = "There is no message of yours in the conversation."


def new(kernel: NotebookKernel, words: Words) -> Answer:
    if words:
        return None
    kernel.forget()
    return "The conversation is empty; tools and settings stay."


def undo(kernel: NotebookKernel, words: Words) -> Answer:
    if words:
        return None
    taken = kernel.conversation.take_back()
    if taken is None:
        return NOTHING_SAID
    left = len(kernel.agent.messages)
    return f"Taken back: {one_line(taken.text, 100)}\n{count(left, 'message')} {'is' if left == 1 else 'are'} left."


def retry(kernel: NotebookKernel, words: Words) -> Answer:
    options = flags_alone(words)
    if options is None:
        return None
    if not any(isinstance(message, UserMessage) for message in kernel.agent.messages):
        return NOTHING_SAID

    async def message() -> Any:
        return kernel.conversation.take_back()

    return Errand(options, message)


def show(kernel: NotebookKernel, words: Words) -> Answer:
    runs = kernel.runs
    if len(words) > 1 or any(not word.isascii() or not word.isdigit() for word in words):
        return None
    if not runs.count:
        return "This kernel has shown no run yet."
    number = int(words[0]) if words else runs.count
    try:
        record = runs[number]
    except IndexError:
        there = runs.numbers
        there_are = f"Run {there[0]} is there." if len(there) == 1 else f"Runs {there[0]} to {there[-1]} are there."
        raise UsageError(f"There is no run {number}. {there_are}") from None
    return whole_record(record) if kernel.in_terminal else mimebundle(record, with_prompt=True)
