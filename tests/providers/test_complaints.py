"""What users of other tools complained about in providers, keys and the installation, and what is right.

The numbers are those of `tests/notebook/test_complaints.py`. 46, 50 and 51 are told by the tests of networks, requests
and the catalogue, 48 by those of keys in notebooks, and 59 by those of saved notebooks.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers import keys
from agent_magic.secret import Secret

CONTEXT = am.Context(messages=[am.UserMessage("hi")])
GATEWAY = "https://gateway.example/v1"


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f" {GATEWAY} ")
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-openai-alone")
    monkeypatch.setattr(keys, "_logins", {})


def sent_key(stand_in: Any) -> str | None:
    found = stand_in.requests[-1].headers.get("authorization")
    return None if found is None else found.reveal()


@pytest.mark.usefixtures("gateway")
def test_an_address_is_said_once(stand_in: Any) -> None:
    """45: another address for OpenAI's models was asked for again and again, or ignored."""
    stand_in.streams()
    for name in ("openai/gpt-4o", "gpt-4o", "openai/tuned-by-us"):
        asyncio.run(am.complete(am.get_model(name), CONTEXT))
    asyncio.run(am.complete(am.Model("m"), CONTEXT))
    assert {each.url for each in stand_in.requests} == {f"{GATEWAY}/chat/completions"}
    assert am.get_model("openai/gpt-4o", base_url="https://nearer.example/v1").base_url == "https://nearer.example/v1"
    assert am.get_model("groq/openai/gpt-oss-120b").base_url == "https://api.groq.com/openai/v1"


@pytest.mark.usefixtures("gateway")
def test_a_key_goes_to_that_address_only_where_it_was_given_for_it(stand_in: Any) -> None:
    """45: and the error of a server that wants one says why it did not get that of the environment."""
    stand_in.refuses(401, "Unauthorized")
    with pytest.raises(am.AuthenticationError) as caught:
        asyncio.run(am.complete(am.get_model("openai/gpt-4o"), CONTEXT))
    assert sent_key(stand_in) is None
    assert "OPENAI_API_KEY was not sent" in str(caught.value)
    assert "%agent login gateway.example" in str(caught.value)

    with pytest.raises(am.AuthenticationError, match="Check the api_key="):
        asyncio.run(am.complete(am.get_model("openai/gpt-4o", api_key="given"), CONTEXT))
    assert sent_key(stand_in) == "Bearer given"
    keys.login("gateway.example", "logged-in")
    with pytest.raises(am.AuthenticationError) as caught:
        asyncio.run(am.complete(am.get_model("openai/gpt-4o"), CONTEXT))
    assert sent_key(stand_in) == "Bearer logged-in"
    assert "was not sent" not in str(caught.value)


def test_a_key_is_that_of_the_environment_and_else_of_the_keyring_and_of_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """47: the key of the environment was ignored, and that of a config file was wanted."""
    monkeypatch.setattr(keys, "_logins", {})
    monkeypatch.setattr(keys, "stored_key", lambda provider: Secret(f"{provider} in the keyring"))
    monkeypatch.setenv("AGENT_MAGIC_CONFIG", str(tmp_path))
    model = am.get_model("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "of the environment")
    assert [key.reveal() for key in [keys.key_for(model, model.base_url)] if key] == ["of the environment"]
    monkeypatch.delenv("OPENAI_API_KEY")
    assert [key.reveal() for key in [keys.key_for(model, model.base_url)] if key] == ["openai in the keyring"]
    assert not list(tmp_path.iterdir())


UNUSED = """
import asyncio, sys
contacts = []
def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        contacts.append((event, arguments[1:]))
sys.addaudithook(note)
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for line in ("%load_ext agent_magic", "%agent", "%agent models", "%agent -m demo -o reply What can you do?"):
    shell.run_cell(line).raise_error()
import agent_magic as am
assert shell.user_ns["reply"].text
am.list_models(), am.get_model("ollama/qwen3"), am.get_model("openai/gpt-4o")
print("CONTACTS", contacts)
context = am.Context(messages=[am.UserMessage("hi")])
try:
    asyncio.run(am.complete(am.Model("m", base_url="http://127.0.0.1:9/v1"), context, am.RequestConfig(max_retries=0)))
except am.ServerConnectionError:
    print("CONTACTED", bool(contacts))
"""


def test_nothing_is_contacted_before_a_model_that_is_elsewhere_is_asked(tmp_path: Path) -> None:
    """49 and 51: servers that nobody used were looked for at each start, and prices were fetched."""
    environment = os.environ | {"IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", UNUSED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall("CONTACTS .*|CONTACTED .*", done.stdout) == ["CONTACTS []", "CONTACTED True"]


def test_few_dependencies_of_any_newer_version_and_no_vendors_package() -> None:
    """58: pinned and heavy dependencies did not go together with what was installed."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert found
    names = dict(re.findall(r'"([a-z0-9-]+)(.*)"', found[1]))
    assert len(names) == found[1].count("\n")
    assert len(names) <= 8
    assert all(re.fullmatch(r">=[0-9.]+", versions) for versions in names.values()), names
    assert not {"openai", "anthropic", "google-genai", "litellm", "jupyterlab", "langchain"} & set(names)
