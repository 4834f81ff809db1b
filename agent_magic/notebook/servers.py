"""The MCP servers of a kernel: those that the notebook added, and those of the `.mcp.json` beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AgentMagicError
from .mcp_file import ServersFile, is_allowed, read_servers
from .wording import count, one_line

if TYPE_CHECKING:
    from ..tools.mcp import MCPServers, MCPServerState
    from ..tools.mcp_config import MCPServerConfig
    from ..tools.tool import AgentTool

# Seconds that a run waits for servers which are starting. A slower one joins at a later turn.
WAIT = 10.0


class NotebookServers:
    """Nothing is read, imported or started before the first run or the first `%agent mcp`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._servers: MCPServers | None = None
        self._started = ""
        self._of_file: set[str] = set()
        self._trouble = ""
        self._told: set[str] = set()

    @property
    def running(self) -> MCPServers:
        if self._servers is None:
            from ..tools.mcp import MCPServers

            self._servers = MCPServers()
        return self._servers

    def file(self) -> ServersFile | None:
        """The file beside the notebook as it is now. Raises `AgentMagicError` for one that cannot be used."""
        return read_servers(self.home)

    def waiting(self) -> ServersFile | None:
        """The file, if there is one that the user has not allowed as it is."""
        file = self.file()
        return None if file is None or not file.configs or is_allowed(file) else file

    def start_allowed(self) -> None:
        """Start the servers of the file, if it is allowed and this has not been done. Returns at once."""
        file = self.file()
        if file is None or file.digest == self._started or not is_allowed(file):
            return
        names = {config.name for config in file.configs}
        for gone in self._of_file - names:
            self.running.remove(gone)
        for config in file.configs:
            self.running.add(config)
        self._started, self._of_file = file.digest, names

    def add(self, config: MCPServerConfig) -> None:
        self._of_file.discard(config.name)
        self.running.add(config)

    def remove(self, name: str) -> bool:
        return self._servers is not None and self._servers.remove(name)

    def tools(self) -> Mapping[str, AgentTool]:
        """The tools of the servers that are connected."""
        return self._servers.tools() if self._servers is not None else {}

    def states(self) -> tuple[MCPServerState, ...]:
        return self._servers.states() if self._servers is not None else ()

    async def ready(self) -> None:
        """Before a run: start what is allowed, and wait a little for what is starting. Raises nothing."""
        self._trouble = ""
        try:
            file = self.file()
            if file is not None and file.digest != self._started:
                # An older server of the same name may take its time to end.
                await asyncio.to_thread(self.start_allowed)
            if self._servers is not None:
                await self._servers.ready(WAIT)
        except AgentMagicError as error:
            self._trouble = str(error)

    def notes(self) -> list[str]:
        """What the user should know and was not told before, a line each."""
        found = [self._trouble] if self._trouble else []
        if not self._trouble and (file := self.waiting()) is not None:
            found.append(
                f"{file.path.name} names {count(len(file.configs), 'MCP server')} that you have not allowed to start. "
                "%agent mcp shows what they are."
            )
        for each in self.states():
            if each.state == "failed":
                found.append(f"The MCP server {each.name} is not there: {one_line(each.error)}. %agent mcp tells more.")
            elif each.state == "starting":
                found.append(f"The MCP server {each.name} is still starting; its tools join when it is there.")
        new = [note for note in found if note not in self._told]
        self._told.update(new)
        return new

    def close(self) -> None:
        """End all servers."""
        if self._servers is not None:
            self._servers.close()
            self._servers = None
            self._started = ""
