"""Traces: a line for each event, without texts and keys unless texts are asked for, and never a path made of an id."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.session import trace

KEY = "sk-a-key-of-the-test-0123456789"


@pytest.fixture
def lines(tmp_path: Path) -> Any:
    """Traces into a file of the test; reads what is there."""
    path = trace.trace_to(tmp_path / "here" / "trace.jsonl")
    yield lambda: [json.loads(line) for line in path.read_bytes().splitlines()]
    trace.trace_to(None)


Lines = Callable[[], list[dict[str, Any]]]


def ask(model: am.Model, trace_id: str | None = "t", text: str = "secret words", **config: Any) -> am.AssistantMessage:
    context = am.Context(messages=[am.UserMessage(text)])
    return asyncio.run(am.complete(model, context, am.RequestConfig(trace_id=trace_id, **config)))


def test_a_request_and_its_answer_are_a_line_each(lines: Lines) -> None:
    usage = am.Usage(input=3, output=5)
    ask(am.scripted(am.AssistantMessage("secret answer", usage=usage)), max_tokens=99)
    asked, answered = lines()
    assert (asked["event"], answered["event"]) == ("request", "answer")
    assert asked["trace"] == answered["trace"] == "t"
    assert asked["request"] == answered["request"]
    assert (asked["api"], asked["messages"], asked["tools"]) == ("scripted", 1, [])
    assert asked["config"] == {"max_tokens": 99}
    assert answered["stopReason"] == "stop"
    assert (answered["usage"]["input"], answered["usage"]["output"]) == (3, 5)
    assert answered["milliseconds"] >= 0
    assert asked["time"].endswith("Z")


def test_without_a_trace_id_nothing_is_written_or_loaded(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio, agent_magic as am\n"
        "asyncio.run(am.complete(am.scripted('hi'), am.Context(messages=[am.UserMessage('x')])))\n"
        "assert 'agent_magic.session.trace' not in sys.modules\n"
        "config = am.RequestConfig(trace_id='x')\n"
        "asyncio.run(am.complete(am.scripted('hi'), am.Context(messages=[am.UserMessage('x')]), config))\n"
        "assert 'agent_magic.session.trace' in sys.modules\n"
    )
    environment = {"AGENT_MAGIC_DATA": str(tmp_path / "data")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=str(Path(am.__file__).parents[1]))
    (file,) = (tmp_path / "data" / "traces").iterdir()
    assert len(file.read_bytes().splitlines()) == 2
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("trace_id", ["../../escape", "/etc/x", "a\nb", "", "x" * 5000, "\ud800", '"}{"'])
def test_an_id_is_a_value_and_never_a_path(lines: Lines, tmp_path: Path, trace_id: str) -> None:
    ask(am.scripted("hi"), trace_id)
    assert [line["trace"] for line in lines()] == [trace_id, trace_id]
    assert [each.name for each in tmp_path.rglob("*")] == ["here", "trace.jsonl"]


def test_texts_are_left_out_unless_asked_for(lines: Lines, tmp_path: Path) -> None:
    @am.tool
    def look(what: str) -> str:
        """Look."""
        return f"secret result of {what}"

    def go() -> str:
        call = am.AssistantMessage([am.ToolCall("c1", "look", {"what": "secret argument"})])
        am.Agent(am.scripted(call, "secret answer"), [look], "secret prompt", trace_id="t").run("secret words")
        return json.dumps(lines())

    assert "secret" not in go()
    trace.trace_to(tmp_path / "here" / "trace.jsonl", texts=True)
    found = go()
    for text in ("secret words", "secret answer", "secret prompt", "secret argument", "secret result of"):
        assert text in found


def test_tools_of_an_agent_are_traced_with_their_time_and_end(lines: Lines) -> None:
    @am.tool
    def fails() -> str:
        """Fail."""
        raise ValueError("no")

    call = am.AssistantMessage([am.ToolCall("c1", "fails", {})])
    agent = am.Agent(am.scripted(call, "done", "again"), [fails], trace_id="t")
    agent.run("go")
    found = lines()
    assert [line["event"] for line in found] == [
        "request", "answer", "tool_start", "tool_end", "request", "answer",
    ]  # fmt: skip
    assert found[1]["toolCalls"] == ["fails"]
    assert (found[3]["tool"], found[3]["call"], found[3]["failed"]) == ("fails", "c1", True)
    assert found[0]["request"] != found[4]["request"]
    agent.run("once more", trace_id=None)
    assert len(lines()) == 6


def test_errors_retries_and_aborts_are_told_apart(lines: Lines) -> None:
    limited = am.RateLimitError("secret words of the server", status=429, retryable=True)
    ask(am.scripted(limited, "then"), max_retry_delay=0)
    with pytest.raises(am.AuthenticationError):
        ask(am.scripted(am.AuthenticationError("no", status=401)))
    signal = am.AbortSignal()

    async def aborted() -> None:
        context, config = am.Context(messages=[am.UserMessage("x")]), am.RequestConfig(trace_id="t")
        asyncio.get_running_loop().call_later(0.05, signal.abort)
        await am.complete(am.scripted([am.Delay(10), "late"]), context, config, signal=signal)

    with pytest.raises(am.AbortedError):
        asyncio.run(aborted())
    found = lines()
    assert [line["event"] for line in found] == [
        "request", "retry", "answer", "request", "error", "request", "aborted",
    ]  # fmt: skip
    assert (found[1]["kind"], found[1]["status"], found[4]["error"]) == ("rate_limit", 429, "AuthenticationError")
    assert "secret" not in json.dumps(found)


def test_keys_are_never_written(lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace.trace_to(tmp_path / "here" / "trace.jsonl", texts=True)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment-0123456789")
    model = am.scripted(f"you said {KEY}").replace(api_key=KEY)
    ask(model, f"id {KEY}", f"my keys: {KEY} sk-of-the-environment-0123456789")
    found = json.dumps(lines())
    assert "[key hidden]" in found
    assert KEY not in found
    assert "sk-of-the-environment" not in found


def test_lines_of_many_threads_never_mix(lines: Lines) -> None:
    def work(name: str) -> None:
        for _ in range(20):
            ask(am.scripted("hi"), name * 2000)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = lines()
    assert len(found) == 6 * 20 * 2
    assert all(len(set(line["trace"])) == 1 for line in found)
    assert len({line["request"] for line in found}) == 6 * 20


def test_texts_that_have_no_stored_form_stop_nothing(lines: Lines, tmp_path: Path) -> None:
    trace.trace_to(tmp_path / "here" / "trace.jsonl", texts=True)
    details: dict[str, Any] = {}
    details["itself"] = details
    call, result = am.ToolCall("a", "f", {}), am.ToolResultMessage("a", "f", "done", details=details)
    context = am.Context(messages=[am.UserMessage("hi"), am.AssistantMessage([call]), result])
    asked = am.complete(am.scripted("Fine."), context, am.RequestConfig(trace_id="t"))
    assert asyncio.run(asyncio.wait_for(asked, 5)).text == "Fine."
    request, answer = lines()
    assert "contains itself" in request["textsLeftOut"]
    assert answer["content"]["content"][0]["text"] == "Fine."


def test_a_trace_that_cannot_be_written_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    trace.trace_to(tmp_path / "file" / "trace.jsonl")
    try:
        assert ask(am.scripted("hi")).text == "hi"
    finally:
        trace.trace_to(None)
    assert len(caplog.records) == 1
