"""`%agent models`: facts of the catalogue, keys by presence only, and servers asked only when asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am
from agent_magic.notebook.model_list import found_models
from agent_magic.providers import endpoints, http, local_files, vendors
from agent_magic.providers.endpoints import Endpoint

KEY = "sk-never-to-be-seen"


@pytest.fixture(autouse=True)
def no_network_and_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Any) -> Any:
        raise AssertionError(f"{request.url} was asked, unasked")

    monkeypatch.setattr(http, "_transport", refuse)
    for vendor in vendors.VENDORS.values():
        for variable in vendor.key_variables:
            monkeypatch.delenv(variable, raising=False)


def said(shell: Any, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    shell.run_line_magic("agent", line)
    return capsys.readouterr().out


def test_a_filter_lists_the_facts_of_each_model(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = said(loaded, "models gpt-5-mini", capsys)
    row = next(line for line in shown.splitlines() if line.startswith("openai/gpt-5-mini "))
    assert " ".join(row.split()) == "openai/gpt-5-mini 400k 0.25 / 2 text image pdf minimal low medium high no key"

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shown = said(loaded, "models gpt-5-mini", capsys)
    assert next(line for line in shown.splitlines() if line.startswith("openai/gpt-5-mini ")).endswith("  yes")
    assert KEY not in shown


def test_models_that_can_be_used_come_first_and_then_those_of_their_own_makers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [model.label for model in found_models("gpt-5-mini")][:2] == [
        "openai/gpt-5-mini",
        "openai/gpt-5-mini-2025-08-07",
    ]
    assert found_models("deepseek")[0].provider == "deepseek"
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    assert found_models("gpt-5-mini")[0].label == "openrouter/openai/gpt-5-mini"


def test_a_long_list_is_cut_and_says_so(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(loaded, "models openrouter", capsys).splitlines()
    assert len(lines) == 62
    assert "more; add a word to the filter" in lines[-1]


def test_without_a_filter_come_the_models_that_can_be_used_now_and_the_number_of_others(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AGENT_MAGIC_CONFIG", str(tmp_path))
    entry = {"base_url": "http://127.0.0.1:9/v1", "cost": {"input": 1, "output": 2}}
    (tmp_path / "models.json").write_text(json.dumps({"models": {"lab/own": entry}}))
    shown = said(loaded, "models", capsys)
    assert shown.splitlines()[1].startswith("demo ")
    assert "free" in shown.splitlines()[1]
    assert any(line.startswith("lab/own ") and "1 / 2" in line for line in shown.splitlines())
    assert "openai/gpt-5-mini" not in shown
    assert "openrouter " in shown


def test_nothing_found_says_how_to_ask_a_server(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert "models at URL" in said(loaded, "models nonsense", capsys)
    assert len(said(loaded, f"models {'x' * 200_000}", capsys)) < 1000


def test_more_words_are_not_taken_for_a_filter(loaded: Any) -> None:
    for line in ("models are what they are", "models at", "models at a b"):
        with pytest.raises(UsageError, match="Usage: %agent models"):
            loaded.run_line_magic("agent", line)


def test_local_shows_servers_and_files_of_this_machine(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found() -> list[Endpoint]:
        return [Endpoint("ollama", "http://127.0.0.1:11434/v1", ("qwen3", "evil\x1b[31m"))]

    monkeypatch.setattr(endpoints, "local_servers", found)
    monkeypatch.setattr(local_files, "find_models", lambda: {"llama-3": Path("llama-3.gguf")})
    shown = said(loaded, "models local", capsys)
    assert "ollama at http://127.0.0.1:11434/v1 serves 2 models:\n    ollama/qwen3\n    ollama/evil\n" in shown
    assert "    local:llama-3\n" in shown


def test_local_says_when_there_is_nothing(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none() -> list[Endpoint]:
        return []

    monkeypatch.setattr(endpoints, "local_servers", none)
    monkeypatch.setattr(local_files, "find_models", dict)
    shown = said(loaded, "models local", capsys)
    assert "No server of Ollama, LM Studio, vLLM or llama.cpp answers" in shown
    assert "none found" in shown


def test_at_lists_what_a_server_serves_and_how_to_choose_it(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def served(place: str) -> Endpoint:
        assert place == "http://127.0.0.1:9/v1"
        return Endpoint("", place, ("qwen3",))

    monkeypatch.setattr(endpoints, "served_models", served)
    shown = said(loaded, "models at http://127.0.0.1:9/v1", capsys)
    assert "The server at http://127.0.0.1:9/v1 serves 1 model:\n    qwen3\n" in shown
    assert 'get_model("ID", base_url="http://127.0.0.1:9/v1")' in shown


def test_a_server_that_does_not_answer_is_the_usual_error(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_transport", None)
    with pytest.raises(am.ServerConnectionError, match=r"127\.0\.0\.1"):
        loaded.run_line_magic("agent", "models at http://127.0.0.1:9/v1")
