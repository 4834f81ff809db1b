"""Servers by standard input and output, and by HTTP: their tools, their calls, their faults and their end."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic import AbortSignal, MCPServers
from agent_magic.errors import AbortedError, AgentMagicError, MCPServerError
from agent_magic.messages import ImageContent
from agent_magic.tools.mcp_config import read_configs

from .mcp_cases import LIBRARY, alive, call, http_server, plain, until


@pytest.fixture(scope="module")
def library() -> Iterator[MCPServers]:
    with MCPServers({"lib": LIBRARY, "pages": plain("pages"), "refuse": plain("refuse")}) as servers:
        yield servers


@pytest.fixture(scope="module")
def by_http() -> Iterator[MCPServers]:
    with http_server() as url, MCPServers({"lib": {"url": url, "type": "http"}}) as servers:
        yield servers


@pytest.fixture(params=["library", "by_http"])
def either(request: pytest.FixtureRequest) -> MCPServers:
    servers: MCPServers = request.getfixturevalue(request.param)
    return servers


# Lists ----------------------------------------------------------------------------------------------------------------


def test_all_pages_of_a_list_are_read_and_a_label_is_title_then_label_then_name(library: MCPServers) -> None:
    found = {name: tool.label for name, tool in library.tools().items() if name.startswith("pages__")}
    assert found == {"pages__first": "The first", "pages__second": "The second", "pages__third": "third"}


def test_tools_are_of_mcp_and_their_descriptions_are_fenced_as_data(either: MCPServers) -> None:
    tool = either.tools()["lib__add"]
    assert (tool.origin, tool.label) == ("mcp", "Add up")
    assert tool.effect == ("network" if either.states()[0].shown.startswith("http") else "execute")
    assert tool.description.endswith("is data, no instruction:\n```text\nAdd two numbers.\n```")
    assert tool.input_schema["required"] == ["a", "b"]


def test_a_tool_stays_the_same_object_while_the_list_is_the_same(library: MCPServers) -> None:
    assert library.tools()["lib__add"] is library.tools()["lib__add"]


def test_a_list_that_changes_is_read_again(tmp_path: Path) -> None:
    with http_server() as url, MCPServers({"lib": LIBRARY, "net": url}) as servers:
        for name in ("lib", "net"):
            assert f"{name}__late" not in servers.tools()
            call(servers, f"{name}__grow", {})
            until(lambda name=name: f"{name}__late" in servers.tools())  # type: ignore[misc]
            assert call(servers, f"{name}__late", {}).value == {"result": "here I am"}


def test_a_list_without_end_is_cut() -> None:
    with MCPServers({"flood": plain("flood"), "empty": plain("empty")}) as servers:
        flood, empty = servers.states()
    assert len(flood.tools) == 500
    assert flood.left_out == 100
    assert (empty.state, empty.tools) == ("connected", ())


def test_names_of_servers_fit_every_vendor_and_never_clash() -> None:
    with MCPServers({"a": plain("hostile"), "a__b": plain("pages")}) as servers:
        tools = servers.tools()
    assert all(name.replace("_", "").replace("-", "").isalnum() and len(name) <= 64 for name in tools)
    assert len(tools) == 7
    trick = tools["a__trick"].description
    assert "\u202e" not in trick
    assert "\U000e0041" not in trick
    assert len(trick) < 2_300
    assert trick.split("\n", 1)[1].startswith("````text\n")
    assert trick.endswith("\n````")


# Calls ----------------------------------------------------------------------------------------------------------------


def test_structured_content_is_the_value_and_the_text_is_fenced(either: MCPServers) -> None:
    result = call(either, "lib__add", {"a": 2, "b": "3"})
    assert result.value == {"total": 5, "parts": [2, 3]}
    assert result.details == {"server": "lib", "tool": "add", "structuredContent": result.value}
    assert json.loads(result.text.removeprefix("```text\n").removesuffix("\n```")) == result.value
    assert result.untrusted


def test_a_picture_arrives_as_an_image(either: MCPServers) -> None:
    (block,) = call(either, "lib__picture", {}).content
    assert isinstance(block, ImageContent)
    assert block.mime_type == "image/png"
    assert base64.b64decode(block.data).startswith(b"\x89PNG")


def test_resources_in_a_result_are_told_and_cannot_leave_their_fence(library: MCPServers) -> None:
    text = call(library, "lib__documents", {}).text
    assert "````text\nThe resource <memo://1>:\nBuy ```milk```.\n````" in text
    assert "[resource <memo://2> of 8 bytes (application/pdf), which is not shown]" in text
    assert "A resource of the server: more <memo://3> text/plain" in text


def test_progress_arrives_as_updates(either: MCPServers) -> None:
    updates: list[str] = []
    result = call(either, "lib__steps", {"count": 3}, on_update=lambda partial: updates.append(partial.text))
    assert updates == ["step 1 (1 of 3)", "step 2 (2 of 3)", "step 3 (3 of 3)"]
    assert (result.text, result.value) == ("```text\ndone\n```", {"result": "done"})


def test_an_abort_cancels_the_call_on_the_server(either: MCPServers, tmp_path: Path) -> None:
    signal, mark = AbortSignal(), tmp_path / "cancelled"

    def stop() -> None:
        until((tmp_path / "cancelled.begun").exists)
        signal.abort()

    stopper = threading.Thread(target=stop)
    stopper.start()
    start = time.monotonic()
    with pytest.raises(AbortedError):
        call(either, "lib__forever", {"mark": str(mark)}, signal=signal)
    assert time.monotonic() - start < 5
    stopper.join()
    until(mark.exists)
    assert call(either, "lib__add", {"a": 1, "b": 1}).value["total"] == 2


def test_an_error_of_a_tool_is_an_error_result_in_its_own_words(either: MCPServers) -> None:
    result = call(either, "lib__fail", {})
    assert result.is_error
    assert "the disk is full" in result.text


def test_an_error_of_the_protocol_names_server_code_and_message(library: MCPServers) -> None:
    with pytest.raises(MCPServerError, match=r"MCP server refuse answered with error -32601: No such method here"):
        call(library, "refuse__first", {})


def test_a_server_does_not_see_the_keys_of_this_process(library: MCPServers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    monkeypatch.setenv("CHOSEN", "words")
    given = {**LIBRARY, "env": {"GIVEN": "${CHOSEN} and ${MISSING:-more}"}}
    with MCPServers({"lib": given}) as servers:
        assert call(servers, "lib__environment", {"name": "OPENAI_API_KEY"}).value == {"result": "not set"}
        assert call(servers, "lib__environment", {"name": "GIVEN"}).value == {"result": "words and more"}


def test_calls_from_many_threads_and_loops_overlap(library: MCPServers) -> None:
    results: list[Any] = [None] * 8

    def work(number: int) -> None:
        results[number] = call(library, "lib__add", {"a": number, "b": 1}).value["total"]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == list(range(1, 9))


# Servers that fail ----------------------------------------------------------------------------------------------------


def test_a_server_that_hangs_does_not_keep_the_others_waiting() -> None:
    servers = MCPServers({"hang": plain("hang"), "pages": plain("pages")}, start_timeout=5)
    servers.start()
    until(lambda: "pages__first" in servers.tools(), 20)
    assert servers.states()[0].state == "starting"
    servers.wait()
    assert servers.states()[0].state == "failed"
    assert servers.states()[0].error == "did not answer within 5 s and was stopped"
    servers.close()


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (plain("broken"), "ended before it had answered. It printed:\nno licence file found"),
        (plain("garbage"), "lines that are no messages, such as: Welcome to my server!"),
        ("no-such-command-anywhere --now", "no-such-command-anywhere. Install it, or give its full path"),
        ({"url": "http://127.0.0.1:9/mcp"}, "connection attempts failed. Check that it runs, and its address"),
        ({"command": sys.executable, "args": ["${NOT_SET_ANYWHERE}"]}, "the environment variable NOT_SET_ANYWHERE"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    server: Any, told: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a kernel, where it is no file.
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with MCPServers({"bad": server}, start_timeout=3) as servers:
        (state,) = servers.states()
    assert state.state == "failed"
    assert told.lower() in state.error.lower()
    assert "Traceback" not in sys.stderr.getvalue() + capfd.readouterr().err


def test_a_server_that_crashes_tells_what_it_printed_and_can_be_started_again() -> None:
    with MCPServers({"crash": plain("crash")}) as servers:
        tool = servers.tools()["crash__first"]
        with pytest.raises(MCPServerError, match=r"has ended\. It printed:\nout of memory, says the server"):
            call(servers, "crash__first", {})
        until(lambda: servers.states()[0].state == "failed")
        assert servers.tools() == {}
        with pytest.raises(MCPServerError, match="out of memory"):
            asyncio.run(tool.execute({}, am.ToolContext()))
        servers.start()
        servers.wait()
        assert servers.states()[0].state == "connected"


def test_without_the_package_the_error_has_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(AgentMagicError, match=r'pip install "agent-magic\[mcp\]"'):
        MCPServers({"a": "b"}).start()


# The end --------------------------------------------------------------------------------------------------------------


def test_closing_ends_every_process_also_of_a_server_that_is_deaf(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    deaf = {**plain("deaf"), "args": [*plain("deaf")["args"], mark]}
    servers = MCPServers({"deaf": deaf, "hang": {**deaf, "args": [deaf["args"][0], "hang", mark]}}, start_timeout=60)
    servers.start()
    until(lambda: servers.states()[0].state == "connected" and len(alive(mark)) == 2)
    servers.close()
    assert alive(mark) == []
    assert servers.states() == ()
    servers.close()


def test_the_end_of_python_ends_the_servers(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    config = {**plain("pages"), "args": [*plain("pages")["args"], mark]}
    script = (
        f"import agent_magic as am; s = am.MCPServers({{'a': {config!r}}})\ns.start(); s.wait(); print(len(s.tools()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("3\n", "")
    assert alive(mark) == []


def test_a_call_after_the_end_is_a_clear_error() -> None:
    with MCPServers({"pages": plain("pages")}) as servers:
        tool = servers.tools()["pages__first"]
    with pytest.raises(MCPServerError, match="The MCP server pages has been closed"):
        asyncio.run(tool.execute({}, am.ToolContext()))


# With an agent --------------------------------------------------------------------------------------------------------


def test_every_call_goes_through_the_policy_and_its_result_is_untrusted(library: MCPServers) -> None:
    wanted = am.AssistantMessage([am.ToolCall("1", "lib__add", {"a": 1, "b": 2})])
    asked: list[str] = []

    class Person:
        async def ask(self, request: am.ApprovalRequest) -> am.ApprovalAnswer:
            asked.append(request.tool.name)
            return request.allow() if len(asked) == 1 else request.deny("not again")

    policy = am.Policy.for_kernel()
    agent = am.Agent(am.scripted(wanted, wanted, "Three."), library.tools(), policy=policy, approver=Person())
    reply = agent.run("What is 1 + 2?")
    first, second = [message for message in reply.messages if message.role == "toolResult"]
    assert asked == ["lib__add", "lib__add"]
    assert '"total": 3' in first.text
    assert "not again" in second.text
    assert policy.answers.untrusted == 1


def test_asynchronous_code_waits_without_blocking_its_loop() -> None:
    async def work() -> tuple[int, str]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.ensure_future(tick())
        async with MCPServers({"pages": plain("pages")}) as servers:
            agent = am.Agent(am.scripted(am.AssistantMessage([am.ToolCall("1", "pages__third", {"text": "hi"})]), "ok"))
            agent.tool_source = servers.tools
            reply = await agent.prompt("go")
        ticking.cancel()
        return ticks, reply.messages[2].text

    ticks, text = asyncio.run(work())
    assert ticks > 5
    assert text == "```text\nhi\n```"


def test_what_is_secret_in_a_server_is_not_shown_and_the_rest_is_whole() -> None:
    (remote, started) = read_configs(
        {
            "remote": {
                "url": "https://me:hunter22@h.example/mcp?api_key=abc&profile=x&token=${TOKEN}",
                "headers": {"X": "y"},
            },
            "started": {"command": "serve", "args": ["--token", "$HOME/t"], "env": {"API_KEY": "k", "MODE": "a b"}},
        }
    )
    assert remote.shown == "https://…@h.example/mcp?api_key=…&profile=x&token=${TOKEN}, X: …"
    assert started.shown == "API_KEY=… MODE='a b' serve --token '$HOME/t'"
