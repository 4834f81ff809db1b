"""The loop: ask the model, run the tools it calls, ask again (source: Y SP-021, A agentLoop).

Whatever goes wrong on the way, `Run.execute` brings the run to its proper end: every call has its result, every
event that started something has its counterpart, and the history can be continued.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..config import RequestConfig, StopReason
from ..conversion import convert_to_llm
from ..errors import (
    AbortedError,
    AgentMagicError,
    BudgetExceededError,
    ContextOverflowError,
    ToolCallArgumentParseError,
)
from ..events import (
    AgentEndEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    NoteEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from ..messages import AssistantMessage, Context, ToolResultMessage
from ..models import Model
from ..partial import PartialMessage
from ..providers.request import ResponseStream
from ..usage import Usage
from .batch import CUT_BY_LIMIT, Batch
from .budget import Account, Budget, estimated_prompt, limited
from .hooks import call_guarded
from .loop_config import Turn, TurnUpdate
from .queues import MessageQueue
from .reply import StopCause
from .request_settings import RequestSettings
from .scope import RunScope

# After these an answer is not finished, so that the model may go on from it.
UNFINISHED = (StopReason.ERROR, StopReason.ABORTED, StopReason.LENGTH)


def awaits_answer(messages: Sequence[Any]) -> bool:
    """Whether a model can go on from this history without a further message."""
    if not messages:
        return False
    last = messages[-1]
    return not isinstance(last, AssistantMessage) or last.stop_reason in UNFINISHED


class Run:
    """One run of an agent, from `agent_start` to `agent_end`."""

    def __init__(
        self,
        scope: RunScope,
        request: RequestSettings,
        steering: MessageQueue,
        follow_ups: MessageQueue,
        accounts: Iterable[Account],
        budgets: Iterable[tuple[Budget, Account]] = (),
    ) -> None:
        self.scope = scope
        self.request = request
        self.error: AgentMagicError | None = None
        self.stop_cause = StopCause.COMPLETED
        self._steering = steering
        self._follow_ups = follow_ups
        self._accounts = tuple(accounts)
        self._budgets = tuple(budgets)
        self._prompt_tokens = 0
        self._number = 0
        self._turn_open = False
        self._recovering = False
        self._error_told = False
        self._partial: PartialMessage | None = None
        self._answer: AssistantMessage | None = None
        self._batch: Batch | None = None

    @property
    def usage(self) -> Usage:
        """What the servers reported for this run."""
        return self._accounts[-1].usage

    def add_usage(self, usage: Usage | None) -> None:
        for account in self._accounts:
            account.add(usage)

    async def execute(self, prompts: list[Any]) -> None:
        """Run to the end. Raises nothing but `GeneratorExit`; see `error` and `scope.interrupt`."""
        try:
            await self.scope.emit(AgentStartEvent())
            await self._turns(prompts)
            if self.scope.signal.aborted:
                self.stop_cause = StopCause.ABORTED
        except Exception as error:
            self._failed(error)
        except BaseException as error:
            self.scope.interrupted(error)
            self.stop_cause = StopCause.ABORTED
        await self._close()

    # The turns --------------------------------------------------------------------------------------------------------

    async def _turns(self, prompts: list[Any]) -> None:
        pending = [*prompts, *self._steering.take()]
        if not pending and not awaits_answer(self.scope.state.messages):
            pending = self._follow_ups.take()
        while True:
            await self._start_turn(pending)
            try:
                answer = await self._ask()
            except ContextOverflowError as error:
                await self._recover(error)
                pending = []
                continue
            await self._run_tools(answer)
            await self._end_turn()
            if not await self._goes_on(answer):
                return
            await self._prepare_next_turn()
            if self._budgets:
                self._limited_config(convert_to_llm(self.scope.state.messages))
            pending = self._steering.take() or ([] if self._calls_answered() else self._follow_ups.take())
            if self.scope.structured is not None:
                pending = [*self.scope.structured.take_advice(), *pending]
            if not pending and not self._calls_answered():
                # What was queued has been taken back meanwhile, and an answer is no prompt.
                self.stop_cause = self._natural_end(answer)
                return

    async def _start_turn(self, pending: list[Any]) -> None:
        self._number += 1
        self._partial = self._answer = self._batch = None
        self._turn_open = True
        await self.scope.emit(TurnStartEvent())
        self.scope.tools = self.scope.read_tools()
        for message in pending:
            await self.scope.emit(MessageStartEvent(message))
            await self.scope.emit(MessageEndEvent(message))
        if self._number == 1 and not self._recovering:
            await self._prepare_next_turn()

    async def _end_turn(self) -> None:
        self._turn_open = False
        for result in self._results():
            for account in self._accounts:
                account.add(result.usage)
        await self.scope.emit(TurnEndEvent(self._answer, self._results()))
        if self.scope.channel is not None:
            await self.scope.channel.caught_up()

    def _results(self) -> tuple[ToolResultMessage, ...]:
        return self._batch.results if self._batch is not None else ()

    def _calls_answered(self) -> bool:
        """Whether the model has to see results of its calls."""
        return bool(self._results()) and not (self._batch is not None and self._batch.terminates)

    async def _goes_on(self, answer: AssistantMessage) -> bool:
        """Whether there is another turn; if not, `stop_cause` says why."""
        self.scope.signal.throw_if_aborted()
        config, structured = self.scope.config, self.scope.structured
        unanswered = None if structured is None else structured.judge(answer, self._results())
        if config.should_stop_after_turn is not None and await self._hook("should_stop_after_turn", self._turn()):
            self.stop_cause = StopCause.HOOK
            return False
        wanted = self._calls_answered() if unanswered is None else unanswered
        wanted = wanted or bool(len(self._steering) or len(self._follow_ups))
        if wanted and config.max_turns is not None and self._number >= config.max_turns:
            self.stop_cause = StopCause.MAX_TURNS
        elif wanted:
            return True
        else:
            self.stop_cause = self._natural_end(answer)
        return False

    def _natural_end(self, answer: AssistantMessage) -> StopCause:
        """Why the run ends where nothing more is wanted of the model."""
        if self._batch is not None and self._batch.terminates:
            return StopCause.TERMINATED
        return StopCause.LENGTH if answer.stop_reason is StopReason.LENGTH else StopCause.COMPLETED

    async def _recover(self, error: ContextOverflowError) -> None:
        """End the turn that did not fit, and let `prepare_next_turn` make the history smaller, once."""
        await self._tell_failure(StopReason.ERROR, str(error))
        await self._end_turn()
        failed, again = self._answer, self._recovering
        self._recovering = True
        if again or not await self._prepare_next_turn(error):
            self._error_told = True
            raise error
        state = self.scope.state
        state.messages = [message for message in state.messages if message is not failed]
        self._number -= 1

    # Hooks ------------------------------------------------------------------------------------------------------------

    async def _hook(self, name: str, *arguments: Any) -> Any:
        return await call_guarded(self.scope.signal, name, getattr(self.scope.config, name), *arguments)

    def _turn(self, error: AgentMagicError | None = None) -> Turn:
        messages = self.scope.state.messages
        if error is not None:
            messages = [message for message in messages if message is not self._answer]
        return Turn(self.scope.context(messages), self._answer, self._results(), max(1, self._number), error)

    async def _prepare_next_turn(self, error: AgentMagicError | None = None) -> bool:
        """Take what the hook wants changed; True if there are new messages."""
        if self.scope.config.prepare_next_turn is None:
            return False
        update = await self._hook("prepare_next_turn", self._turn(error))
        if update is None:
            return False
        if not isinstance(update, TurnUpdate):
            raise AgentMagicError(f"prepare_next_turn must return None or a TurnUpdate, not {type(update).__name__}.")
        self.request.change(update.model, update.config)
        if update.messages is None:
            return False
        self.scope.state.messages = update.messages
        return True

    # One request ------------------------------------------------------------------------------------------------------

    async def _ask(self) -> AssistantMessage:
        """The model's answer, told to the end."""
        model, context = await self._request()
        config = self._limited_config(context.messages)
        await self.scope.reader_caught_up()
        response = ResponseStream(model, context, config, self.scope.signal)
        try:
            answer = await self._read(response)
        except ToolCallArgumentParseError as error:
            if error.partial is None:
                raise
            answer = _as_tool_call(error.partial)
        finally:
            await response.aclose()
        self._recovering = False
        await self._tell_answer(answer)
        return answer

    async def _request(self) -> tuple[Model, Context]:
        config, state, model = self.scope.config, self.scope.state, self.request.model
        self.scope.signal.throw_if_aborted()
        messages: Any = state.messages
        if config.transform_context is not None:
            messages = await self._hook("transform_context", list(messages), self.scope.signal)
        converted = (
            convert_to_llm(messages) if config.convert_to_llm is None else await self._hook("convert_to_llm", messages)
        )
        if config.get_api_key is not None:
            key = await self._hook("get_api_key", model.provider)
            model = model.replace(api_key=key) if key else model
        return model, Context(state.system_prompt, converted, self.scope.tools or None)

    async def _read(self, response: ResponseStream) -> AssistantMessage:
        emit, signal = self.scope.emit, self.scope.signal
        async for events in response:
            for event in events:
                if event.event_type == "delta":
                    await emit(MessageUpdateEvent(response.partial, event))
                elif event.event_type == "start":
                    self._partial = response.partial
                    await emit(MessageStartEvent(response.partial))
            if response.notes:
                await self._tell_notes(response)
            if self.scope.channel is not None:
                await self.scope.channel.caught_up()
            signal.throw_if_aborted()
        return response.finished()

    async def _tell_notes(self, response: ResponseStream) -> None:
        notes, response.notes = response.notes, []
        for text in notes:
            self.request.notes[text] = None
            await self.scope.emit(NoteEvent(text))

    async def _tell_answer(self, answer: AssistantMessage) -> None:
        if self._partial is None:
            await self.scope.emit(MessageStartEvent(answer))
        self._answer = answer
        for account in self._accounts:
            account.add_answer(answer, self.request.model, self._prompt_tokens)
        await self.scope.emit(MessageEndEvent(answer))

    async def _tell_failure(self, reason: StopReason, text: str) -> None:
        partial = self._partial or PartialMessage(self.request.model)
        await self._tell_answer(partial.broken_off(reason, text))

    async def _run_tools(self, answer: AssistantMessage) -> None:
        if not answer.all_tool_calls:
            return
        self._batch = Batch(answer, self.scope.tools, self.scope)
        if answer.stop_reason is StopReason.LENGTH:
            await self._batch.refuse(CUT_BY_LIMIT)
        else:
            await self._batch.run()

    # The end ----------------------------------------------------------------------------------------------------------

    def _failed(self, error: Exception) -> None:
        """Note why the run ends; an abort explains whatever was raised after it."""
        if self.scope.signal.aborted or isinstance(error, AbortedError):
            self.stop_cause = StopCause.ABORTED
            return
        refused = isinstance(error, BudgetExceededError)
        self.stop_cause = StopCause.BUDGET_EXCEEDED if refused else StopCause.ERROR
        if refused and self._number > 0 and not (self._number == 1 and self._turn_open):
            return  # What the run did until here stands; that there is no more is told by the stop cause.
        if not isinstance(error, AgentMagicError):
            wrapped = AgentMagicError(f"The run failed with {type(error).__name__}: {error}")
            wrapped.__cause__ = error
            error = wrapped
        self.error = error

    async def _close(self) -> None:
        """Bring everything that is open to its end. An interrupt meanwhile does not keep it from doing so."""
        while True:
            try:
                if self._batch is not None:
                    await self._batch.settle()
                if self.error is not None and not self._turn_open and not self._error_told:
                    await self._start_empty_turn()
                if self._turn_open and self._answer is None:
                    await self._tell_failure(*self._failure())
                if self._turn_open:
                    await self._end_turn()
                break
            except Exception as error:
                self._failed(error)
                break
            except BaseException as error:
                self.scope.interrupted(error)
        self.scope.state.stop_cause = self.stop_cause
        await self.scope.emit(AgentEndEvent(tuple(self.scope.messages)))

    async def _start_empty_turn(self) -> None:
        """A turn for nothing but the message that tells an error between two turns."""
        self._partial = self._answer = self._batch = None
        self._turn_open = self._error_told = True
        await self.scope.emit(TurnStartEvent())

    def _failure(self) -> tuple[StopReason, str]:
        if self.stop_cause is StopCause.ABORTED:
            return StopReason.ABORTED, self.scope.signal.reason or "Operation aborted"
        return StopReason.ERROR, str(self.error) if self.error is not None else "The budget is used up."

    def _limited_config(self, messages: Iterable[Any]) -> RequestConfig:
        """The request's config, with no more `max_tokens` than the budgets leave; or `BudgetExceededError`."""
        config, model = self.request.config, self.request.model
        if not self._budgets:
            return config
        self._prompt_tokens = estimated_prompt(messages, self.scope.state.system_prompt, self.scope.tools)
        return limited(config, model, [(each, account.spent) for each, account in self._budgets], self._prompt_tokens)


def _as_tool_call(message: AssistantMessage) -> AssistantMessage:
    """A message whose calls did not all parse, as one that asks for its calls."""
    return AssistantMessage(
        message.content,
        message.api,
        message.provider,
        message.model,
        message.usage,
        StopReason.TOOL_CALL,
        None,
        message.timestamp,
    )
