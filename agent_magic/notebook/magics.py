"""`%agent` and `%%agent`: as ordinary magics, which block, and as the coroutines that a cell awaits."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import no_var_expand

from ..errors import AgentMagicError
from .command import Errand
from .commands import command_of, help_text
from .failure import without_frames
from .flags import CellOptions, parse
from .kernel import NotebookKernel


class AgentMagics:
    """What the input transformer calls as `get_ipython().agent_magic`."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self.kernel = kernel
        self._shown_in = 0
        self._last_shown: Any = None

    def display(self, reply: Any) -> None:
        """Show nothing of a reply in the cell that has shown it while it came. Leaves all others to IPython."""
        if reply is not self._last_shown or self._shown_in != self.kernel.shell.execution_count:
            # So a formatter of IPython hears that this one does not draw the value.
            raise NotImplementedError

    async def run_cell(self, line: str, body: str) -> Any:
        """`%%agent` as a top-level await. Returns the `Reply`."""
        return await self._awaited(self._cell_errand(parse(line), body))

    async def run_line(self, line: str) -> Any:
        """`%agent` as a top-level await."""
        errand = self._line_errand(line)
        return None if errand is None else await self._awaited(errand)

    def cell(self, line: str, body: str) -> Any:
        """`%%agent` where the cell cannot await: inside `%%time`, `run_cell`, or with autoawait off."""
        return self._blocking(self._cell_errand(parse(line), body))

    def line(self, line: str) -> Any:
        """`%agent` where the cell cannot await."""
        errand = self._line_errand(line)
        return None if errand is None else self._blocking(errand)

    async def _awaited(self, errand: Errand) -> Any:
        from ..tools.execution import running_call
        from .run_cell import run_cell

        # Code of a tool, which the run waits for, would wait for ever for the end of that run.
        outcome = await run_cell(self.kernel, errand, wait=running_call() is None)
        return self._value(self._shown(outcome.value()))

    def _blocking(self, errand: Errand) -> Any:
        from .run_cell import run_blocking_cell

        return self._shown(run_blocking_cell(self.kernel, errand).value())

    def _cell_errand(self, options: CellOptions, body: str) -> Errand:
        from .prompt import message_of

        return Errand(options, lambda: message_of(self.kernel, options, body))

    def _shown(self, reply: Any) -> Any:
        self._last_shown, self._shown_in = reply, self.kernel.shell.execution_count
        return reply

    def _value(self, reply: Any) -> Any:
        """The value of the cell. A terminal would print a bare `Out[1]:` for it, so there it is only kept in `Out`."""
        if not self.kernel.in_terminal:
            return reply
        self.kernel.shell.displayhook.update_user_ns(reply)
        return None

    def _line_errand(self, line: str) -> Errand | None:
        """Do what the subcommand in `line` says; the run to make, if it asks for one or if `line` is a message."""
        found = command_of(line)
        if found is None:
            return self._cell_errand(parse(line), "")
        command, words = found
        try:
            answer = command(self.kernel, words)
        except AgentMagicError as error:
            raise without_frames(error) from None
        if isinstance(answer, Errand):
            return answer
        if isinstance(answer, str):
            print(answer)
        else:
            self.kernel.shell.display_pub.publish(dict(answer), {})
        return None


def magic_function(magics: AgentMagics) -> Any:
    """The function to register under both kinds of magic; its docstring is the help."""

    @no_var_expand
    def agent(line: str, cell: str | None = None) -> Any:
        return magics.line(line) if cell is None else magics.cell(line, cell)

    agent.__doc__ = help_text()
    return agent
