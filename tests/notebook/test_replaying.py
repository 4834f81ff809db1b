"""Notebooks that are recorded against a server and run again with the server down and without a key."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .kernel_client import Kernel

CALL = {"index": 0, "id": "call-1", "type": "function", "function": {"name": "sales", "arguments": '{"region": "EU"}'}}
TOOL = """\
from agent_magic import tool

@tool
def sales(region: str):
    '''Sales.'''
    return {"region": region, "n": 7}
"""


class Server:
    """Calls the tool `sales` for the first message of a conversation, then says what a script says next."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append(body)
                outer.keys.append(self.headers["authorization"])
                delta: dict[str, Any] = {"content": f"Answer {len(outer.asked)}."}
                if body["messages"][-1]["role"] == "user" and body.get("tools"):
                    delta = {"tool_calls": [CALL]}
                chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
                data = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def model(url: str, key: str = "") -> str:
    given = f", api_key={key!r}" if key else ""
    return f"%load_ext agent_magic\nimport agent_magic as am\nm = am.Model('m', base_url={url!r}{given})"


@pytest.mark.kernel
def test_a_recorded_cell_is_replayed_with_the_server_down_and_no_key(tmp_path: Path) -> None:
    server = Server()
    notebook = str(tmp_path / "analysis.ipynb")
    with Kernel(JPY_SESSION_NAME=notebook) as kernel:
        kernel.run(model(server.url, "sk-the-key-of-the-one-who-recorded"))
        kernel.run(TOOL)
        recorded = kernel.run("%%agent -m m --record\nSales for EU")
    assert recorded.error is None
    assert len(server.asked) == 2
    assert server.keys[0] == "Bearer sk-the-key-of-the-one-who-recorded"
    server.close()
    path = tmp_path / "analysis.agent-replay.json"
    assert "sk-the-key" not in path.read_text(encoding="utf-8")
    with Kernel(JPY_SESSION_NAME=notebook) as kernel:
        kernel.run(model("http://127.0.0.1:9/v1"))
        kernel.run(TOOL)
        replayed = kernel.run("%%agent -m m --replay\nSales for EU")
        changed = kernel.run("%%agent -m m --replay --new\nSales for US")
    texts = [[item["text"] for item in each.record["items"] if item["kind"] == "text"] for each in (recorded, replayed)]
    assert texts == [["Answer 2."], ["Answer 2."]]
    calls = [item["name"] for item in replayed.record["items"] if item["kind"] == "tool"]
    assert calls == ["sales"]
    assert "analysis.agent-replay.json" in replayed.text
    assert changed.error is not None
    assert changed.error["ename"] == "ReplayError"
    assert "Sales for EU" in changed.error["evalue"]
    assert "Sales for US" in changed.error["evalue"]


@pytest.mark.kernel
def test_a_cell_that_is_recorded_again_replaces_what_it_had_recorded(tmp_path: Path, server: Server) -> None:
    with Kernel(JPY_SESSION_NAME=str(tmp_path / "a.ipynb")) as kernel:
        kernel.run(model(server.url))

        def run(cell: str, text: str) -> None:
            content = {
                "code": f"%%agent -m m --new --no-tools --record\n{text}",
                "silent": False,
                "store_history": True,
            }
            message = kernel.client.session.msg("execute_request", content, metadata={"cellId": f"/home/me/{cell}"})
            kernel.client.shell_channel.send(message)
            reply = kernel.client.get_shell_msg(timeout=30)
            assert reply["content"]["status"] == "ok"

        for cell, text in (("one", "first try"), ("two", "other"), ("one", "second try")):
            run(cell, text)
    text = (tmp_path / "a.agent-replay.json").read_text(encoding="utf-8")
    assert "first try" not in text
    assert "/home/me" not in text
    assert len(json.loads(text)["exchanges"]) == 2


@pytest.mark.kernel
def test_the_environment_replays_a_whole_notebook(tmp_path: Path) -> None:
    server = Server()
    notebook = str(tmp_path / "analysis.ipynb")
    cells = ["%%agent -m m --no-tools\nOne", "%%agent -m m --no-tools\nTwo", "print((await am.complete(m, ctx)).text)"]
    ctx = "ctx = am.Context(messages=[am.UserMessage('Three')])"
    with Kernel(JPY_SESSION_NAME=notebook, AGENT_MAGIC_REPLAY="record") as kernel:
        kernel.run(f"{model(server.url)}\n{ctx}")
        first = kernel.run_all(*cells)
    server.close()
    assert len(server.asked) == 3
    with Kernel(JPY_SESSION_NAME=notebook, AGENT_MAGIC_REPLAY="1") as kernel:
        kernel.run(f"{model('http://127.0.0.1:9/v1')}\n{ctx}")
        again = kernel.run_all(*cells)
    for said, cell in zip(("Answer 1.", "Answer 2."), again, strict=False):
        assert said in cell.text
    assert first[2].printed == again[2].printed == "Answer 3.\n"


