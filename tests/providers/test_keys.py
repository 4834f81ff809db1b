"""Keys go to whom they belong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import agent_magic as am
from agent_magic.providers.keys import key_for, login

OWN = "https://api.openai.com/v1/chat/completions"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    yield
    for place in ("openai", "localhost"):
        login(place, None)


def key(url: str, **fields: str) -> str | None:
    secret = key_for(am.Model("m", provider="openai", base_url=url, **fields), url)
    return secret.reveal() if secret else None


def test_the_environments_key_goes_to_the_vendors_own_host() -> None:
    assert key(OWN) == "from-the-environment"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://api.openai.com@evil.example/v1",
        "http://api.openai.com/v1",
        "http://127.0.0.1:1/v1",
    ],
)
def test_it_goes_to_no_other(url: str) -> None:
    assert key(url) is None


def test_the_models_own_key_comes_first_and_goes_anywhere() -> None:
    assert key(OWN, api_key="own") == "own"
    assert key("http://127.0.0.1:1/v1", api_key="own") == "own"


def test_a_key_given_in_the_process_comes_before_the_environment_for_its_place_only() -> None:
    login("openai", "given")
    assert key(OWN) == "given"
    assert key("https://evil.example/v1") is None
    login("localhost", "local")
    assert key("http://localhost:1/v1") == "local"


def test_a_vendor_without_a_key_is_refused_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    with pytest.raises(am.AuthenticationError, match="OPENAI_API_KEY"):
        key(OWN)


def test_nobody_can_log_in_to_an_unknown_provider() -> None:
    with pytest.raises(am.InvalidDataError, match="opnai"):
        login("opnai", "x")
