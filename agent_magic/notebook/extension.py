"""Loading into IPython and unloading again. Whatever loading does is undone by the stack that it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ..agent.many import displays
from . import kernel as kernels
from .await_cell import await_transformer
from .completion import AgentCompletion, add_completion
from .kernel import NotebookKernel
from .magics import AgentMagics, magic_function
from .panel import Panel
from .settings import AgentMagic


class Extension(AgentMagics):
    """The extension while it is loaded: what the cells call, and how to undo it."""

    def __init__(self, kernel: NotebookKernel, undo: ExitStack) -> None:
        super().__init__(kernel)
        self.panel = Panel(kernel)
        self.undo = undo


def load(shell: Any) -> None:
    """Add the magics to this shell. A second call only tells the panels of the pages again that the agent is there."""
    loaded = getattr(shell, "agent_magic", None)
    if isinstance(loaded, Extension):
        if not loaded.kernel.in_terminal:
            loaded.panel.announce()
        return
    with ExitStack() as stack:
        settings = AgentMagic(parent=shell)
        kernel = NotebookKernel(shell, settings)
        extension = Extension(kernel, stack)
        shell.agent_magic = extension
        stack.callback(delattr, shell, "agent_magic")
        stack.callback(kernel.replaying.close)
        stack.callback(kernel.close)
        kernels.enter(kernel)
        stack.callback(kernels.leave, kernel)
        shell.configurables.append(settings)
        stack.callback(shell.configurables.remove, settings)
        _add_magic(shell, extension, stack)
        stack.callback(_add_display(shell, extension))
        transformer = await_transformer(shell)
        shell.input_transformers_cleanup.insert(0, transformer)
        stack.callback(shell.input_transformers_cleanup.remove, transformer)
        stack.callback(kernel.watch_definitions())
        stack.callback(kernel.last_error.watch(shell))
        if not kernel.in_terminal:
            stack.callback(_show_progress(shell))
            stack.callback(extension.panel.close)
            extension.panel.announce()
        stack.callback(add_completion(shell, AgentCompletion(kernel.namespace, kernel.known_tools, kernel.session_ids)))
        extension.undo = stack.pop_all()


def unload(shell: Any) -> None:
    """Undo what `load` did. Does nothing where the extension is not loaded."""
    extension = getattr(shell, "agent_magic", None)
    if isinstance(extension, Extension):
        extension.undo.close()


def _add_display(shell: Any, extension: AgentMagics) -> Callable[[], None]:
    """Have IPython ask the extension whether a reply is still to be shown. Returns how to end it."""
    formatter, name = shell.display_formatter.ipython_display_formatter, "agent_magic.agent.reply.Reply"
    formatter.for_type_by_name(*name.rsplit(".", 1), extension.display)
    return lambda: formatter.pop(name, None)


def _show_progress(shell: Any) -> Callable[[], None]:
    """Show the progress of many prompts by a bar. Returns how to end it."""

    def bar() -> Any:
        from .progress import ProgressBar

        return ProgressBar(shell)

    displays.append(bar)
    return lambda: displays.remove(bar)


def _add_magic(shell: Any, extension: AgentMagics, stack: ExitStack) -> None:
    function = magic_function(extension)
    for kind in ("line", "cell"):
        magics = shell.magics_manager.magics[kind]
        if "agent" in magics:
            stack.callback(magics.__setitem__, "agent", magics["agent"])
        else:
            stack.callback(magics.pop, "agent", None)
        shell.register_magic_function(function, kind, "agent")
