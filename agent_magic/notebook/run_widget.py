"""A widget in the page by which a view there and this kernel talk, where the page can show widgets."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .connection import Connection, Method, Request

STATIC = Path(__file__).parents[1] / "static"
LOADER = STATIC / "loader.js"
VIEW = STATIC / "view.js"

WIDGET_TYPE = "application/vnd.jupyter.widget-view+json"


def widgets_are_built() -> bool:
    """Whether this package holds the code for the page; a checkout has it once the front end was built."""
    return LOADER.is_file() and VIEW.is_file()


class PageWidget:
    """An anywidget whose custom messages are the protocol, and its `connection`. `kind` is what it shows: run or chat.

    Its own code is small: it takes the view from the page, or requests it once a page by the method `code`. Raises
    `ImportError` where anywidget cannot be imported.
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        loop: Callable[[], asyncio.AbstractEventLoop],
        loader: Path = LOADER,
        kind: str = "run",
    ) -> None:
        self._widget = _widget_class(loader)(kind=kind)
        answer_where_asked(self._widget.comm)
        self.connection = Connection(self, {**methods, "code": Method(_code, at_once=True)}, loop)
        self._widget.on_msg(self._receive)

    @property
    def bundle(self) -> dict[str, Any]:
        """What shows it in an output."""
        return {WIDGET_TYPE: {"version_major": 2, "version_minor": 0, "model_id": self._widget.model_id}}

    def send(self, message: Mapping[str, Any]) -> None:
        self._widget.send(dict(message))

    def close(self) -> None:
        """Take it out of every page, with all that belongs to it."""
        self.connection.close()
        layout = getattr(self._widget, "layout", None)
        self._widget.close()
        if layout is not None:
            layout.close()

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        self.connection.receive(content)


def _code(request: Request) -> dict[str, str]:
    return {"code": VIEW.read_text(encoding="utf-8")}


def answer_where_asked(comm: Any) -> None:
    """Let the page's messages be handled in the subshell that they name.

    ipykernel 7.4 sends them to the shell that published last on the comm; that is the main one, which may be busy.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = None


@functools.cache
def _widget_class(loader: Path) -> Any:
    import anywidget
    from traitlets import Unicode

    class AgentView(anywidget.AnyWidget):
        _esm = loader.read_text(encoding="utf-8")
        kind = Unicode().tag(sync=True)

        def __repr__(self) -> str:
            return f"A {self.kind} of agent_magic, while its kernel lives."

    return AgentView
