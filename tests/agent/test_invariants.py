"""What holds for every run, whatever the model answers, the tools do and the user stops.

A script is drawn at random: answers (texts, calls of good, bad and unknown tools, cut-off answers, errors), queued
messages, and a point at which the run is aborted, interrupted or left.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import agent_magic as am
from agent_magic.providers.handoff import prepare_messages

EXAMPLES = int(os.environ.get("AGENT_MAGIC_SOAK", max(300, settings.default.max_examples)))

TOOLS = ("quick", "plain", "slow", "failing", "late", "hasty", "stubborn", "cancelling", "interrupting")
CALLED = st.sampled_from([*TOOLS, "unknown", "blocked", "denied", "invalid", "broken"])
ERRORS = (
    am.ServerConnectionError("no answer"),
    am.ContextOverflowError("too long"),
    am.BadRequestError("refused"),
    RuntimeError("adapter is broken"),
)


@dataclass
class Script:
    """What is going to happen in one run."""

    answers: list[Any]
    mode: str
    steering: list[str]
    follow_ups: list[str]
    stop_at: int | None
    stop_by: str
    max_turns: int
    hooks: set[str] = field(default_factory=set)


@st.composite
def answers(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["text", "calls", "calls", "calls", "length", "error", "wait"]))
    if kind == "text":
        return draw(st.sampled_from(["done", "", "\ud800 lone", [am.ThinkingContent("hm"), "so"]]))
    if kind == "error":
        return ["half", draw(st.sampled_from(ERRORS))] if draw(st.booleans()) else draw(st.sampled_from(ERRORS))
    if kind == "wait":
        return ["one", am.Delay(0.001), "two"]
    names = draw(st.lists(CALLED, min_size=1, max_size=4))
    calls = [
        am.ToolCall(f"{name}-{number}", name, {}, "cut" if name == "broken" else None)
        for number, name in enumerate(names)
    ]
    text = draw(st.sampled_from([[], ["let me see"]]))
    if kind == "length":
        return am.AssistantMessage([*text, *calls], stop_reason="length")
    return [*text, *calls]


scripts = st.builds(
    Script,
    answers=st.lists(answers(), min_size=1, max_size=4),
    mode=st.sampled_from(["parallel", "sequential"]),
    steering=st.lists(st.just("steer"), max_size=2),
    follow_ups=st.lists(st.just("follow"), max_size=2),
    stop_at=st.none() | st.integers(0, 60),
    stop_by=st.sampled_from(["abort", "thread", "cancel", "leave", "interrupt"]),
    max_turns=st.integers(1, 6),
    hooks=st.sets(st.sampled_from(["after", "transform", "prepare", "should_stop"])),
)


def make_tools() -> list[am.AgentTool]:
    async def quick(arguments: dict[str, Any], context: am.ToolContext) -> str:
        context.on_update("on it")
        return "quick"

    def plain(arguments: dict[str, Any], context: am.ToolContext) -> str:
        context.on_update("on it, in a thread")
        return "plain"

    async def slow(arguments: dict[str, Any], context: am.ToolContext) -> str:
        await asyncio.sleep(0.002)
        return "slow"

    def failing(arguments: dict[str, Any], context: am.ToolContext) -> str:
        raise ValueError("failed")

    async def late(arguments: dict[str, Any], context: am.ToolContext) -> str:
        asyncio.get_running_loop().call_later(0.001, context.on_update, "too late")
        return "late"

    async def hasty(arguments: dict[str, Any], context: am.ToolContext) -> str:
        await asyncio.sleep(5)
        return "never"

    async def stubborn(arguments: dict[str, Any], context: am.ToolContext) -> str:
        try:
            await asyncio.sleep(0.002)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "stubborn"

    async def interrupting(arguments: dict[str, Any], context: am.ToolContext) -> str:
        raise KeyboardInterrupt

    async def cancelling(arguments: dict[str, Any], context: am.ToolContext) -> str:
        raise asyncio.CancelledError

    given = (quick, plain, slow, failing, late, hasty, stubborn, cancelling, interrupting)
    functions = {each.__name__: each for each in given}
    tools = [
        am.AgentTool(name, "", {}, function, timeout=0.002 if name == "hasty" else None)
        for name, function in functions.items()
    ]
    needy = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    tools.append(am.AgentTool("invalid", "", needy, quick))
    tools.append(am.AgentTool("blocked", "", {}, quick))
    tools.append(am.AgentTool("denied", "", {}, quick, effect="execute"))
    return tools


class Observed:
    """A run of a script, and everything that was seen of it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.events: list[am.AgentEvent] = []
        self.requests: list[am.Context] = []
        self.inside = False
        self.reentered = False
        self.behind: list[str] = []
        self.stopped = False
        self.agent = self._agent()
        unsubscribe = self.agent.subscribe(self._listen)
        asyncio.run(self._run())
        unsubscribe()

    def _agent(self) -> am.Agent:
        script = self.script
        given = iter(script.answers)

        def answer(context: am.Context, config: am.RequestConfig) -> Any:
            self.requests.append(context)
            return next(given, "the end")

        async def after(call: Any, result: Any, context: Any) -> None:
            await asyncio.sleep(0)

        async def transform(messages: list[Any], signal: am.AbortSignal) -> list[Any]:
            await asyncio.sleep(0)
            return messages

        async def prepare(turn: am.Turn) -> am.TurnUpdate | None:
            await asyncio.sleep(0)
            return am.TurnUpdate(messages=turn.context.messages) if turn.error is not None else None

        async def should_stop(turn: am.Turn) -> bool:
            await asyncio.sleep(0)
            return turn.number >= 4

        hooks = {
            "after": ("after_tool_call", after),
            "transform": ("transform_context", transform),
            "prepare": ("prepare_next_turn", prepare),
            "should_stop": ("should_stop_after_turn", should_stop),
        }
        agent = am.Agent(
            am.scripted(*[answer] * 20),
            make_tools(),
            tool_execution=script.mode,
            max_turns=script.max_turns,
            max_retries=0,
            before_tool_call=lambda call, arguments, context: am.Block("no") if call.name == "blocked" else None,
            policy=am.Policy({"user": {"execute": "ask"}}),
            **dict(hooks[name] for name in sorted(script.hooks)),
        )
        for text in script.steering:
            agent.steer(text)
        for text in script.follow_ups:
            agent.follow_up(text)
        return agent

    async def _listen(self, event: am.AgentEvent) -> None:
        self.reentered |= self.inside
        self.inside = True
        try:
            self.events.append(event)
            self._compare_state(event)
            if self.script.stop_at is not None and len(self.events) > self.script.stop_at and not self.stopped:
                self.stopped = True
                self._stop()
            await asyncio.sleep(0)
        finally:
            self.inside = False

    def _compare_state(self, event: am.AgentEvent) -> None:
        state = self.agent.state
        if isinstance(event, am.MessageEndEvent) and state.messages[-1] is not event.message:
            self.behind.append("messages")
        if isinstance(event, am.ToolExecutionStartEvent) and event.tool_call_id not in state.pending_tool_calls:
            self.behind.append("pending_tool_calls")
        if not state.is_streaming:
            self.behind.append("is_streaming")

    def _stop(self) -> None:
        how = self.script.stop_by
        if how == "abort":
            self.agent.abort()
        elif how == "thread":
            threading.Thread(target=self.agent.abort).start()
        elif how == "cancel":
            assert self._task is not None
            self._task.cancel()
        elif how == "interrupt":
            raise KeyboardInterrupt

    async def _run(self) -> None:
        self._task = asyncio.ensure_future(self._read() if self.script.stop_by == "leave" else self._prompt())
        await asyncio.wait({self._task})
        await self.agent.wait_for_idle()
        await asyncio.sleep(0.003)

    async def _prompt(self) -> None:
        with contextlib.suppress(am.AgentMagicError, KeyboardInterrupt):
            await self.agent.prompt("go")

    async def _read(self) -> None:
        seen = 0
        async for _ in self.agent.stream("go"):
            if seen == self.script.stop_at:
                break
            seen += 1

    @property
    def assistants(self) -> list[am.AssistantMessage]:
        return [event.message for event in self.events if is_end_of(event, "assistant")]


