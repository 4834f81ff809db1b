"""The servers that the tests of MCP use, and how to call their tools."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_magic import AgentToolResult, MCPServers, ToolContext
from agent_magic.tools.execution import execute

SERVERS = Path(__file__).parent / "mcp_servers"
LIBRARY = {"command": sys.executable, "args": [str(SERVERS / "library.py")]}


def plain(mode: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(SERVERS / "plain.py"), mode]}


def call(servers: MCPServers, name: str, arguments: dict[str, Any], **context: Any) -> AgentToolResult:
    """Run a tool as the agent does, on a loop that the servers do not know."""
    tool = servers.tools()[name]
    return asyncio.run(execute(tool, arguments, ToolContext(**context)))


def until(condition: Callable[[], Any], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


@contextmanager
def http_server() -> Iterator[str]:
    """The library's server by streamable HTTP; gives its URL."""
    port = free_port()
    process = subprocess.Popen([sys.executable, str(SERVERS / "library.py"), str(port)], stderr=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), 30)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that nobody uses just now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def alive(name: str) -> list[str]:
    """Processes of this machine whose command line has `name`."""
    if sys.platform == "win32":
        return []
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if name in line]
