import asyncio
import contextlib
import contextvars
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_magic.abort import AbortSignal
from agent_magic.errors import AbortedError, ToolExecutionError, ToolTimeoutError
from agent_magic.tools.execution import PoolRunner, execute, still_running
from agent_magic.tools.function import tool
from agent_magic.tools.tool import AgentTool, AgentToolResult, ToolContext

from ..speed import fastest


def run(made, arguments=None, context=None, runner=None):
    return asyncio.run(execute(made, arguments or {}, context, runner))


def hand_made(function, **options):
    return AgentTool("made", "", {}, function, **options)


# Every kind of function


def plain(value: int):
    return value + 1


async def coroutine(value: int):
    await asyncio.sleep(0)
    return value + 1


def generator(value: int):
    yield "first"
    yield "second"
    return value + 1


def generator_without_return(value: int):
    yield "first"
    yield value + 1


async def async_generator(value: int):
    yield "first"
    yield value + 1


def returns_a_coroutine(value: int):
    return coroutine(value)


def returns_a_generator(value: int):
    return generator(value)


KINDS = [
    plain,
    coroutine,
    generator,
    generator_without_return,
    async_generator,
    returns_a_coroutine,
    returns_a_generator,
]


@pytest.mark.parametrize("function", KINDS)
def test_every_kind_of_function_gives_its_value(function):
    assert run(tool(function), {"value": 1}).text == "2"


@pytest.mark.parametrize("function", KINDS)
def test_every_kind_of_hand_made_tool_gives_its_value(function):
    made = hand_made(lambda arguments, context: function(**arguments))
    assert run(made, {"value": 1}).text == "2"


@pytest.mark.parametrize("function", [generator, generator_without_return, async_generator])
def test_yields_are_progress_in_the_shape_of_results(function):
    seen = []
    run(tool(function), {"value": 1}, ToolContext(on_update=seen.append))
    assert seen[0] == AgentToolResult("first")
    assert len(seen) == 2


def test_a_plain_function_runs_off_the_loop_and_a_coroutine_on_it():
    assert run(tool(threading.current_thread, name="where")).value is not threading.main_thread()

    async def where():
        return threading.current_thread()

    assert run(tool(where)).value is threading.main_thread()


def test_a_function_sees_the_context_variables_of_its_caller():
    variable = contextvars.ContextVar("variable", default="unset")

    async def main():
        variable.set("set")
        return await execute(tool(lambda: variable.get(), name="get"), {})

    assert asyncio.run(main()).text == "set"


class Recording:
    """A runner that runs functions on the loop's own thread, as a kernel's does."""

    def __init__(self):
        self.names = []

    async def run(self, function, tool, context):
        self.names.append(tool.name)
        return function()


def test_a_blocking_function_goes_to_the_given_runner():
    runner = Recording()
    assert run(tool(generator), {"value": 1}, runner=runner).text == "2"
    assert runner.names == ["generator"]


def test_a_tool_with_thread_or_executor_and_an_async_one_do_not_go_to_the_given_runner():
    runner = Recording()
    with ThreadPoolExecutor(1, "mine") as pool:
        run(tool(plain, thread=True), {"value": 1}, runner=runner)
        run(tool(coroutine), {"value": 1}, runner=runner)
        name = run(tool(lambda: threading.current_thread().name, name="where", executor=pool), runner=runner).text
    assert runner.names == []
    assert name.startswith("mine")


def test_a_generator_in_an_executor_gives_its_value():
    with ThreadPoolExecutor(1) as pool:
        assert run(tool(generator, executor=pool), {"value": 1}).text == "2"


def test_a_function_that_returns_in_time_on_a_blocked_loop_is_not_late():
    @tool(timeout=0.05)
    def slow():
        time.sleep(0.1)
        return "done"

    assert run(slow, runner=Recording()).text == "done"


# Exceptions


class Fatal(BaseException):
    pass


@pytest.mark.parametrize("make_async", [False, True])
@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("k")])
def test_the_own_exception_of_a_tool_is_raised(error, make_async):
    def fail():
        raise error

    async def fail_async():
        raise error

    with pytest.raises(type(error)) as caught:
        run(tool(fail_async if make_async else fail))
    assert caught.value is error


