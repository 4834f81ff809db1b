"""MCP servers and their tools, for scripts and notebooks (sources: Y SP-009, SP-010)."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .mcp_config import MCPServerConfig, read_configs
from .mcp_results import agent_result
from .mcp_server import MCPServer, State, check_installed
from .mcp_text import description, label, schema, tool_name
from .mcp_thread import LoopThread
from .tool import AgentTool, ToolContext

START_TIMEOUT = 30.0
CALL_TIMEOUT = 600.0
# A server that does not leave by itself is ended after 2 s, and killed after 2 s more.
CLOSE_TIMEOUT = 8.0


@dataclass(frozen=True)
class MCPServerState:
    """How a server is: `shown` is its command or URL, `error` why it failed, `output` what it printed last.

    `tools` are the names that the model knows; `left_out` counts tools that were too many.
    """

    name: str
    shown: str
    state: State
    tools: tuple[str, ...] = ()
    error: str = ""
    output: str = ""
    left_out: int = 0


class MCPServers:
    """MCP servers, each started and watched by itself on a loop of their own; methods are safe from any thread.

    `servers` maps names to commands, URLs or objects as in `.mcp.json`. They start with `with`, `async with` or
    `start()`, and end with it or `close()`, at the latest when Python ends. A server has `start_timeout` seconds to
    answer, a call `call_timeout`. Giving a server here is consent to start it.

    >>> import agent_magic as am
    >>> with am.MCPServers({"time": "mcp-server-time --local-timezone UTC"}) as servers:  # doctest: +SKIP
    ...     am.Agent("demo", tools=servers.tools()).run("What time is it in UTC?")

    Raises `AgentMagicError` with the line to install it where the package `mcp` is missing, `InvalidDataError` for
    what does not describe servers.
    """

    def __init__(
        self, servers: Any = (), *, start_timeout: float = START_TIMEOUT, call_timeout: float = CALL_TIMEOUT
    ) -> None:
        self._configs = read_configs(servers)
        self._start_timeout = start_timeout
        self._call_timeout = call_timeout
        self._servers: dict[str, tuple[MCPServer, Future[None]]] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._made: dict[MCPServer, tuple[Any, dict[str, AgentTool]]] = {}
        self._thread: LoopThread | None = None
        self._lock = threading.RLock()

    # Life -------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start all that are not running; returns at once."""
        for config in self._configs:
            entry = self._servers.get(config.name)
            if entry is None or entry[0].state in ("failed", "stopped"):
                self.add(config)

    def add(self, config: MCPServerConfig) -> None:
        """Start this server, in place of one of the same name; returns at once."""
        check_installed()
        self.remove(config.name)
        with self._lock:
            if self._thread is None or not self._thread.in_this_process:
                self._thread = LoopThread("agent_magic mcp")
                self._servers.clear()
                atexit.register(self.close)
            server = MCPServer(config, self._start_timeout)
            self._servers[config.name] = server, self._thread.submit(server.run())

    def restart(self, name: str) -> None:
        """Start this server anew; returns when it has ended, and before it has connected."""
        entry = self._servers.get(name)
        if entry is not None:
            self.add(entry[0].config)

    def remove(self, name: str) -> bool:
        """End this server, and wait for that. Returns whether there was one."""
        with self._lock:
            entry = self._servers.pop(name, None)
        if entry is not None:
            self._end([entry])
        return entry is not None

    def close(self) -> None:
        """End all servers and the thread that served them. May be called twice."""
        with self._lock:
            entries, thread = [*self._servers.values()], self._thread
            self._servers.clear()
            self._made.clear()
            self._thread = None
        atexit.unregister(self.close)
        if thread is not None and thread.in_this_process:
            self._end(entries, thread)
            thread.close(1.0)

    def _end(self, entries: Sequence[tuple[MCPServer, Future[None]]], thread: LoopThread | None = None) -> None:
        thread = thread or self._thread
        if thread is None or not thread.in_this_process:
            return
        for server, _ in entries:
            thread.call(server.stop)
        lives = [life for _, life in entries]
        for life in wait(lives, CLOSE_TIMEOUT).not_done:
            life.cancel()
        for server, _ in entries:
            self._made.pop(server, None)

    def wait(self, timeout: float | None = None) -> None:
        """Return when every server has connected or failed, or after `timeout` seconds."""
        future = self._settled(timeout)
        if future is not None:
            future.result()

    async def ready(self, timeout: float | None = None) -> None:
        """`wait` for asynchronous code, on whatever loop."""
        future = self._settled(timeout)
        if future is not None:
            await asyncio.wrap_future(future)

    def _settled(self, timeout: float | None) -> Future[None] | None:
        with self._lock:
            servers, thread = [each for each, _ in self._servers.values() if each.state == "starting"], self._thread
        if not servers or thread is None or not thread.in_this_process:
            return None

        async def settle() -> None:
            await asyncio.wait([asyncio.ensure_future(each.settled.wait()) for each in servers], timeout=timeout)

        return thread.submit(settle())

    def __enter__(self) -> MCPServers:
        self.start()
        try:
            self.wait()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> MCPServers:
        self.start()
        try:
            await self.ready()
        except BaseException:
            await asyncio.to_thread(self.close)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    # What they offer --------------------------------------------------------------------------------------------------

    def tools(self) -> dict[str, AgentTool]:
        """The tools of all servers that are connected, by the names that the model knows, as they are now.

        `agent.tools = servers.tools()` takes them once; `agent.tool_source = servers.tools` keeps up with changes.
        """
        found: dict[str, AgentTool] = {}
        with self._lock:
            for server, _ in self._servers.values():
                found.update(self._tools_of(server))
        return found

    def states(self) -> tuple[MCPServerState, ...]:
        """How each server is, in the order in which they were added."""
        with self._lock:
            return tuple(
                MCPServerState(
                    server.config.name,
                    server.config.shown,
                    server.state,
                    tuple(self._tools_of(server)),
                    server.error,
                    server.output,
                    server.left_out,
                )
                for server, _ in self._servers.values()
            )

    def _tools_of(self, server: MCPServer) -> dict[str, AgentTool]:
        listed = server.listed
        made = self._made.get(server)
        if made is None or made[0] is not listed:
            tools = (self._tool(server, each) for each in listed)
            made = self._made[server] = (listed, {tool.name: tool for tool in tools})
        return made[1]

    def _tool(self, server: MCPServer, listed: Any) -> AgentTool:
        owner, raw = server.config.name, str(listed.name)
        if (owner, raw) not in self._names:
            self._names[owner, raw] = tool_name(owner, raw, self._names.values())
        title = listed.title or getattr(listed.annotations, "title", None) or raw
        return AgentTool(
            self._names[owner, raw],
            description(owner, raw, listed.description),
            schema(listed.input_schema),
            self._caller(server, raw),
            label=label(title),
            effect="network" if server.config.url else "execute",
            origin="mcp",
            timeout=self._call_timeout,
        )

    def _caller(self, server: MCPServer, raw: str) -> Any:
        async def call(arguments: dict[str, Any], context: ToolContext) -> Any:
            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                context.on_update(_progress(progress, total, message))

            thread = self._thread
            if thread is None:
                raise server.failure("has been closed")
            result = await asyncio.wrap_future(thread.submit(server.call(raw, arguments, on_progress)))
            return agent_result(server.config.name, raw, result)

        return call


def _progress(progress: float, total: float | None, message: str | None) -> str:
    numbers = f"{progress:g} of {total:g}" if total else f"{progress:g}"
    return f"{label(message)} ({numbers})" if message else numbers
