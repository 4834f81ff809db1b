"""Keys that this process holds never reach the model, the record, the output or the history."""

import json
import os
from collections import deque
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook.key_guard import warning_about, without_keys
from agent_magic.providers import keys

KEY = "known-key-of-this-process"
LOGIN = "another-key-by-login"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(keys, "_logins", {})
    monkeypatch.setattr(keys, "_used", deque())
    keys.login("groq", LOGIN)


LEAKS = {
    "returned": "return f'{key} and {login}'",
    "in data": "return {'list': [key, {'deep': login}]}",
    "in a frame": "import pandas\n    return pandas.DataFrame({'k': [key, login]})",
    "printed": "print(key, login)",
    "displayed": "from IPython.display import display\n    display({'key': key, 'login': login})",
    "raised": "raise ValueError(f'{key} {login}')",
    "progress": "yield key\n    yield login\n    return 'x'",
    "details": "return am.AgentToolResult('x', details={'key': key, 'login': [login]})",
    "chart": (
        "import plotly.graph_objects as g\n    f = g.Figure(g.Bar(x=[key], y=[1]))\n"
        "    f.layout.title = login\n    return f"
    ),
}


@pytest.mark.parametrize("how", LEAKS)
def test_a_key_that_a_tool_gives_away_is_hidden_everywhere(
    loaded: Any, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def look(context: Any, config: Any) -> str:
        seen.extend(message.text for message in context.messages)
        return "ok"

    loaded.user_ns |= {"key": KEY, "login": LOGIN}
    loaded.run_cell(f"import agent_magic as am\n@am.tool\ndef leak():\n    '''L.'''\n    {LEAKS[how]}")
    events: list[str] = []
    am.get_agent().model = am.scripted(am.AssistantMessage([am.ToolCall("1", "leak", {})]), look)
    kernel = loaded.agent_magic.kernel
    am.get_agent().subscribe(lambda event: events.append(json.dumps(kernel.view.recorder.record())))
    reply = loaded.run_line_magic("agent", "hi")
    shown = [*seen, *events, capsys.readouterr().out, json.dumps(kernel.runs[kernel.runs.count])]
    shown += [repr(message) for message in reply.messages]
    assert not [text for text in shown if KEY in text or LOGIN in text]
    assert any("[key hidden]" in text for text in shown)


def test_the_users_own_hook_still_works_and_its_result_is_guarded(loaded: Any) -> None:
    loaded.run_cell("from agent_magic import tool\n@tool\ndef f():\n    '''F.'''\n    return 'plain'")
    agent = am.get_agent()

    async def hook(call: Any, result: Any, context: Any) -> am.AgentToolResult:
        return am.AgentToolResult(f"{result.content[0].text} {KEY}")

    agent.loop_config = agent.loop_config.replace(after_tool_call=hook)
    agent.model = am.scripted(am.AssistantMessage([am.ToolCall("1", "f", {})]), "ok")
    loaded.run_line_magic("agent", "hi")
    assert agent.messages[2].text == "plain [key hidden]"


def test_the_key_of_a_model_is_known_as_soon_as_it_was_used() -> None:
    model = am.Model("m", base_url="https://models.example.org/v1", api_key="key-of-this-model")
    assert without_keys("key-of-this-model") == "key-of-this-model"
    for _ in range(3):
        keys.key_for(model, model.base_url)
    assert without_keys("key-of-this-model") == "[key hidden]"
    assert [key.reveal() for key in keys.known_keys()].count("key-of-this-model") == 1


def test_pictures_are_left_alone_and_other_data_keeps_its_shape() -> None:
    data = {"image/png": KEY, "text/plain": (KEY, 1, None), "more": [{"x": f"a {KEY} b"}]}
    assert without_keys(data) == {
        "image/png": KEY,
        "text/plain": ("[key hidden]", 1, None),
        "more": [{"x": "a [key hidden] b"}],
    }


@pytest.mark.parametrize(
    "key", [KEY, LOGIN, "sk-ant-" + "a1" * 20, "ghp_" + "a1" * 18, "AKIA" + "A1" * 8, "AIza" + "a1" * 17 + "b"]
)
def test_a_key_in_a_message_is_flagged_before_it_is_sent(
    loaded: Any, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Complaint 48 about other tools: a key in a cell was echoed into the notebook, and nobody was warned."""
    noted: list[str] = []

    def look(context: Any, config: Any) -> str:
        noted.append(capsys.readouterr().out)
        return "ok"

    am.get_agent().model = am.scripted(look)
    loaded.run_line_magic("agent", f"my key is {key}")
    assert f"looks like a key ({key[:5]}…)" in noted[0]
    assert key not in noted[0]


@pytest.mark.parametrize("text", ["", "what is a key?", "sk-learn is fun", "token = 5", "AKIA"])
def test_ordinary_text_is_not_flagged(text: str) -> None:
    assert warning_about(text) is None
