"""One cell: from its first line and body to the reply, shown while it goes on."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher

from ..agent.agent import BUSY
from ..agent.background import run_blocking
from ..agent.reply import Reply, StopCause
from ..errors import AgentBusyError, AgentMagicError
from ..events import AgentEvent
from .failure import stopped, without_frames
from .flags import CellOptions
from .interrupt import sigint_raises, stoppable
from .kernel import NotebookKernel
from .live import LiveOutput
from .record import Recorder
from .terminal import TerminalView
from .view import QuietView


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


async def run_cell(kernel: NotebookKernel, options: CellOptions, body: str) -> Outcome:
    """Run the agent on the text of `options` and `body`; on from where it was, if both are empty.

    Raises `UsageError` for what the first line asks for and cannot have.
    """
    try:
        outcome = await _shown_run(kernel, options, prompt_of(options.text, body))
    except AgentMagicError as error:
        return Outcome(None, error)
    if options.output and outcome.reply is not None:
        kernel.shell.push({options.output: outcome.reply})
    return outcome


def run_blocking_cell(kernel: NotebookKernel, options: CellOptions, body: str) -> Outcome:
    """`run_cell` where the cell cannot await: the loop runs elsewhere, and this thread runs the functions it sends."""
    with sigint_raises():
        try:
            return run_blocking(lambda: run_cell(kernel, options, body), kernel.stop)
        except KeyboardInterrupt:
            return Outcome(None, stopped())


def prompt_of(text: str, body: str) -> str:
    """The message: `text`, then `body` without the line end that IPython puts behind every cell."""
    body = body.removesuffix("\n")
    return "\n".join(part for part in (text, body) if part.strip())


async def _shown_run(kernel: NotebookKernel, options: CellOptions, prompt: str) -> Outcome:
    agent = kernel.agent
    if agent.loop is not None:
        raise AgentBusyError(BUSY)
    overrides, tools = kernel.overrides(options), kernel.chosen_tools(options)
    if options.new:
        kernel.forget()
    view = _view(kernel, options, Recorder(uuid.uuid4().hex, None, overrides.get("model", agent.model)))
    started = False

    def start(event: AgentEvent) -> None:
        nonlocal started
        if not started:
            started = True
            view.start()

    task = asyncio.current_task()
    assert task is not None
    forget = agent.subscribe(start)
    outcome = Outcome()
    try:
        with kernel.showing(view, tools):
            async with stoppable(kernel.stop, task.cancel):
                outcome = await _run(agent, prompt, overrides)
    finally:
        forget()
        if started:
            view.recorder.finish(outcome.error or outcome.reply)
            view.finish()
    return outcome


async def _run(agent: Any, prompt: str, overrides: dict[str, Any]) -> Outcome:
    try:
        reply = await (agent.prompt(prompt, **overrides) if prompt else agent.continue_(**overrides))
    except (asyncio.CancelledError, KeyboardInterrupt):
        return Outcome(None, stopped())
    except AgentMagicError as error:
        return Outcome(getattr(error, "reply", None), error)
    return Outcome(reply, stopped() if reply.stop_cause is StopCause.ABORTED else None)


def _view(kernel: NotebookKernel, options: CellOptions, recorder: Recorder) -> QuietView:
    if options.quiet:
        return QuietView(recorder)
    if kernel.in_terminal:
        return TerminalView(recorder)
    # `%%capture` keeps every update as an output of its own.
    captured = isinstance(kernel.shell.display_pub, CapturingDisplayPublisher)
    return LiveOutput(recorder, kernel.shell, updates=not captured)