@pytest.mark.parametrize("where", ["pool", "executor", "loop"])
@pytest.mark.parametrize("error", [SystemExit(3), Fatal("x"), StopIteration("s"), asyncio.CancelledError()])
def test_what_is_no_ordinary_exception_becomes_one(where, error):
    def fail():
        raise error

    async def fail_async():
        raise error

    with ThreadPoolExecutor(1) as pool:
        options = {"executor": pool} if where == "executor" else {}
        with pytest.raises((ToolExecutionError, RuntimeError)):
            run(tool(fail_async if where == "loop" else fail, **options))


@pytest.mark.parametrize("option", [{}, {"thread": True}])
def test_a_keyboard_interrupt_raised_in_a_thread_does_not_end_the_loop(option):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(ToolExecutionError, match="KeyboardInterrupt"):
        run(tool(fail, **option))


# Time-outs


def test_a_coroutine_is_cancelled_when_its_time_is_up():
    cancelled = []

    @tool(timeout=0.05)
    async def wait():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    start = time.perf_counter()
    with pytest.raises(ToolTimeoutError, match=r"'wait' did not finish within 0.05 s and was stopped\.$"):
        run(wait)
    assert time.perf_counter() - start < 5
    assert cancelled == [True]


def test_an_async_generator_is_closed_when_its_time_is_up():
    closed = []

    @tool(timeout=0.05)
    async def wait():
        try:
            yield 1
            await asyncio.sleep(10)
        finally:
            closed.append(True)

    with pytest.raises(ToolTimeoutError):
        run(wait)
    assert closed == [True]


def test_a_hanging_thread_is_left_after_200_ms_and_refuses_calls_until_it_ends():
    release = threading.Event()

    @tool(timeout=0.05)
    def hang():
        release.wait(10)
        return "late"

    async def main():
        start = time.perf_counter()
        with pytest.raises(ToolTimeoutError, match="It is still running; its result will be dropped"):
            await execute(hang, {})
        assert 0.2 < time.perf_counter() - start < 5
        assert still_running(hang)
        with pytest.raises(ToolExecutionError, match="'hang' was not run: an earlier call of it"):
            await execute(hang, {})
        release.set()
        while still_running(hang):
            await asyncio.sleep(0.01)
        assert (await execute(hang, {})).text == "late"

    asyncio.run(main())


def test_a_function_that_looks_at_its_signal_ends_when_its_time_is_up():
    ended = []

    @tool(timeout=0.05)
    def loop(context: ToolContext):
        while not context.signal.aborted:
            time.sleep(0.005)
        ended.append(context.signal.reason)

    run_signal = AbortSignal()
    with pytest.raises(ToolTimeoutError, match=r"was stopped\.$"):
        run(loop, context=ToolContext(signal=run_signal))
    assert ended == ["The time of the tool 'loop' is over."]
    assert not run_signal.aborted


def test_a_generator_in_a_thread_stops_at_its_next_yield():
    steps = []

    @tool(timeout=0.05)
    def endless():
        while True:
            steps.append(1)
            yield 1
            time.sleep(0.01)

    with pytest.raises(ToolTimeoutError):
        run(endless)
    assert not still_running(endless)
    count = len(steps)
    time.sleep(0.05)
    assert len(steps) == count


def test_a_coroutine_that_ignores_its_cancellation_is_left_behind():
    @tool(timeout=0.05)
    async def stubborn():
        end = time.perf_counter() + 0.6
        while time.perf_counter() < end:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.6)

    async def main():
        with pytest.raises(ToolTimeoutError, match="still running"):
            await execute(stubborn, {})
        assert still_running(stubborn)
        await asyncio.sleep(0.7)
        assert not still_running(stubborn)

    asyncio.run(main())


# Abort


@pytest.mark.parametrize("function", [lambda: time.sleep(0.1), lambda: asyncio.sleep(10)], ids=["thread", "coroutine"])
def test_abort_ends_a_running_tool_with_its_reason(function):
    signal = AbortSignal()

    async def main():
        threading.Timer(0.03, signal.abort, ["enough"]).start()
        start = time.perf_counter()
        with pytest.raises(AbortedError) as caught:
            await execute(tool(function, name="wait"), {}, ToolContext(signal=signal))
        assert caught.value.reason == "enough"
        assert time.perf_counter() - start < 5

    asyncio.run(main())


