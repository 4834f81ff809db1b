"""What any page may request about the run that goes on: to see it, to stop it, and to answer its questions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from ..errors import AgentMagicError
from .connection import Method, Request

if TYPE_CHECKING:
    from .broadcast import Broadcast
    from .kernel import NotebookKernel
    from .question import Question

# After every change there may be, as JavaScript counts.
LAST = 2**53 - 1


def run_methods(kernel: NotebookKernel) -> Mapping[str, Method]:
    """The methods `snapshot`, `shown`, `answer` and `stop`."""

    def snapshot(request: Request) -> dict[str, Any] | Future[dict[str, Any]]:
        run = request.text("run")
        view = kernel.view
        if view is not None and view.recorder.run == run:
            loop = kernel_loop(kernel)
            if view.broadcast.is_noted:
                return view.broadcast.snapshot(loop)
            # The loop is at work, and knows better how the run stands.
            return asyncio.run_coroutine_threadsafe(_snapshot(view.broadcast, loop), loop)
        for number in reversed(kernel.runs.numbers):
            if kernel.runs[number]["run"] == run:
                return {"run": run, "seq": LAST, "record": kernel.runs[number]}
        raise AgentMagicError("This kernel does not know that run.")

    def question(request: Request) -> Question:
        run, item = request.text("run"), request.text("approval")
        view = kernel.view
        found = view.questions.get(item) if view is not None and view.recorder.run == run else None
        if found is None:
            raise AgentMagicError("This question is not open any more: it was answered already, or the run has ended.")
        return found

    def shown(request: Request) -> None:
        found = question(request)
        # A cell need not wait for a user who is only told that there is a question: it asks by a line of input.
        if request.params.get("seen") is False and kernel.view is not None and kernel.view.in_cell:
            return
        found.show(request)

    def stop(request: Request) -> None:
        kernel.stop()
        # The loop may stand still in a question on the main thread.
        for each in list(kernel.view.questions.values()) if kernel.view is not None else ():
            each.abort()

    return {
        "snapshot": Method(snapshot, at_once=True),
        "shown": Method(shown, at_once=True),
        "answer": Method(lambda request: question(request).take(request), at_once=True),
        "stop": Method(stop, at_once=True),
    }


async def _snapshot(broadcast: Broadcast, loop: asyncio.AbstractEventLoop) -> dict[str, Any]:
    return broadcast.snapshot(loop)


def kernel_loop(kernel: NotebookKernel) -> asyncio.AbstractEventLoop:
    """The loop of the run that goes on, else the kernel's main one.

    Raises `RuntimeError` where there is none, as in a terminal.
    """
    running = kernel.agent.loop if kernel.busy else None
    return main_loop(kernel) if running is None else running


def main_loop(kernel: NotebookKernel) -> asyncio.AbstractEventLoop:
    """The loop on which the kernel's cells run. Raises `RuntimeError` where there is none, as in a terminal."""
    main = getattr(getattr(kernel.shell, "kernel", None), "io_loop", None)
    if main is None:
        raise RuntimeError("there is no event loop in a terminal")
    found: asyncio.AbstractEventLoop = main.asyncio_loop
    return found
