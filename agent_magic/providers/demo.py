"""The model `demo`: built in, offline, deterministic, and no language model.

It matches the user's sentence with the tools on offer, calls what fits, and says what came back. It never calls a
tool when it is unsure. `compat={"seconds": 0}` takes away the pauses that make its answers readable as they stream.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import takewhile

from ..abort import AbortSignal
from ..config import RequestConfig, StopReason
from ..conversion import COMMAND_PREFIX
from ..events import StreamEvent, StreamItem, delta_event, stop_event
from ..messages import (
    AssistantMessage,
    Content,
    Context,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from ..models import Model
from . import demo_replies as say
from .demo_matcher import Choice, choose
from .offered_tools import OfferedTool
from .playback import estimated_usage, items_of, pause

# The longest that an answer takes to stream, and the longest pause within it, in seconds.
_SECONDS = 0.18
_PAUSE = 0.02

# A fence of backticks or tildes, or an element such as <context>…</context> on lines of its own: material, not the
# question. The question stands at the beginning, so a long message is read that far only.
_READ = 4000
_FENCED = re.compile(
    r"(?P<mark>`{3,}|~{3,}).*?(?:(?P=mark)|\Z) | ^<(?P<tag>[A-Za-z][\w-]*)[^>]*>.*?(?:</(?P=tag)\s*>|\Z)",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)

_NAMED_FENCE = re.compile(r"\s*`{3,}(@[^\n`]+)\n")


def unsupported(model: Model, config: RequestConfig) -> dict[str, str]:
    """What `demo` cannot do, by field of the config."""
    reason = "demo is no language model; it only calls tools and says what they returned"
    fields = ("response_schema", "image_config", "tts_config", "embedding_config")
    return {name: reason for name in fields if getattr(config, name) is not None}


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncIterator[list[StreamEvent]]:
    """The adapter of the API `demo`."""
    blocks = answer(context, config)
    items = [item for index, block in enumerate(blocks) for item in items_of(block, index)]
    seconds = float(model.compat.get("seconds", _SECONDS))
    for batch in _batches(items, seconds):
        yield [delta_event(*batch)]
        await pause(min(_PAUSE, seconds / len(items)) * len(batch), signal)
    reason = StopReason.TOOL_CALL if isinstance(blocks[-1], ToolCall) else StopReason.STOP
    yield [stop_event(reason, estimated_usage(context, blocks))]


def _batches(items: Sequence[StreamItem], seconds: float) -> list[Sequence[StreamItem]]:
    """Items in steps that are far enough apart in time for an event loop to keep to."""
    steps = max(1, round(seconds / _PAUSE)) if seconds > 0 else 10
    size = max(1, -(-len(items) // steps))
    return [items[start : start + size] for start in range(0, len(items), size)]


def answer(context: Context, config: RequestConfig) -> list[Content]:
    """The blocks of demo's answer: a report of what tools returned, a question or advice, or calls."""
    messages = context.messages
    results = _results_to_report(messages)
    new = list(takewhile(lambda message: isinstance(message, UserMessage), reversed(messages)))[::-1]
    asked = [question_of(message) for message in new if isinstance(message, UserMessage)]
    question = "\n".join(filter(None, asked))
    paragraphs = [say.what_came_back(result, _call_of(result, messages)) for result in results]
    if results and not any(isinstance(each, AssistantMessage) and _introduces_itself(each) for each in messages):
        paragraphs.append(say.LABEL)
    calls: list[Content] = []
    if question or not results:
        tools = _offered(context, config)
        choices = _choices(question, messages, tools)
        if choices and not any(choice.missing for choice in choices):
            first = sum(len(message.all_tool_calls) for message in messages if isinstance(message, AssistantMessage))
            calls = [
                ToolCall(f"demo_{number}", choice.tool.name, dict(choice.arguments))
                for number, choice in enumerate(choices, first + 1)
            ]
            paragraphs.append(say.what_is_called(calls))
        elif choices:
            paragraphs.append(say.what_is_missing(choices))
        else:
            attached = [name for message in new if isinstance(message, UserMessage) for name in _attached(message)]
            paragraphs.append(say.what_can_be_done(tools, attached))
    return [TextContent("\n\n".join(paragraphs)), *calls]


def _introduces_itself(message: AssistantMessage) -> bool:
    return say.LABEL in message.text or say.WHAT_IT_IS in message.text


def question_of(message: UserMessage) -> str:
    """What the user typed, without fenced material such as the summaries of mentioned variables.

    A command that the user ran asks for nothing, whatever it printed.
    """
    if message.text.startswith(COMMAND_PREFIX):
        return ""
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    return " ".join(_FENCED.sub(" ", "\n".join(texts)[:_READ]).split())


def _attached(message: UserMessage) -> list[str]:
    """The names of what came with a message, such as `@df`: each stands where its fence is opened."""
    texts = [block.text for block in message.content[1:] if isinstance(block, TextContent)]
    return [found.group(1) for text in texts if (found := _NAMED_FENCE.match(text))]


def _offered(context: Context, config: RequestConfig) -> list[OfferedTool]:
    tools: Mapping[str, OfferedTool] = context.tools or {}
    if config.tool_choice == "none":
        return []
    if config.tool_choice is None or isinstance(config.tool_choice, str):
        return list(tools.values())
    return [tool for name, tool in tools.items() if name in config.tool_choice]


def _choices(question: str, messages: Sequence[Message], tools: Sequence[OfferedTool]) -> list[Choice]:
    """What the question asks for, alone or as the answer to demo's own question before it."""
    choices = choose(question, tools)
    if choices and not any(choice.missing for choice in choices):
        return choices
    earlier = _question_left_open(messages)
    if earlier and any(choice.missing for choice in choose(earlier, tools)):
        together = choose(f"{earlier.rstrip('.?! ')}, {question}", tools)
        if together and (not choices or not any(choice.missing for choice in together)):
            return together
    return choices


def _question_left_open(messages: Sequence[Message]) -> str:
    """The message before the last one, if demo answered it without a call."""
    said = [message for message in messages if not isinstance(message, ToolResultMessage)]
    if len(said) < 3 or not isinstance(said[-2], AssistantMessage) or not isinstance(said[-3], UserMessage):
        return ""
    return "" if said[-2].all_tool_calls else question_of(said[-3])


def _results_to_report(messages: Sequence[Message]) -> list[ToolResultMessage]:
    """The results that came after the last answer."""
    new = takewhile(lambda message: not isinstance(message, AssistantMessage), reversed(messages))
    return [message for message in reversed(list(new)) if isinstance(message, ToolResultMessage)]


def _call_of(result: ToolResultMessage, messages: Sequence[Message]) -> ToolCall | None:
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            for call in message.all_tool_calls:
                if call.id == result.tool_call_id:
                    return call
    return None