def is_end_of(event: am.AgentEvent, role: str) -> bool:
    return isinstance(event, am.MessageEndEvent) and event.message.role == role


def for_any_script(test: Any) -> Any:
    return settings(max_examples=EXAMPLES)(given(scripts)(test))


@for_any_script
def test_1_every_call_gets_exactly_one_result_in_the_order_of_the_calls(script: Script) -> None:
    seen = Observed(script)
    messages = seen.agent.messages
    for position, message in enumerate(messages):
        if message.role == "assistant" and message.all_tool_calls:
            count = len(message.all_tool_calls)
            following = messages[position + 1 : position + 1 + count]
            expected = [("toolResult", call.id) for call in message.all_tool_calls]
            assert [(each.role, getattr(each, "tool_call_id", None)) for each in following] == expected
    calls = sum(len(message.all_tool_calls) for message in seen.assistants)
    assert sum(message.role == "toolResult" for message in messages) == calls
    for event in seen.events:
        if isinstance(event, am.TurnEndEvent):
            assert [each.tool_call_id for each in event.tool_results] == [
                call.id for call in event.message.all_tool_calls
            ]


@for_any_script
def test_2_starts_have_their_ends_and_agent_end_is_last_and_lists_all_messages(script: Script) -> None:
    events = Observed(script).events
    kinds = Counter(event.type for event in events)
    for what in ("agent", "turn", "message", "tool_execution"):
        assert kinds[f"{what}_start"] == kinds[f"{what}_end"]
    assert kinds["agent_end"] == 1
    end = events[-1]
    assert isinstance(end, am.AgentEndEvent)
    assert list(end.messages) == [event.message for event in events if isinstance(event, am.MessageEndEvent)]
    announced: set[str] = set()
    open_message = False
    for event in events:
        if is_end_of(event, "assistant"):
            announced = {call.id for call in event.message.all_tool_calls}
        if isinstance(event, am.ToolExecutionStartEvent):
            assert event.tool_call_id in announced
        if isinstance(event, am.MessageStartEvent):
            assert not open_message
            open_message = True
        if isinstance(event, am.MessageUpdateEvent):
            assert open_message
        if isinstance(event, am.MessageEndEvent):
            open_message = False


