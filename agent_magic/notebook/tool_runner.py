"""Runs the plain functions among the tools: on the main thread, their output caught for the card of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import AbortedError, ToolTimeoutError
from ..tools.execution import PoolRunner
from ..tools.tool import AgentTool, ToolContext
from .capture import Captured, capture
from .main_thread import Interruption, main_thread_is_free, on_main
from .view import View

T = TypeVar("T")


class ToolRunner:
    """The `FunctionRunner` of a kernel. `view` shows the run that is going on; without one, output goes to the cell.

    `stop()` aborts the run; it is called when the user interrupts a function.
    """

    def __init__(self, shell: Any, stop: Callable[[], object]) -> None:
        self._shell = shell
        self._stop = stop
        self.view: View | None = None

    async def run(self, function: Callable[[], T], tool: AgentTool, context: ToolContext) -> T:
        if not main_thread_is_free():
            return await PoolRunner().run(function, tool, context)
        view, captured = self.view, Captured()
        if view is not None:
            view.flush()
        interruption = Interruption()
        forget = context.signal.on_abort(lambda: interruption.send(AbortedError(context.signal.reason)))
        try:
            return await on_main(
                lambda: self._call(function, tool, captured if view else None, interruption), interruption
            )
        finally:
            forget()
            if view is not None and captured.bundles:
                view.add_outputs(context.tool_call_id, captured.bundles, tool.origin)

    def _call(self, function: Callable[[], T], tool: AgentTool, captured: Captured | None, guard: Interruption) -> T:
        def timed_out() -> ToolTimeoutError:
            return ToolTimeoutError(f"The tool {tool.name!r} did not finish within {tool.timeout:g} s and was stopped.")

        def captured_function() -> T:
            if captured is None:
                return function()
            with capture(self._shell, captured):
                return function()

        try:
            return guard.guard(captured_function, tool.timeout, timed_out)
        except KeyboardInterrupt:
            self._stop()
            raise AbortedError("Operation aborted") from None
