"""What servers really say: an overflow is never taken for a limit of the rate, nor the other way.

`error_texts.json` holds the texts, the names of the servers, and what they mean.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.provider_errors import http_error, stream_error

MODEL = am.Model("m", provider="p", base_url="https://example.org/v1", api_key="sk-1")
URL = "https://example.org/v1/chat/completions"
TEXTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "error_texts.json").read_text(encoding="utf-8"))
IDS = [f"{each['kind']} {each['server']} {number}" for number, each in enumerate(TEXTS)]
# What these are for every server; a status says more than the words.
BY_WORDS = [each for each in TEXTS if each["kind"] == "context_overflow" and each["body"]]


def failed(status: int, body: Any) -> am.ProviderError:
    data = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return http_error(MODEL, URL, status, {}, data.encode())


@pytest.mark.parametrize("text", TEXTS, ids=IDS)
def test_the_meaning_of_what_a_server_says(text: dict[str, Any]) -> None:
    error = failed(text["status"], text["body"])
    assert (error.kind, error.retryable) == (text["kind"], text["retryable"])


@pytest.mark.parametrize("text", BY_WORDS, ids=[each["server"] for each in BY_WORDS])
def test_an_overflow_is_known_inside_an_answer_too_and_never_with_status_429(text: dict[str, Any]) -> None:
    assert stream_error(MODEL, URL, text["body"]).kind == "context_overflow"
    assert failed(429, text["body"]).kind == "rate_limit"


def test_every_provider_of_the_table_is_there() -> None:
    named = {each["server"] for each in TEXTS if each["kind"] == "context_overflow"}
    hosted = {"anthropic", "bedrock", "openai", "azure", "google", "xai", "groq", "openrouter", "together", "copilot"}
    more = {
        "minimax",
        "kimi",
        "mistral",
        "zai",
        "dashscope",
        "deepseek",
        "fireworks",
        "cerebras",
        "poolside",
        "litellm",
    }
    assert named >= hosted | more | {"vllm", "sglang", "llama.cpp", "lmstudio", "ollama"}
