"""The agent loop, scenario by scenario: each test asserts the whole sequence of events."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent.hooks import HookError

ANSWER = "turn_start S U... E(assistant) turn_end()"
START = "agent_start turn_start S E(user go)"


def test_plain_answer(play: Any) -> None:
    played = play(am.Agent(am.scripted("Hello")))
    assert played.line == f"{START} S U... E(assistant) turn_end() agent_end(user, assistant)"
    assert (played.reply.text, played.reply.stop_cause, played.reply.stop_reason) == ("Hello", "completed", "stop")
    assert played.agent.state.stop_cause is am.StopCause.COMPLETED
    assert [message.role for message in played.agent.messages] == ["user", "assistant"]


def test_one_tool(play: Any, call: Any) -> None:
    async def work(arguments: dict[str, Any], context: am.ToolContext) -> str:
        context.on_update("half")
        return "whole"

    agent = am.Agent(am.scripted([call("a")], "done"), [am.AgentTool("a", "", {}, work)])
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TU(a) TE(a) R(a) turn_end(a) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    assert played.results() == {"a": "whole"}


def test_two_tools_sequential(play: Any, call: Any, make_tool: Any) -> None:
    model = am.scripted([call("a"), call("b")], "done")
    played = play(am.Agent(model, [make_tool("a", 0.02), make_tool("b")], tool_execution="sequential"))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) TS(b) TE(b) R(b) turn_end(a,b) {ANSWER} "
        "agent_end(user, assistant, toolResult, toolResult, assistant)"
    )


def test_two_tools_parallel_a_slower(play: Any, call: Any, make_tool: Any) -> None:
    played = play(am.Agent(am.scripted([call("a"), call("b")], "done"), [make_tool("a", 0.03), make_tool("b")]))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TS(b) TE(b) TE(a) R(a) R(b) turn_end(a,b) {ANSWER} "
        "agent_end(user, assistant, toolResult, toolResult, assistant)"
    )


def test_one_called_tool_is_sequential(play: Any, call: Any, make_tool: Any) -> None:
    tools = [make_tool("a", 0.02), make_tool("b", execution_mode="sequential"), make_tool("c")]
    played = play(am.Agent(am.scripted([call("a"), call("b")], [call("a"), call("c")], "done"), tools))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) TS(b) TE(b) R(b) turn_end(a,b) "
        "turn_start S U... E(assistant) TS(a) TS(c) TE(c) TE(a) R(a) R(c) turn_end(a,c) "
        f"{ANSWER} agent_end(user, assistant, toolResult, toolResult, assistant, toolResult, toolResult, assistant)"
    )


def test_parallel_b_unknown(play: Any, call: Any, make_tool: Any) -> None:
    model = am.scripted([call("a"), call("b"), call("c")], "done")
    played = play(am.Agent(model, [make_tool("a"), make_tool("c", 0.02)]))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TS(b) TE(b!) TS(c) TE(a) TE(c) R(a) R(b!) R(c) turn_end(a,b!,c) {ANSWER} "
        "agent_end(user, assistant, toolResult, toolResult, toolResult, assistant)"
    )


def test_unknown_tool(play: Any, call: Any, make_tool: Any) -> None:
    played = play(am.Agent(am.scripted([call("x")], "done"), [make_tool("a"), make_tool("b")]))
    assert played.line == (
        f"{START} S U... E(assistant) TS(x) TE(x!) R(x!) turn_end(x!) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    assert played.results()["x"] == "Tool x not found. The tools that exist: a, b."


def test_invalid_arguments(play: Any, call: Any) -> None:
    called: list[Any] = []

    def area(width: float, height: float) -> float:
        called.append((width, height))
        return width * height

    played = play(am.Agent(am.scripted([call("1", "area", width="wide")], "done"), [area]))
    assert played.line == (
        f"{START} S U... E(assistant) TS(1) TE(1!) R(1!) turn_end(1!) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    text = played.results()["1"]
    assert "Missing required arguments: height" in text
    assert "width" in text
    assert '"wide"' in text
    assert called == []


@pytest.mark.parametrize("how", ["block", "throw", "policy", "approver"])
def test_before_tool_call_blocks_or_throws_or_the_policy_denies(play: Any, call: Any, make_tool: Any, how: str) -> None:
    class Approver:
        async def ask(self, request: am.ApprovalRequest) -> am.ApprovalAnswer:
            return request.deny("not this word")

    def before(tool_call: am.ToolCall, arguments: Any, context: am.AgentContext) -> am.Block:
        if how == "throw":
            raise ValueError("not this word")
        return am.Block("not this word")

    def after(*arguments: Any) -> None:
        raise AssertionError("a blocked call has no result to look at")

    config: dict[str, Any] = {"after_tool_call": after}
    if how in ("block", "throw"):
        config["before_tool_call"] = before
    elif how == "policy":
        config["policy"] = am.Policy(otherwise="deny")
    else:
        config |= {"policy": am.Policy(otherwise="ask"), "approver": Approver()}
    played = play(am.Agent(am.scripted([call("a")], "done"), [make_tool("a")], **config))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a!) R(a!) turn_end(a!) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    word = "The policy does not allow the tool a" if how == "policy" else "not this word"
    assert word in played.results()["a"]


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_stop_while_an_approval_is_pending(play: Any, call: Any, make_tool: Any, mode: str) -> None:
    cancelled: list[str] = []

    class Approver:
        async def ask(self, request: am.ApprovalRequest) -> am.ApprovalAnswer:
            if request.call.id == "a":
                return request.allow()
            asyncio.get_running_loop().call_soon(agent.abort)
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(request.call.id)
                raise
            raise AssertionError("nobody answers")

    model = am.scripted([call("a"), call("b"), call("c")])
    tools = [make_tool(name) for name in "abc"]
    policy = am.Policy(otherwise="ask")
    agent = am.Agent(model, tools, policy=policy, approver=Approver(), tool_execution=mode)
    played = play(agent)
    expected = {
        "parallel": "TS(a) TS(b) TE(a!) TE(b!) TS(c) TE(c!) R(a!) R(b!) R(c!) turn_end(a!,b!,c!)",
        "sequential": "TS(a) TE(a) R(a) TS(b) TE(b!) R(b!) TS(c) TE(c!) R(c!) turn_end(a,b!,c!)",
    }[mode]
    assert played.line == (
        f"{START} S U... E(assistant) {expected} agent_end(user, assistant, toolResult, toolResult, toolResult)"
    )
    assert {played.results()[each] for each in "bc"} == {"Operation aborted"}
    assert cancelled == ["b"]
    assert played.reply.stop_cause == "aborted"


@pytest.mark.parametrize("terminate", [True, False])
def test_a_blocked_call_may_end_the_run(play: Any, call: Any, make_tool: Any, terminate: bool) -> None:
    agent = am.Agent(
        am.scripted([call("a")], "done"),
        [make_tool("a")],
        before_tool_call=lambda *_: am.Block("no", terminate=terminate),
    )
    played = play(agent)
    blocked = f"{START} S U... E(assistant) TS(a) TE(a!) R(a!) turn_end(a!)"
    assert played.line.startswith(f"{blocked} {'agent_end' if terminate else 'turn_start'}")
    assert agent.state.stop_cause == ("terminated" if terminate else "completed")


def test_before_tool_call_changes_the_arguments(play: Any, call: Any) -> None:
    got: list[int] = []

    def double(number: int) -> int:
        got.append(number)
        return 2 * number

    async def before(tool_call: am.ToolCall, arguments: dict[str, Any], context: am.AgentContext) -> dict[str, Any]:
        return {"number": "21" if tool_call.id == "1" else "many"}

    model = am.scripted([call("1", "double", number=1), call("2", "double", number=2)], "done")
    played = play(am.Agent(model, [double], before_tool_call=before))
    assert got == [21]
    assert played.results()["1"] == "42"
    assert "many" in played.results()["2"]
    started = [event.args for event in played.events if isinstance(event, am.ToolExecutionStartEvent)]
    assert started == [{"number": 1}, {"number": 2}]
    assert "TS(1) TS(2) TE(2!) TE(1) R(1) R(2!) turn_end(1,2!)" in played.line


def test_what_before_tool_call_does_to_its_arguments_in_place_has_no_effect(play: Any, call: Any) -> None:
    def first(numbers: list[int]) -> int:
        return numbers[0]

    def before(tool_call: am.ToolCall, arguments: dict[str, Any], context: am.AgentContext) -> None:
        arguments["numbers"].insert(0, 99)

    played = play(am.Agent(am.scripted([call("1", "first", numbers=[1])], "done"), [first], before_tool_call=before))
    assert played.results()["1"] == "1"


@pytest.mark.parametrize("rescue", [False, True])
def test_tool_throws(play: Any, call: Any, rescue: bool) -> None:
    def fail() -> None:
        raise ValueError("no such table: sales")

    seen: list[bool] = []

    def after(tool_call: am.ToolCall, result: am.AgentToolResult, context: am.AgentContext) -> Any:
        seen.append(result.is_error)
        return am.AgentToolResult("rescued") if rescue else None

    played = play(am.Agent(am.scripted([call("a", "fail")], "done"), [fail], after_tool_call=after))
    shown = "a" if rescue else "a!"
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE({shown}) R({shown}) turn_end({shown}) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    assert seen == [True]
    assert played.results()["a"] == ("rescued" if rescue else "no such table: sales")


def test_an_exception_without_words_of_its_own_is_named(play: Any, call: Any) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def fail() -> None:
        raise MuteError

    played = play(am.Agent(am.scripted([call("a", "fail")], "done"), [fail]))
    assert played.results()["a"] == "MuteError"


def test_after_tool_call_changes_the_result(play: Any, call: Any, make_tool: Any) -> None:
    async def after(tool_call: am.ToolCall, result: am.AgentToolResult, context: am.AgentContext) -> Any:
        return am.AgentToolResult(f"{result.text}, changed")

    played = play(am.Agent(am.scripted([call("a")], "done"), [make_tool("a")], after_tool_call=after))
    ended = [event.result.text for event in played.events if isinstance(event, am.ToolExecutionEndEvent)]
    assert ended == ["did a, changed"] == list(played.results().values())


def test_after_tool_call_throws(play: Any, call: Any, make_tool: Any) -> None:
    def after(tool_call: am.ToolCall, result: am.AgentToolResult, context: am.AgentContext) -> Any:
        raise ValueError("cannot mask this")

    played = play(am.Agent(am.scripted([call("a")], "done"), [make_tool("a")], after_tool_call=after))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a!) R(a!) turn_end(a!) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    assert played.results()["a"] == "cannot mask this"


def test_stop_reason_length_with_calls_in_the_message(play: Any, call: Any, make_tool: Any) -> None:
    message = am.AssistantMessage([call("a"), call("b")], stop_reason="length")
    played = play(am.Agent(am.scripted(message, "done"), [make_tool("a"), make_tool("b")]))
    assert played.line == (
        f"{START} S U... E(assistant, length) TS(a) TE(a!) R(a!) TS(b) TE(b!) R(b!) turn_end(a!,b!) {ANSWER} "
        "agent_end(user, assistant, toolResult, toolResult, assistant)"
    )
    assert all("output limit" in text for text in played.results().values())


def test_arguments_of_a_call_do_not_parse(play: Any, call: Any, make_tool: Any) -> None:
    broken = am.ToolCall("a", "a", {}, "The arguments end inside a string.")
    played = play(am.Agent(am.scripted([broken, call("b")], "done"), [make_tool("a"), make_tool("b")]))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a!) TS(b) TE(b) R(a!) R(b) turn_end(a!,b) {ANSWER} "
        "agent_end(user, assistant, toolResult, toolResult, assistant)"
    )
    assert "could not be read" in played.results()["a"]
    assert played.agent.messages[1].stop_reason == "tool_call"


def test_abort_before_the_request(play: Any) -> None:
    model = am.scripted("never")
    agent = am.Agent(model)
    agent.subscribe(lambda event: agent.abort("enough") if event.type == "turn_start" else None)
    played = play(agent)
    assert played.line == f"{START} S E(assistant, aborted) turn_end() agent_end(user, assistant)"
    assert agent.messages[-1].content == ()
    assert agent.messages[-1].error_message == "enough"
    assert model.requests == ()
    assert (played.reply.stop_cause, played.error) == ("aborted", None)


def test_abort_while_streaming(play: Any, call: Any) -> None:
    model = am.scripted([am.ThinkingContent("hm"), "one two", call("a"), am.Delay(30), "three"])
    agent = am.Agent(model)

    def stop(event: Any) -> None:
        if event.type == "message_update" and event.message.tool_calls:
            agent.abort()

    agent.subscribe(stop)
    played = play(agent)
    assert played.line == f"{START} S U... E(assistant, aborted) turn_end() agent_end(user, assistant)"
    last = agent.messages[-1]
    assert (last.thinking, last.text, last.all_tool_calls) == ("hm", "one two", ())


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_abort_during_tool_a_of_a_b_c(play: Any, call: Any, make_tool: Any, mode: str) -> None:
    ended: list[str] = []

    async def hang(arguments: dict[str, Any], context: am.ToolContext) -> str:
        asyncio.get_running_loop().call_later(0.01, agent.abort)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("a")
        return "too late"

    model = am.scripted([call("a"), call("b"), call("c")], "never")
    tools = [make_tool("a", execute=hang), make_tool("b", 60), make_tool("c", 60)]
    agent = am.Agent(model, tools, tool_execution=mode)
    agent.follow_up("later")
    played = play(agent)
    expected = {
        "parallel": "TS(a) TS(b) TS(c) TE(a!) TE(b!) TE(c!) R(a!) R(b!) R(c!)",
        "sequential": "TS(a) TE(a!) R(a!) TS(b) TE(b!) R(b!) TS(c) TE(c!) R(c!)",
    }[mode]
    assert played.line == (
        f"{START} S U... E(assistant) {expected} turn_end(a!,b!,c!) "
        "agent_end(user, assistant, toolResult, toolResult, toolResult)"
    )
    assert set(played.results().values()) == {"Operation aborted"}
    assert ended == ["a"]
    assert len(model.requests) == 1
    assert [message.text for message in agent.queued_messages[1]] == ["later"]


def test_context_overflow_and_prepare_next_turn_returns_new_messages(play: Any) -> None:
    turns: list[am.Turn] = []

    def prepare(turn: am.Turn) -> am.TurnUpdate | None:
        turns.append(turn)
        return am.TurnUpdate(messages=[am.UserMessage("summary")]) if turn.error else None

    model = am.scripted(am.ContextOverflowError("too long"), "fits")
    agent = am.Agent(model, prepare_next_turn=prepare)
    played = play(agent)
    assert played.line == (f"{START} S E(assistant, error) turn_end() {ANSWER} agent_end(user, assistant, assistant)")
    assert [message.text for message in agent.messages] == ["summary", "fits"]
    assert [(turn.number, turn.error is None) for turn in turns] == [(1, True), (1, False)]
    assert [message.role for message in turns[1].context.messages] == ["user"]
    assert played.reply.stop_cause == "completed"


def test_a_second_overflow_without_a_good_answer_between_ends_the_run(play: Any) -> None:
    def prepare(turn: am.Turn) -> am.TurnUpdate | None:
        return am.TurnUpdate(messages=[am.UserMessage("summary")]) if turn.error else None

    overflow = am.ContextOverflowError("too long")
    played = play(am.Agent(am.scripted(overflow, overflow, "never"), prepare_next_turn=prepare))
    failed = "S E(assistant, error) turn_end()"
    assert played.line == f"{START} {failed} turn_start {failed} agent_end(user, assistant, assistant)"
    assert isinstance(played.error, am.ContextOverflowError)


def test_each_good_answer_allows_another_recovery_and_each_request_is_prepared_once(
    play: Any, call: Any, make_tool: Any
) -> None:
    prepared: list[bool] = []

    def prepare(turn: am.Turn) -> am.TurnUpdate | None:
        prepared.append(turn.error is not None)
        return am.TurnUpdate(messages=turn.context.messages) if turn.error else None

    overflow = am.ContextOverflowError("too long")
    model = am.scripted(overflow, [call("a")], overflow, "done")
    played = play(am.Agent(model, [make_tool("a")], prepare_next_turn=prepare))
    assert played.reply.text == "done"
    assert prepared == [False, True, False, True]
    assert [message.role for message in played.agent.messages] == ["user", "assistant", "toolResult", "assistant"]


def test_a_call_that_is_aborted_at_its_start_is_not_prepared(play: Any, call: Any, make_tool: Any) -> None:
    asked: list[str] = []
    agent = am.Agent(
        am.scripted([call("a"), call("b")]), [make_tool("a")], before_tool_call=lambda call, *_: asked.append(call.id)
    )
    agent.subscribe(lambda event: agent.abort() if event.type == "tool_execution_start" else None)
    played = play(agent)
    assert asked == []
    assert set(played.results().values()) == {"Operation aborted"}


def test_an_overflow_that_nobody_makes_smaller_is_an_error(play: Any) -> None:
    played = play(am.Agent(am.scripted(am.ContextOverflowError("too long"))))
    assert played.line == f"{START} S E(assistant, error) turn_end() agent_end(user, assistant)"
    assert played.agent.state.stop_cause == "error"


def test_a_hook_that_raises_over_an_overflow_gets_a_turn_for_its_error(play: Any) -> None:
    def prepare(turn: am.Turn) -> None:
        if turn.error is not None:
            raise ValueError("cannot compact")

    played = play(am.Agent(am.scripted(am.ContextOverflowError("too long")), prepare_next_turn=prepare))
    failed = "S E(assistant, error) turn_end()"
    assert played.line == f"{START} {failed} turn_start {failed} agent_end(user, assistant, assistant)"
    assert "cannot compact" in played.agent.messages[-1].error_message


def test_an_overflow_that_makes_nothing_smaller_is_the_error(play: Any) -> None:
    model = am.scripted(am.ContextOverflowError("too long"), "never")
    config = am.RequestConfig(temperature=0.5)
    played = play(am.Agent(model, prepare_next_turn=lambda turn: am.TurnUpdate(config=config) if turn.error else None))
    assert played.line == f"{START} S E(assistant, error) turn_end() agent_end(user, assistant)"
    assert isinstance(played.error, am.ContextOverflowError)
    assert len(model.requests) == 1


def test_model_error(play: Any, call: Any) -> None:
    agent = am.Agent(am.scripted(["half an", call("a"), am.BadRequestError("the server said no")]))
    agent.follow_up("later")
    played = play(agent)
    assert played.line == f"{START} S U... E(assistant, error) turn_end() agent_end(user, assistant)"
    last = agent.messages[-1]
    assert (last.text, last.all_tool_calls, last.error_message) == ("half an", (), "the server said no")
    assert isinstance(played.error, am.BadRequestError)
    assert played.error.reply.text == "half an"
    assert played.error.reply.stop_cause == "error"
    assert agent.state.error_message == "the server said no"
    assert len(agent.queued_messages[1]) == 1


def test_steering_typed_while_tools_run(play: Any, call: Any, make_tool: Any) -> None:
    def work() -> str:
        agent.steer("rather this")
        return "worked"

    agent = am.Agent(am.scripted([call("a", "work"), call("b")], "done"), [work, make_tool("b", 0.05)])
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TS(b) TE(a) TE(b) R(a) R(b) turn_end(a,b) "
        "turn_start S E(user rather this) S U... E(assistant) turn_end() "
        "agent_end(user, assistant, toolResult, toolResult, user, assistant)"
    )


def test_steering_queued_before_the_run(play: Any) -> None:
    agent = am.Agent(am.scripted("done"))
    agent.steer("and this")
    played = play(agent)
    assert played.line == (
        f"{START} S E(user and this) S U... E(assistant) turn_end() agent_end(user, user, assistant)"
    )


def test_follow_up(play: Any) -> None:
    agent = am.Agent(am.scripted("one", "two"))
    agent.follow_up("then")
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) turn_end() turn_start S E(user then) S U... E(assistant) turn_end() "
        "agent_end(user, assistant, user, assistant)"
    )


def test_what_is_taken_back_before_its_turn_begins_gets_no_turn(play: Any) -> None:
    def prepare(turn: am.Turn) -> None:
        if turn.message is not None:
            agent.clear_queues()

    agent = am.Agent(am.scripted("one", "two"), prepare_next_turn=prepare)
    agent.follow_up("then")
    played = play(agent)
    assert played.line == f"{START} S U... E(assistant) turn_end() agent_end(user, assistant)"
    assert agent.state.stop_cause == "completed"


@pytest.mark.parametrize(("mode", "turns"), [("one-at-a-time", 2), ("all", 1)])
def test_queue_modes(play: Any, mode: str, turns: int) -> None:
    agent = am.Agent(am.scripted("one", "two", "three"), follow_up_mode=mode)
    agent.follow_up("x")
    agent.follow_up("y")
    played = play(agent)
    assert played.line.count("turn_start") == 1 + turns


def test_every_result_of_a_non_empty_batch_says_terminate(play: Any, call: Any) -> None:
    def finish(arguments: Any, context: Any) -> am.AgentToolResult:
        return am.AgentToolResult("finished", terminate=True)

    agent = am.Agent(am.scripted([call("a"), call("b", "a")], "polled"), [am.AgentTool("a", "", {}, finish)])
    played = play(agent)
    assert "TE(a) R(a) R(b) turn_end(a,b) agent_end(user, assistant, toolResult, toolResult)" in played.line.replace(
        "TE(b) ", ""
    )
    assert played.reply.stop_cause == "terminated"


def test_queues_are_polled_after_all_results_said_terminate(play: Any, call: Any) -> None:
    def finish(arguments: Any, context: Any) -> am.AgentToolResult:
        return am.AgentToolResult("finished", terminate=True)

    agent = am.Agent(am.scripted([call("a")], "polled"), [am.AgentTool("a", "", {}, finish)])
    agent.follow_up("then")
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) turn_end(a) "
        "turn_start S E(user then) S U... E(assistant) turn_end() "
        "agent_end(user, assistant, toolResult, user, assistant)"
    )


def test_some_results_say_terminate(play: Any, call: Any, make_tool: Any) -> None:
    def finish(arguments: Any, context: Any) -> am.AgentToolResult:
        return am.AgentToolResult("finished", terminate=True)

    tools = [am.AgentTool("a", "", {}, finish), make_tool("b", 0.02)]
    played = play(am.Agent(am.scripted([call("a"), call("b")], "done"), tools))
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TS(b) TE(a) TE(b) R(a) R(b) turn_end(a,b) {ANSWER} "
        "agent_end(user, assistant, toolResult, toolResult, assistant)"
    )


@pytest.mark.parametrize("how", ["max_turns", "hook"])
def test_max_turns_or_should_stop_after_turn(play: Any, call: Any, make_tool: Any, how: str) -> None:
    config: dict[str, Any] = {"max_turns": 1} if how == "max_turns" else {"should_stop_after_turn": lambda turn: True}
    agent = am.Agent(am.scripted([call("a")], "never"), [make_tool("a")], **config)
    agent.steering_mode = "all"
    agent.follow_up("later")
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) turn_end(a) agent_end(user, assistant, toolResult)"
    )
    assert agent.state.stop_cause == how
    assert played.reply.stop_cause == how
    assert len(agent.queued_messages[1]) == 1


def test_the_last_allowed_turn_may_complete(play: Any) -> None:
    played = play(am.Agent(am.scripted("done"), max_turns=1))
    assert played.reply.stop_cause == "completed"


def test_budget_would_be_exceeded_after_a_turn(play: Any, call: Any, make_tool: Any) -> None:
    message = am.AssistantMessage([call("a")], usage=am.Usage(input=700, output=100))
    agent = am.Agent(am.scripted(message, "never"), [make_tool("a")], budget=am.Budget(tokens=1_000))
    agent.follow_up("later")
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) turn_end(a) agent_end(user, assistant, toolResult)"
    )
    assert played.reply.stop_cause == agent.state.stop_cause == "budget_exceeded"
    assert len(agent.queued_messages[1]) == 1


def test_budget_would_be_exceeded_by_the_first_request(play: Any) -> None:
    model = am.scripted("never")
    played = play(am.Agent(model, budget=am.Budget(tokens=200)))
    assert played.line == f"{START} S E(assistant, error) turn_end() agent_end(user, assistant)"
    assert isinstance(played.error, am.BudgetExceededError)
    assert played.error.reply.stop_cause == "budget_exceeded"
    assert played.agent.messages[-1].content == ()
    assert model.requests == ()


CONTINUABLE = [
    [am.UserMessage("go")],
    [am.UserMessage("go"), am.AssistantMessage(am.ToolCall("a", "a", {})), am.ToolResultMessage("a", "a", "ok")],
    *(
        [am.UserMessage("go"), am.AssistantMessage("half", stop_reason=reason)]
        for reason in ("error", "aborted", "length")
    ),
]


@pytest.mark.parametrize("history", CONTINUABLE, ids=["user", "toolResult", "error", "aborted", "length"])
def test_continue_from_what_waits_for_an_answer(player: Any, history: list[Any]) -> None:
    agent = am.Agent(am.scripted("more"))
    agent.messages = history
    played = player(agent)
    asyncio.run(played.continue_())
    assert played.line == "agent_start turn_start S U... E(assistant) turn_end() agent_end(assistant)"
    assert agent.messages == [*history, agent.messages[-1]]


@pytest.mark.parametrize("history", [[], [am.UserMessage("go"), am.AssistantMessage("done")]])
def test_continue_from_nothing_or_a_finished_answer_raises_before_any_event(player: Any, history: list[Any]) -> None:
    agent = am.Agent(am.scripted("never"))
    agent.messages = history
    played = player(agent)
    assert asyncio.run(played.continue_()) == ""
    assert "nothing to continue" in str(played.error)
    assert agent.messages == history


def test_continue_from_a_finished_answer_takes_queued_messages_one_by_one(player: Any) -> None:
    agent = am.Agent(am.scripted("one", "two"))
    agent.messages = [am.UserMessage("go"), am.AssistantMessage("done")]
    agent.steer("x")
    agent.steer("y")
    played = player(agent)
    asyncio.run(played.continue_())
    assert played.line == (
        "agent_start turn_start S E(user x) S U... E(assistant) turn_end() "
        "turn_start S E(user y) S U... E(assistant) turn_end() agent_end(user, assistant, user, assistant)"
    )


def test_a_listener_raises(play: Any, call: Any, make_tool: Any, caplog: pytest.LogCaptureFixture) -> None:
    agent = am.Agent(am.scripted([call("a")], "done"), [make_tool("a")])

    async def late(event: Any) -> None:
        raise ValueError("late")

    agent.subscribe(late)

    def early(event: Any) -> None:
        raise ValueError("early")

    agent.subscribe(early)
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) turn_end(a) {ANSWER} "
        "agent_end(user, assistant, toolResult, assistant)"
    )
    assert played.reply.text == "done"
    assert "A listener of the agent raised" in caplog.text


@pytest.mark.parametrize("name", ["transform_context", "convert_to_llm", "prepare_next_turn", "get_api_key"])
@pytest.mark.parametrize("is_async", [False, True])
def test_any_other_hook_raises(play: Any, name: str, is_async: bool) -> None:
    def fail(*arguments: Any) -> Any:
        raise KeyError("lost")

    async def fail_later(*arguments: Any) -> Any:
        raise KeyError("lost")

    agent = am.Agent(am.scripted("never"), **{name: fail_later if is_async else fail})
    played = play(agent)
    assert played.line == f"{START} S E(assistant, error) turn_end() agent_end(user, assistant)"
    assert isinstance(played.error, HookError)
    assert isinstance(played.error.__cause__, KeyError)
    assert name in agent.messages[-1].error_message
    assert agent.state.stop_cause == "error"


@pytest.mark.parametrize("name", ["should_stop_after_turn", "prepare_next_turn"])
def test_a_hook_that_raises_between_turns_gets_a_turn_for_its_error(
    play: Any, call: Any, make_tool: Any, name: str
) -> None:
    def fail(turn: am.Turn) -> None:
        if turn.message is not None:
            raise ValueError("lost")

    agent = am.Agent(am.scripted([call("a")], "never"), [make_tool("a")], **{name: fail})
    played = play(agent)
    assert played.line == (
        f"{START} S U... E(assistant) TS(a) TE(a) R(a) turn_end(a) turn_start S E(assistant, error) turn_end() "
        "agent_end(user, assistant, toolResult, assistant)"
    )
