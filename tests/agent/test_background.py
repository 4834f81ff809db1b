"""Blocking calls: from any thread, inside a running loop or not, and the waiting thread can be put to work."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent.background import background_loop, current_waiter, run_blocking, submit_to_waiter


def nothing() -> None:
    raise AssertionError("nobody interrupts here")


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


def test_gives_the_result_without_and_inside_a_running_loop() -> None:
    async def main() -> int:
        return run_blocking(answer, nothing)

    assert run_blocking(answer, nothing) == 42
    assert asyncio.run(main()) == 42


def test_raises_what_the_coroutine_raises() -> None:
    async def fail() -> None:
        raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        run_blocking(fail, nothing)


def test_all_calls_share_one_warm_loop() -> None:
    async def loop() -> Any:
        return asyncio.get_running_loop()

    assert run_blocking(loop, nothing) is run_blocking(loop, nothing) is background_loop().loop


def test_the_waiting_thread_runs_what_is_submitted() -> None:
    async def work() -> list[Any]:
        submitted = [submit_to_waiter(threading.current_thread) for _ in range(3)]
        return [await asyncio.wrap_future(each) for each in submitted]

    assert run_blocking(work, nothing) == [threading.current_thread()] * 3


def test_what_a_submitted_function_raises_goes_to_who_submitted_it() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    async def work() -> str:
        try:
            await asyncio.wrap_future(submit_to_waiter(fail))
        except ZeroDivisionError:
            return "caught"
        return "lost"

    assert run_blocking(work, nothing) == "caught"


def test_an_interrupt_of_a_submitted_function_interrupts_the_wait_in_good_order() -> None:
    seen: list[str] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    async def work() -> None:
        try:
            await asyncio.wrap_future(submit_to_waiter(interrupt))
        except am.AbortedError:
            seen.append("aborted")
        await asyncio.sleep(0.05)
        seen.append("ended")

    with pytest.raises(KeyboardInterrupt):
        run_blocking(work, lambda: seen.append("interrupted"))
    assert sorted(seen) == ["aborted", "ended", "interrupted"]
    assert seen[-1] == "ended"


def test_calls_may_be_nested_on_the_waiting_thread() -> None:
    async def inner() -> Any:
        return await asyncio.wrap_future(submit_to_waiter(threading.current_thread))

    async def outer() -> Any:
        return await asyncio.wrap_future(submit_to_waiter(lambda: run_blocking(inner, nothing)))

    assert run_blocking(outer, nothing) is threading.current_thread()


def test_what_is_submitted_after_the_end_is_cancelled() -> None:
    async def work() -> Any:
        return current_waiter()

    waiter = run_blocking(work, nothing)
    assert waiter.submit(nothing).cancelled()


def test_without_a_waiter_submitting_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="No thread waits"):
        submit_to_waiter(nothing)


def test_a_keyboard_interrupt_stops_the_work_waits_for_its_end_and_is_raised() -> None:
    steps: list[str] = []
    stop = am.AbortSignal()

    async def work() -> None:
        waiter = current_waiter()
        assert waiter is not None
        # As Ctrl-C does, this raises in the waiting thread and not in the work.
        waiter._inbox.put(interrupt)
        await stop.wait()
        await asyncio.sleep(0.01)
        steps.append("ended")

    def interrupt() -> None:
        raise KeyboardInterrupt

    def on_interrupt() -> None:
        steps.append("interrupted")
        stop.abort()

    with pytest.raises(KeyboardInterrupt):
        run_blocking(work, on_interrupt)
    assert steps == ["interrupted", "ended"]


def test_run_inside_an_async_tool_is_refused_instead_of_waiting_for_itself(play: Any, call: Any) -> None:
    other = am.Agent(am.scripted("never"))

    async def ask() -> str:
        return other.run("go").text

    agent = am.Agent(am.scripted([call("a", "ask")], "done"), [ask])
    agent.run("go")
    assert "await agent.prompt" in agent.messages[2].text


def test_run_inside_a_plain_tool_works(call: Any) -> None:
    other = am.Agent(am.scripted("from the other"))

    def ask() -> str:
        return other.run("go").text

    agent = am.Agent(am.scripted([call("a", "ask")], "done"), [ask])
    agent.run("go")
    assert agent.messages[2].text == "from the other"
