"""`%agent mcp` and the servers of a kernel: consent first, then tools like any other, and an end without leftovers."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am
from agent_magic.notebook.extension import load, unload
from agent_magic.notebook.mcp_file import is_allowed, read_servers

from ..tools.mcp_cases import alive, until
from .guides import GUIDES, executed, runs_of
from .kernel_client import Kernel

ROOT = Path(__file__).parents[2]
PLAIN = ROOT / "tests" / "tools" / "mcp_servers" / "plain.py"
LIBRARY = PLAIN.with_name("library.py")
RECORD = "application/vnd.agent-magic.run+json"
ADD = f"mcp add lib python {shlex.quote(str(LIBRARY))}"


@pytest.fixture
def here(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The extension in a folder of its own, with the user's folder beside it."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path / "user"))
    load(shell)
    shell.agent_magic.kernel.model_named("demo")
    yield shell
    unload(shell)


def agent(shell: Any, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    shell.agent_magic.line(line)
    return capsys.readouterr().out


def write(mode: str = "pages", **more: Any) -> Path:
    entry = {"command": sys.executable, "args": [str(PLAIN), mode], **more}
    path = Path(".mcp.json")
    path.write_text(json.dumps({"mcpServers": {"files": entry}, "other": 1}))
    return path


def digits_in(text: str) -> str:
    return text.rpartition("%agent mcp allow ")[2].strip()


# Consent --------------------------------------------------------------------------------------------------------------


def test_nothing_of_a_file_starts_before_its_commands_were_seen_and_allowed(
    here: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    write(env={"API_TOKEN": "very-secret", "PLACE": "north"})
    listed = agent(here, "mcp", capsys)
    assert "nothing of it has been started" in listed
    assert f"files: API_TOKEN=… PLACE=north {sys.executable} {PLAIN} pages" in listed
    assert "very-secret" not in listed
    asyncio.run(here.agent_magic.kernel.servers.ready())
    assert here.agent_magic.kernel.servers.states() == ()
    assert agent(here, "mcp allow", capsys).splitlines()[-1] == listed.splitlines()[-1]
    assert here.agent_magic.kernel.servers.states() == ()

    allowed = agent(here, f"mcp allow {digits_in(listed)}", capsys)
    assert "files  connected" in allowed
    assert "3 tools: files__first, files__second, files__third" in allowed


def test_consent_is_remembered_for_this_content_of_this_file_alone(
    here: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write()
    agent(here, f"mcp allow {digits_in(agent(here, 'mcp', capsys))}", capsys)
    unload(here)
    load(here)
    servers = here.agent_magic.kernel.servers
    asyncio.run(servers.ready())
    assert [state.state for state in servers.states()] == ["connected"]

    content = path.read_bytes()
    write("crash")
    assert servers.waiting() is not None
    path.write_bytes(content)
    assert servers.waiting() is None
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".mcp.json").write_bytes(content)
    copied = read_servers(tmp_path / "elsewhere")
    assert copied is not None
    assert not is_allowed(copied)


def test_a_file_that_changed_after_it_was_seen_is_not_allowed(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    seen = digits_in(agent(here, "mcp", capsys))
    write("crash")
    with pytest.raises(UsageError, match="may have been changed"):
        agent(here, f"mcp allow {seen}", capsys)
    assert here.agent_magic.kernel.servers.states() == ()


def test_hidden_characters_of_a_command_are_shown(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".mcp.json").write_text(json.dumps({"mcpServers": {"a": {"command": "ls", "args": ["\u202eevil\x1b[2K"]}}}))
    assert "\\u202eevil" in agent(here, "mcp", capsys)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is no JSON"),
        ("[]", "must be an object"),
        ('{"mcpServers": {"a": {}}}', "mcpServers.a: needs either a command or a url"),
        ('{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}', 'the old transport "sse"'),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "mcpServers.a.args: must be a list of texts"),
        ('{"mcpServers": {"a": {"url": "file:///x"}}}', "mcpServers.a.url: must begin with http:// or https://"),
    ],
)
def test_a_broken_file_is_told_and_stops_no_run(
    content: str, told: str, here: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(".mcp.json").write_text(content)
    assert told in agent(here, "mcp", capsys)
    servers = here.agent_magic.kernel.servers
    asyncio.run(servers.ready())
    assert told in servers.notes()[0]
    assert servers.notes() == []


# Adding and removing --------------------------------------------------------------------------------------------------


def test_a_server_that_is_added_has_its_tools_in_the_next_run(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    added = agent(here, ADD, capsys)
    assert added.startswith(f"lib  connected  {sys.executable} {LIBRARY}")
    assert "lib__add" in agent(here, "tools", capsys)
    call = am.AssistantMessage([am.ToolCall("1", "lib__add", {"a": 20, "b": 22})])
    notebook_agent = am.get_agent()
    notebook_agent.model = am.scripted(call, "42", call, "no")
    notebook_agent.policy = am.Policy(tools={"lib__add": "allow"})
    assert '"total": 42' in notebook_agent.run("add").messages[2].text
    assert "The MCP server lib is gone." in agent(here, "mcp remove lib", capsys)
    assert "Tool lib__add not found" in notebook_agent.run("again").messages[-2].text


def test_a_server_that_fails_stops_the_cell_with_what_it_printed(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(am.MCPServerError, match="no licence file found"):
        agent(here, f"mcp add bad python {PLAIN} broken", capsys)
    listed = agent(here, "mcp", capsys)
    assert "bad  failed" in listed
    assert "    no licence file found" in listed


def test_saving_keeps_what_was_allowed_and_allows_nothing_else(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    added = agent(here, f"mcp add --save -e HOME {ADD.removeprefix('mcp add ')}", capsys)
    assert "Saved in .mcp.json" in added
    saved = json.loads(Path(".mcp.json").read_text())["mcpServers"]
    assert saved == {"lib": {"command": "python", "args": [str(LIBRARY)], "env": {"HOME": "${HOME}"}}}
    assert here.agent_magic.kernel.servers.waiting() is None
    assert "also from .mcp.json" in agent(here, "mcp remove --save lib", capsys)
    assert json.loads(Path(".mcp.json").read_text()) == {"mcpServers": {}}

    write()
    assert "not allowed that file" in agent(here, f"mcp add --save {ADD.removeprefix('mcp add ')}", capsys)
    assert set(json.loads(Path(".mcp.json").read_text())["mcpServers"]) == {"files", "lib"}
    assert here.agent_magic.kernel.servers.waiting() is not None


def test_a_server_that_has_ended_can_be_started_again(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    agent(here, f"mcp add c python {PLAIN} crash", capsys)
    notebook_agent = am.get_agent()
    notebook_agent.model = am.scripted(am.AssistantMessage([am.ToolCall("1", "c__first", {})]), "oh")
    notebook_agent.policy = None
    result = notebook_agent.run("go").messages[2]
    assert result.is_error
    assert "has ended. It printed:\nout of memory" in result.text
    assert "c  failed" in agent(here, "mcp", capsys)
    assert "c  connected" in agent(here, "mcp start c", capsys)


@pytest.mark.parametrize(
    "line", ["mcp add", "mcp add x", "mcp remove", "mcp nonsense", "mcp add -x y z", "mcp remove x", "mcp add a/b c"]
)
def test_a_wrong_line_is_a_usage_error(line: str, here: Any) -> None:
    with pytest.raises(UsageError):
        here.agent_magic.line(line)


def test_unloading_ends_the_servers(here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    agent(here, ADD, capsys)
    servers = here.agent_magic.kernel.servers
    running = servers.running
    unload(here)
    assert running.states() == ()
    assert servers.tools() == {}


def test_a_notebook_without_servers_loads_nothing_for_them(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    am.get_agent().model = am.scripted("hello")
    assert am.get_agent().run("hi").text == "hello"


# A real kernel --------------------------------------------------------------------------------------------------------


@pytest.mark.kernel
def test_in_a_kernel_every_call_is_asked_about_and_no_process_is_left(tmp_path: Path) -> None:
    script = tmp_path / "the_server.py"
    script.write_text(PLAIN.read_text())
    setup = (
        "import agent_magic as am\n"
        "calls = am.AssistantMessage([am.ToolCall('1', 'p__first', {'text': 'hello'})])\n"
        "player = am.scripted(calls, 'done', calls, 'done')\n"
    )
    with Kernel(AGENT_MAGIC_DATA=str(tmp_path / "user")) as kernel:
        kernel.run("%load_ext agent_magic")
        kernel.run(setup)
        added = kernel.run(f"%agent mcp add p python {shlex.quote(str(script))} pages")
        assert "p  connected" in added.printed
        asked = kernel.run("%%agent -m player -o reply\ngo", answers=("y",))
        assert "p__first" in asked.asked[0]
        assert "hello" in asked.asked[0]
        assert kernel.run("print(reply.messages[2].text)").printed == "```text\nhello\n```\n"
        unasked = kernel.run("%%agent -m player -o reply\ngo")
        assert "Nobody could be asked" in kernel.run("print(reply.messages[2].text)").printed
        assert unasked.status == "ok"
        assert len(alive("the_server.py")) == 1
        kernel.manager.shutdown_kernel(now=False)
        until(lambda: alive("the_server.py") == [])


@pytest.mark.kernel
def test_in_a_kernel_a_file_that_is_not_allowed_is_told_once_and_a_hung_server_holds_up_nobody(tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [str(PLAIN), "pages"]}
    (tmp_path / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"p": entry, "h": {**entry, "args": [str(PLAIN), "hang"]}}})
    )
    with Kernel(AGENT_MAGIC_DATA=str(tmp_path / "user")) as kernel:
        kernel.run(f"import os; os.chdir({str(tmp_path)!r})")
        kernel.run("%load_ext agent_magic")
        first, second = (kernel.run("%%agent\nhello").text for _ in range(2))
        assert ".mcp.json names 2 MCP servers that you have not allowed to start." in first
        assert "not allowed" not in second
        file = read_servers(tmp_path)
        assert file is not None
        kernel.run("from agent_magic.notebook import servers; servers.WAIT = 2")
        kernel.run(f"from agent_magic.notebook.mcp_file import allow; allow({kernel_file(tmp_path)})")
        third = kernel.run("%%agent\nhello")
        assert "The MCP server h is still starting" in third.text
        assert "p__first" in kernel.run("%agent tools").printed


def kernel_file(folder: Path) -> str:
    return f"__import__('agent_magic').notebook.mcp_file.read_servers(__import__('pathlib').Path({str(folder)!r}))"


@pytest.mark.kernel
def test_the_guide_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    (tmp_path / "mcp_tides.py").write_text((GUIDES / "mcp_tides.py").read_text())
    code = executed("mcp.ipynb", tmp_path)
    calls = [item for record in runs_of(code) for item in record["items"] if item["kind"] == "tool"]
    assert [(call["name"], call["state"], call["arguments"]) for call in calls] == [
        ("tides__high_water", "done", {"harbour": "Brest"}),
        ("tides__survey", "done", {"stations": 3}),
    ]
    assert "05:20" in code[-2].outputs[0].text
    assert code[-1].outputs[0].text == "The MCP server tides is gone.\n"