def test_flags_of_a_cell_hold_for_that_cell_only(loaded: Any, server: Server, tmp_path: Path) -> None:
    import agent_magic as am

    settings = loaded.agent_magic.kernel.settings
    settings.replay_file = str(tmp_path / "x.json")
    loaded.user_ns["m"] = am.Model("m", base_url=server.url)
    loaded.run_cell("%agent -m m --record --no-tools -o one One").raise_error()
    loaded.run_cell("%agent -m m --new --no-tools Two").raise_error()
    loaded.run_cell("%agent -m m --new --replay --no-tools -o again One").raise_error()
    assert len(server.asked) == 2
    assert loaded.user_ns["again"].text == loaded.user_ns["one"].text == "Answer 1."
    assert len(json.loads((tmp_path / "x.json").read_bytes())["exchanges"]) == 1


def test_the_setting_holds_until_it_is_taken_back_or_the_extension_is_unloaded(
    loaded: Any, server: Server, tmp_path: Path
) -> None:
    import agent_magic as am
    from agent_magic.notebook.extension import unload
    from agent_magic.providers import http

    settings = loaded.agent_magic.kernel.settings
    settings.replay_file = str(tmp_path / "x.json")
    loaded.user_ns["m"] = am.Model("m", base_url=server.url)
    settings.replay = "record"
    loaded.run_cell("%agent -m m --no-tools One").raise_error()
    settings.replay = "replay"
    loaded.run_cell("%agent -m m --new --no-tools One").raise_error()
    assert len(server.asked) == 1
    settings.replay = ""
    loaded.run_cell("%agent -m m --new --no-tools One").raise_error()
    assert len(server.asked) == 2
    settings.replay = "replay"
    assert http._transport is not None
    unload(loaded)
    assert http._transport is None


def test_other_words_in_a_later_version_of_the_package_do_not_matter(
    loaded: Any, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import agent_magic as am
    from agent_magic.notebook import kernel as module
    from agent_magic.notebook.extension import load, unload

    def settle() -> None:
        settings = loaded.agent_magic.kernel.settings
        settings.replay_file, settings.system_prompt = str(tmp_path / "x.json"), "Speak like a pirate."

    settle()
    loaded.user_ns["m"] = am.Model("m", base_url=server.url)
    loaded.run_cell("%agent -m m --record One").raise_error()
    text = (tmp_path / "x.json").read_text()
    assert module.SYSTEM_PROMPT.splitlines()[0] not in text
    assert "Speak like a pirate." in text
    unload(loaded)
    monkeypatch.setattr(module, "SYSTEM_PROMPT", "You are an agent, in other words.\n")
    load(loaded)
    settle()
    loaded.run_cell("%agent -m m --replay One").raise_error()


def test_record_and_replay_exclude_each_other(loaded: Any) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match="--replay and --record exclude each other"):
        loaded.run_cell("%agent --record --replay Hi").raise_error()


@pytest.mark.parametrize(
    ("value", "mode", "file"),
    [
        ("1", "replay", ""),
        ("replay", "replay", ""),
        ("record", "record", ""),
        ("0", "", ""),
        ("", "", ""),
        ("runs/a.agent-replay.json", "replay", "runs/a.agent-replay.json"),
    ],
)
def test_what_the_environment_may_say(monkeypatch: pytest.MonkeyPatch, value: str, mode: str, file: str) -> None:
    from agent_magic.notebook.settings import AgentMagic

    monkeypatch.setenv("AGENT_MAGIC_REPLAY", value)
    settings = AgentMagic()
    assert (settings.replay, settings.replay_file) == (mode, file)


def test_the_file_is_named_after_the_notebook(loaded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaying = loaded.agent_magic.kernel.replaying
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert replaying._file() == tmp_path / "data" / "notebook.agent-replay.json"
    monkeypatch.setenv("JPY_SESSION_NAME", "console-1")
    assert replaying._file() == tmp_path / "data" / "notebook.agent-replay.json"
    loaded.user_ns["__vsc_ipynb_file__"] = str(tmp_path / "b.ipynb")
    assert replaying._file() == tmp_path / "b.agent-replay.json"
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "a.v1.ipynb"))
    assert replaying._file() == tmp_path / "a.v1.agent-replay.json"
