"""Models: aliases of APIs, and keys that are never shown."""

from __future__ import annotations

import copy
import pickle
import re
import traceback

import pytest

import agent_magic as am
from agent_magic.secret import Secret

KEY = "sk-never-to-be-seen"


@pytest.mark.parametrize("api", ["openai", "", "openai-chat"])
def test_openai_and_no_api_mean_chat_completions(api: str) -> None:
    assert am.Model("m", api=api).api == "openai-chat"


def test_a_model_needs_an_id() -> None:
    with pytest.raises(am.InvalidDataError, match="id"):
        am.Model("")


def test_equal_keys_mean_the_same_model() -> None:
    assert am.Model("m", provider="p").key == ("p", "openai-chat", "m")
    assert am.Model("m", provider="p", api_key="a") == am.Model("m", provider="p", api_key="b")


def test_a_key_is_in_no_text_of_a_model() -> None:
    model = am.Model("m", api_key=KEY, headers={"authorization": KEY})
    shown = [repr(model), str(model), f"{model}", repr(model.api_key), str(model.api_key), f"{model.api_key:>40}"]
    assert not any(KEY in text for text in shown)
    assert model.secret is not None
    assert model.secret.reveal() == KEY
    assert model.replace(id="n").secret == model.secret


def test_a_key_is_not_pickled_and_not_in_the_error() -> None:
    with pytest.raises(TypeError) as caught:
        pickle.dumps(Secret(KEY))
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_copy_of_a_secret_is_the_secret() -> None:
    secret = Secret(KEY)
    assert copy.deepcopy(secret) is secret
    assert copy.copy(secret) is secret


def test_a_model_does_not_change_and_so_is_its_own_deep_copy() -> None:
    model = am.Model("m", api_key=KEY, headers={"x-team": "blue"})
    assert copy.deepcopy([model])[0] is model


def test_no_text_is_no_secret() -> None:
    assert Secret.of("") is None
    assert Secret.of(None) is None
    assert am.Model("m").secret is None


def test_what_is_secret_in_an_address_is_not_shown() -> None:
    model = am.Model(
        "m", base_url="https://me:hunter22@gateway.example/v1?api_key=abc123&api-version=2025", api_key="k9"
    )
    assert "base_url='https://…@gateway.example/v1?api_key=…&api-version=2025'" in repr(model)
    assert not {"hunter22", "abc123", "k9"} & set(re.findall(r"\w+", repr(model)))
    assert "base_url='http://127.0.0.1:8080/v1'" in repr(am.Model("m", base_url="http://127.0.0.1:8080/v1"))
