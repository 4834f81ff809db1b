"""The agent of a notebook: its tools are read from the notebook and its MCP servers, and their results hold no keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..agent.agent import Agent
from ..models import Model
from ..tools.tool import AgentTool
from .key_guard import guarding
from .notebook_tools import NotebookTools
from .servers import NotebookServers


class NotebookAgent(Agent):
    """An `Agent` that also has the tools of its notebook, and none that is switched off.

    Known keys are hidden in what its tools return, before anybody sees it.
    """

    def __init__(self, notebook: NotebookTools, servers: NotebookServers, **more: Any) -> None:
        super().__init__(**more)
        self._notebook = notebook
        self._servers = servers

    @property
    def model_in_use(self) -> Model:
        """The model of the run that goes on, else of the next one."""
        active = self._slot.active
        return self.model if active is None else active.run.request.model

    def check_idle(self) -> None:
        """Raise `AgentBusyError` during a run."""
        self._slot.check_idle()

    def _read_tools(self) -> Mapping[str, AgentTool]:
        known = self._notebook.known({**self._servers.tools(), **super()._read_tools()})
        return {name: tool for name, tool in known.items() if self._notebook.allows(name)}

    async def _begin(self, *given: Any) -> Any:
        await self._servers.ready()
        return await super()._begin(*given)

    def _new_run(self, overrides: Mapping[str, Any], channel: Any) -> Any:
        hook = overrides.get("after_tool_call", self.loop_config.after_tool_call)
        return super()._new_run({**overrides, "after_tool_call": guarding(hook)}, channel)
