"""The table of vendors: addresses, and which key may go where."""

from __future__ import annotations

import pytest

from agent_magic.providers.vendors import VENDORS, base_url_of, keys_present, vendor_named


def test_every_vendor_of_the_documentation_is_there() -> None:
    hosted = {"openai", "anthropic", "google", "openrouter", "deepseek", "groq", "mistral", "xai"}
    more = {"together", "fireworks", "cerebras", "azure", "dashscope", "moonshot", "zai", "minimax"}
    assert set(VENDORS) == hosted | more | {"ollama", "lmstudio", "vllm", "llamacpp"}


@pytest.mark.parametrize("name", sorted(set(VENDORS) - {"azure"}))
def test_vendors_are_reached_encrypted_and_local_servers_on_this_machine(name: str) -> None:
    vendor = VENDORS[name]
    if vendor.local:
        assert vendor.base_url.startswith("http://127.0.0.1:")
        assert not vendor.owns(vendor.base_url)
    else:
        assert vendor.owns(vendor.base_url)
        assert vendor.key_variables


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://api.openai.com@evil.example/v1",
        "https://openai.com/v1",
        "http://127.0.0.1:8000/v1",
        "",
    ],
)
def test_a_key_goes_to_the_vendors_own_host_only(url: str) -> None:
    assert not VENDORS["openai"].owns(url)


def test_resources_of_azure_are_azures() -> None:
    assert VENDORS["azure"].owns("https://mine.openai.azure.com/openai/v1")
    assert not VENDORS["azure"].owns("https://openai.azure.com.evil.example/")


def test_other_usual_names_are_known() -> None:
    assert vendor_named("Gemini") is VENDORS["google"]
    assert vendor_named("lm-studio") is VENDORS["lmstudio"]
    assert vendor_named("nobody") is None


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("gpu-box", "http://gpu-box:11434/v1"),
        ("gpu-box:9999", "http://gpu-box:9999/v1"),
        ("http://gpu-box", "http://gpu-box:80/v1"),
        ("https://gpu-box/ollama/", "https://gpu-box:443/ollama/v1"),
        ("https://gpu-box/v1", "https://gpu-box:443/v1"),
        ("[::1]:11434", "http://[::1]:11434/v1"),
        ("gpu-box:no-port", "http://127.0.0.1:11434/v1"),
    ],
)
def test_ollama_is_found_where_ollama_host_says(address: str, url: str) -> None:
    assert base_url_of(VENDORS["ollama"], {"OLLAMA_HOST": address}) == url


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("", ""),
        ("https://mine.openai.azure.com/", "https://mine.openai.azure.com/openai/v1"),
        ("https://mine.openai.azure.com/openai/v1", "https://mine.openai.azure.com/openai/v1"),
    ],
)
def test_azure_is_found_where_its_endpoint_says(endpoint: str, url: str) -> None:
    assert base_url_of(VENDORS["azure"], {"AZURE_OPENAI_ENDPOINT": endpoint}) == url


def test_present_keys_are_named_and_not_shown() -> None:
    environment = {"OPENAI_API_KEY": "sk-not-to-be-shown", "GOOGLE_API_KEY": "also-not", "XAI_API_KEY": "  "}
    assert keys_present(environment) == {"openai": "OPENAI_API_KEY", "google": "GOOGLE_API_KEY"}
    assert keys_present({}) == {}
