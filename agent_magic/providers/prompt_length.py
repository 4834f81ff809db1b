"""Servers that leave out the beginning of a prompt that is too long for them, and say nothing."""

from __future__ import annotations

from ..messages import Context, TextContent, ToolCall
from ..models import Model
from ..usage import Usage
from .quirks import quirks_of

# Hardly any text has more characters for each of its tokens, taken over a whole prompt. Images are not counted.
_MOST_CHARACTERS = 7
_SHORT = 4_000


def cut_prompt_note(model: Model, context: Context, usage: Usage | None) -> str:
    """What to tell the user where the server read far fewer tokens than it was sent; empty where it did not."""
    if usage is None or model.api != "openai-chat" or not quirks_of(model).cuts_prompts:
        return ""
    read = usage.input + usage.cache_read + usage.cache_write
    sent = _characters(context)
    if not read or sent < _SHORT or sent <= read * _MOST_CHARACTERS:
        return ""
    return (
        f"{model.label} read only {read:,} tokens of a prompt of {sent:,} characters: the server leaves out what "
        "exceeds its num_ctx. Start Ollama with OLLAMA_CONTEXT_LENGTH=32768 or more, or start a new conversation."
    )


def _characters(context: Context) -> int:
    """The characters of the prompt, without the declarations of tools."""
    count = len(context.system_prompt)
    for message in context.messages:
        for block in message.content:
            if isinstance(block, TextContent):
                count += len(block.text)
            elif isinstance(block, ToolCall):
                count += len(str(block.arguments))
    return count
