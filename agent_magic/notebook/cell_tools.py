"""The tools `read_cells`, `insert_cell`, `edit_cell` and `run_cell`: the notebook that a page of the panel shows.

The page does what only it can, in the notebook where the run began, whichever the user looks at. Cells are named by
their ids. What the user approves is what happens: a cell that has changed since is left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..agent.policy import ApprovalAnswer, ApprovalRequest, Approver
from ..config import ToolExecutionMode
from ..errors import AgentMagicError, ToolExecutionError
from ..messages import TextContent
from ..tools.result import cut
from ..tools.tool import AgentTool, AgentToolResult, ToolContext
from .cell_execution import CellExecution
from .files import difference
from .tool_runner import ToolRunner
from .wording import count

if TYPE_CHECKING:
    from .kernel import NotebookKernel

# Seconds that a page has to answer at all, and to do what it is asked.
PATIENCE = 5.0
TIMEOUT = 30.0
# Characters of all cells that one reading gives, of the source of each among several, and of its outputs.
CHARACTERS = 14_000
SOURCE = 4_000
OUTPUTS = 1_500

_ID = {"type": "string", "minLength": 1, "description": "Id of the cell, as read_cells gives it."}
_SOURCE = {"type": "string", "description": "The whole text of the cell."}

Cell = Mapping[str, Any]


class CellTools:
    """The four tools of a kernel. They exist only while a page of the panel shows its notebook."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        # The sources that the user was shown before a call, by its id.
        self._shown: dict[str, str] = {}

    def tools(self) -> list[AgentTool]:
        return [
            _tool(
                "read_cells",
                "Read cells of the notebook: their ids, sources and outputs. Without arguments all of them.",
                {
                    "ids": {"type": "array", "items": {"type": "string"}, "description": "Only these cells."},
                    "start": {"type": "integer", "minimum": 0, "description": "Only from this position on, 0 first."},
                    "stop": {"type": "integer", "minimum": 0, "description": "Only before this position."},
                },
                (),
                self.read_cells,
                "read",
            ),
            _tool(
                "insert_cell",
                "Put a new cell into the notebook. It is not run. Gives its id.",
                {
                    "source": _SOURCE,
                    "after": {
                        "type": ["string", "null"],
                        "description": "Id of the cell that it follows; null: before all. Without it, at the end.",
                    },
                    "type": {"enum": ["code", "markdown"], "description": "code if not given."},
                },
                ("source",),
                self.insert_cell,
                "write",
            ),
            _tool(
                "edit_cell",
                "Change a cell: replace the text old, which must occur once, by new; or the whole source. Not run.",
                {
                    "id": _ID,
                    "old": {"type": "string", "minLength": 1, "description": "The exact text to replace."},
                    "new": {"type": "string", "description": "What to put there."},
                    "source": _SOURCE,
                },
                ("id",),
                self.edit_cell,
                "write",
            ),
            _tool(
                "run_cell",
                "Run a code cell of the notebook as it stands. Its outputs appear below it. Gives what it prints, the "
                "value of its last line, figures, and the traceback of an error.",
                {"id": _ID},
                ("id",),
                self.run_cell,
                "execute",
            ),
        ]

    @property
    def are_there(self) -> bool:
        """Whether there is a page that can do what they are for, or was one when the run began."""
        chat = self._kernel.open_chat
        return chat is not None and (chat.notebook is not None or chat.page() is not None)

    # The tools --------------------------------------------------------------------------------------------------------

    async def read_cells(self, arguments: dict[str, Any], context: ToolContext) -> str:
        ids, start, stop = (arguments.get(name) for name in ("ids", "start", "stop"))
        cells = await self._cells(ids)
        if ids is None:
            cells = cells[slice(start, stop)]
        if not cells:
            return "There are no such cells." if ids or start or stop else "The notebook has no cells."
        return _listed(cells)

    async def insert_cell(self, arguments: dict[str, Any], context: ToolContext) -> str:
        after = arguments.get("after")
        if "after" not in arguments:
            cells = await self._cells(None)
            after = cells[-1]["id"] if cells else None
        source, kind = arguments["source"], arguments.get("type") or "code"
        made = await self._ask("insert_cell", {"after": after, "type": kind, "source": source})
        return f"Inserted the {kind} cell {made.get('id')}."

    async def edit_cell(self, arguments: dict[str, Any], context: ToolContext) -> str:
        cell = await self._cell(arguments["id"])
        before = self._unchanged(cell, context.tool_call_id)
        after = edited(before, arguments)
        await self._ask("edit_cell", {"id": cell["id"], "source": after, "expected": before})
        return difference(before, after, f"cell {cell['id']}")

    async def run_cell(self, arguments: dict[str, Any], context: ToolContext) -> AgentToolResult:
        cell = await self._cell(arguments["id"])
        if cell["type"] != "code":
            raise ToolExecutionError(f"Cell {cell['id']} is {cell['type']}, which does not run.")
        source = self._unchanged(cell, context.tool_call_id)
        execution = CellExecution(self._kernel, context, source)
        runner, tool = ToolRunner(self._kernel), self._kernel.known_tools()["run_cell"]
        result = await runner.run(execution.result, tool, context)
        if inspect.isawaitable(result):
            result = await result
        shown = {"id": cell["id"], "outputs": execution.outputs, "execution_count": None}
        try:
            await self._ask("set_outputs", shown)
        except AgentMagicError as error:
            note = TextContent(f"The cell ran, but its outputs could not be put below it: {error}")
            return replace(result, content=(*result.content, note))
        return result

    # The page ---------------------------------------------------------------------------------------------------------

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        chat = self._kernel.open_chat
        found = None if chat is None else chat.page()
        if found is None:
            raise ToolExecutionError(
                "No page shows the notebook any more, so its cells cannot be reached. Tell the user to open it with "
                "the panel."
            )
        connection, page = found
        if not await connection.is_there(page.id, PATIENCE):
            raise ToolExecutionError(_UNHEARD)
        answer = await connection.ask(page.id, method, params, TIMEOUT)
        return answer if isinstance(answer, dict) else {}

    async def _cells(self, ids: Sequence[str] | None) -> list[Cell]:
        answer = await self._ask("read_cells", {} if ids is None else {"ids": list(ids)})
        cells = answer.get("cells")
        if not isinstance(cells, list):
            raise ToolExecutionError("The page gave no cells. Reload it, then try again.")
        return [{**_NO_CELL, **cell} for cell in cells if isinstance(cell, dict)]

    async def _cell(self, name: str) -> Cell:
        for cell in await self._cells([name]):
            if cell["id"] == name:
                return cell
        raise ToolExecutionError(f"The notebook has no cell {name}. read_cells lists them.")

    # Approval ---------------------------------------------------------------------------------------------------------

    async def explained(self, request: ApprovalRequest) -> ApprovalRequest:
        """The request with what the call would do to the cell as it stands, so that nothing is approved unseen."""
        if request.tool.name not in ("edit_cell", "run_cell") or request.tool.origin != "builtin":
            return request
        try:
            cell = await self._cell(str(request.arguments.get("id")))
            before = str(cell["source"])
            if request.tool.name == "run_cell":
                shown = f"The cell {cell['id']}:\n{before}"
            else:
                shown = difference(before, edited(before, request.arguments), f"cell {cell['id']}")
        except AgentMagicError:
            # The call itself will fail and say why.
            return request
        self._shown[request.call.id] = before
        return replace(request, reason=f"{request.reason}\n{shown}".strip())

    def forget(self, call: str) -> None:
        """The call will not happen."""
        self._shown.pop(call, None)

    def _unchanged(self, cell: Cell, call: str) -> str:
        """The source of a cell, which must be what the user was shown, if that was asked."""
        source = str(cell["source"])
        if self._shown.pop(call, source) != source:
            raise ToolExecutionError(
                f"Cell {cell['id']} has changed since the user was asked. Read it, then ask again."
            )
        return source


