"""A run that lives in a task of its own, those who wait for it, and the slot that holds one at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ..errors import AgentBusyError, OutputTypeError
from .loop import Run
from .reply import Reply, StopCause

BUSY = (
    "The agent is running. Wait for it (`await agent.wait_for_idle()`), stop it (`agent.abort()`), or hand it the "
    "message with `agent.steer(...)` or `agent.follow_up(...)`."
)


class ActiveRun:
    """A run and the task that it lives in, while it lasts."""

    def __init__(self, run: Run, loop: asyncio.AbstractEventLoop, free: Callable[[], None]) -> None:
        self.run = run
        self.loop = loop
        self.task: asyncio.Task[None] | None = None
        self.abandoned = False
        self._free = free
        self._done: Future[None] = Future()

    def start(self, prompts: list[Any]) -> None:
        self.task = self.loop.create_task(self._work(prompts))

    async def _work(self, prompts: list[Any]) -> None:
        try:
            await self.run.execute(prompts)
        finally:
            self.run.scope.state.is_streaming = False
            self._free()
            self._done.set_result(None)
            if self.run.scope.channel is not None:
                self.run.scope.channel.close()

    def abandon(self) -> None:
        """Abort, since whoever read the events has left; the agent counts as free."""
        self.abandoned = True
        self.run.scope.signal.abort("The reader of the events left.")
        channel = self.run.scope.channel
        if channel is not None and not self.loop.is_closed():
            # The reader may have been collected in any thread.
            self.loop.call_soon_threadsafe(channel.close)

    async def ended(self) -> None:
        """Return at the end of the run, from whichever event loop; a cancellation of the caller is raised then."""
        done = asyncio.wrap_future(self._done)
        try:
            await asyncio.wait({done})
        except asyncio.CancelledError:
            if not self._done.done():
                await self.ended()
            raise

    def raise_interrupt(self) -> None:
        """Raise the interrupt that stopped the run, if one did."""
        if self.run.scope.interrupt is not None:
            raise self.run.scope.interrupt

    async def reply(self) -> Reply:
        """Wait for the end; cancelling the wait aborts the run and waits for that."""
        done = asyncio.wrap_future(self._done)
        try:
            await asyncio.wait({done})
        except asyncio.CancelledError:
            self.run.scope.signal.abort()
            await self.ended()
            raise
        self.raise_interrupt()
        reply = self.outcome()
        if self.run.error is not None:
            self.run.error.reply = reply
            raise self.run.error
        structured = self.run.scope.structured
        if structured is not None and structured.fault is not None and reply.stop_cause is not StopCause.ABORTED:
            mismatch = OutputTypeError(structured.wanted.name, structured.fault)
            mismatch.reply = reply
            raise mismatch
        return reply

    def outcome(self) -> Reply:
        run = self.run
        return Reply(
            tuple(run.scope.messages),
            run.usage,
            run.scope.structured.value if run.scope.structured is not None else None,
            stop_cause=run.stop_cause,
            notes=tuple(run.request.notes),
        )


class RunSlot:
    """The place for the one run that an agent has at a time; `active` is None when idle."""

    def __init__(self) -> None:
        self.active: ActiveRun | None = None
        self._lock = threading.Lock()

    def check_idle(self) -> None:
        """Raises `AgentBusyError` during a run."""
        active = self.active
        if active is not None and not active.abandoned:
            raise AgentBusyError(BUSY)

    async def begin(self, make: Callable[[], tuple[Run, list[Any]]]) -> ActiveRun:
        """Start a run in a task of its own, so that whatever happens to its caller it can end in good order.

        `make` gives the run and its prompts, once there is room. Raises `AgentBusyError` during a run.
        """
        self.check_idle()
        await self.wait_for_idle()
        with self._lock:
            self.check_idle()
            run, prompts = make()
            active = self.active = ActiveRun(run, asyncio.get_running_loop(), self._free)
        active.start(prompts)
        return active

    async def wait_for_idle(self) -> None:
        """Return when no run is active and its listeners have seen the end."""
        active = self.active
        if active is not None and active.task is not None and asyncio.current_task() is active.task:
            raise AgentBusyError("A listener or hook is part of the run and cannot wait for its end.")
        while (active := self.active) is not None:
            await active.ended()

    def _free(self) -> None:
        """Make way for the next run."""
        self.active = None
