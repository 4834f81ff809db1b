"""Running one call of a tool: on the loop, in a thread, by an executor or by a runner of the notebook.

What a tool may do wrong stays with it: it may hang, swallow its cancellation, leave by `sys.exit`, or go on reporting
after its end. Whoever awaits `execute` gets a result or an ordinary exception, in time.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from ..abort import AbortSignal
from ..errors import AbortedError, ToolExecutionError, ToolTimeoutError
from .pool import DaemonPool
from .result import to_result
from .tool import AgentTool, AgentToolResult, ToolContext

T = TypeVar("T")
log = logging.getLogger(__name__)

# Seconds that a cancelled thread or coroutine is given to end before it is left alone.
GRACE = 0.2
POOL_SIZE = 32

_pool = DaemonPool(POOL_SIZE, "agent-magic-tool")


class FunctionRunner(Protocol):
    """Runs blocking functions somewhere: in a pool, or on the main thread of a kernel."""

    async def run(self, function: Callable[[], T], tool: AgentTool, context: ToolContext) -> T:
        """Run `function()` for a call of `tool` and return what it returns, or raise what it raises.

        When cancelled it stops the function as well as it can, and ends when there is no more to wait for.
        """
        ...


class PoolRunner:
    """Runs functions in 32 threads, which all runners of the process share."""

    async def run(self, function: Callable[[], T], tool: AgentTool, context: ToolContext) -> T:
        variables = contextvars.copy_context()
        return await _settled(_pool.submit(variables.run, function), tool)


# Tasks and threads that a call begins inherit it.
_running: ContextVar[str | None] = ContextVar("agent_magic_running_call", default=None)


def running_call() -> str | None:
    """The id of the call whose tool the running code belongs to, None outside of tools."""
    return _running.get()


# What still runs ------------------------------------------------------------------------------------------------------


class _Work(Protocol):
    def done(self) -> bool: ...


# Calls that were given up while they ran, by tool.
_left_behind: WeakKeyDictionary[AgentTool, list[_Work]] = WeakKeyDictionary()


def still_running(tool: AgentTool) -> bool:
    """Whether an earlier call of `tool` was given up and has not ended."""
    work = [each for each in _left_behind.get(tool, ()) if not each.done()]
    if work:
        _left_behind[tool] = work
    else:
        _left_behind.pop(tool, None)
    return bool(work)


def _leave_behind(tool: AgentTool, work: _Work) -> None:
    _left_behind.setdefault(tool, []).append(work)


# Execution ------------------------------------------------------------------------------------------------------------


async def execute(
    tool: AgentTool,
    arguments: dict[str, Any],
    context: ToolContext | None = None,
    runner: FunctionRunner | None = None,
) -> AgentToolResult:
    """Run `tool` with validated `arguments`; its value becomes a result that is capped for the model.

    Yields of a generator, and what the tool gives to `context.on_update`, arrive at `context.on_update` as results,
    in the thread of the tool, until the call has ended.

    Raises the tool's own exception; `ToolTimeoutError` when `tool.timeout` seconds are over; `AbortedError` when
    `context.signal` is given; `ToolExecutionError` when an earlier call that was given up still runs, or when the
    tool leaves by something that is no ordinary exception.
    """
    context = context or ToolContext()
    context.signal.throw_if_aborted()
    if still_running(tool):
        raise ToolExecutionError(
            f"The tool {tool.name!r} was not run: an earlier call of it was stopped and is still running. "
            "Use another tool, or try again later."
        )
    call = _Call(context)
    task = asyncio.ensure_future(_run_in_task(tool, arguments, call, runner or PoolRunner()))
    stopped, forget = _watch(context.signal, call)
    try:
        ends: set[asyncio.Future[Any]] = {task, stopped}
        await asyncio.wait(ends, timeout=tool.timeout, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return _outcome(task, tool)
        if not stopped.done():
            call.stop(f"The time of the tool {tool.name!r} is over.")
        await _give_up(task, tool, call)
    except asyncio.CancelledError:
        call.stop("The call was cancelled.")
        await _give_up(task, tool, call)
        raise
    finally:
        call.settled = True
        forget()
    ending = " It is still running; its result will be dropped." if still_running(tool) else ""
    if stopped.done():
        raise AbortedError((context.signal.reason or "Operation aborted") + ending)
    raise ToolTimeoutError(f"The tool {tool.name!r} did not finish within {tool.timeout:g} s and was stopped.{ending}")


class _Call:
    """One call: a signal of its own, and updates that end with it."""

    def __init__(self, context: ToolContext) -> None:
        self.settled = False
        self.on_loop = False
        self._deliver = context.on_update
        self._signal = AbortSignal()
        self.context = replace(context, signal=self._signal, on_update=self.update)

    def update(self, partial: Any) -> None:
        if not self.settled:
            self._deliver(to_result(partial))

    def stop(self, reason: str) -> None:
        try:
            self._signal.abort(reason)
        except Exception:
            log.exception("A tool's own reaction to being stopped failed.")


def _watch(signal: AbortSignal, call: _Call) -> tuple[asyncio.Future[None], Callable[[], None]]:
    """A future that is done when `signal` is given, and how to stop watching."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not stopped.done():
            stopped.set_result(None)

    def react() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(wake)
        call.stop(signal.reason)

    return stopped, signal.on_abort(react)


