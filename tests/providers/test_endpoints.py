"""What servers serve: asked on request only, on this machine with little patience."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers import endpoints, vendors
from agent_magic.providers.endpoints import Endpoint, local_servers, served_models
from agent_magic.secret import Secret


@contextmanager
def serving(answer: Any, status: int = 200, delay: float = 0) -> Iterator[tuple[str, list[dict[str, str]]]]:
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            time.sleep(delay)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that has gone is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    "answer",
    [
        {"object": "list", "data": [{"id": "qwen3"}, {"id": "llama"}]},
        {"models": [{"name": "models/qwen3"}, {"name": "llama"}]},
        [{"id": "qwen3"}, {"id": "llama"}, {"other": 1}, "text"],
    ],
)
def test_the_ids_are_read_from_every_form_of_list(answer: Any) -> None:
    with serving(answer) as (url, asked):
        assert asyncio.run(served_models(f"{url}/v1/")) == Endpoint("", f"{url}/v1", ("qwen3", "llama"))
    assert [each["path"] for each in asked] == ["/v1/models"]
    assert "authorization" not in asked[0]


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (b"<html>", 200, am.StreamInterruptedError),
        ({"detail": "x"}, 200, am.ServerError),
        ({"error": "no"}, 401, am.AuthenticationError),
    ],
)
def test_what_is_no_list_is_an_error_of_the_usual_kind(answer: Any, status: int, error: type[Exception]) -> None:
    with serving(answer, status) as (url, _), pytest.raises(error, match=r"127\.0\.0\.1"):
        asyncio.run(served_models(url))


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(am.InvalidDataError, match="neither a provider nor a URL"):
        asyncio.run(served_models("my-server"))


def test_a_vendors_key_goes_with_the_question_to_the_vendor_alone(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, f"key of {variable}")
    stand_in.gives(b'{"data": []}')
    for place in ("openai", "anthropic", "google", "https://elsewhere.example/v1"):
        asyncio.run(served_models(place))

    sent = [
        {name: value.reveal() for name, value in request.headers.items() if isinstance(value, Secret)}
        for request in stand_in.requests
    ]
    assert sent[0]["authorization"] == "Bearer key of OPENAI_API_KEY"
    assert sent[1]["x-api-key"] == "key of ANTHROPIC_API_KEY"
    assert sent[2]["x-goog-api-key"] == "key of GEMINI_API_KEY"
    assert sent[3] == {}
    assert [each.url for each in stand_in.requests[:3]] == [
        "https://api.openai.com/v1/models",
        "https://api.anthropic.com/v1/models?limit=1000",
        "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000",
    ]
    assert {each.method for each in stand_in.requests} == {"GET"}


def test_local_servers_are_those_that_answer_in_time_with_models(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serving({"data": [{"id": "qwen3"}]}) as (quick, _),
        serving({"data": [{"id": "late"}]}, delay=4) as (slow, _),
        serving(b"<html>another program</html>") as (other, _),
    ):
        places = {"ollama": quick, "lmstudio": slow, "vllm": other, "llamacpp": "http://127.0.0.1:9"}
        monkeypatch.setattr(endpoints, "base_url_of", lambda vendor: places[vendor.name])
        begin = time.perf_counter()
        found = asyncio.run(local_servers())
        seconds = time.perf_counter() - begin

    assert found == [Endpoint("ollama", quick, ("qwen3",))]
    assert seconds < 3.5


def test_only_this_machine_is_asked_for_local_servers(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://gpu.example:11434")
    stand_in.gives(b'{"data": []}')
    asyncio.run(local_servers())

    assert {vendors.urlsplit(each.url).hostname for each in stand_in.requests} == {"127.0.0.1"}
    assert len(stand_in.requests) == 3
