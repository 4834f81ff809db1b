"""Where the servers of the OpenAI APIs are, and where their keys go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.openai_server import address, key_headers


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://h/v1", "http://h/v1/responses"),
        ("http://h/v1/", "http://h/v1/responses"),
        ("http://h/v1/responses", "http://h/v1/responses"),
        ("http://h/v1/chat/completions", "http://h/v1/responses"),
        ("https://h/openai?api-version=1", "https://h/openai/responses?api-version=1"),
        ("https://a.openai.azure.com", "https://a.openai.azure.com/openai/v1/responses"),
        ("https://a.openai.azure.com/openai/v1/", "https://a.openai.azure.com/openai/v1/responses"),
        (
            "https://a.openai.azure.com/openai/deployments/d?api-version=1",
            "https://a.openai.azure.com/openai/deployments/d/responses?api-version=1",
        ),
        ("", "https://api.openai.com/v1/responses"),
    ],
)
def test_an_operation_is_below_the_base_url(base_url: str, expected: str) -> None:
    assert address(am.Model("m", base_url=base_url), "/responses") == expected


def test_a_provider_without_base_url_is_at_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address(am.Model("m", provider="xai"), "/responses") == "https://api.x.ai/v1/responses"
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://a.openai.azure.com/")
    assert address(am.Model("m", provider="azure"), "/embeddings") == "https://a.openai.azure.com/openai/v1/embeddings"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"base_url": "https://api.openai.com/v1"}, {"authorization": "Bearer sk-1"}),
        ({"base_url": "https://a.openai.azure.com/openai/v1"}, {"api-key": "sk-1"}),
        ({"base_url": "https://gateway.example.org/v1", "provider": "azure"}, {"api-key": "sk-1"}),
        ({"base_url": "https://a.openai.azure.com", "headers": {"Authorization": "Bearer token"}}, {}),
        ({"base_url": "https://a.openai.azure.com", "headers": {"Api-Key": "sk-2"}}, {}),
        ({"base_url": "https://h/v1", "compat": {"key_header": "x-key", "key_prefix": ""}}, {"x-key": "sk-1"}),
    ],
)
def test_the_key_goes_into_the_header_that_the_server_reads(fields: dict[str, Any], expected: dict[str, str]) -> None:
    model = am.Model("m", api_key="sk-1", **fields)
    headers = key_headers(model, address(model, "/responses"))
    assert {name: value.reveal() for name, value in headers.items() if not isinstance(value, str)} == expected


@pytest.mark.parametrize(
    ("api", "ending"), [("openai-chat", "/openai/v1/chat/completions"), ("openai-responses", "/openai/v1/responses")]
)
def test_azure_is_served_by_both_apis_with_the_key_of_the_environment(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch, api: str, ending: str
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key")
    stand_in.refuses(400)
    model = am.Model("deployment", api, "azure", "https://a.openai.azure.com")
    with pytest.raises(am.BadRequestError):
        asyncio.run(am.complete(model, am.Context(messages=[am.UserMessage("hi")])))
    request = stand_in.requests[-1]
    assert request.url == f"https://a.openai.azure.com{ending}"
    assert "authorization" not in request.headers
    assert request.headers["api-key"].reveal() == "azure-key"
    assert stand_in.body["model"] == "deployment"