class CellApprover:
    """Shows the cell in question before it has `approver` ask."""

    def __init__(self, approver: Approver, cells: CellTools) -> None:
        self._approver = approver
        self._cells = cells

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        try:
            answer = await self._approver.ask(await self._cells.explained(request))
        except BaseException:
            self._cells.forget(request.call.id)
            raise
        if answer.decision != "allow":
            self._cells.forget(request.call.id)
        return answer


def edited(source: str, arguments: Mapping[str, Any]) -> str:
    """What `edit_cell` makes of a source. Raises `ToolExecutionError` where its arguments do not fit."""
    old, new, whole = (arguments.get(name) for name in ("old", "new", "source"))
    if whole is not None:
        if old is not None or new is not None:
            raise ToolExecutionError("Give either old and new, or source.")
        return str(whole)
    if old is None or new is None:
        raise ToolExecutionError("Give old and new, or the whole source.")
    found = source.count(old)
    if found != 1:
        raise ToolExecutionError(
            f"The text old occurs {count(found, 'time')} in the cell, not once. Give more of it, exactly as it stands."
        )
    return source.replace(old, new)


_UNHEARD = (
    "The page that shows the notebook does not answer. Before ipykernel 7.4 a kernel may hear it only while no cell "
    "runs: tell the user to ask in the panel, where no cell is needed."
)
_NO_CELL = {"id": "", "type": "code", "source": "", "outputs_text": "", "execution_count": None}


def _listed(cells: Sequence[Cell]) -> str:
    alone = len(cells) == 1
    texts: list[str] = []
    room = CHARACTERS
    for cell in cells:
        outputs = cut(str(cell["outputs_text"]).rstrip(), CHARACTERS // 2 if alone else OUTPUTS)
        number = f", run as [{cell['execution_count']}]" if cell["execution_count"] is not None else ""
        text = f"--- cell {cell['id']} ({cell['type']}{number})\n" + cut(
            str(cell["source"]), CHARACTERS if alone else SOURCE
        )
        text += f"\n--- its output\n{outputs}" if outputs else ""
        room -= len(text)
        if room < 0 and texts:
            texts.append(f"[{count(len(cells) - len(texts), 'more cell')}; read them by ids, or from a position on]")
            break
        texts.append(text)
    return "\n".join(texts)


def _tool(
    name: str, description: str, properties: Mapping[str, Any], required: tuple[str, ...], execute: Any, effect: Any
) -> AgentTool:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    mode = None if effect == "read" else ToolExecutionMode.SEQUENTIAL
    return AgentTool(name, description, schema, execute, effect=effect, origin="builtin", execution_mode=mode)
