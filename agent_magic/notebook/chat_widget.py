"""`am.panel()`: the chat as a widget in the output of a cell, where there is no side panel."""

from __future__ import annotations

import atexit
import itertools
from html import escape
from typing import Any

from ..errors import AgentMagicError
from .kernel import NotebookKernel, this_kernel
from .run_methods import kernel_loop
from .run_widget import PageWidget, widgets_are_built

OPEN = "The chat with the agent of this notebook. Where it is not shown, run agent_magic.panel() again."
CLOSED = "Here was a chat with the agent of this notebook. agent_magic.panel() opens it again."

_numbers = itertools.count(1)


class ChatWidget:
    """The chat with the agent of a kernel. Show it as the last line of a cell or with `display`; `close` ends it.

    What was said stays in the conversation, which all panels and cells share.
    """

    def __init__(self, kernel: NotebookKernel) -> None:
        self._publisher = kernel.shell.display_pub
        self._shown: list[str] = []
        self._widget: PageWidget | None = PageWidget(kernel.chat.methods(), lambda: kernel_loop(kernel), kind="chat")
        kernel.chat.add(self._widget.connection, self.close)
        # A kernel that is shut down in good order takes it away, too.
        atexit.register(self.close)

    def close(self) -> None:
        """Take it out of every page, and leave a line there that says what it was."""
        widget, self._widget = self._widget, None
        if widget is None:
            return
        atexit.unregister(self.close)
        for name in self._shown:
            self._publish(_words(CLOSED), name, update=True)
        widget.close()

    def _ipython_display_(self) -> None:
        # Each showing has a name of its own, by which it can be replaced: a saved notebook reopens a widget whose
        # kernel is gone as an error.
        name = f"agent-magic-panel-{next(_numbers)}"
        if self._widget is None:
            self._publish(_words(CLOSED), name)
        else:
            self._shown.append(name)
            self._publish({**self._widget.bundle, **_words(OPEN)}, name)

    def _publish(self, data: dict[str, Any], name: str, update: bool = False) -> None:
        self._publisher.publish(data, {}, transient={"display_id": name}, update=update)

    def __repr__(self) -> str:
        return CLOSED if self._widget is None else OPEN


def _words(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": f"<p>{escape(text)}</p>"}


def panel() -> ChatWidget:
    """The chat with the agent of this notebook as a widget; several show the same conversation.

    Raises `AgentMagicError` where the extension is not loaded, or where there is no page that shows widgets.
    """
    kernel = this_kernel()
    if kernel.in_terminal:
        raise AgentMagicError("A terminal shows no widgets. Ask by %agent TEXT, or open a notebook.")
    if not widgets_are_built():
        raise AgentMagicError(
            "This copy of agent_magic was installed without its front end. Install the wheel: %pip install agent-magic"
        )
    try:
        return ChatWidget(kernel)
    except ImportError as error:
        raise AgentMagicError(f"Widgets need the package anywidget: %pip install anywidget ({error})") from None
