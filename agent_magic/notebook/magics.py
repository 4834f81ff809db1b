"""`%agent` and `%%agent`: as ordinary magics, which block, and as the coroutines that a cell awaits."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import no_var_expand

from .commands import command_of, help_text
from .flags import CellOptions, parse
from .kernel import NotebookKernel


class AgentMagics:
    """What the input transformer calls as `get_ipython().agent_magic`."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self.kernel = kernel

    async def run_cell(self, line: str, body: str) -> Any:
        """`%%agent` as a top-level await. Returns the `Reply`."""
        from .run_cell import run_cell

        return self._shown((await run_cell(self.kernel, parse(line), body)).value())

    async def run_line(self, line: str) -> Any:
        """`%agent` as a top-level await."""
        from .run_cell import run_cell

        options = self._command(line)
        return None if options is None else self._shown((await run_cell(self.kernel, options, "")).value())

    def cell(self, line: str, body: str) -> Any:
        """`%%agent` where the cell cannot await: inside `%%time`, `run_cell`, or with autoawait off."""
        from .run_cell import run_blocking_cell

        return run_blocking_cell(self.kernel, parse(line), body).value()

    def line(self, line: str) -> Any:
        """`%agent` where the cell cannot await."""
        from .run_cell import run_blocking_cell

        options = self._command(line)
        return None if options is None else run_blocking_cell(self.kernel, options, "").value()

    def _shown(self, reply: Any) -> Any:
        """The value of the cell. A terminal would print a bare `Out[1]:` for it, so there it is only kept in `Out`."""
        if not self.kernel.in_terminal:
            return reply
        self.kernel.shell.displayhook.update_user_ns(reply)
        return None

    def _command(self, line: str) -> CellOptions | None:
        """Run the subcommand that `line` is; where it is a message, return what it asks for."""
        found = command_of(line)
        if found is None:
            return parse(line)
        command, words = found
        print(command(self.kernel, words))
        return None


def magic_function(magics: AgentMagics) -> Any:
    """The function to register under both kinds of magic; its docstring is the help."""

    @no_var_expand
    def agent(line: str, cell: str | None = None) -> Any:
        return magics.line(line) if cell is None else magics.cell(line, cell)

    agent.__doc__ = help_text()
    return agent
