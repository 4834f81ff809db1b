"""One MCP server: started, listed, called, watched and closed by one task (sources: Y SP-009, SP-010)."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal

from ..errors import AgentMagicError, MCPServerError, preview
from .mcp_config import MCPServerConfig
from .mcp_stderr import StandardError
from .mcp_text import without_hidden

State = Literal["starting", "connected", "failed", "stopped"]

# What a server may list; whatever it sends after that is left out.
MAX_PAGES = 100
MAX_TOOLS = 500
LIST_TIMEOUT = 30.0
# Seconds before a lost subscription is made again.
LISTEN_AGAIN = 1.0

INSTALL = 'MCP servers need the package mcp, version 2 or later. Install it with: pip install "agent-magic[mcp]"'

Progress = Callable[[float, "float | None", "str | None"], Awaitable[None]]


def check_installed() -> None:
    """Raises `AgentMagicError` with the line to type where the package `mcp` is missing."""
    if importlib.util.find_spec("mcp") is None:
        raise AgentMagicError(f"{INSTALL}.")


def _load() -> Any:
    """The package `mcp`. It takes a second to load, so this is left to the loop of the servers."""
    try:
        mcp = importlib.import_module("mcp")
    except ImportError as error:
        raise AgentMagicError(f"{INSTALL} ({error}).") from None
    if not hasattr(mcp, "Client"):
        raise AgentMagicError(f"{INSTALL} (the version here is older than 2).")
    for name in ("mcp", "client"):
        # Without any handler, Python would print a traceback for each line that is no message.
        logging.getLogger(name).addHandler(logging.NullHandler())
    return mcp


class MCPServer:
    """A server by its configuration. `run()` is its whole life; methods belong to the loop that runs it.

    `state`, `error` and `listed` (tools as the package `mcp` has them) may be read by any thread.
    """

    def __init__(self, config: MCPServerConfig, start_timeout: float) -> None:
        self.config = config
        self.state: State = "starting"
        self.error = ""
        self.listed: tuple[Any, ...] = ()
        self.left_out = 0
        self._start_timeout = start_timeout
        self._client: Any = None
        self._scope: Any = None
        self._stderr: StandardError | None = None
        self._garbage = ""
        self._stopping = False
        self._ended = False
        self._changed = False
        self._wake = asyncio.Event()
        self.settled = asyncio.Event()

    @property
    def output(self) -> str:
        """The last lines that the process printed beside the protocol."""
        return self._stderr.tail if self._stderr is not None else ""

    def stop(self) -> None:
        """Ask `run()` to end."""
        self._stopping = True
        if self._scope is not None:
            self._scope.cancel()

    async def run(self) -> None:
        """Connect and serve until `stop()` or the end of the server. Raises nothing; `state` and `error` tell."""
        error: BaseException | None = None
        try:
            await self._run()
        except Exception as raised:
            error = raised
        finally:
            if self._stderr is not None:
                self._stderr.close()
            self._settle(error)

    async def _run(self) -> None:
        mcp = _load()
        import anyio

        self._scope = anyio.CancelScope(deadline=anyio.current_time() + self._start_timeout)
        if self._stopping:
            self._scope.cancel()
        with self._scope:
            await self._live(mcp)

    def _settle(self, error: BaseException | None) -> None:
        was_connected, self._client, self.listed = self._client is not None, None, ()
        self.state = "stopped" if self._stopping else "failed"
        if self.state == "failed":
            if error is not None and not self._ended:
                told = _told(error)
            elif was_connected or self._ended:
                told = "has ended" if was_connected else "ended before it had answered"
            else:
                told = f"did not answer within {self._start_timeout:g} s and was stopped"
            self.error = told + self._evidence()
        self.settled.set()

    def _evidence(self) -> str:
        """What the server printed, which often says what is wrong."""
        parts = [f"It sent lines that are no messages, such as: {preview(self._garbage)}"] if self._garbage else []
        parts += [f"It printed:\n{self.output}"] if self.output else []
        return "".join(f". {part}" for part in parts)

    async def _live(self, mcp: Any) -> None:
        from .. import __version__

        client = mcp.Client(
            self._transport(),
            message_handler=self._noticed,
            client_info=mcp.types.Implementation(name="agent_magic", version=__version__),
        )
        async with client:
            await self._list(client)
            self._client, self.state = client, "connected"
            self._scope.deadline = math.inf
            self.settled.set()
            await self._serve(client)

    # The transport ----------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        config = self.config.expanded()
        async with contextlib.AsyncExitStack() as stack:
            if config.url:
                from mcp.client.streamable_http import streamable_http_client
                from mcp.shared._httpx_utils import create_mcp_http_client

                http = await stack.enter_async_context(create_mcp_http_client(headers=dict(config.headers)))
                streams = await stack.enter_async_context(streamable_http_client(config.url, http_client=http))
            else:
                from mcp.client.stdio import StdioServerParameters, stdio_client

                self._stderr = StandardError()
                parameters = StdioServerParameters(
                    command=config.command, args=list(config.args), env=dict(config.env), cwd=config.cwd
                )
                streams = await stack.enter_async_context(stdio_client(parameters, self._stderr.writer))
            yield await stack.enter_async_context(self._watched(*streams))

    @contextlib.asynccontextmanager
    async def _watched(self, reading: Any, writing: Any) -> AsyncIterator[Any]:
        """The streams, with an eye on what comes in: its end, what is no message, and labels."""
        import anyio

        send, receive = anyio.create_memory_object_stream[Any](0)

        async def pump() -> None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                async with send:
                    async for message in reading:
                        if isinstance(message, Exception):
                            self._garbage = self._garbage or _line_of(message)
                        else:
                            _use_labels(message)
                        await send.send(message)
            self._ended = True
            self._wake.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump)
            try:
                yield receive, writing
            finally:
                tasks.cancel_scope.cancel()

    # Tools ------------------------------------------------------------------------------------------------------------

    async def _list(self, client: Any) -> None:
        """Read the whole list of tools, page by page."""
        found: list[Any] = []
        cursor: str | None = None
        if client.server_capabilities.tools is not None:
            for _ in range(MAX_PAGES):
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                found += page.tools
                if not page.next_cursor or page.next_cursor == cursor or len(found) > MAX_TOOLS:
                    break
                cursor = page.next_cursor
        self.left_out = max(0, len(found) - MAX_TOOLS)
        self.listed = tuple(found[:MAX_TOOLS])

    async def _noticed(self, message: Any) -> None:
        import mcp

        if isinstance(message, mcp.types.ToolListChangedNotification):
            self._notice()

    async def _serve(self, client: Any) -> None:
        """Keep the list up to date until the server ends."""
        import anyio

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, client)
            while not self._ended:
                await self._wake.wait()
                self._wake.clear()
                if self._changed:
                    self._changed = False
                    with contextlib.suppress(Exception), anyio.move_on_after(LIST_TIMEOUT):
                        await self._list(client)
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Any) -> None:
        """Newer servers tell of changes only to those who listen; others do so unasked."""
        tools = client.server_capabilities.tools
        while tools is not None and tools.list_changed and await self._heard(client):
            await asyncio.sleep(LISTEN_AGAIN)
            # Whatever changed meanwhile was told to nobody.
            self._notice()

    async def _heard(self, client: Any) -> bool:
        """Listen until the server ends that; whether to listen again."""
        from mcp.client.subscriptions import SubscriptionLost

        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._notice()
        except SubscriptionLost:
            return True
        except Exception:  # Servers of before 2026 do not know of it.
            return False
        return False

    def _notice(self) -> None:
        self._changed = True
        self._wake.set()

    async def call(self, tool: str, arguments: dict[str, Any], on_progress: Progress) -> Any:
        """The result of a call as the package `mcp` has it. Raises `MCPServerError`."""
        client = self._client
        if client is None:
            raise self.failure(self.error or self.state)
        from mcp import MCPError

        try:
            return await client.call_tool(tool, arguments, progress_callback=on_progress)
        except MCPError as error:
            if self._ended or self._client is None:
                # Whoever ends the server has yet to read what it printed.
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._gone(), 1.0)
                raise self.failure(self.error or "has ended") from None
            raise self.failure(without_hidden(error.message)[:2_000], error.code) from None
        except Exception as error:
            raise self.failure(_told(error)) from None

    async def _gone(self) -> None:
        while self.state == "connected":
            await asyncio.sleep(0.02)

    def failure(self, told: str, code: int | None = None) -> MCPServerError:
        return MCPServerError(self.config.name, told, code)


def _told(error: BaseException) -> str:
    """The first real cause, in a line."""
    while causes := getattr(error, "exceptions", ()):
        error = causes[0]
    if isinstance(error, FileNotFoundError):
        return f"cannot be started: {error.strerror or error}: {error.filename}. Install it, or give its full path"
    if isinstance(error, OSError):
        return f"cannot be started: {error}"
    if isinstance(error, AgentMagicError):
        return str(error)
    code, message = getattr(error, "code", None), getattr(error, "message", None)
    if isinstance(code, int) and isinstance(message, str):
        return f"answered with error {code}: {without_hidden(message)[:500]}"
    # By name, since the package `mcp` brings an HTTP client of its own.
    if any(each.__name__ == "TransportError" for each in type(error).__mro__):
        return f"cannot be reached: {without_hidden(str(error))[:500]}. Check that it runs, and its address"
    return f"did not keep to the protocol: {type(error).__name__}: {without_hidden(str(error))[:500]}"


def _line_of(error: Exception) -> str:
    """The line that was no message, out of pydantic's error about it."""
    from pydantic import ValidationError

    return str(error.errors()[0]["input"] if isinstance(error, ValidationError) else error)[:500]


def _use_labels(message: Any) -> None:
    """Let the `label` of a tool, which the protocol does not know, stand for a title that is missing."""
    result = getattr(message.message, "result", None)
    tools = result.get("tools") if isinstance(result, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("label"), str) and not tool.get("title"):
            tool["title"] = tool["label"]
