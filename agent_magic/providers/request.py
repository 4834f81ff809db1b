"""One request to a model: checked, sent, repeated while nothing has come, priced, and broken off when asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import fields, replace

from ..abort import AbortSignal
from ..config import RequestConfig, StopReason
from ..errors import (
    AbortedError,
    AgentMagicError,
    EmptyResponseError,
    InvalidDataError,
    ProviderError,
    ServerError,
    StreamInterruptedError,
    ToolCallArgumentParseError,
    UnsupportedParameterError,
)
from ..events import StreamEvent, start_event
from ..messages import AssistantMessage, Context, ThinkingContent, tools_by_name
from ..models import Model
from ..partial import PartialMessage
from ..usage import Usage
from .apis import adapter_for
from .handoff import prepare_messages
from .keys import without_keys
from .prompt_length import cut_prompt_note
from .retry import retry_delay, waiting_note
from .tracing import trace_for

BAD_ARGUMENTS = "The arguments of this call are not a JSON object."
# How long an aborted request may take to close its connection before the caller goes on without it.
_CLOSING = 0.5
# Seconds of waiting that a user wonders about.
_WORTH_TELLING = 1.0


async def stream(
    model: Model, context: Context, config: RequestConfig | None = None, *, signal: AbortSignal | None = None
) -> AsyncIterator[StreamEvent]:
    """Ask `model` and give its answer as it comes: `start` once, `delta` many times, `stop` once.

    Raises `ProviderError` for failures of the server or the way to it, with what had come in `partial`;
    `AbortedError` when `signal` was given; `UnsupportedParameterError` before anything is sent.
    """
    response = ResponseStream(model, context, config, signal)
    try:
        async for batch in response:
            for event in batch:
                yield event
    finally:
        await response.aclose()


async def complete(
    model: Model, context: Context, config: RequestConfig | None = None, *, signal: AbortSignal | None = None
) -> AssistantMessage:
    """Ask `model` and return its whole answer. Raises what `stream` raises."""
    response = ResponseStream(model, context, config, signal)
    try:
        async for _ in response:
            pass
    finally:
        await response.aclose()
    return response.finished()


def without_unsupported(model: Model, config: RequestConfig) -> tuple[RequestConfig, tuple[str, ...]]:
    """`config` without the fields that the model's API does not offer, and their names.

    For defaults of a session; what is given for one call is an error instead.
    """
    left_out = tuple(adapter_for(model).unsupported(model, config))
    defaults = {each.name: each.default for each in fields(RequestConfig)}
    return config.replace(**{name: defaults[name] for name in left_out}), left_out


def refuse_unsupported(model: Model, config: RequestConfig) -> None:
    """Raise `UnsupportedParameterError` if `config` asks for what the model's API does not offer."""
    unsupported = adapter_for(model).unsupported(model, config)
    if unsupported:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in unsupported.items())
        raise UnsupportedParameterError(
            f"{model.label} (API {model.api}) does not offer {', '.join(unsupported)}, so nothing was sent. {reasons}."
        )


