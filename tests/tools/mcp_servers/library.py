"""An MCP server made with the package `mcp`.

    python library.py [PORT]

Speaks standard input and output, or streamable HTTP on a port of this machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import BlobResourceContents, EmbeddedResource, ResourceLink, TextContent, TextResourceContents
from pydantic import BaseModel

server = MCPServer("library")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
PDF = "JVBERi0xLjQ="


class Sum(BaseModel):
    total: int
    parts: list[int]


@server.tool(title="Add up")
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b, parts=[a, b])


@server.tool()
def picture() -> Image:
    """A picture of one pixel."""
    return Image(data=PIXEL, format="png")


@server.tool()
def documents() -> list[EmbeddedResource | ResourceLink | TextContent]:
    """A text, a picture and a link."""
    return [
        TextContent(text="Three things:"),
        EmbeddedResource(resource=TextResourceContents(uri="memo://1", mime_type="text/plain", text="Buy ```milk```.")),
        EmbeddedResource(resource=BlobResourceContents(uri="memo://2", mime_type="application/pdf", blob=PDF)),
        ResourceLink(name="more", uri="memo://3", mime_type="text/plain"),
    ]


@server.tool()
async def steps(count: int, ctx: Context) -> str:
    """Do something in steps."""
    for number in range(1, count + 1):
        await ctx.report_progress(number, count, f"step {number}")
        await asyncio.sleep(0.02)
    return "done"


@server.tool()
async def forever(mark: str) -> str:
    """Never return; leaves a file when it is cancelled."""
    Path(mark + ".begun").touch()
    try:
        await asyncio.sleep(60)
    finally:
        Path(mark).touch()
    return "never"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ToolError("the disk is full")


@server.tool()
def environment(name: str) -> str:
    """A variable of the environment."""
    return os.environ.get(name, "not set")


@server.tool()
async def grow(ctx: Context) -> str:
    """Add the tool that was missing."""

    def late() -> str:
        """Came later."""
        return "here I am"

    server.add_tool(late)
    await ctx.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    print("the server is awake", file=sys.stderr)
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