def _outcome(task: asyncio.Task[AgentToolResult | KeyboardInterrupt], tool: AgentTool) -> AgentToolResult:
    if task.cancelled():
        raise ToolExecutionError(f"The tool {tool.name!r} cancelled itself.")
    result = task.result()
    if isinstance(result, KeyboardInterrupt):
        raise result
    return result


async def _give_up(task: asyncio.Task[AgentToolResult | KeyboardInterrupt], tool: AgentTool, call: _Call) -> None:
    """Cancel the task and wait for its end: a short while for a coroutine, as long as its runner for a function."""
    task.cancel()
    await asyncio.wait({task}, timeout=GRACE if call.on_loop else None)
    if not task.done():
        _leave_behind(tool, task)
        task.add_done_callback(_take_exception)
    else:
        _take_exception(task)


def _take_exception(task: asyncio.Future[Any]) -> None:
    """Take the exception of work that nobody waits for, so that asyncio does not report it as lost."""
    if not task.cancelled():
        task.exception()


async def _run_in_task(
    tool: AgentTool, arguments: dict[str, Any], call: _Call, runner: FunctionRunner
) -> AgentToolResult | KeyboardInterrupt:
    """`_run`, with an interrupt handed over as a value: raised from a task it would stop the event loop."""
    _running.set(call.context.tool_call_id)
    try:
        return await _run(tool, arguments, call, runner)
    except KeyboardInterrupt as error:
        return error


async def _run(tool: AgentTool, arguments: dict[str, Any], call: _Call, runner: FunctionRunner) -> AgentToolResult:
    context = call.context
    if tool.executor is not None:
        value = await _settled(tool.executor.submit(tool.portable_call(arguments)), tool)
    elif tool.is_async:
        value = await _on_loop(tool.execute(arguments, context), call)
    else:
        run_here = functools.partial(_run_here, tool, arguments, context)
        value = await (PoolRunner() if tool.thread else runner).run(run_here, tool, context)
        if isinstance(value, AgentToolResult):
            return value
        value = await _on_loop(value, call)
    if isinstance(value, (AgentToolResult, str, type(None))):
        return to_result(value)
    # Drawing a figure or the repr of a large object takes time that the loop does not have.
    return await PoolRunner().run(functools.partial(to_result, value), tool, context)


def _run_here(tool: AgentTool, arguments: dict[str, Any], context: ToolContext) -> Any:
    """The result of a blocking call, or what has yet to be awaited of it."""
    return _contained(functools.partial(_call_function, tool, arguments, context))


def _call_function(tool: AgentTool, arguments: dict[str, Any], context: ToolContext) -> Any:
    value = tool.execute(arguments, context)
    if inspect.isgenerator(value):
        value = _last(value, context)
    if inspect.isawaitable(value) or inspect.isasyncgen(value):
        return value
    return to_result(value)


def _last(generator: Generator[Any, Any, Any], context: ToolContext) -> Any:
    """What the generator returns, or what it yielded last if that is None."""
    last: Any = None
    try:
        while True:
            last = next(generator)
            context.on_update(last)
            context.signal.throw_if_aborted()
    except StopIteration as end:
        return last if end.value is None else end.value
    finally:
        generator.close()


async def _on_loop(value: Any, call: _Call) -> Any:
    call.on_loop = True
    try:
        return await (_last_of_async(value, call.context) if inspect.isasyncgen(value) else value)
    except (Exception, asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _unusual(error) from error
    finally:
        call.on_loop = False


async def _last_of_async(generator: Any, context: ToolContext) -> Any:
    last: Any = None
    try:
        async for last in generator:
            context.on_update(last)
    finally:
        await generator.aclose()
    return last


# Exceptions that are none ---------------------------------------------------------------------------------------------


def _contained(function: Callable[[], T]) -> T:
    """Call `function`; what would end a loop or be lost in a future becomes an ordinary exception."""
    try:
        return function()
    except (StopIteration, StopAsyncIteration) as error:
        raise _unusual(error) from error
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _unusual(error) from error


def _unusual(error: BaseException) -> ToolExecutionError:
    return ToolExecutionError(f"The tool ended with {type(error).__name__}({error}).")


async def _settled(future: Future[T], tool: AgentTool) -> T:
    """Wait for `future`. When cancelled, wait a little for work that has begun, and note what is left behind."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def wake(_: Future[T]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(ended.set_result, None)

    future.add_done_callback(wake)
    try:
        await asyncio.wait({ended})
    except asyncio.CancelledError:
        if not future.cancel():
            await asyncio.wait({ended}, timeout=GRACE)
            if not future.done():
                _leave_behind(tool, future)
        raise
    try:
        return _contained(future.result)
    except KeyboardInterrupt as error:
        # Raised in another thread, it is no wish of the user.
        raise _unusual(error) from error
