"""Runs the code of a cell that the model asks for, and keeps what it puts out as the outputs of that cell."""

from __future__ import annotations

import base64
import traceback
from typing import TYPE_CHECKING, Any

from ..tools.figures import figure_of
from ..tools.tool import AgentToolResult, ToolContext
from .capture import Bundle
from .limits import RECORD_LIMIT, json_size, jsonable
from .run_python import Execution

if TYPE_CHECKING:
    from .kernel import NotebookKernel


class CellExecution(Execution):
    """Also keeps what was put out as `outputs` of a notebook's cell."""

    def __init__(self, kernel: NotebookKernel, context: ToolContext, code: str) -> None:
        super().__init__(kernel, context, code)
        self.outputs: list[dict[str, Any]] = []

    def _ended(self, value: Any) -> AgentToolResult:
        self.outputs = [*map(_output, self._captured.bundles), *self._result(value)]
        return super()._ended(value)

    def _failed(self, error: BaseException) -> AgentToolResult:
        result = super()._failed(error)
        lines = traceback.format_exception_only(type(error), error)
        self.outputs = [
            *map(_output, self._captured.bundles),
            {
                "output_type": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": [f"{self._traceback(error)}{''.join(lines)}".rstrip()],
            },
        ]
        return result

    def _result(self, value: Any) -> list[dict[str, Any]]:
        if value is None or any(figure_of(value) is figure for figure in self._captured.figures):
            return []
        data, metadata = self._kernel.shell.display_formatter.format(value)
        if not data:
            return []
        shown = {"data": _fitting(data), "metadata": jsonable(metadata), "execution_count": None}
        return [{"output_type": "execute_result", **shown}]


def _output(bundle: Bundle) -> dict[str, Any]:
    if set(bundle) == {"text/plain"}:
        return {"output_type": "stream", "name": "stdout", "text": str(bundle["text/plain"])}
    return {"output_type": "display_data", "data": _fitting(bundle), "metadata": {}}


def _fitting(bundle: Bundle) -> dict[str, Any]:
    """A mimebundle as JSON that reaches the page: what is too large is left out, as long as its text stays."""
    encoded = {
        kind: base64.b64encode(data).decode("ascii") if isinstance(data, bytes) else data
        for kind, data in bundle.items()
    }
    fitting = {kind: data for kind, data in encoded.items() if json_size(data) <= RECORD_LIMIT}
    return fitting or {"text/plain": "[too large to show here]"}
