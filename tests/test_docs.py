"""The pages of the documentation say what the code does."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.apis import adapter_for
from agent_magic.providers.provider_errors import connection_error, http_error, interrupted
from agent_magic.providers.quirks import _BY_PROVIDER
from agent_magic.providers.vendors import VENDORS

DOCS = Path(__file__).parents[1] / "docs"
WEATHER = am.ToolSchema("f")
# One value for each row of the table of fields.
ROWS: dict[str, dict[str, Any]] = {
    "max_tokens": {"max_tokens": 9},
    "temperature": {"temperature": 0.5},
    "tools": {"tools": [WEATHER]},
    "system_prompt": {"system_prompt": "x"},
    'tool_choice="required"': {"tool_choice": "required"},
    "tool_choice=[names]": {"tool_choice": ["f"]},
    "thinking_level": {"thinking_level": "high"},
    "thinking_summary": {"thinking_summary": True},
    'prompt_caching="enable"': {"prompt_caching": "enable"},
    'prompt_caching="disable"': {"prompt_caching": "disable"},
    'prompt_caching="enhance"': {"prompt_caching": "enhance"},
    "response_schema": {"response_schema": {"type": "object"}},
    "image_config": {"image_config": {}},
    "tts_config": {"tts_config": [{"voice": "Kore"}]},
    "embedding_config": {"embedding_config": {}},
    "trace_id": {"trace_id": "x"},
    "max_retries`, `max_retry_delay`, `timeout": {"max_retries": 1, "max_retry_delay": 1, "timeout": 1},
}
CHAT = [("", False), ("openai", True), ("openrouter", True), ("mistral", False), ("deepseek", True), ("zai", True)]
MODELS = [
    [am.Model("m", "openai-chat", provider, reasoning=reasons) for provider, reasons in CHAT],
    [am.Model("m", "openai-responses", name, reasoning=reasons) for name, reasons in [("", False), ("openai", True)]],
    [am.Model("m", "anthropic"), *(am.get_model(f"anthropic/claude-{name}") for name in ("opus-5", "haiku-4-5"))],
    [am.get_model(f"google/gemini-{name}") for name in ("3.5-flash", "2.5-flash-image")],
]
# Models for one thing alone, which say nothing about other fields.
SPEAKERS: list[list[am.Model]] = [[], [], [], [am.get_model("google/gemini-2.5-flash-preview-tts")]]


def tables(page: str) -> Iterator[list[str]]:
    """The cells of each row of the tables of a page, without head rows."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        is_head = number + 1 < len(lines) and lines[number + 1].startswith("| ---")
        if line.startswith("| ") and not line.startswith("| ---") and not is_head:
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def offered(model: am.Model, config: dict[str, Any]) -> bool:
    return not set(adapter_for(model).unsupported(model, am.RequestConfig(**config))) & set(config)


@pytest.mark.parametrize("row", ROWS)
def test_the_table_of_fields_says_what_each_api_offers(row: str) -> None:
    cells = next(cells for cells in tables("models.md") if cells[0] == f"`{row}`")
    for cell, ordinary, special in zip(cells[1:], MODELS, SPEAKERS, strict=True):
        found = [offered(model, ROWS[row]) for model in ordinary]
        fitting = any(found) or any(offered(model, ROWS[row]) for model in special)
        assert re.split(r"\W", cell)[0] == ("yes" if all(found) else "some" if fitting else "no"), cell


def test_the_table_of_fields_leaves_no_field_out() -> None:
    assert {name for given in ROWS.values() for name in given} == {each.name for each in fields(am.RequestConfig)}


def test_the_table_of_servers_names_each_with_its_key() -> None:
    found = {cells[0].strip("`"): cells[2].strip("`") for cells in tables("models.md") if len(cells) == 4}
    assert set(found) == set(_BY_PROVIDER)
    for name, key in found.items():
        vendor = VENDORS.get(name)
        if vendor is not None:
            assert key == (vendor.key_variables[0] if vendor.key_variables and not vendor.local else "none")


def test_every_error_stands_on_the_page_of_errors_with_cause_and_cure() -> None:
    for module in pkgutil.walk_packages(am.__path__, "agent_magic."):
        import_module(module.name)
    found = {cells[0].strip("`"): cells for cells in tables("errors.md") if re.fullmatch(r"`\w+Error`", cells[0])}
    assert set(found) == {kind.__name__ for kind in kinds_of(am.AgentMagicError)} - {"ProviderError"}
    for name, cells in found.items():
        cause, cure = cells[-2:]
        assert cause.endswith("."), name
        assert cure.endswith("."), name
    assert {name: cells[1].strip("`") for name, cells in found.items() if len(cells) == 4} == {
        kind.__name__: kind.kind for kind in kinds_of(am.ProviderError)
    }


def kinds_of(root: type[Any]) -> Iterator[type[Any]]:
    for kind in root.__subclasses__():
        if kind.__module__.startswith("agent_magic"):
            yield kind
            yield from kinds_of(kind)


def test_the_readme_leads_to_the_pages() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert all(f"(docs/{page.name})" in readme for page in DOCS.glob("*.md"))


MODEL = am.Model("m", base_url="https://models.example.org/v1", api_key="sk-1")
URL = "https://models.example.org/v1/chat/completions"
FAILURES = [
    *(http_error(MODEL, URL, status, {}, b'{"error":{"message":"No"}}') for status in (400, 401, 404, 413, 429, 500)),
    http_error(MODEL, URL, 400, {}, b'{"error":{"message":"No","code":"content_filter"}}'),
    connection_error(MODEL, URL, "No connection could be made."),
    interrupted(MODEL, URL, "The connection broke off in the middle of the answer."),
    am.EmptyResponseError("openai-chat", "stop"),
    am.ToolCallArgumentParseError("openai-chat", "f", "c", "[1]"),
]


@pytest.mark.parametrize("error", FAILURES, ids=[each.kind for each in FAILURES])
def test_a_failure_is_told_in_a_sentence_of_cause_and_one_of_cure(error: am.ProviderError) -> None:
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", str(error))
    assert len(sentences) >= 2, sentences
    cure = re.compile(r"(Send|Check|Wait|Word|Shorten|Change|Set|Add|Give|Log|Start|Ask)\b")
    assert any(cure.match(sentence) for sentence in sentences[1:]), sentences
    assert {each.kind for each in FAILURES} == {kind.kind for kind in kinds_of(am.ProviderError)}
