"""Fixtures that run an agent and write down its events in a short notation.

S and E are the start and end of a message, `U...` its updates, TS, TU and TE those of a tool execution, R(x) is S E of
the result of call x, `!` marks an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import agent_magic as am


def token(event: am.AgentEvent) -> str:
    """One event in the notation."""
    if isinstance(event, am.TurnEndEvent):
        return f"turn_end({','.join(mark(result.tool_call_id, result.is_error) for result in event.tool_results)})"
    if isinstance(event, am.AgentEndEvent):
        return f"agent_end({', '.join(message.role for message in event.messages)})"
    if isinstance(event, am.ToolExecutionStartEvent):
        return f"TS({event.tool_call_id})"
    if isinstance(event, am.ToolExecutionUpdateEvent):
        return f"TU({event.tool_call_id})"
    if isinstance(event, am.ToolExecutionEndEvent):
        return f"TE({mark(event.tool_call_id, event.is_error)})"
    if isinstance(event, am.MessageUpdateEvent):
        return "U..."
    if isinstance(event, (am.MessageStartEvent, am.MessageEndEvent)):
        return message_token(event)
    return event.type


def message_token(event: am.MessageStartEvent | am.MessageEndEvent) -> str:
    message = event.message
    letter = "S" if isinstance(event, am.MessageStartEvent) else "E"
    if message.role == "toolResult":
        return f"{letter}(R {mark(message.tool_call_id, message.is_error)})"
    if message.role != "assistant":
        return f"{letter}({message.role} {message.text})"
    if letter == "S":
        return "S"
    unusual = message.stop_reason in ("aborted", "error", "length")
    return f"E(assistant, {message.stop_reason})" if unusual else "E(assistant)"


def mark(tool_call_id: str, is_error: bool) -> str:
    return f"{tool_call_id}!" if is_error else tool_call_id


def notation(events: list[am.AgentEvent]) -> str:
    """Events as one line; messages that start and end at once are joined, repeated updates are one."""
    tokens: list[str] = []
    for each in map(token, events):
        if tokens and each == tokens[-1] == "U...":
            continue
        if tokens and each.startswith("E(R ") and tokens[-1] == "S" + each[1:]:
            tokens[-1] = f"R({each[4:]}"
        elif tokens and each.startswith("E(") and tokens[-1] == "S" + each[1:]:
            tokens[-1] = "S " + each
        else:
            tokens.append(each)
    return " ".join(tokens)


class Player:
    """Runs an agent and keeps what it told."""

    def __init__(self, agent: am.Agent) -> None:
        self.agent = agent
        self.events: list[am.AgentEvent] = []
        self.error: BaseException | None = None
        self.reply: Any = None
        agent.subscribe(self.events.append)

    @property
    def line(self) -> str:
        return notation(self.events)

    def results(self) -> dict[str, str]:
        """The texts of all tool results in the history, by call."""
        return {each.tool_call_id: each.text for each in self.agent.messages if each.role == "toolResult"}

    async def prompt(self, message: Any = "go", **overrides: Any) -> str:
        return await self._play(self.agent.prompt(message, **overrides))

    async def continue_(self) -> str:
        return await self._play(self.agent.continue_())

    async def _play(self, run: Any) -> str:
        self.events.clear()
        self.error = self.reply = None
        try:
            self.reply = await run
        except am.AgentMagicError as error:
            self.error = error
        return self.line


@pytest.fixture
def play() -> Callable[..., Player]:
    """`play(agent)` runs the prompt "go" to its end and gives the `Player`."""

    def run(agent: am.Agent, message: Any = "go", **overrides: Any) -> Player:
        player = Player(agent)
        asyncio.run(player.prompt(message, **overrides))
        return player

    return run


@pytest.fixture
def player() -> Callable[[am.Agent], Player]:
    return Player


@pytest.fixture
def line_of() -> Callable[[list[am.AgentEvent]], str]:
    return notation


@pytest.fixture
def call() -> Callable[..., am.ToolCall]:
    """`call("a")` is a call with id and tool name "a"; `call("1", "add", x=1)` of another tool, with arguments."""

    def make(tool_call_id: str, tool: str = "", /, **arguments: Any) -> am.ToolCall:
        return am.ToolCall(tool_call_id, tool or tool_call_id, arguments)

    return make


@pytest.fixture
def make_tool() -> Callable[..., am.AgentTool]:
    """`make_tool("a", seconds, ...)` is an async tool that answers "did a"."""

    def make(name: str, seconds: float = 0.0, **options: Any) -> am.AgentTool:
        async def execute(arguments: dict[str, Any], context: am.ToolContext) -> Any:
            await asyncio.sleep(seconds)
            return f"did {name}"

        return am.AgentTool(name, "", {}, options.pop("execute", execute), **options)

    return make
