"""What all parts of one run share: its signal, its events, its hooks and who decides about tools."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..abort import AbortSignal
from ..events import AgentEvent, MessageEndEvent
from ..messages import AgentContext
from ..tools.execution import FunctionRunner
from ..tools.tool import AgentTool
from .loop_config import AgentLoopConfig
from .policy import Approver, Policy
from .state import AgentState
from .stream import Channel
from .structured import StructuredAnswer

log = logging.getLogger(__name__)

Listener = Callable[[AgentEvent], Any]


@dataclass
class RunScope:
    """One run: what it works with, and the one place through which its events leave.

    Events are emitted by the run's own task only, so that no listener is entered again before it has returned.
    `tools` are those of the current turn, `messages` all messages of the run so far, `traces` listeners of
    this run only; `structured` the structured answer, if one is wanted.
    """

    agent: Any
    state: AgentState
    config: AgentLoopConfig
    read_tools: Callable[[], Mapping[str, AgentTool]]
    listeners: list[Listener]
    runner: FunctionRunner
    policy: Policy | None = None
    approver: Approver | None = None
    channel: Channel | None = None
    signal: AbortSignal = field(default_factory=AbortSignal)
    tools: Mapping[str, AgentTool] = field(default_factory=dict)
    messages: list[Any] = field(default_factory=list)
    interrupt: BaseException | None = None
    traces: tuple[Listener, ...] = ()
    structured: StructuredAnswer | None = None

    def context(self, messages: list[Any] | None = None) -> AgentContext:
        """The agent's state as hooks see it."""
        state = self.state
        return AgentContext(state.system_prompt, state.messages if messages is None else messages, self.tools)

    async def emit(self, event: AgentEvent) -> None:
        """Take the event into the state, then tell it to the listeners, one after the other, and to the reader."""
        if isinstance(event, MessageEndEvent):
            self.messages.append(event.message)
        self.state.apply(event)
        for listener in (*self.listeners, *self.traces):
            await self._tell(listener, event)
        if self.channel is not None:
            self.channel.put(event)

    async def _tell(self, listener: Listener, event: AgentEvent) -> None:
        try:
            result = listener(event)
            if inspect.isawaitable(result):
                await result
        except Exception:
            log.exception("A listener of the agent raised an exception; the run goes on.")
        except BaseException as error:
            self.interrupted(error)

    async def reader_caught_up(self) -> None:
        """Let the reader of the events, if there is one, see all of them; then raise if the run was aborted."""
        if self.channel is not None:
            await self.channel.caught_up()
        self.signal.throw_if_aborted()

    def interrupted(self, error: BaseException) -> None:
        """Stop the run in good order for a KeyboardInterrupt, a cancellation or the like; it is raised at the end."""
        if isinstance(error, GeneratorExit):
            raise error  # The loop itself is gone, so nothing can be put in order any more.
        if self.interrupt is None:
            self.interrupt = error
        self.signal.abort()
