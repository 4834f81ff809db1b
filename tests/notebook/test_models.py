"""One conversation in a notebook that changes its model from cell to cell, against servers that replay answers."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..providers.acceptance import check_accepted
from ..wire import replay_server
from .guides import executed
from .kernel_client import Kernel

pytestmark = pytest.mark.kernel

ROOT = Path(__file__).parents[2]
# For each API the answer with calls that its server gives first, and the one that it gives from then on.
ANSWERS = {
    "openai-chat": ("chat-tools-parallel-interleaved", "chat-openrouter-reasoning-details"),
    "openai-responses": ("resp-tools-interleaved", "resp-reasoning-summary"),
    "anthropic": ("msg-thinking-signature", "msg-redacted-thinking"),
    "gemini": ("gem-tools-parallel-signature", "gem-thoughts"),
}
SETUP = """
import agent_magic as am
from agent_magic import tool
from PIL import Image
shot = Image.new("RGB", (2, 2), "red")

@tool
def get_weather(city: str):
    '''Current weather of a city.

    Args:
        city: Name of the city.
    '''
    return Image.new("RGB", (3, 3), "blue")

@tool
def get_time(city: str):
    '''Local time of a city.

    Args:
        city: Name of the city.
    '''
    return "noon"

def model(api, root, names):
    return am.Model("+".join(names), api, "lab", root, "sk-none", reasoning=True, input=("text", "image"))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with replay_server.serving() as url:
        yield url


def requests_to(server: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{server}/requests") as response:
        found: list[dict[str, Any]] = json.load(response)
        return found


def api_of(path: str) -> str:
    endings = {"/chat/completions": "openai-chat", "/responses": "openai-responses", "/messages": "anthropic"}
    return next((api for ending, api in endings.items() if path.endswith(ending)), "gemini")


def test_a_conversation_goes_through_all_apis_and_back_with_tools_and_images(server: str) -> None:
    with Kernel(NO_PROXY="127.0.0.1") as kernel:
        kernel.run("%load_ext agent_magic")
        assert kernel.run(SETUP).status == "ok"
        asked = 0
        for name in ["demo", *ANSWERS, "demo", *reversed(ANSWERS)]:
            if name == "demo":
                assert kernel.run("%agent model demo").status == "ok"
            else:
                root = server + ("/v1" if name.startswith("openai") else "")
                assert (
                    kernel.run(f"other = model({name!r}, {root!r}, {ANSWERS[name]!r})\n%agent model other").status
                    == "ok"
                )
            cell = kernel.run("%%agent -i shot\nGet the weather for the city Oslo")
            assert cell.status == "ok", cell.error
            asked += 1
            kinds = [item["kind"] for item in cell.record["items"]]
            assert "text" in kinds, name
            assert "tool" in kinds or asked > len(ANSWERS) + 1, name
        kernel.run("%agent model demo")
        history = kernel.run("[m.role for m in am.get_agent().messages].count('user')")
        assert str(asked) in history.of_type("execute_result")[0]["content"]["data"]["text/plain"]
    sent = requests_to(server)
    for request in sent:
        api = api_of(request["path"])
        check_accepted(api, request["path"] + ("?alt=sse" if api == "gemini" else ""), request["body"])
    # Two requests of each the first time; the second time one, with the pictures of all prompts and results before.
    apis = [api_of(request["path"]) for request in sent]
    assert apis == [api for name in ANSWERS for api in (name, name)] + list(reversed(ANSWERS))
    assert all(json.dumps(request["body"]).count("iVBORw0KGgo") >= 12 for request in sent[-4:])
    cases = json.loads((ROOT / "tests/wire/anthropic/msg-thinking-signature.json").read_text(encoding="utf-8"))
    (signature,) = cases["expected"]["replay_must_contain"]
    assert [api for api, request in zip(apis, sent, strict=True) if signature in json.dumps(request["body"])] == (
        ["anthropic", "anthropic"]
    )


def test_the_notebook_of_models_runs_without_a_key_and_is_kept_without_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    executed("models.ipynb", tmp_path)
