"""Whole conversations with the scripted server, which refuses what the real services refuse.

An API joins by a line in `APIS`.
"""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

import agent_magic as am

from ..benchmarks import mockllm
from ..loopback import listening_socket

# What comes after the server's address in the base_url of each API.
APIS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}


@am.tool
def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


@am.tool
def slow_add(a: int, b: int) -> int:
    """The sum of two numbers, after some thought."""
    return a + b


@am.tool
def save(text: str) -> str:
    """Keep a text and tell how long it is."""
    return str(len(text))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("script", "calls"), [("tool-4", 4), ("par-5", 5), ("args-20k", 1)])
def test_a_conversation_with_calls_is_accepted_to_its_end(api: str, script: str, calls: int) -> None:

    async def conversation() -> am.Reply:
        server = await asyncio.get_running_loop().create_server(mockllm.Connection, sock=listening_socket())
        # Not `async with`, which from Python 3.12 on waits for the connections that a client keeps.
        with closing(server):
            address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            model = am.Model(script, api=api, base_url=address + APIS[api], api_key="sk-none")
            agent = am.Agent(model=model, tools=[add, slow_add, save], system_prompt="Be brief.")
            return await agent.prompt("go on")

    reply = asyncio.run(conversation())
    assert reply.text == "All calls done."
    results = [message for message in reply.messages if isinstance(message, am.ToolResultMessage)]
    assert len(results) == calls
    assert not any(result.is_error for result in results)
