"""From an agent's messages to those that a model can be sent (source: A convertToLlm)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from .messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Message,
    ToolResultMessage,
    UserMessage,
)

COMPACTION_SUMMARY_PREFIX = "A summary takes the place of the earlier part of this conversation:\n\n<summary>\n"
COMPACTION_SUMMARY_SUFFIX = "\n</summary>"
BRANCH_SUMMARY_PREFIX = (
    "The conversation went another way for a while and came back to this point. What happened there:\n\n<summary>\n"
)
BRANCH_SUMMARY_SUFFIX = "\n</summary>"
COMMAND_PREFIX = "The user ran this command:\n\n"


# The dispatch costs more than all else that is done to these in a long history.
_AS_THEY_ARE = frozenset((UserMessage, AssistantMessage, ToolResultMessage))


def convert_to_llm(messages: Iterable[Any]) -> list[Message]:
    """What a model is sent for these messages; those for which `convert_to_llm_message` gives None are left out."""
    messages = list(messages)
    if _AS_THEY_ARE.issuperset(map(type, messages)):
        return messages
    converted = (each if type(each) in _AS_THEY_ARE else convert_to_llm_message(each) for each in messages)
    return [each for each in converted if each is not None]


@singledispatch
def convert_to_llm_message(message: Any) -> Message | None:
    """What a model is sent for one message, or None when it is for people only, as any unknown class is.

    A class of your own joins in by registering:

    >>> class Note:
    ...     def __init__(self, text): self.text = text
    >>> @convert_to_llm_message.register
    ... def _(note: Note): return UserMessage(note.text)
    >>> convert_to_llm([Note("Mind the gap.")])[0].text
    'Mind the gap.'
    """
    return None


@convert_to_llm_message.register(UserMessage)
@convert_to_llm_message.register(AssistantMessage)
@convert_to_llm_message.register(ToolResultMessage)
def _(message: Message) -> Message:
    return message


@convert_to_llm_message.register
def _(message: BashExecutionMessage) -> UserMessage | None:
    return None if message.exclude_from_context else UserMessage(bash_execution_text(message), message.timestamp)


@convert_to_llm_message.register
def _(message: CompactionSummaryMessage) -> UserMessage:
    text = f"{COMPACTION_SUMMARY_PREFIX}{message.summary}{COMPACTION_SUMMARY_SUFFIX}"
    return UserMessage(text, message.timestamp)


@convert_to_llm_message.register
def _(message: BranchSummaryMessage) -> UserMessage:
    return UserMessage(f"{BRANCH_SUMMARY_PREFIX}{message.summary}{BRANCH_SUMMARY_SUFFIX}", message.timestamp)


@convert_to_llm_message.register
def _(message: CustomMessage) -> UserMessage:
    return UserMessage(message.content, message.timestamp)


def bash_execution_text(message: BashExecutionMessage) -> str:
    """A command and what became of it, as the model reads it."""
    parts = [f"{COMMAND_PREFIX}{_fenced(message.command)}"]
    parts.append(f"Its output:\n\n{_fenced(message.output)}" if message.output.strip() else "It printed nothing.")
    if message.truncated:
        where = f"; all of it is in {message.full_output_path}" if message.full_output_path else ""
        parts.append(f"The output shown is cut{where}.")
    if message.cancelled:
        parts.append("The command was cancelled.")
    elif message.exit_code:
        parts.append(f"The command failed with exit code {message.exit_code}.")
    return "\n\n".join(parts)


def _fenced(text: str) -> str:
    """`text` in a Markdown fence that nothing in it can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
