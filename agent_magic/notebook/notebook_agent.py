"""The agent of a notebook: its tools are read from the notebook at the start of each turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..agent.agent import Agent
from ..tools.tool import AgentTool
from .notebook_tools import NotebookTools


class NotebookAgent(Agent):
    """An `Agent` that also has the tools of its notebook, and none that is switched off."""

    def __init__(self, notebook: NotebookTools, **more: Any) -> None:
        super().__init__(**more)
        self._notebook = notebook

    def _read_tools(self) -> Mapping[str, AgentTool]:
        known = self._notebook.known(super()._read_tools())
        return {name: tool for name, tool in known.items() if self._notebook.allows(name)}
