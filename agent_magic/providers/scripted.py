"""A model that plays given answers: for tests, documentation and trying things out, without a network."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ..abort import AbortSignal
from ..config import RequestConfig, StopReason
from ..errors import AbortedError, BadRequestError, InvalidDataError, ServerError, ToolCallArgumentParseError
from ..events import StreamEvent, delta_event, start_event, stop_event
from ..messages import CONTENT_TYPES, AssistantMessage, Content, Context, TextContent, ToolCall
from ..models import Model, ModelCost
from ..usage import Usage
from .playback import argument_text, estimated_usage, items_of, pause


@dataclass(frozen=True)
class Delay:
    """A silence of `seconds` within a scripted answer. An abort ends it at once."""

    seconds: float


# One part of an answer; a whole answer is one of these or a list of them.
Part = str | Content | AssistantMessage | BaseException | Delay
Answer = Part | Iterable["Answer"] | Callable[[Context, RequestConfig], "Answer | Awaitable[Answer]"]


class ScriptedRequest(NamedTuple):
    """What a scripted model was asked."""

    context: Context
    config: RequestConfig


class Script:
    """The answers still to come, and the requests seen so far."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self.answers = tuple(answers)
        self.requests: list[ScriptedRequest] = []

    def next_answer(self, context: Context, config: RequestConfig) -> Answer:
        position = len(self.requests)
        self.requests.append(ScriptedRequest(context, config))
        if position < len(self.answers):
            return self.answers[position]
        raise BadRequestError(
            f"The scripted model has {len(self.answers)} answer(s) and was asked for number {position + 1}. "
            "Give agent_magic.scripted one answer for each request, also for those that follow tool results."
        )


@dataclass(frozen=True)
class ScriptedModel(Model):
    """A `Model` with its script; copies made by `replace` play on from the same place."""

    script: Script = field(default_factory=lambda: Script(()), repr=False)

    @property
    def requests(self) -> tuple[ScriptedRequest, ...]:
        """Every request so far, as (context, config), the oldest first."""
        return tuple(self.script.requests)


def scripted(*answers: Answer) -> ScriptedModel:
    """A model that gives these answers, one to each request, streamed as a server would stream them.

    An answer is a text; an `AssistantMessage`, or one of its blocks such as a `ToolCall`; an exception, which is
    raised; `Delay(seconds)`; a list of these, played one after the other within one answer; or a function
    `f(context, config)`, sync or async, that returns one. An exhausted model raises `BadRequestError`. Usage is
    estimated at four characters a token, unless a message brings its own.

    >>> import asyncio, agent_magic as am
    >>> model = am.scripted("Hello!", [am.Delay(0.01), am.ToolCall("call_1", "add", {"a": 1, "b": 2})])
    >>> context = am.Context(messages=[am.UserMessage("Hi")])
    >>> asyncio.run(am.complete(model, context)).text
    'Hello!'
    >>> asyncio.run(am.complete(model, context)).tool_calls[0].arguments
    {'a': 1, 'b': 2}
    >>> len(model.requests), model.requests[0].context.messages[-1].text
    (2, 'Hi')
    """
    return ScriptedModel(
        "scripted",
        api="scripted",
        provider="scripted",
        name="scripted answers",
        reasoning=True,
        input=("text", "image"),
        cost=ModelCost(),
        script=Script(answers),
    )


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncIterator[list[StreamEvent]]:
    """The adapter of the API `scripted`."""
    if not isinstance(model, ScriptedModel):
        raise InvalidDataError("a scripted model is made by agent_magic.scripted(...), which takes its answers", "api")
    answer = model.script.next_answer(context, config)
    playing = _Playing(context, signal)
    started = False
    async for part in _parts(answer, context, config):
        if isinstance(part, BaseException):
            raise part
        if isinstance(part, Delay):
            await pause(part.seconds, signal)
            continue
        if not started:
            started = True
            yield [start_event()]
        async for event in playing.part(part):
            yield [event]
    if not started:
        yield [start_event()]
    yield [playing.stop()]


async def _parts(answer: Answer, context: Context, config: RequestConfig) -> AsyncIterator[Part]:
    if isinstance(answer, (str, Delay, AssistantMessage, BaseException, *CONTENT_TYPES)):
        yield cast("Part", answer)
    elif callable(answer) and not isinstance(answer, type):
        given = answer(context, config)
        given = await given if inspect.isawaitable(given) else given
        async for part in _parts(given, context, config):
            yield part
    elif isinstance(answer, Iterable):
        for each in answer:
            async for part in _parts(each, context, config):
                yield part
    else:
        raise InvalidDataError(
            f"{type(answer).__name__} is no answer of a scripted model; give a text, an AssistantMessage, a content "
            "block, an exception, a Delay, a list of these or a function that returns one"
        )


class _Playing:
    """One answer while it is played: its blocks so far, and how it is going to end."""

    def __init__(self, context: Context, signal: AbortSignal | None) -> None:
        self._context = context
        self._signal = signal
        self._blocks: list[Content] = []
        self._growing = False
        self._usage: Usage | None = None
        self._reason: StopReason | None = None

    async def part(self, part: Any) -> AsyncIterator[StreamEvent]:
        message = part if isinstance(part, AssistantMessage) else AssistantMessage(part)
        for block in message.content:
            index = self._place(block, continues=isinstance(part, str))
            for item in items_of(block, index):
                yield delta_event(item)
                await pause(0, self._signal)
        if message is not part:
            return
        if message.stop_reason is StopReason.ERROR:
            raise ServerError(message.error_message or "The scripted answer ends with an error.")
        if message.stop_reason is StopReason.ABORTED:
            raise AbortedError(message.error_message or "")
        self._usage, self._reason = message.usage or self._usage, message.stop_reason

    def _place(self, block: Content, continues: bool) -> int:
        """The index of `block`. Plain texts that follow each other, as around a delay, are one block."""
        last = self._blocks[-1] if self._blocks else None
        if continues and self._growing and isinstance(block, TextContent) and isinstance(last, TextContent):
            self._blocks[-1] = TextContent(last.text + block.text)
        else:
            self._blocks.append(block)
        self._growing = continues
        return len(self._blocks) - 1

    def stop(self) -> StreamEvent:
        calls = [block for block in self._blocks if isinstance(block, ToolCall)]
        if self._reason is not StopReason.LENGTH:
            self._raise_for_broken(calls)
            self._reason = StopReason.TOOL_CALL if calls else self._reason or StopReason.STOP
        return stop_event(self._reason, self._usage or estimated_usage(self._context, self._blocks))

    def _raise_for_broken(self, calls: list[ToolCall]) -> None:
        for call in calls:
            if call.arguments_error is not None:
                raise ToolCallArgumentParseError("scripted", call.name, call.id, argument_text(call))
