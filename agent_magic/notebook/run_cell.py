"""One run of a cell: from what it asks for to the reply, shown while it goes on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher

from ..agent.active_run import BUSY
from ..agent.background import run_blocking
from ..agent.reply import Reply, StopCause
from ..errors import AgentBusyError, AgentMagicError
from ..events import AgentEvent
from .command import Errand
from .failure import stopped, without_frames
from .flags import CellOptions
from .interrupt import HEARTBEAT, sigint_raises, stoppable
from .kernel import NotebookKernel
from .key_guard import warning_about
from .live import LiveOutput
from .prompt import slips_in
from .record import Recorder
from .terminal import TerminalView
from .view import QuietView

WAITING = "Another run of this agent is going on; this cell waits for its end."


@dataclass(frozen=True)
class Outcome:
    """How a cell ended. The exception is raised by whoever owns the thread: in a loop's task it would do harm."""

    reply: Reply | None = None
    error: BaseException | None = None

    def value(self) -> Reply | None:
        """The value of the cell; raises what ended it."""
        if self.error is not None:
            raise without_frames(self.error)
        return self.reply


async def run_cell(kernel: NotebookKernel, errand: Errand, wait: bool = False) -> Outcome:
    """Run the agent on the message of `errand`, or on from where it was, and show it.

    While another run goes on this waits for its end, if it may `wait`; else the outcome is an `AgentBusyError`. Raises
    `UsageError` for what is asked for and cannot be had.
    """
    try:
        if kernel.busy:
            await _idle(kernel, wait)
        with kernel.occupied():
            outcome = await shown_run(kernel, errand, lambda recorder: _view(kernel, errand.options, recorder))
    except AgentMagicError as error:
        return Outcome(None, error)
    except asyncio.CancelledError:
        return Outcome(None, stopped())
    reply, name = outcome.reply, errand.options.output
    if reply is not None and name:
        kernel.shell.push({name: reply})
    if reply is not None and outcome.error is None and errand.after is not None:
        errand.after(reply)
    return outcome


def run_blocking_cell(kernel: NotebookKernel, errand: Errand) -> Outcome:
    """`run_cell` where the cell cannot await: the loop runs elsewhere, and this thread runs the functions it sends."""
    with sigint_raises():
        try:
            return run_blocking(lambda: run_cell(kernel, errand), kernel.stop)
        except KeyboardInterrupt:
            return Outcome(None, stopped())


async def _idle(kernel: NotebookKernel, wait: bool) -> None:
    """Return when no run is going on. Stop ends the waiting, and not the run that is waited for."""
    if not wait:
        raise AgentBusyError(BUSY)
    print(WAITING)
    task = asyncio.current_task()
    assert task is not None
    async with stoppable(task.cancel, task.cancel):
        while kernel.busy:
            await asyncio.sleep(HEARTBEAT)


async def shown_run(kernel: NotebookKernel, errand: Errand, make_view: Callable[[Recorder], QuietView]) -> Outcome:
    """Run the agent on `errand`, shown by the view that `make_view` makes, while the kernel is held `occupied`.

    Raises `AgentMagicError` and `UsageError` for what keeps the run from beginning.
    """
    agent, options = kernel.agent, errand.options
    overrides, tools = kernel.overrides(options), kernel.chosen_tools(options)
    message = await errand.message()
    if options.new:
        kernel.forget()
    recorder = Recorder(uuid.uuid4().hex, kernel.conversation.id, overrides.get("model", agent.model))
    view = make_view(recorder)
    warning = warning_about(getattr(message, "text", ""))
    if warning is not None:
        view.recorder.add_note(warning)
    for slip in slips_in(kernel, message):
        view.recorder.add_note(slip)
    started = False

    def start(event: AgentEvent) -> None:
        nonlocal started
        if not started:
            started = True
            kernel.begin_run(view)

    task = asyncio.current_task()
    assert task is not None
    forget = agent.subscribe(start)
    outcome = Outcome()
    try:
        with kernel.replaying.cell(options, view.in_cell) as note, kernel.showing(view, tools):
            if note is not None:
                view.recorder.add_note(note)
            async with stoppable(kernel.stop, task.cancel):
                await kernel.servers.ready()
                for told in kernel.servers.notes():
                    view.recorder.add_note(told)
                outcome = await _run(agent, message, overrides)
    finally:
        forget()
        if started:
            for problem in kernel.conversation.problems():
                view.recorder.add_note(problem)
            view.recorder.finish(outcome.error or outcome.reply)
            kernel.runs.add(view.recorder.record())
            view.finish()
    return outcome


async def _run(agent: Any, message: Any, overrides: dict[str, Any]) -> Outcome:
    try:
        reply = await (agent.continue_(**overrides) if message is None else agent.prompt(message, **overrides))
    except (asyncio.CancelledError, KeyboardInterrupt):
        return Outcome(None, stopped())
    except AgentMagicError as error:
        return Outcome(getattr(error, "reply", None), error)
    return Outcome(reply, stopped() if reply.stop_cause is StopCause.ABORTED else None)


def _view(kernel: NotebookKernel, options: CellOptions, recorder: Recorder) -> QuietView:
    if options.quiet:
        return QuietView(recorder, kernel.origin_of)
    if kernel.in_terminal:
        return TerminalView(recorder, kernel.origin_of, kernel.shell, kernel.runs.count + 1)
    # `%%capture` keeps every update as an output of its own.
    captured = isinstance(kernel.shell.display_pub, CapturingDisplayPublisher)
    return LiveOutput(kernel, recorder, captured)
