"""Models of the user's own file."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.secret import Secret


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_MAGIC_CONFIG", str(tmp_path))
    return tmp_path / "models.json"


def write(file: Path, value: Any) -> None:
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def test_without_a_file_there_are_none(file: Path) -> None:
    assert am.get_model("openai/gpt-5-mini").provider == "openai"


def test_a_model_of_the_file_is_known_by_its_name_with_all_its_fields(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "never-shown")
    entry = {
        "base_url": "https://models.example/v1",
        "api_key_variable": "LAB_KEY",
        "context_window": 32_768,
        "reasoning": True,
        "input": ["text", "image"],
        "cost": {"input": 0.1, "output": 0.2, "tiers": [{"above": 1000, "input": 1, "output": 2}]},
        "headers": {"x-team": "physics"},
        "compat": {"thinking_form": "template"},
    }
    write(file, {"models": {"lab/org/qwen3": entry}})
    model = am.get_model("lab/org/qwen3")

    assert (model.provider, model.id, model.api) == ("lab", "org/qwen3", "openai-chat")
    assert (model.base_url, model.context_window, model.reasoning) == ("https://models.example/v1", 32_768, True)
    assert model.secret is not None
    assert model.secret.reveal() == "never-shown"
    assert "never-shown" not in repr(model)
    assert model.cost == am.ModelCost(Decimal("0.1"), Decimal("0.2"), tiers=((1000, am.ModelCost(1, 2)),))
    assert dict(model.headers) == {"x-team": "physics"}
    assert model.compat["thinking_form"] == "template"
    assert model in am.list_models()
    assert am.list_models("lab") == [model]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_key_counts_that_is_set_or_renewed_after_the_file_was_read(
    file: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.delenv("LAB_KEY", raising=False)
    write(file, mark + json.dumps({"models": {"lab/m": {"base_url": "https://h/v1", "api_key_variable": "LAB_KEY"}}}))
    assert am.get_model("lab/m").secret is None
    for key in ("first", "second"):
        monkeypatch.setenv("LAB_KEY", key)
        assert am.get_model("lab/m").secret == Secret(key)


def test_the_file_goes_before_the_catalogue_and_is_read_again_when_it_changes(file: Path) -> None:
    write(file, {"models": {"openai/gpt-5-mini": {"base_url": "https://proxy.example/v1"}}})
    assert am.get_model("openai/gpt-5-mini").base_url == "https://proxy.example/v1"
    write(file, {"models": {}})
    assert am.get_model("openai/gpt-5-mini").base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("content", "path", "words"),
    [
        ("{", "models.json", "is no JSON"),
        ([], "models.json", "must be an object"),
        ({"model": {}}, "models.json: model", "known are models"),
        ({"models": []}, "models.json: models", "must be models by name"),
        ({"models": {"a/b": {"base": "x"}}}, "models.json: models['a/b'].base", "known are api, base_url"),
        ({"models": {"a/b": {"api_key": "x"}}}, "models.json: models['a/b'].api_key", "api_key_variable"),
        ({"models": {"a/b": {"cost": {"input": "dear"}}}}, "models.json: models['a/b'].cost.input", "amount in USD"),
        ({"models": {"a/b": {"context_window": "big"}}}, "models.json: models['a/b'].context_window", "must be"),
    ],
)
def test_a_fault_of_the_file_names_file_place_and_what_is_right(
    file: Path, content: Any, path: str, words: str
) -> None:
    write(file, content)
    with pytest.raises(am.InvalidDataError, match=words) as caught:
        am.get_model("a/b")

    assert caught.value.path == f"{file.parent}{os.sep}{path}"
    assert am.get_model("demo").api == "demo", "the default must work whatever the file holds"
