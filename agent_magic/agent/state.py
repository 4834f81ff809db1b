"""What an agent knows at the moment (source: Y SP-020, A AgentState). Events are the only thing that moves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..config import ThinkingLevel
from ..events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    TurnEndEvent,
)
from ..models import Model
from .reply import StopCause


class AgentState:
    """The state of an agent.

    `messages` (a list) and `tools` (a mapping by name) are live; assigning them copies. `streaming_message` is a
    live view of the answer that is coming in, None between answers. `pending_tool_calls` holds the ids of the calls
    that have started and not ended, oldest first; it is replaced, never changed. `error_message` is the error of
    the last run, `stop_cause` why it ended, None before the first.
    """

    def __init__(
        self,
        model: Model,
        system_prompt: str = "",
        thinking_level: ThinkingLevel | None = None,
    ) -> None:
        self.model = model
        self.system_prompt = system_prompt
        self.thinking_level = thinking_level
        self.is_streaming = False
        self.streaming_message: Any = None
        self.pending_tool_calls: tuple[str, ...] = ()
        self.error_message: str | None = None
        self.stop_cause: StopCause | None = None
        self._messages: list[Any] = []
        self._tools: dict[str, Any] = {}

    @property
    def messages(self) -> list[Any]:
        return self._messages

    @messages.setter
    def messages(self, messages: Iterable[Any]) -> None:
        self._messages = list(messages)

    @property
    def tools(self) -> dict[str, Any]:
        return self._tools

    @tools.setter
    def tools(self, tools: Mapping[str, Any]) -> None:
        self._tools = dict(tools)

    def apply(self, event: AgentEvent) -> None:
        """Take in one event, before any listener sees it."""
        if isinstance(event, MessageUpdateEvent):
            return  # The live view is in place since the start of the message.
        if isinstance(event, MessageStartEvent):
            if event.message.role == "assistant":
                self.streaming_message = event.message
        elif isinstance(event, MessageEndEvent):
            self.streaming_message = None
            self._messages.append(event.message)
        elif isinstance(event, ToolExecutionStartEvent):
            self.pending_tool_calls = (*self.pending_tool_calls, event.tool_call_id)
        elif isinstance(event, ToolExecutionEndEvent):
            self._end_call(event.tool_call_id)
        elif isinstance(event, TurnEndEvent):
            self.error_message = getattr(event.message, "error_message", None)
        elif isinstance(event, AgentStartEvent):
            self.is_streaming, self.error_message, self.stop_cause = True, None, None
        elif isinstance(event, AgentEndEvent):
            self.streaming_message, self.pending_tool_calls = None, ()

    def _end_call(self, tool_call_id: str) -> None:
        pending = list(self.pending_tool_calls)
        if tool_call_id in pending:
            pending.remove(tool_call_id)
        self.pending_tool_calls = tuple(pending)
