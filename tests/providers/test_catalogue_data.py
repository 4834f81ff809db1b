"""The file agent_magic/providers/catalogue.json, whoever reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).parents[2] / "agent_magic" / "providers" / "catalogue.json"
PROVIDERS = {
    "anthropic",
    "azure",
    "cerebras",
    "deepseek",
    "fireworks",
    "google",
    "groq",
    "mistral",
    "openai",
    "openrouter",
    "together",
    "xai",
}
MODEL_KEYS = {
    "name",
    "api",
    "embedding",
    "context_window",
    "max_tokens",
    "input",
    "output",
    "reasoning",
    "thinking_levels",
    "adaptive_thinking",
    "cost",
    "retires",
}
RATES = {"input", "output", "cache_read", "cache_write", "cache_write_1h", "input_audio", "output_image"}
LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"]
KINDS = ["text", "image", "audio", "video", "pdf"]


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice among {keys}"
    return dict(pairs)


@pytest.fixture(scope="module")
def catalogue() -> dict[str, Any]:
    text = PATH.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text, parse_float=Decimal, object_pairs_hook=unique)
    return found


def models(catalogue: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for provider, by_id in catalogue["models"].items():
        for identity, model in by_id.items():
            yield f"{provider}/{identity}", model


def prices(cost: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every rate of a cost, also those of its tiers, services and off-peak hours."""
    yield from ((name, cost[name]) for name in sorted(RATES & set(cost)))
    for part in [*cost.get("tiers", []), *cost.get("services", {}).values()]:
        yield from prices(part)
    if "off_peak" in cost:
        yield from prices(cost["off_peak"])


def test_the_file_is_small_enough_to_ship() -> None:
    assert PATH.stat().st_size <= 300_000


def test_the_sources_are_named_with_version_and_licence(catalogue: dict[str, Any]) -> None:
    assert [source["package"] for source in catalogue["source"]] == ["litellm", "genai-prices"]
    for source in catalogue["source"]:
        assert re.fullmatch(r"\d+(\.\d+)+", source["version"])
        assert source["licence"] == "MIT"
        assert source["copyright"].startswith("Copyright (c)")
    assert catalogue["licence_text"].startswith("Permission is hereby granted")


def test_one_model_stands_on_one_line_and_ids_are_sorted(catalogue: dict[str, Any]) -> None:
    assert set(catalogue["models"]) == PROVIDERS
    lines = PATH.read_text(encoding="utf-8").split("\n")
    for by_id in catalogue["models"].values():
        assert by_id
        assert list(by_id) == sorted(by_id)
        for identity in by_id:
            assert any(line.startswith(f"{json.dumps(identity)}: {{") for line in lines)


def test_every_model_is_well_formed(catalogue: dict[str, Any]) -> None:
    for key, model in models(catalogue):
        assert set(model) <= MODEL_KEYS, key
        assert model.get("api", "openai-chat") in ("openai-chat", "openai-responses", "anthropic", "gemini"), key
        for name in ("context_window", "max_tokens"):
            assert name not in model or (type(model[name]) is int and model[name] > 0), key
        for name in ("reasoning", "embedding", "adaptive_thinking"):
            assert model.get(name, True) is True, key
        for name, order in (("input", KINDS), ("output", KINDS), ("thinking_levels", LEVELS)):
            assert name not in model or model[name] == [item for item in order if item in model[name]] != [], key
        assert "thinking_levels" not in model or model["reasoning"], key
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", model.get("retires", "2030-01-01")), key


def test_a_vendor_is_reached_by_its_own_api(catalogue: dict[str, Any]) -> None:
    assert {model["api"] for model in catalogue["models"]["anthropic"].values()} == {"anthropic"}
    assert {model["api"] for model in catalogue["models"]["google"].values()} == {"gemini"}


def test_prices_are_exact_decimals_and_an_unknown_one_is_absent(catalogue: dict[str, Any]) -> None:
    for key, model in models(catalogue):
        for name, price in prices(model.get("cost", {})):
            assert type(price) in (int, Decimal), key
            assert len(Decimal(price).normalize().as_tuple().digits) <= 9, key
            known_to_be_free = key.endswith(":free") or (name == "output" and "embedding" in model)
            assert price == 0 if known_to_be_free else price > 0, key


def test_costs_hold_nothing_but_rates_tiers_services_and_hours(catalogue: dict[str, Any]) -> None:
    for key, model in models(catalogue):
        cost = model.get("cost", {"input": 1})
        assert set(cost) - RATES <= {"tiers", "services", "off_peak"}, key
        assert set(cost.get("services", {})) <= {"flex", "priority"}, key
        assert set(cost) & RATES, key


def test_tiers_rise_and_name_their_threshold_in_prompt_tokens(catalogue: dict[str, Any]) -> None:
    for key, model in models(catalogue):
        cost = model.get("cost", {})
        for part in (cost, *cost.get("services", {}).values()):
            thresholds = [tier["above"] for tier in part.get("tiers", [])]
            assert thresholds == sorted(set(thresholds)), key
            assert all(type(threshold) is int and threshold >= 1000 for threshold in thresholds), key
            assert all({"above"} < set(tier) <= {"above"} | RATES for tier in part.get("tiers", [])), key


def test_embedding_models_of_openai_and_google_are_marked(catalogue: dict[str, Any]) -> None:
    marked = {key for key, model in models(catalogue) if model.get("embedding")}
    assert {"openai/text-embedding-3-small", "openai/text-embedding-3-large", "google/gemini-embedding-001"} <= marked
    assert all("embedding" in key or "embed" in key for key in marked)


@pytest.mark.parametrize(
    ("provider", "identity", "window", "rates"),
    [
        (
            "anthropic",
            "claude-haiku-4-5",
            200_000,
            {"input": "1", "output": "5", "cache_read": "0.1", "cache_write": "1.25"},
        ),
        ("openai", "gpt-5-mini", 400_000, {"input": "0.25", "output": "2", "cache_read": "0.025"}),
        ("openai", "gpt-4o", 128_000, {"input": "2.5", "output": "10", "cache_read": "1.25"}),
        ("google", "gemini-2.5-pro", 1_048_576, {"input": "1.25", "output": "10", "cache_read": "0.125"}),
    ],
)
def test_well_known_models_have_their_published_prices(
    catalogue: dict[str, Any], provider: str, identity: str, window: int, rates: dict[str, str]
) -> None:
    model = catalogue["models"][provider][identity]
    assert model["context_window"] == window
    assert {name: model["cost"][name] for name in rates} == {name: Decimal(price) for name, price in rates.items()}


def test_ft_variants_are_left_out(catalogue: dict[str, Any]) -> None:
    assert not [key for key, _ in models(catalogue) if "/ft:" in key]
