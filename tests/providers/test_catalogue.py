"""Models by name."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

import agent_magic as am
from agent_magic.providers.catalogue import _catalogue
from agent_magic.providers.vendors import VENDORS


def test_a_listed_model_has_its_facts() -> None:
    model = am.get_model("openai/gpt-5-mini")
    assert model.key == ("openai", "openai-chat", "gpt-5-mini")
    assert model.base_url == "https://api.openai.com/v1"
    assert model.context_window == 400_000
    assert model.reasoning
    assert "image" in model.input
    assert model.cost is not None
    assert (model.cost.input, model.cost.output, model.cost.cache_read) == (
        Decimal("0.25"),
        Decimal(2),
        Decimal("0.025"),
    )
    assert model.compat["thinking_levels"] == ("minimal", "low", "medium", "high")
    assert model.label == "openai/gpt-5-mini"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("anthropic/claude-haiku-4-5", ("anthropic", "anthropic", "claude-haiku-4-5")),
        ("google/gemini-2.5-pro", ("google", "gemini", "gemini-2.5-pro")),
        ("gemini/gemini-2.5-pro", ("google", "gemini", "gemini-2.5-pro")),
        ("OpenAI/gpt-4o", ("openai", "openai-chat", "gpt-4o")),
        (" gpt-5-mini ", ("openai", "openai-chat", "gpt-5-mini")),
        ("openrouter/anthropic/claude-sonnet-4.5", ("openrouter", "openai-chat", "anthropic/claude-sonnet-4.5")),
        ("openrouter/some/new-model", ("openrouter", "openai-chat", "some/new-model")),
        ("ollama/qwen3", ("ollama", "openai-chat", "qwen3")),
        ("vllm/Qwen/Qwen3-8B", ("vllm", "openai-chat", "Qwen/Qwen3-8B")),
        ("demo", ("", "demo", "demo")),
    ],
)
def test_names_are_read(name: str, key: tuple[str, str, str]) -> None:
    assert am.get_model(name).key == key


@pytest.mark.parametrize("provider", ["ollama", "lmstudio", "vllm", "llamacpp"])
def test_local_models_cost_nothing(provider: str) -> None:
    assert am.get_model(f"{provider}/anything").cost == am.ModelCost()


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert am.get_model("openrouter/some/new-model").cost is None
    assert am.get_model("ollama/qwen3", base_url="https://ollama.com/v1").cost is None


def test_cached_input_without_a_price_of_its_own_costs_what_input_does() -> None:
    for model in am.list_models():
        if model.cost is not None and model.cost.input > 0 and "embedding" not in model.compat:
            assert model.cost.cache_read > 0, model.label
            assert model.cost.cache_write > 0, model.label


def test_fields_can_be_changed() -> None:
    model = am.get_model("openai/gpt-5-mini", max_tokens=99, compat={"quirk": 1}, api_key="secret-key")
    assert model.max_tokens == 99
    assert model.compat["quirk"] == 1
    assert "thinking_levels" in model.compat
    with pytest.raises(am.InvalidDataError, match="max_token"):
        am.get_model("openai/gpt-5-mini", max_token=99)


def test_with_a_base_url_any_id_goes() -> None:
    bare = am.get_model("Qwen/Qwen3-8B", base_url="http://127.0.0.1:8000/v1")
    assert (bare.id, bare.provider, bare.api) == ("Qwen/Qwen3-8B", "", "openai-chat")
    named = am.get_model("openai/my-tuned-model", base_url="http://127.0.0.1:8000/v1")
    assert (named.id, named.provider, named.base_url) == ("my-tuned-model", "openai", "http://127.0.0.1:8000/v1")
    assert bare.cost is named.cost is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai/gpt-5-mni", "Did you mean openai/gpt-5-mini"),
        ("opnai/gpt-5-mini", "Did you mean openai/gpt-5-mini"),
        ("gpt-5-mni", "Did you mean openai/gpt-5-mini"),
        ("dmo", "Did you mean demo"),
        ("openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("openai/gpt-5-mni", 'agent_magic.Model\\(\'gpt-5-mni\', api="openai-chat", provider="openai"'),
        ("nonsense", "add base_url"),
        ("", "Write provider/id"),
        ("openai/", "Write provider/id"),
    ],
)
def test_an_unknown_name_gets_advice(name: str, said: str) -> None:
    with pytest.raises(am.UnknownModelError, match=said):
        am.get_model(name)


def test_an_id_that_several_providers_have_is_not_guessed() -> None:
    owners: dict[str, list[str]] = {}
    for provider, models in _catalogue().items():
        for identity in models:
            if provider != "azure" and VENDORS.get(identity.partition("/")[0]) is None:
                owners.setdefault(identity, []).append(provider)
    shared = {identity: providers for identity, providers in owners.items() if len(providers) > 1}
    assert shared, "the catalogue no longer has such an id; choose another way to test this"
    for identity, providers in shared.items():
        with pytest.raises(am.UnknownModelError, match="Several providers") as caught:
            am.get_model(identity)
        assert all(f"{provider}/{identity}" in str(caught.value) for provider in providers)


def test_azure_needs_its_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(am.UnknownModelError, match="AZURE_OPENAI_ENDPOINT"):
        am.get_model("azure/gpt-4o")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    assert am.get_model("azure/my-deployment").base_url == "https://mine.openai.azure.com/openai/v1"


def test_ollama_host_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "gpu-box:1234")
    assert am.get_model("ollama/qwen3").base_url == "http://gpu-box:1234/v1"


def test_the_reader_takes_every_line_of_the_catalogue() -> None:
    models = am.list_models()
    assert len(models) == 1 + sum(len(entries) for entries in _catalogue().values())
    assert set(_catalogue()) <= set(VENDORS)
    for model in models:
        assert model.api in ("openai-chat", "openai-responses", "anthropic", "gemini", "demo"), model.label
        assert set(model.compat) <= {"thinking_levels", "adaptive_thinking", "embedding", "output"}, model.label
    labels = [model.label for model in models]
    assert len(labels) == len(set(labels))


def test_models_can_be_listed_by_provider() -> None:
    assert {model.provider for model in am.list_models("google")} == {"google"}
    assert am.list_models("gemini") == am.list_models("google")
    assert am.list_models("ollama") == []
    assert [model.id for model in am.list_models("demo")] == ["demo"]
    with pytest.raises(am.UnknownModelError, match="Did you mean openai"):
        am.list_models("opanai")


@pytest.mark.parametrize("show", [repr, str, lambda model: f"{model}", lambda model: repr(vars(model))])
def test_no_key_is_ever_shown(show: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(show)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    model = am.get_model("openai/gpt-5-mini", api_key="sk-given", headers={"x-key": "sk-header"})
    shown = str(show(model.replace(headers={})))
    assert "sk-" not in shown
    assert "sk-" not in repr(model)
    assert "sk-" not in repr(am.scripted("x").replace(api_key="sk-given"))


def test_the_catalogue_is_read_at_the_first_look_up_only() -> None:
    """Complaint 51 about other tools: each import fetched a list of prices. Ours is a file of the package."""
    program = (
        "import sys, agent_magic as am\n"
        "from agent_magic.providers import catalogue\n"
        "assert catalogue._catalogue.cache_info().currsize == 0\n"
        "am.get_model('demo'); am.get_model('ollama/qwen3')\n"
        "assert catalogue._catalogue.cache_info().currsize == 0\n"
        "am.get_model('gpt-5-mini'); am.get_model('openai/gpt-4o')\n"
        "assert catalogue._catalogue.cache_info().misses == 1\n"
        "assert not {'httpx', 'pydantic', 'ipywidgets'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
