"""Many prompts at once, and tools beyond this machine."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import distributed
import pytest

import agent_magic as am
from agent_magic.agent import many


class Echo:
    """A model that answers each prompt with its text, after its pause in seconds; it counts how many it answers."""

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause
        self.running = self.most = self.asked = 0
        self.model = am.scripted(*[self.answer] * 1000)

    async def answer(self, context: am.Context, config: am.RequestConfig) -> Any:
        text = context.messages[-1].text
        self.asked += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.pause)
        finally:
            self.running -= 1
        return am.BadRequestError("no such thing") if text == "bad" else f"{text}!"


def texts(results: list[Any]) -> list[str]:
    return [each.text if isinstance(each, am.Reply) else type(each).__name__ for each in results]


def test_results_come_in_the_order_of_the_prompts_whatever_ends_first() -> None:
    async def slow(context: am.Context, config: am.RequestConfig) -> str:
        text = context.messages[-1].text
        await asyncio.sleep((5 - int(text)) / 100)
        return text

    assert texts(am.Agent(am.scripted(*[slow] * 5)).map("01234"[place] for place in range(5))) == list("01234")


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_no_more_conversations_than_asked_for_run_at_once(concurrency: int) -> None:
    echo = Echo(0.01)
    results = am.Agent(echo.model).map([str(each) for each in range(12)], concurrency=concurrency)
    assert texts(results) == [f"{each}!" for each in range(12)]
    assert echo.most == min(concurrency, 12)


def test_a_failure_takes_its_own_place_and_loses_nothing_else() -> None:
    results = am.Agent(Echo().model).map(["a", "bad", "c"])
    assert texts(results) == ["a!", "BadRequestError", "c!"]
    assert results[1].reply.messages[0].text == "bad"


def test_the_conversations_know_nothing_of_each_other_or_of_the_agent() -> None:
    echo, events = Echo(), []
    agent = am.Agent(echo.model)
    agent.run("before")
    agent.subscribe(events.append)
    results = agent.map(["a", "b"])
    assert [len(each.messages) for each in results] == [2, 2]
    assert [len(each.context.messages) for each in echo.model.requests] == [1, 1, 1]
    assert [message.text for message in agent.messages] == ["before", "before!"]
    assert events == []


def test_they_have_the_tools_the_policy_and_the_config_of_the_agent() -> None:
    def double(x: int) -> int:
        """Twice x."""
        return 2 * x

    def answer(context: am.Context, config: am.RequestConfig) -> Any:
        last = context.messages[-1]
        return am.ToolCall("1", "double", {"x": 4}) if last.role == "user" else last.text

    model = am.scripted(*[answer] * 8)
    agent = am.Agent(model, [double], "Be brief.", temperature=0.5)
    assert texts(agent.map(["a", "b"], max_tokens=9)) == ["8", "8"]
    assert {each.context.system_prompt for each in model.requests} == {"Be brief."}
    assert {(each.config.temperature, each.config.max_tokens) for each in model.requests} == {(0.5, 9)}
    agent.policy = am.Policy(tools={"double": "deny"})
    assert all("double" in each.messages[2].text and each.messages[2].is_error for each in agent.map(["a", "b"]))


def test_structured_answers_in_many_conversations() -> None:
    def answer(context: am.Context, config: am.RequestConfig) -> str:
        return context.messages[0].text

    results = am.Agent(am.scripted(*[answer] * 4)).map(["1", "x", "3"], output_type=int)
    assert [each.value for each in (results[0], results[2])] == [1, 3]
    assert isinstance(results[1], am.OutputTypeError)
    assert results[1].reply.text == "x"


def test_usage_and_budget_are_those_of_the_agent() -> None:
    agent = am.Agent(Echo().model)
    results = agent.map(["a", "b"])
    assert agent.usage.total_tokens == sum(each.usage.total_tokens for each in results) > 0
    assert agent.cost == Decimal(0)
    limited = am.Agent(Echo().model, budget=am.Budget(tokens=600))
    results = limited.map(["a" * 400] * 12, concurrency=1)
    assert texts(results)[0] == "a" * 400 + "!"
    assert isinstance(results[-1], am.BudgetExceededError)


def test_progress_is_told_at_the_start_and_as_each_ends() -> None:
    seen: list[am.Progress] = []
    am.Agent(Echo().model).map(["a", "bad"], concurrency=1, on_progress=seen.append)
    assert [(each.done, each.total, each.failed, each.index) for each in seen] == [
        (0, 2, 0, None),
        (1, 2, 0, 0),
        (2, 2, 1, 1),
    ]
    assert seen[1].result.text == "a!"
    assert str(seen[2]) == "2 of 2 done, 1 failed"


def test_a_listener_of_the_progress_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(progress: am.Progress) -> None:
        raise ValueError("mine")

    with caplog.at_level(logging.ERROR):
        assert texts(am.Agent(Echo().model).map(["a"], on_progress=fail)) == ["a!"]
    assert "mine" in caplog.text


def test_amap_works_in_a_running_loop_and_map_does_too() -> None:
    async def work() -> list[Any]:
        agent = am.Agent(Echo().model)
        return [*await agent.amap(["a"]), *agent.map(["b"])]

    assert texts(asyncio.run(work())) == ["a!", "b!"]


def test_cancelling_stops_all() -> None:
    echo = Echo(30)

    async def work() -> None:
        task = asyncio.ensure_future(am.Agent(echo.model).amap(["a"] * 9, concurrency=3))
        while echo.running < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(work())
    assert (echo.running, echo.asked) == (0, 3)


def test_an_interrupt_stops_all_and_is_raised() -> None:
    def interrupt() -> None:
        """Press Ctrl-C."""
        raise KeyboardInterrupt

    def answer(context: am.Context, config: am.RequestConfig) -> Any:
        return am.ToolCall("1", "interrupt", {}) if context.messages[-1].text == "b" else am.Delay(30)

    class Here:
        async def run(self, function: Any, tool: Any, context: Any) -> Any:
            return function()

    began = time.monotonic()
    agent = am.Agent(am.scripted(*[answer] * 9), [interrupt], function_runner=Here())
    with pytest.raises(KeyboardInterrupt):
        agent.map(["a", "b", "c", "d"], concurrency=2)
    assert time.monotonic() - began < 10
    assert am.Agent(am.scripted("on")).run("go").text == "on"


@pytest.mark.parametrize(("given", "says"), [({"concurrency": 0}, "at least 1"), ({"concurrency": True}, "at least 1")])
def test_a_wrong_number_is_told_at_once(given: dict[str, Any], says: str) -> None:
    with pytest.raises(am.InvalidDataError, match=says):
        am.Agent(Echo().model).map(["a"], **given)


def test_one_text_in_place_of_a_list_and_an_unknown_word_are_told_at_once() -> None:
    with pytest.raises(am.InvalidDataError, match="a list of prompts"):
        am.Agent(Echo().model).map("hello")
    with pytest.raises(TypeError, match="Did you mean max_tokens"):
        am.Agent(Echo().model).map(["a", "b"], max_token=3)


def test_nothing_to_do_is_done() -> None:
    assert am.Agent(Echo().model).map([]) == []


def test_a_terminal_shows_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    many.line_of_progress(am.Progress(1, 2, 1), width=4)
    many.line_of_progress(am.Progress(2, 2), width=4)
    assert capsys.readouterr().err == "\r[##..] 1 of 2 done, 1 failed\r[####] 2 of 2 done\n"


# Beyond this machine -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def squared(x: int) -> dict[str, int]:
    """x times x, and where."""
    return {"square": x * x, "process": os.getpid()}


def broken(x: int) -> int:
    """Fail."""
    raise ValueError(f"not {x}")


def test_tools_run_in_the_workers_of_a_dask_cluster(dask: Any) -> None:
    tools = [am.tool(squared, executor=dask.get_executor()), am.tool(broken, executor=dask.get_executor())]
    calls = [am.ToolCall("1", "squared", {"x": "7"}), am.ToolCall("2", "broken", {"x": 1})]
    agent = am.Agent(am.scripted(calls, "done"), tools)
    first, second = (each for each in agent.run("go").messages if each.role == "toolResult")
    assert '"square": 49' in first.text
    assert str(os.getpid()) not in first.text
    assert second.is_error
    assert "not 1" in second.text


def nap(seconds: float) -> str:
    """Sleep."""
    time.sleep(seconds)
    return "rested"


def test_a_tool_in_a_cluster_has_its_time_and_can_be_stopped(dask: Any) -> None:
    tool = am.tool(nap, executor=dask.get_executor(), timeout=0.3)
    agent = am.Agent(am.scripted(am.ToolCall("1", "nap", {"seconds": 2}), "done"), [tool])
    began = time.monotonic()
    result = agent.run("go").messages[2]
    assert result.is_error
    assert "did not finish within 0.3 s" in result.text
    assert time.monotonic() - began < 1.5


def test_many_conversations_share_one_cluster(dask: Any) -> None:
    def answer(context: am.Context, config: am.RequestConfig) -> Any:
        last = context.messages[-1]
        return am.ToolCall("1", "squared", {"x": int(last.text)}) if last.role == "user" else last.text

    agent = am.Agent(am.scripted(*[answer] * 20), [am.tool(squared, executor=dask.get_executor())])
    results = agent.map([str(each) for each in range(6)], concurrency=3)
    assert [f'"square": {each * each}' in text for each, text in enumerate(texts(results))] == [True] * 6