class ResponseStream:
    """The answer of a model while it comes: an async iterator of lists of events, all that has arrived by then.

    `partial` is the message so far. Leaving the iteration early needs `await aclose()`, which closes the connection.
    `notes` are what the user should know; a list of events, perhaps an empty one, comes whenever there is a new one.
    """

    def __init__(
        self,
        model: Model,
        context: Context,
        config: RequestConfig | None = None,
        signal: AbortSignal | None = None,
    ) -> None:
        self.model = model
        self.partial = PartialMessage(model)
        self.notes: list[str] = []
        self._adapter = adapter_for(model)
        self._context, self._config = _merged(model, context, config or RequestConfig())
        refuse_unsupported(model, self._config)
        self._signal = signal
        self._arrived: list[StreamEvent] = []
        self._noted = False
        self._news = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._cancelled = False
        self._forget_abort: Callable[[], object] = bool
        self._started = False
        self._delivered = False
        self._stop: StreamEvent | None = None
        self._failure: AgentMagicError | None = None
        self._trace = trace_for(self._config.trace_id)
        self._ended = False
        self._aborted = False
        self._closed = False

    def __aiter__(self) -> ResponseStream:
        return self

    async def __anext__(self) -> list[StreamEvent]:
        if self._closed:
            raise StopAsyncIteration
        if self._pump is None:
            self._begin()
        try:
            while not (self._arrived or self._noted or self._ended or self._aborted):
                self._news.clear()
                await self._news.wait()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        batch, self._arrived = self._arrived, []
        noted, self._noted = self._noted, False
        if self._aborted:
            await self.aclose()
            raise self._abort_error()
        if batch or noted:
            return batch
        await self.aclose()
        if self._failure is not None:
            # Without the frames of the pump, whose variables hold the whole request.
            raise self._failure.with_traceback(None)
        if self._stop is None:
            raise AbortedError("The request was cancelled.", self._broken_off(StopReason.ABORTED, "Cancelled"))
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the request; the connection is closed. May be called again."""
        self._closed = True
        self._forget_abort()
        self._cancel_pump()
        if self._pump is not None and not self._pump.done():
            await asyncio.wait({self._pump}, timeout=_CLOSING)

    def finished(self) -> AssistantMessage:
        """The whole answer, after the end of the iteration."""
        return self.partial.finished()

    def _begin(self) -> None:
        if self._signal is not None:
            loop = asyncio.get_running_loop()

            def abort() -> None:
                with contextlib.suppress(RuntimeError):  # A loop that has been closed has nothing left to abort.
                    loop.call_soon_threadsafe(self._abort)

            if self._signal.aborted:
                self._closed = True
                raise self._abort_error()
            self._forget_abort = self._signal.on_abort(abort)
        self._pump = asyncio.create_task(self._run())

    def _abort(self) -> None:
        if not self._ended:
            self._aborted = True
            self._cancel_pump()
            self._news.set()

    def _cancel_pump(self) -> None:
        """Cancel the pump, once: a second time would break off the closing of the connection."""
        if self._pump is not None and not self._cancelled:
            self._cancelled = True
            self._pump.cancel()

    def _abort_error(self) -> AbortedError:
        reason = self._signal.reason if self._signal is not None else ""
        return AbortedError(reason, self._broken_off(StopReason.ABORTED, reason or "Operation aborted"))

    # In the pump's task ----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        answered = False
        try:
            self._trace.asked(self.model, self._context, self._config)
            await self._repeat()
            answered = True
        except ProviderError as error:
            self._failure = self._with_partial(error)
        except AgentMagicError as error:
            self._failure = error
        except Exception as error:
            words = f"The adapter of the API {self.model.api!r} failed: {type(error).__name__}: {error}"
            self._failure = self._with_partial(ServerError(words))
            self._failure.__cause__ = error
        finally:
            try:
                if answered:
                    self._trace.answered(self.finished())
                else:
                    self._trace.failed(self._failure)
            finally:
                # Else whoever reads would wait for ever.
                self._ended = True
                self._news.set()

    async def _repeat(self) -> None:
        failures = 0
        while True:
            try:
                await self._play()
                return
            except ProviderError as error:
                failures += 1
                delay = None if self._delivered else retry_delay(error, failures, self._config)
                if delay is None:
                    raise
                if delay >= _WORTH_TELLING:
                    self._note(waiting_note(error, delay, failures, self.model, self._config))
                self._trace.repeated(error)
            self._stop = None
            await asyncio.sleep(delay)

    async def _play(self) -> None:
        answer = self._adapter.stream(self.model, self._context, self._config, self._signal)
        try:
            async for batch in answer:
                for event in batch:
                    self._take(event)
        finally:
            close = getattr(answer, "aclose", None)
            if close is not None:
                await close()
        if self._stop is None:
            words = f"The answer of {self.model.label} ended without its end marker. Send the message again."
            raise StreamInterruptedError(words, retryable=True)
        self._finish(self._stop)

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self._noted = True
        self._news.set()

    def _take(self, event: StreamEvent) -> None:
        """Pass an event on. The stop waits until the adapter has ended without an error."""
        if self._stop is not None:
            return
        if not self._started:
            self._started = True
            self._arrived.append(event if event.event_type == "start" else start_event())
            self._news.set()
        if event.event_type == "stop":
            self._stop = event
        elif event.items:
            self._delivered = True
            self.partial.add(event)
            self._arrived.append(event)
            self._news.set()

    def _finish(self, stop: StreamEvent) -> None:
        if all(isinstance(block, ThinkingContent) for block in self.partial.content):
            raise EmptyResponseError(self.model.api, stop.finish_reason and stop.finish_reason.value)
        reason = stop.finish_reason or StopReason.UNKNOWN
        if self.partial.all_tool_calls and reason is not StopReason.LENGTH:
            reason = StopReason.TOOL_CALL
        stop = self._stop = replace(stop, usage=self._priced(stop.usage), finish_reason=reason)
        self.partial.add(stop)
        self._arrived.append(stop)
        cut = cut_prompt_note(self.model, self._context, stop.usage)
        if cut:
            self._note(cut)

    def _priced(self, usage: Usage | None) -> Usage | None:
        return usage if usage is None or usage.cost is not None else usage.priced(self.model.cost)

    def _with_partial(self, error: ProviderError) -> ProviderError:
        """The error with what had come before it: whole calls only where the arguments of others were bad."""
        # Servers repeat keys in what they say inside an answer too, which no transport looks at.
        words = without_keys(str(error), self.model)
        if words != str(error):
            error.message, error.args = words, (words,)
        if error.partial is None:
            if self._stop is not None:
                self.partial.usage = self._priced(self._stop.usage)
            if isinstance(error, ToolCallArgumentParseError):
                error.partial = self.partial.finished(BAD_ARGUMENTS)
            else:
                error.partial = self._broken_off(StopReason.ERROR, str(error))
        return error

    def _broken_off(self, reason: StopReason, words: str) -> AssistantMessage | None:
        kept = self.partial.broken_off(reason, words)
        return kept if kept.content or kept.usage else None


def _merged(model: Model, context: Context, config: RequestConfig) -> tuple[Context, RequestConfig]:
    """The context to send, with system prompt and tools from wherever they were given, and the rest of the config."""
    prompt = context.system_prompt
    if config.system_prompt is not None:
        if prompt and prompt != config.system_prompt:
            raise InvalidDataError("is given in the context and, differently, in the config", "system_prompt")
        prompt = config.system_prompt
    tools = context.tools
    if config.tools is not None:
        given = tools_by_name(config.tools)
        if tools and given is not None and dict(tools) != dict(given):
            raise InvalidDataError("are given in the context and, differently, in the config", "tools")
        tools = given
    messages = prepare_messages(context.messages, model)
    if config.system_prompt is not None or config.tools is not None:
        config = config.replace(system_prompt=None, tools=None)
    return Context(prompt, messages, tools), config
