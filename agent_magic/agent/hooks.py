"""Calling functions of the user, plain or async, so that Stop need not wait for them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from ..abort import AbortSignal
from ..errors import AbortedError, AgentMagicError
from ..tracebacks import lines_for_ipython

T = TypeVar("T")


class HookError(AgentMagicError):
    """A hook of the agent raised an exception, which is this one's cause."""

    def _render_traceback_(self) -> list[str]:
        return lines_for_ipython(self, with_cause=True)


async def call_hook(signal: AbortSignal, hook: Callable[..., Any], *arguments: Any) -> Any:
    """What `hook` gives. Raises `AbortedError` when the run is aborted before the hook is through."""
    result = hook(*arguments)
    if inspect.isawaitable(result):
        return await until_aborted(signal, result)
    return result


async def call_guarded(signal: AbortSignal, name: str, hook: Callable[..., Any], *arguments: Any) -> Any:
    """`call_hook`, but the hook's own exception becomes a `HookError` that tells which hook it was."""
    try:
        return await call_hook(signal, hook, *arguments)
    except AbortedError:
        raise
    except Exception as error:
        raise HookError(f"The hook {name} raised {type(error).__name__}: {error}") from error


async def until_aborted(signal: AbortSignal, awaitable: Awaitable[T]) -> T:
    """The result of `awaitable`, which is cancelled and awaited on abort; then `AbortedError` is raised."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(_quiet(awaitable))
    forget = signal.on_abort(lambda: loop.call_soon_threadsafe(task.cancel))
    try:
        await asyncio.wait({task})
    except BaseException:
        task.cancel()
        raise
    finally:
        forget()
    if task.cancelled():
        signal.throw_if_aborted()
        raise AbortedError("The hook was cancelled.")
    result, error = task.result()
    if error is not None:
        raise error
    return cast("T", result)


async def _quiet(awaitable: Awaitable[T]) -> tuple[T | None, BaseException | None]:
    """Hand an interrupt over as a value: raised from a task it would stop the event loop."""
    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error