def test_an_aborted_signal_runs_nothing():
    signal = AbortSignal()
    signal.abort("before")
    called = []
    with pytest.raises(AbortedError, match="before"):
        run(tool(lambda: called.append(1), name="f"), context=ToolContext(signal=signal))
    assert called == []


def test_cancelling_the_caller_cancels_the_tool_and_waits_for_it():
    ended = []

    async def wait():
        try:
            await asyncio.sleep(10)
        finally:
            await asyncio.sleep(0.02)
            ended.append(True)

    async def main():
        task = asyncio.create_task(execute(tool(wait), {}))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True]

    asyncio.run(main())


def test_a_queued_function_never_starts_after_abort():
    signal = AbortSignal()
    started = []

    def job():
        started.append(1)
        time.sleep(0.15)

    with ThreadPoolExecutor(1) as pool:

        async def main():
            made = [tool(job, executor=pool) for _ in range(5)]
            calls = [asyncio.ensure_future(execute(each, {}, ToolContext(signal=signal))) for each in made]
            await asyncio.sleep(0.05)
            signal.abort()
            return await asyncio.gather(*calls, return_exceptions=True)

        outcomes = asyncio.run(main())
    assert all(isinstance(each, AbortedError) for each in outcomes)
    assert len(started) == 1


def test_a_reaction_of_a_tool_that_fails_does_not_keep_others_from_being_stopped():
    signal = AbortSignal()

    @tool
    async def wait(context: ToolContext):
        context.signal.on_abort(lambda: 1 / 0)
        await asyncio.sleep(10)

    async def main():
        calls = [asyncio.ensure_future(execute(wait, {}, ToolContext(signal=signal))) for _ in range(3)]
        await asyncio.sleep(0.02)
        signal.abort("stop")
        return await asyncio.gather(*calls, return_exceptions=True)

    assert [str(each) for each in asyncio.run(main())] == ["stop"] * 3


# Updates and results


def test_an_update_after_the_end_is_dropped_without_an_error():
    seen, kept = [], []

    @tool
    def f(context: ToolContext):
        kept.append(context)
        context.on_update("early")

    run(f, context=ToolContext(on_update=seen.append))
    kept[0].on_update("late")
    assert [each.text for each in seen] == ["early"]


def test_the_result_of_an_async_tool_is_drawn_off_the_loop():
    where = []

    class Drawn:
        def _repr_markdown_(self):
            where.append(threading.current_thread())
            return "drawn"

    async def f():
        return Drawn()

    assert run(tool(f)).text == "drawn"
    assert where[0] is not threading.main_thread()


def test_nothing_of_a_call_is_kept_alive_by_an_idle_thread():
    import gc
    import weakref

    class Thing:
        pass

    references = []

    def make():
        thing = Thing()
        references.append(weakref.ref(thing))
        return thing

    run(tool(make))
    gc.collect()
    time.sleep(0.02)
    assert references[0]() is None


def test_twenty_functions_of_50_ms_take_at_most_65_ms():
    wait = tool(lambda: time.sleep(0.05), name="wait")

    async def main():
        start = time.perf_counter()
        await asyncio.gather(*(execute(wait, {}) for _ in range(20)))
        return time.perf_counter() - start

    assert fastest(lambda: asyncio.run(main()), 0.065) <= 0.065


def test_a_hanging_function_does_not_keep_python_from_ending():
    import subprocess

    code = (
        "import asyncio, time, agent_magic as am\n"
        "from agent_magic.tools.execution import execute\n"
        "@am.tool(timeout=0.5)\n"
        "def hang():\n"
        "    time.sleep(60)\n"
        "try:\n"
        "    asyncio.run(execute(hang, {}))\n"
        "except am.AgentMagicError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert "still running" in done.stdout
    assert done.stderr == ""


def test_the_pool_runner_serves_several_loops_one_after_the_other():
    runner = PoolRunner()
    assert [run(tool(plain), {"value": 1}, runner=runner).text for _ in range(3)] == ["2"] * 3
