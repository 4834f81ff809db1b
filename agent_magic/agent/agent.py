"""The agent: a model, its tools, a history, and one run at a time."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from ..abort import AbortSignal
from ..config import QueueMode, RequestConfig, ThinkingLevel
from ..errors import AgentMagicError
from ..messages import Content
from ..models import Model
from ..tools.execution import FunctionRunner, PoolRunner
from ..tools.tool import AgentTool
from ..usage import Usage
from .active_run import ActiveRun, RunSlot
from .background import run_blocking
from .budget import Account
from .given import as_messages, as_tool, named_tools, resolved_model
from .loop import Run, awaits_answer
from .loop_config import LOOP_NAMES, REQUEST_NAMES, AgentLoopConfig, split_config
from .many import CONCURRENCY, ManyPrompts, ProgressListener
from .new_run import new_run
from .policy import Approver, Policy
from .queues import MessageQueue
from .reply import Reply
from .scope import Listener, RunScope
from .state import AgentState
from .stream import Channel, EventStream


class Agent:
    """An LLM agent with its tools and its history.

    `model` is a `Model` or an id such as `openai/gpt-5-mini`; `tools` a list or mapping of tools and plain functions.
    Every field of `AgentLoopConfig` and `RequestConfig` may be given by name, here as a default and to `prompt`,
    `run`, `stream` and `continue_` for one run. A default that the model does not take is left out with a note in the
    `Reply`; given for one run it raises `UnsupportedParameterError`.

    `approver` is asked where the policy says so; `function_runner` runs the blocking functions of tools; `tool_source`
    gives further tools by name at the start of each turn.

    >>> import agent_magic as am
    >>> agent = am.Agent(am.scripted("Hello!"))
    >>> agent.run("Hi").text
    'Hello!'
    """

    def __init__(
        self,
        model: Model | str = "demo",
        tools: Mapping[str, Any] | Iterable[Any] = (),
        system_prompt: str = "",
        *,
        approver: Approver | None = None,
        function_runner: FunctionRunner | None = None,
        **config: Any,
    ) -> None:
        for_loop, for_request = split_config(config, "Agent", LOOP_NAMES | REQUEST_NAMES, AGENT_NAMES)
        self._loop_config = AgentLoopConfig(**for_loop)
        self._config = RequestConfig(**for_request)
        self.state = AgentState(resolved_model(model), system_prompt, self._config.thinking_level)
        self.state.tools = named_tools(tools)
        self.approver = approver
        self.function_runner: FunctionRunner = function_runner or PoolRunner()
        self.tool_source: Callable[[], Mapping[str, AgentTool]] | None = None
        self._steering = MessageQueue(self._loop_config.steering_mode)
        self._follow_ups = MessageQueue(self._loop_config.follow_up_mode)
        self._listeners: list[Listener] = []
        self._account = Account()
        self._slot = RunSlot()

    # What it is made of -----------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        return self.state.model

    @model.setter
    def model(self, model: Model | str) -> None:
        self.state.model = resolved_model(model)

    @property
    def system_prompt(self) -> str:
        return self.state.system_prompt

    @system_prompt.setter
    def system_prompt(self, text: str) -> None:
        self.state.system_prompt = text

    @property
    def thinking_level(self) -> ThinkingLevel | None:
        return self.state.thinking_level

    @thinking_level.setter
    def thinking_level(self, level: str | None) -> None:
        self.state.thinking_level = None if level is None else ThinkingLevel.of(level)

    @property
    def config(self) -> RequestConfig:
        """The defaults of requests, from the next run on."""
        return self._config.replace(thinking_level=self.state.thinking_level)

    @config.setter
    def config(self, config: RequestConfig) -> None:
        self._config = config
        self.state.thinking_level = config.thinking_level

    @property
    def loop_config(self) -> AgentLoopConfig:
        """Hooks and limits, from the next run on; the queue modes act at once."""
        return self._loop_config

    @loop_config.setter
    def loop_config(self, config: AgentLoopConfig) -> None:
        self._loop_config = config
        self._steering.mode, self._follow_ups.mode = config.steering_mode, config.follow_up_mode

    @property
    def policy(self) -> Policy | None:
        """Who decides about tool calls, from the next run on; None allows all."""
        return self._loop_config.policy

    @policy.setter
    def policy(self, policy: Policy | None) -> None:
        self._loop_config = self._loop_config.replace(policy=policy)

    @property
    def tools(self) -> dict[str, Any]:
        """The tools by name. Assign a list or mapping of tools and functions; a run takes it up at its next turn."""
        return self.state.tools

    @tools.setter
    def tools(self, tools: Mapping[str, Any] | Iterable[Any]) -> None:
        self.state.tools = named_tools(tools)

    @property
    def messages(self) -> list[Any]:
        """The history. Assigning copies; raises `AgentBusyError` during a run."""
        return self.state.messages

    @messages.setter
    def messages(self, messages: Iterable[Any]) -> None:
        self._slot.check_idle()
        self.state.messages = messages

    @property
    def steering_mode(self) -> QueueMode:
        return self._steering.mode

    @steering_mode.setter
    def steering_mode(self, mode: str) -> None:
        self.loop_config = self._loop_config.replace(steering_mode=mode)

    @property
    def follow_up_mode(self) -> QueueMode:
        return self._follow_ups.mode

    @follow_up_mode.setter
    def follow_up_mode(self, mode: str) -> None:
        self.loop_config = self._loop_config.replace(follow_up_mode=mode)

    @property
    def usage(self) -> Usage:
        """What the servers reported for all runs since the start or the last `reset()`."""
        return self._account.usage

    @property
    def cost(self) -> Decimal | None:
        """US dollars of all runs since the start or the last `reset()`; None where a price or count is unknown."""
        return None if self.usage.cost is None else self.usage.cost.total

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the current run, None when idle."""
        active = self._slot.active
        return active.loop if active is not None else None

    # Running ----------------------------------------------------------------------------------------------------------

    async def prompt(
        self, message: Any, *, output_type: Any = None, images: Iterable[Content] = (), **overrides: Any
    ) -> Reply:
        """Send a text, a message or several, and run until the model is done.

        `images` go behind the text. `overrides` are fields of `AgentLoopConfig` and `RequestConfig`, or `model`, for
        this run. Returns the `Reply`, also of a run that was aborted or that stopped at a limit. Raises the error that
        ended the run, whose `reply` holds the `Reply`; `AgentBusyError` during a run.

        `output_type` asks for an answer of that type: a pydantic model, dataclass, TypedDict, union, list, Literal or
        plain type, or `Annotated[DataFrame, Row]` for a frame. `Reply.value` holds it. An answer that does not fit is
        sent back once with what is wrong; then it is an `OutputTypeError`.
        """
        active = await self._begin(lambda: as_messages(message, images), {**overrides, "output_type": output_type})
        return await active.reply()

    async def continue_(self, **overrides: Any) -> Reply:
        """Run on from the history as it is, or from queued messages where the last answer was finished.

        Raises `AgentMagicError` before any event when there is nothing to go on from; else as `prompt`.
        """
        active = await self._begin(self._to_continue, overrides)
        return await active.reply()

    def stream(self, message: Any = None, *, images: Iterable[Content] = (), **overrides: Any) -> EventStream:
        """The events of a run, which starts when the first is asked for; without a message it continues.

        Leaving the loop early aborts the run. A run that ends with an error ends the loop without raising.
        """
        self._slot.check_idle()
        prompts = self._to_continue if message is None else lambda: as_messages(message, images)

        async def start(channel: Channel) -> ActiveRun:
            return await self._begin(prompts, overrides, channel)

        return EventStream(start)

    def run(
        self, message: Any = None, *, output_type: Any = None, images: Iterable[Content] = (), **overrides: Any
    ) -> Reply:
        """`prompt`, blocking, whether an event loop runs in this thread or not; without a message `continue_`.

        Raises as `prompt` does, and KeyboardInterrupt after it has stopped the run in good order.
        """
        self._slot.check_idle()

        prompts = self._to_continue if message is None else lambda: as_messages(message, images)
        stop = AbortSignal()

        def interrupted() -> None:
            stop.abort()
            self.abort()

        async def work() -> Reply:
            active = await self._begin(prompts, {**overrides, "output_type": output_type})
            if stop.aborted:  # There was no run yet that `abort` could stop.
                active.run.scope.signal.abort()
            return await active.reply()

        return run_blocking(work, interrupted)

    async def amap(
        self,
        prompts: Iterable[Any],
        *,
        concurrency: int = CONCURRENCY,
        on_progress: ProgressListener | None = None,
        **overrides: Any,
    ) -> list[Reply | AgentMagicError]:
        """Send each prompt in a conversation of its own, at most `concurrency` at a time.

        The conversations begin without history and have this agent's model, tools, policy, hooks but for
        `prepare_next_turn`, and usage; the agent's own history and listeners see none of them. `overrides` are those of
        `prompt`, for each: a `budget` among them limits one conversation, that of the agent limits all together, but
        for what the other requests take that are on their way at the same time.

        Returns one result a prompt, in order: its `Reply`, or the error that ended it, whose `reply` holds the
        `Reply`. `on_progress(progress)` is called with a `Progress` at the start and as each one ends; without it a
        bar is shown in notebooks and terminals. Cancelling aborts all.
        """
        return await ManyPrompts(self._alike, prompts, concurrency, on_progress, overrides).results()

    def map(
        self,
        prompts: Iterable[Any],
        *,
        concurrency: int = CONCURRENCY,
        on_progress: ProgressListener | None = None,
        **overrides: Any,
    ) -> list[Reply | AgentMagicError]:
        """`amap`, blocking, whether an event loop runs in this thread or not.

        Raises KeyboardInterrupt after it has stopped all conversations in good order; `on_progress` has had the
        results until then.
        """
        many = ManyPrompts(self._alike, prompts, concurrency, on_progress, overrides)
        return run_blocking(many.results, many.abort)

    def steer(self, message: Any) -> None:
        """Queue a message for the next turn of the current or next run. Starts nothing; safe from any thread."""
        for each in as_messages(message):
            self._steering.put(each)

    def follow_up(self, message: Any) -> None:
        """Queue a message for when the run would end. Starts nothing; safe from any thread."""
        for each in as_messages(message):
            self._follow_ups.put(each)

    @property
    def queued_messages(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What waits: steering messages and follow-ups, the oldest first."""
        return self._steering.messages, self._follow_ups.messages

    def clear_queues(self) -> None:
        """Forget all queued messages."""
        self._steering.clear()
        self._follow_ups.clear()

    def abort(self, reason: str = "Operation aborted") -> None:
        """Stop the current run in good order; harmless when idle, safe from any thread."""
        active = self._slot.active
        if active is not None:
            active.run.scope.signal.abort(reason)

    async def wait_for_idle(self) -> None:
        """Return when no run is active and its listeners have seen the end."""
        await self._slot.wait_for_idle()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(event)`, plain or async, with every event from now on. Returns how to end it.

        A listener is awaited before the run goes on, and never entered again before it has returned. What it raises
        is logged and does not touch the run.
        """
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def add_usage(self, usage: Usage | None) -> None:
        """Count what was used beside the answers, such as for a summary: here, and in the run that goes on."""
        active = self._slot.active
        if active is not None:
            active.run.add_usage(usage)
        else:
            self._account.add(usage)

    def reset(self) -> None:
        """Forget history, queues, error and usage; keep model, tools, system prompt and listeners.

        Raises `AgentBusyError` during a run.
        """
        self._slot.check_idle()
        self.clear_queues()
        state = self.state
        state.messages = []
        state.error_message = state.stop_cause = state.streaming_message = None
        self._account = Account()

    def _alike(self) -> Agent:
        """An agent of the same kind and account, with a history of its own."""
        other = copy.copy(self)
        other.state = AgentState(self.model, self.system_prompt, self.thinking_level)
        other.state.tools = self.state.tools
        # That hook belongs to one history: it makes it smaller, for example.
        other._loop_config = self._loop_config.replace(prepare_next_turn=None)
        other._steering = MessageQueue(self.steering_mode)
        other._follow_ups = MessageQueue(self.follow_up_mode)
        other._listeners, other._slot = [], RunSlot()
        return other

    # Starting a run ---------------------------------------------------------------------------------------------------

    async def _begin(
        self, prompts: Callable[[], list[Any]], overrides: Mapping[str, Any], channel: Channel | None = None
    ) -> ActiveRun:
        return await self._slot.begin(lambda: (self._new_run(overrides, channel), prompts()))

    def _new_run(self, overrides: Mapping[str, Any], channel: Channel | None) -> Run:
        scope = RunScope(
            agent=self,
            state=self.state,
            config=self._loop_config,
            read_tools=self._read_tools,
            listeners=self._listeners,
            runner=self.function_runner,
            approver=self.approver,
            channel=channel,
        )
        return new_run(scope, self.config, overrides, self._steering, self._follow_ups, self._account)

    def _read_tools(self) -> Mapping[str, AgentTool]:
        """The tools of a turn: the agent's own, made tools where they are plain functions, and those of the source."""
        for name, tool in self.state.tools.items():
            if not isinstance(tool, AgentTool):
                self.state.tools[name] = as_tool(tool)
        return self.state.tools | (dict(self.tool_source()) if self.tool_source is not None else {})

    def _to_continue(self) -> list[Any]:
        """No messages, if the history or what is queued can be continued."""
        if not (awaits_answer(self.messages) or self._steering or self._follow_ups):
            what = "the last answer is finished" if self.messages else "there are no messages yet"
            raise AgentMagicError(f"There is nothing to continue: {what}. Send a message.")
        return []


AGENT_NAMES = ("model", "tools", "system_prompt", "approver", "function_runner")