@for_any_script
def test_3_no_listener_is_entered_again_and_state_is_ahead_of_it(script: Script) -> None:
    seen = Observed(script)
    assert not seen.reentered
    assert seen.behind == []
    state = seen.agent.state
    assert (state.is_streaming, state.streaming_message, state.pending_tool_calls) == (False, None, ())
    assert state.stop_cause is not None


@for_any_script
def test_4_no_request_holds_a_dangling_call_an_orphan_an_empty_text_or_a_lone_surrogate(script: Script) -> None:
    seen = Observed(script)
    # And the next one, whatever the run left behind.
    leftover = prepare_messages(am.convert_to_llm(seen.agent.messages), seen.agent.model)
    for messages in [*(context.messages for context in seen.requests), leftover]:
        assert_sendable(list(messages))


def assert_sendable(messages: list[Any]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message.role == "toolResult":
            assert waiting, "a result without a call"
            assert waiting.pop(0) == message.tool_call_id
        else:
            assert waiting == [], "a dangling call"
        if message.role == "assistant":
            waiting = [each.id for each in message.all_tool_calls]
        for block in message.content:
            if isinstance(block, am.TextContent):
                assert block.text
                block.text.encode()
    assert waiting == []


@for_any_script
def test_the_history_can_always_be_continued(script: Script) -> None:
    agent = Observed(script).agent
    agent.clear_queues()
    reply = asyncio.run(agent.prompt("and now?", model=am.scripted("fine"), max_turns=1, policy=am.Policy()))
    assert reply.text == "fine"


@pytest.mark.parametrize("threaded", [False, True])
def test_5_a_late_update_of_a_settled_tool_is_dropped_without_an_error(play: Any, call: Any, threaded: bool) -> None:
    kept: list[am.ToolContext] = []
    errors: list[Any] = []

    async def work(arguments: dict[str, Any], context: am.ToolContext) -> str:
        kept.append(context)
        return "settled"

    async def sibling(arguments: dict[str, Any], context: am.ToolContext) -> str:
        asyncio.get_running_loop().set_exception_handler(lambda loop, problem: errors.append(problem))
        await asyncio.sleep(0.01)
        if threaded:
            thread = threading.Thread(target=kept[0].on_update, args=("late",))
            thread.start()
            await asyncio.to_thread(thread.join)
        else:
            kept[0].on_update("late")
        await asyncio.sleep(0.01)
        return "done"

    tools = [am.AgentTool("a", "", {}, work), am.AgentTool("b", "", {}, sibling)]
    played = play(am.Agent(am.scripted([call("a"), call("b")], "done"), tools))
    kept[0].on_update("much later, when the loop is closed")
    assert "TU" not in played.line
    assert errors == []


def test_6_config_and_model_are_taken_once_and_changed_by_prepare_next_turn(
    play: Any, call: Any, make_tool: Any
) -> None:
    other = am.scripted("from the other model")
    first = am.scripted([call("change")], [call("a")], "never")

    def change() -> str:
        agent.model = am.scripted("wrong model")
        agent.loop_config = agent.loop_config.replace(max_turns=1)
        agent.config = agent.config.replace(temperature=2.0)
        agent.system_prompt = "changed"
        return "changed"

    def prepare(turn: am.Turn) -> am.TurnUpdate | None:
        if turn.number == 2 and turn.message is not None:
            return am.TurnUpdate(model=other, config=am.RequestConfig(temperature=0.5))
        return None

    agent = am.Agent(first, [change, make_tool("a")], temperature=0.0, prepare_next_turn=prepare)
    played = play(agent)
    assert played.reply.text == "from the other model"
    assert [config.temperature for _, config in first.requests] == [0.0, 0.0]
    assert [config.temperature for _, config in other.requests] == [0.5]


def test_6_the_tool_mapping_is_read_anew_at_each_turn_start(play: Any, call: Any, make_tool: Any) -> None:
    def add() -> am.AgentToolResult:
        agent.tools = [*agent.tools.values(), make_tool("b")]
        return am.AgentToolResult("added b", added_tool_names=["b"])

    model = am.scripted([call("add"), call("b")], [call("b")], "done")
    agent = am.Agent(model, [add])
    played = play(agent)
    assert "TE(b!)" in played.line.split("turn_end")[0]
    assert "TE(b)" in played.line.split("turn_end")[1]
    assert [list(context.tools) for context, _ in model.requests] == [["add"], ["add", "b"], ["add", "b"]]


def test_6_added_tool_names_must_name_existing_tools(play: Any, call: Any) -> None:
    def add(arguments: Any, context: Any) -> am.AgentToolResult:
        return am.AgentToolResult("added", added_tool_names=["ghost"])

    played = play(am.Agent(am.scripted([call("add")], "done"), [am.AgentTool("add", "", {}, add)]))
    assert "names tools that do not exist: ghost" in played.results()["add"]


def test_6_queue_modes_act_at_once(play: Any) -> None:
    agent = am.Agent(am.scripted("one", "two", "three"))
    for text in "xyz":
        agent.follow_up(text)

    def change(event: am.AgentEvent) -> None:
        if event.type == "turn_end":
            agent.follow_up_mode = "all"

    agent.subscribe(change)
    assert play(agent).line.count("turn_start") == 2
