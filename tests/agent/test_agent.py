"""The Agent: one run at a time, safe to stop from anywhere, the same for streams, awaits and blocking calls."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from decimal import Decimal
from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent import background
from agent_magic.events import TextDelta, delta_event, start_event, stop_event
from agent_magic.providers.apis import register_api

from ..speed import fastest


def hanging_agent(**config: Any) -> am.Agent:
    return am.Agent(am.scripted(["one", am.Delay(30), "two"], "fine", "fine again"), **config)


# Construction ---------------------------------------------------------------------------------------------------------


def test_an_unknown_keyword_is_a_type_error_that_names_near_matches() -> None:
    with pytest.raises(TypeError, match=r"'max_turn'\. Did you mean max_turns"):
        am.Agent(am.scripted(), max_turn=3)
    with pytest.raises(TypeError, match=r"'temprature'\. Did you mean temperature"):
        am.Agent(am.scripted("x")).run("go", temprature=1)
    with pytest.raises(TypeError, match=r"'tool'\. Did you mean tools"):
        am.Agent(am.scripted(), tool=[])


@pytest.mark.parametrize("name", ["tools", "system_prompt", "steering_mode"])
def test_what_belongs_to_the_agent_is_no_override(name: str) -> None:
    with pytest.raises(TypeError, match=f"'{name}'"):
        am.Agent(am.scripted("x")).run("go", **{name: "all"})


@pytest.mark.parametrize(
    "config", [{"max_turns": 0}, {"max_parallel": True}, {"before_tool_call": 3}, {"steering_mode": "some"}]
)
def test_wrong_values_are_refused_with_the_name_of_the_field(config: dict[str, Any]) -> None:
    with pytest.raises(am.InvalidDataError):
        am.Agent(am.scripted(), **config)


def test_tools_may_be_a_list_a_mapping_or_plain_functions_but_not_two_of_one_name(make_tool: Any) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    assert list(am.Agent(am.scripted(), [add, make_tool("b")]).tools) == ["add", "b"]
    assert list(am.Agent(am.scripted(), {"anything": make_tool("b")}).tools) == ["b"]
    with pytest.raises(am.InvalidDataError, match="two tools are named 'b'"):
        am.Agent(am.scripted(), [make_tool("b"), make_tool("b")])


def test_a_plain_function_put_into_the_mapping_is_a_tool_at_the_next_turn(play: Any, call: Any) -> None:
    agent = am.Agent(am.scripted([call("1", "add", a=1, b=2)], "done"))

    def add(a: int, b: int) -> int:
        return a + b

    agent.tools["add"] = add
    assert play(agent).results() == {"1": "3"}


def test_a_tool_source_gives_further_tools_at_each_turn(play: Any, call: Any, make_tool: Any) -> None:
    agent = am.Agent(am.scripted([call("a"), call("b")], "done"), [make_tool("a")])
    agent.tool_source = lambda: {"b": make_tool("b")}
    assert play(agent).results() == {"a": "did a", "b": "did b"}
    assert list(agent.tools) == ["a"]


def test_assigning_messages_or_tools_copies(make_tool: Any) -> None:
    agent = am.Agent(am.scripted("x"))
    messages, tools = [am.UserMessage("one")], {"a": make_tool("a")}
    agent.messages, agent.tools = messages, tools
    messages.append(am.UserMessage("two"))
    tools["b"] = make_tool("b")
    assert (len(agent.messages), list(agent.tools)) == (1, ["a"])


# Prompts and replies --------------------------------------------------------------------------------------------------


def test_a_prompt_is_a_text_with_images_a_message_or_several() -> None:
    model = am.scripted("1", "2", "3")
    agent = am.Agent(model)
    image = am.ImageContent("aGk=", "image/png")
    agent.run("look", images=[image])
    agent.run(am.CustomMessage("note", "a note"))
    agent.run(["one", am.UserMessage("two")])
    asked = [message for message in agent.messages if message.role != "assistant"]
    assert asked[0].content == (am.TextContent("look"), image)
    assert [message.text for message in asked[1:]] == ["a note", "one", "two"]
    with pytest.raises(am.AgentMagicError, match="not int"):
        agent.run(3)


def test_the_reply_adds_up_the_run(call: Any, make_tool: Any) -> None:
    price = am.ModelCost(input=1, output=10)
    answers = [
        am.AssistantMessage(call("a"), usage=am.Usage(input=1_000, output=100)),
        am.AssistantMessage("done", usage=am.Usage(input=2_000, output=50)),
    ]
    agent = am.Agent(am.scripted(*answers, "more").replace(cost=price), [make_tool("a")])
    reply = agent.run("go")
    assert (reply.usage.input, reply.usage.output) == (3_000, 150)
    assert reply.cost == Decimal("0.0045") == agent.cost
    assert [each.name for each in reply.tool_calls] == ["a"]
    assert (reply.text, str(reply), reply.value, reply.notes) == ("done", "done", None, ())
    second = agent.run("more")
    assert len(second.messages) == 2
    assert agent.usage == reply.usage + second.usage


def test_what_is_used_beside_the_answers_counts_in_the_run_and_after_it() -> None:
    def answer(*_: Any) -> am.AssistantMessage:
        agent.add_usage(am.Usage(100, 10))
        return am.AssistantMessage("done", usage=am.Usage(1, 2))

    agent = am.Agent(am.scripted(answer))
    assert agent.run("go").usage.total_tokens == 113
    agent.add_usage(am.Usage(1000))
    assert agent.usage.total_tokens == 1113


def test_cost_is_unknown_as_soon_as_a_price_is() -> None:
    agent = am.Agent(am.scripted("x").replace(cost=None))
    assert agent.cost == 0
    assert agent.run("go").cost is None
    assert agent.cost is None


def test_overrides_hold_for_one_run() -> None:
    model, other = am.scripted("1", "2", "3"), am.scripted("from the other")
    agent = am.Agent(model, temperature=0.1)
    agent.run("go", temperature=0.9, max_tokens=5)
    assert agent.run("go", model=other).text == "from the other"
    agent.thinking_level = "high"
    agent.run("go")
    asked = [(config.temperature, config.max_tokens, config.thinking_level) for _, config in model.requests]
    assert asked == [(0.9, 5, None), (0.1, None, "high")]


def test_config_and_state_agree_about_the_thinking_level() -> None:
    agent = am.Agent(am.scripted(), thinking_level="low")
    agent.thinking_level = "high"
    assert agent.config.thinking_level == "high"
    agent.config = am.RequestConfig(thinking_level="minimal")
    assert agent.state.thinking_level == "minimal"


def test_loop_config_policy_and_queue_modes_are_one(call: Any, make_tool: Any) -> None:
    agent = am.Agent(am.scripted([call("a")], "done"), [make_tool("a")])
    agent.policy = am.Policy(otherwise="deny")
    agent.steering_mode = "all"
    agent.loop_config = agent.loop_config.replace(max_turns=7)
    assert (agent.loop_config.policy, agent.steering_mode) == (agent.policy, "all")
    agent.run("go")
    assert "does not allow" in agent.messages[2].text


class AtOnce:
    """An API whose whole answer comes with one read of the network."""

    async def stream(self, model: am.Model, context: am.Context, config: am.RequestConfig, signal: Any) -> Any:
        yield [start_event(), delta_event(TextDelta(0, "all of it")), stop_event(am.StopReason.STOP)]


def test_an_answer_that_is_aborted_before_its_end_was_told_is_aborted() -> None:
    register_api("at-once", AtOnce())
    agent = am.Agent(am.Model("at-once", api="at-once"))
    agent.subscribe(lambda event: agent.abort() if event.type == "message_update" else None)
    reply = agent.run("go")
    assert (reply.stop_cause, reply.stop_reason, reply.text) == ("aborted", "aborted", "all of it")


class Picky:
    """An API without temperature."""

    def unsupported(self, model: am.Model, config: am.RequestConfig) -> dict[str, str]:
        return {} if config.temperature is None else {"temperature": "it has none"}

    async def stream(self, model: am.Model, context: am.Context, config: am.RequestConfig, signal: Any) -> Any:
        yield [start_event(), delta_event(TextDelta(0, f"at {config.temperature}")), stop_event(am.StopReason.STOP)]


def test_a_default_that_the_model_does_not_take_is_left_out_with_a_note_and_an_explicit_one_raises() -> None:
    register_api("picky", Picky())
    agent = am.Agent(am.Model("picky", api="picky"), temperature=0.5)
    reply = agent.run("go")
    assert reply.text == "at None"
    assert reply.notes == ("picky does not take temperature; it was left out.",)
    with pytest.raises(am.UnsupportedParameterError, match="temperature"):
        agent.run("go", temperature=0.5)
    assert len(agent.messages) == 2


# One run at a time ----------------------------------------------------------------------------------------------------


def test_while_busy_everything_that_needs_an_idle_agent_raises_with_advice() -> None:
    async def main() -> None:
        agent = hanging_agent()
        running = asyncio.ensure_future(agent.prompt("go"))
        await asyncio.sleep(0.01)
        assert agent.loop is asyncio.get_running_loop()
        for attempt in (agent.prompt("too"), agent.continue_()):
            with pytest.raises(am.AgentBusyError, match="steer"):
                await attempt
        for function in (agent.reset, lambda: agent.run("too"), lambda: agent.stream("too")):
            with pytest.raises(am.AgentBusyError):
                function()
        with pytest.raises(am.AgentBusyError):
            agent.messages = []
        agent.abort()
        reply = await running
        assert reply.stop_cause == "aborted"
        assert agent.loop is None

    asyncio.run(main())


def test_abort_when_idle_is_harmless_and_does_not_stop_the_next_run() -> None:
    agent = am.Agent(am.scripted("fine"))
    agent.abort()
    assert agent.run("go").stop_cause == "completed"


def test_wait_for_idle_waits_for_the_listeners_of_agent_end() -> None:
    done: list[str] = []

    async def main() -> None:
        agent = am.Agent(am.scripted("fine"))

        async def listen(event: am.AgentEvent) -> None:
            if event.type == "agent_end":
                assert agent.state.is_streaming
                await asyncio.sleep(0.01)
                done.append("listener")

        agent.subscribe(listen)
        running = asyncio.ensure_future(agent.prompt("go"))
        await asyncio.sleep(0)
        await agent.wait_for_idle()
        assert done == ["listener"]
        assert not agent.state.is_streaming
        await running

    asyncio.run(main())


def test_a_listener_that_waits_for_the_end_of_its_own_run_gets_an_error_and_no_deadlock(caplog: Any) -> None:
    agent = am.Agent(am.scripted("fine"))

    async def listen(event: am.AgentEvent) -> None:
        await agent.wait_for_idle()

    agent.subscribe(listen)
    assert agent.run("go").text == "fine"
    assert "part of the run" in caplog.text


def test_unsubscribe_ends_the_events() -> None:
    seen: list[am.AgentEvent] = []
    agent = am.Agent(am.scripted("1", "2"))
    unsubscribe = agent.subscribe(seen.append)
    agent.run("go")
    count = len(seen)
    unsubscribe()
    unsubscribe()
    agent.run("go")
    assert len(seen) == count


def test_reset_forgets_history_queues_error_and_usage_and_keeps_the_rest(make_tool: Any) -> None:
    agent = am.Agent(am.scripted(am.BadRequestError("no")), [make_tool("a")], "You are kind.")
    with pytest.raises(am.BadRequestError):
        agent.run("go")
    agent.steer("x")
    agent.reset()
    assert (agent.messages, agent.queued_messages, agent.state.error_message) == ([], ((), ()), None)
    assert (agent.usage.total_tokens, agent.state.stop_cause) == (0, None)
    assert (list(agent.tools), agent.system_prompt) == (["a"], "You are kind.")


# Streams --------------------------------------------------------------------------------------------------------------


def test_a_stream_gives_the_events_that_listeners_get(line_of: Any, call: Any, make_tool: Any) -> None:
    agent = am.Agent(am.scripted([call("a")], "done"), [make_tool("a")])
    told: list[am.AgentEvent] = []
    agent.subscribe(told.append)

    async def main() -> list[am.AgentEvent]:
        return [event async for event in agent.stream("go")]

    seen = asyncio.run(main())
    assert seen == told
    assert line_of(seen).endswith("agent_end(user, assistant, toolResult, assistant)")


def test_a_stream_ends_without_raising_when_the_run_ends_with_an_error(line_of: Any) -> None:
    async def main() -> None:
        agent = am.Agent(am.scripted(am.BadRequestError("no")))
        events = [event async for event in agent.stream("go")]
        assert line_of(events).endswith("S E(assistant, error) turn_end() agent_end(user, assistant)")
        assert agent.state.error_message == "no"

    asyncio.run(main())


@pytest.mark.parametrize("event", ["agent_start", "message_update", "tool_execution_start", "turn_end"])
def test_a_reader_who_aborts_on_an_event_is_in_time(event: str, call: Any, make_tool: Any) -> None:
    ran: list[str] = []

    async def work(arguments: Any, context: Any) -> str:
        ran.append("a")
        return "done"

    model = am.scripted(["let me", call("a")], "never")

    async def main() -> am.Agent:
        agent = am.Agent(model, [make_tool("a", execute=work)])
        async for each in agent.stream("go"):
            if each.type == event:
                await asyncio.sleep(0.005)  # A reader may take its time.
                agent.abort()
        return agent

    agent = asyncio.run(main())
    assert agent.state.stop_cause == "aborted"
    assert len(model.requests) == (0 if event == "agent_start" else 1)
    assert ran == (["a"] if event == "turn_end" else [])
    if event == "message_update":
        assert agent.messages[-1].stop_reason == "aborted"


def test_a_reader_who_steers_at_the_end_of_a_turn_is_heard() -> None:
    async def main() -> list[str]:
        agent = am.Agent(am.scripted("one", "two"))
        turns = 0
        async for each in agent.stream("go"):
            if each.type == "turn_end" and turns == 0:
                turns += 1
                agent.steer("more")
        return [message.text for message in agent.messages]

    assert asyncio.run(main()) == ["go", "one", "more", "two"]


@pytest.mark.parametrize("how", ["break", "exception", "close", "cancel"])
def test_leaving_a_stream_early_aborts_the_run_and_frees_the_agent(how: str) -> None:
    async def read(agent: am.Agent) -> None:
        stream = agent.stream("go")
        async for event in stream:
            if event.type != "message_update":
                continue
            if how == "exception":
                raise ZeroDivisionError
            if how == "cancel":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                continue
            if how == "close":
                await stream.aclose()
            break

    async def main() -> None:
        agent = hanging_agent()
        task = asyncio.ensure_future(read(agent))
        await asyncio.wait({task})
        if how in ("exception", "cancel"):
            assert task.cancelled() or isinstance(task.exception(), ZeroDivisionError)
        del task
        gc.collect()
        reply = await agent.prompt("and now?")
        assert reply.text == "fine"
        assert [message.role for message in agent.messages] == ["user", "assistant", "user", "assistant"]
        assert agent.messages[1].stop_reason == "aborted"

    asyncio.run(main())


def test_a_new_prompt_right_after_break_waits_for_the_abandoned_run() -> None:
    async def main() -> str:
        agent = hanging_agent()
        async for event in agent.stream("go"):
            if event.type == "message_update":
                break
        return (await agent.prompt("and now?")).text

    assert asyncio.run(main()) == "fine"


def test_a_stream_that_is_never_read_starts_nothing() -> None:
    model = am.scripted("never")
    agent = am.Agent(model)
    agent.stream("go")
    assert (agent.messages, model.requests) == ([], ())


# Stopping -------------------------------------------------------------------------------------------------------------


def test_cancelling_a_prompt_ends_the_run_in_good_order_and_raises_cancelled_error(call: Any, make_tool: Any) -> None:
    async def main() -> None:
        agent = am.Agent(am.scripted([call("a"), call("b")]), [make_tool("a", 30), make_tool("b", 30)])
        running = asyncio.ensure_future(agent.prompt("go"))
        while len(agent.state.pending_tool_calls) < 2:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [message.role for message in agent.messages] == ["user", "assistant", "toolResult", "toolResult"]
        assert not agent.state.is_streaming

    asyncio.run(main())


def test_abort_from_another_thread_stops_a_blocking_run_at_once() -> None:
    agent = hanging_agent()
    threading.Timer(0.05, agent.abort).start()
    started = time.perf_counter()
    reply = agent.run("go")
    assert time.perf_counter() - started < 5
    assert (reply.stop_cause, reply.text) == ("aborted", "one")


def test_an_interrupt_before_the_run_has_begun_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = background.Waiter.wait
    interrupts = iter([KeyboardInterrupt()])

    def interrupted(waiter: background.Waiter, done: Any) -> None:
        for interrupt in interrupts:
            raise interrupt
        wait(waiter, done)

    monkeypatch.setattr(background.Waiter, "wait", interrupted)
    # The loop of all runs is busy, so that none can begin before the interrupt.
    background.background_loop().loop.call_soon_threadsafe(time.sleep, 0.1)
    agent = am.Agent(am.scripted([am.Delay(60), "late"]))
    with pytest.raises(KeyboardInterrupt):
        agent.run("hi")
    assert agent.state.stop_cause is am.StopCause.ABORTED
    assert [message.role for message in agent.messages] == ["user", "assistant"]


@pytest.mark.parametrize("is_async", [True, False])
def test_a_keyboard_interrupt_of_an_async_tool_ends_the_run_and_is_raised(
    is_async: bool, call: Any, make_tool: Any
) -> None:
    async def interrupted(arguments: Any, context: Any) -> None:
        raise KeyboardInterrupt

    tools = [make_tool("a", execute=interrupted), make_tool("b", 30)]
    agent = am.Agent(am.scripted([call("a"), call("b")], "fine"), tools)

    def go() -> None:
        if is_async:
            asyncio.run(agent.prompt("go"))
        else:
            agent.run("go")

    with pytest.raises(KeyboardInterrupt):
        go()
    assert [message.text for message in agent.messages[2:]] == ["Operation aborted"] * 2
    assert agent.run("and now?").text == "fine"


@pytest.mark.parametrize("hook", ["before_tool_call", "transform_context", "should_stop_after_turn", "get_api_key"])
def test_stop_does_not_wait_for_a_hook(hook: str, call: Any, make_tool: Any) -> None:
    ended: list[str] = []

    async def hang(*arguments: Any) -> None:
        asyncio.get_running_loop().call_soon(agent.abort)
        try:
            await asyncio.sleep(30)
        finally:
            ended.append(hook)

    agent = am.Agent(am.scripted([call("a")]), [make_tool("a")], **{hook: hang})
    reply = agent.run("go")
    assert (reply.stop_cause, ended) == ("aborted", [hook])


# Tools ----------------------------------------------------------------------------------------------------------------


def test_twenty_plain_tools_overlap(call: Any) -> None:
    def nap(seconds: float) -> str:
        time.sleep(seconds)
        return "slept"

    def once() -> float:
        calls = [call(str(number), "nap", seconds=0.05) for number in range(20)]
        agent = am.Agent(am.scripted(calls, "done"), [nap])
        started = time.perf_counter()
        agent.run("go")
        return time.perf_counter() - started

    assert fastest(once, 0.2) <= 0.2


def test_max_parallel_limits_how_many_run_at_once(call: Any) -> None:
    running = most = 0

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1

    am.Agent(am.scripted([call(str(number), "work") for number in range(9)], "done"), [work], max_parallel=3).run("go")
    assert most == 3


def test_a_tool_knows_its_agent_and_call(play: Any, call: Any) -> None:
    seen: list[Any] = []

    def work(context: am.ToolContext) -> None:
        seen.extend([context.agent, context.tool_call_id])

    agent = am.Agent(am.scripted([call("7", "work")], "done"), [work])
    play(agent)
    assert seen == [agent, "7"]


def test_get_api_key_is_asked_before_every_request(call: Any, make_tool: Any) -> None:
    asked: list[str] = []

    async def key(provider: str) -> str:
        asked.append(provider)
        return "secret"

    am.Agent(am.scripted([call("a")], "done"), [make_tool("a")], get_api_key=key).run("go")
    assert asked == ["scripted", "scripted"]


def test_transform_context_changes_one_request_and_not_the_history() -> None:
    model = am.scripted("1", "2")
    agent = am.Agent(model, transform_context=lambda messages, signal: messages[-1:])
    agent.run("one")
    agent.run("two")
    assert [len(context.messages) for context, _ in model.requests] == [1, 1]
    assert len(agent.messages) == 4


def test_convert_to_llm_decides_what_the_model_sees() -> None:
    model = am.scripted("1")
    agent = am.Agent(model, convert_to_llm=lambda messages: [am.UserMessage(f"{len(messages)} messages")])
    agent.run(["a", "b"])
    assert model.requests[0].context.messages[0].text == "2 messages"
