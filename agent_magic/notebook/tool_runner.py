"""Runs the plain functions among the tools: on the main thread, their output caught for the card of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import AbortedError, ToolTimeoutError
from ..events import ToolExecutionUpdateEvent
from ..tools.execution import PoolRunner
from ..tools.result import to_result
from ..tools.tool import AgentTool, ToolContext
from .capture import Captured, capture
from .interrupt import on_main_thread
from .main_thread import Interruption, main_thread_is_free, on_main

if TYPE_CHECKING:
    from .kernel import NotebookKernel
    from .view import View

T = TypeVar("T")


class ToolRunner:
    """The `FunctionRunner` of a kernel. While no view shows the run, output goes to the cell as it would without us."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel

    async def run(self, function: Callable[[], T], tool: AgentTool, context: ToolContext) -> T:
        if not main_thread_is_free():
            return await PoolRunner().run(function, tool, context)
        view = self._kernel.view
        interruption = Interruption()
        forget = context.signal.on_abort(lambda: interruption.send(AbortedError(context.signal.reason)))
        try:
            if view is None:
                return await on_main(lambda: self._call(function, tool, interruption), interruption)
            return await self._run_shown(function, tool, context, view, interruption)
        finally:
            forget()

    async def _run_shown(
        self, function: Callable[[], T], tool: AgentTool, context: ToolContext, view: View, interruption: Interruption
    ) -> T:
        captured = Captured()

        def captured_function() -> T:
            with capture(self._kernel.shell, captured):
                return function()

        if on_main_thread():
            # The loop will stand still, so neither a timer nor an event could draw anything.
            view.flush()
            _report_at_once(context, tool, view)
        try:
            return await on_main(lambda: self._call(captured_function, tool, interruption), interruption)
        finally:
            view.add_outputs(context.tool_call_id, captured.bundles, tool.origin)

    def _call(self, function: Callable[[], T], tool: AgentTool, interruption: Interruption) -> T:
        def timed_out() -> ToolTimeoutError:
            return ToolTimeoutError(f"The tool {tool.name!r} did not finish within {tool.timeout:g} s and was stopped.")

        try:
            return interruption.guard(function, tool.timeout, timed_out)
        except KeyboardInterrupt:
            self._kernel.stop()
            raise


def _report_at_once(context: ToolContext, tool: AgentTool, view: View) -> None:
    """Have the progress of this call drawn when it is reported; the event of it comes when the loop goes on."""
    deliver = context.on_update

    def on_update(partial: Any) -> None:
        deliver(partial)
        view.handle(ToolExecutionUpdateEvent(context.tool_call_id, tool.name, {}, to_result(partial)))
        view.flush()

    # The function holds this very context, which was made for this one call.
    object.__setattr__(context, "on_update", on_update)
