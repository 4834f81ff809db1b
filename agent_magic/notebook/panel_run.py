"""A run that no cell asked for: a task of the kernel's own loop, shown by the pages that follow it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack
from typing import Any

from ..agent.active_run import BUSY
from ..errors import AgentBusyError, AgentMagicError
from ..events import AgentEndEvent, AgentEvent, ToolExecutionEndEvent
from .command import Errand
from .kernel import NotebookKernel
from .panel_output import PanelOutput
from .record import Recorder
from .run_cell import Outcome, shown_run
from .view import QuietView

STOPPED = "This was stopped before it began."

_logger = logging.getLogger(__name__)


class PanelView(QuietView):
    """Shown by pages alone, so that nothing can be asked by `input()`. `begun` is done when the run begins."""

    in_cell = False

    def __init__(
        self, kernel: NotebookKernel, recorder: Recorder, output: PanelOutput, begun: asyncio.Future[None]
    ) -> None:
        super().__init__(recorder, kernel.origin_of)
        self._kernel = kernel
        self._begun = begun
        self._output = output

    @property
    def may_be_followed(self) -> bool:
        # The page that asked for the run may be hidden now, where its user is told of a question all the same.
        return self._kernel.chat.may_be_seen

    def start(self) -> None:
        super().start()
        if not self._begun.done():
            self._begun.set_result(None)

    def handle(self, event: AgentEvent) -> None:
        super().handle(event)
        if isinstance(event, ToolExecutionEndEvent) and (bundles := self._output.take(event.tool_call_id)):
            self.add_outputs(event.tool_call_id, bundles, self._origin_of(event.tool_name))
        elif isinstance(event, AgentEndEvent):
            rest = "".join(str(bundle.get("text/plain", "")) for bundle in self._output.take(None)).strip()
            if rest:
                self.recorder.add_note(f"Printed during the run: {rest}")


class PanelRuns:
    """The runs that pages ask for, one at a time. To be used on the kernel's own loop, but for `stop`."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._task: asyncio.Task[Outcome] | None = None

    async def start(self, errand: Errand) -> None:
        """Begin a run; returns when it has begun. Raises what keeps it from beginning, such as that one goes on."""
        begun, task = self.begin(errand)
        ends: set[asyncio.Future[Any]] = {begun, task}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if begun.done():
            return
        if task.cancelled():
            raise AgentMagicError(STOPPED)
        error = task.result().error
        if error is not None:
            raise error if isinstance(error, Exception) else AgentMagicError(STOPPED)

    def begin(self, errand: Errand) -> tuple[asyncio.Future[None], asyncio.Task[Outcome]]:
        """Begin a run, and wait for nothing: a future that is done when it has begun, and its task."""
        if self._kernel.busy:
            raise AgentBusyError(BUSY)
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[None] = loop.create_future()
        # From here on, since the task begins only later; closed where it never does.
        hold = ExitStack()
        hold.enter_context(self._kernel.occupied())
        task = loop.create_task(self._run(errand, begun, hold))
        self._task = task
        task.add_done_callback(self._ended)
        task.add_done_callback(lambda _: hold.close())
        return begun, task

    def stop(self) -> None:
        """Stop the run that goes on, whoever began it, or the one that is about to begin; from any thread."""
        self._kernel.stop()
        task = self._task
        if task is not None and self._kernel.agent.loop is None:
            task.get_loop().call_soon_threadsafe(task.cancel)

    def close(self) -> None:
        """Stop the run that a page asked for, if there is one."""
        if self._task is not None:
            self.stop()

    async def _run(self, errand: Errand, begun: asyncio.Future[None], hold: ExitStack) -> Outcome:
        output = PanelOutput()
        with hold, output.catching(self._kernel.shell):
            return await shown_run(
                self._kernel, errand, lambda recorder: PanelView(self._kernel, recorder, output, begun)
            )

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, AgentMagicError):
            _logger.error("A run of the panel failed.", exc_info=error)
