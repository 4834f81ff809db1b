"""What servers say about failures, and what it means."""

from __future__ import annotations

import email.utils
import json
import time
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.provider_errors import http_error, stream_error, where

URL = "https://example.org/v1/chat/completions"
MODEL = am.Model("m", provider="p", base_url="https://example.org/v1", api_key="sk-1")


def failed(status: int, body: Any, **headers: str) -> am.ProviderError:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return http_error(MODEL, URL, status, {name.replace("_", "-"): value for name, value in headers.items()}, data)


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model.",
        "This model's maximum context length is 8192 tokens.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "Input length (265330) exceeds model's maximum context length (262144).",
        "context window exceeds limit (2013)",
        "Your request exceeded model token limit: 262144",
        "Prompt contains 40000 tokens and is too large for model with 32768 maximum context length",
        "prompt too long; exceeded max context length by 6 tokens",
        "Range of input length should be [1, 129024]",
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_an_overflow_is_known_by_its_words(words: str, status: int) -> None:
    error = failed(status, {"error": {"message": words, "type": "invalid_request_error"}})
    assert (error.kind, error.retryable) == ("context_overflow", False)
    assert failed(429, {"error": {"message": words}}).kind == "rate_limit"


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, {"error": {"message": "API key not valid. Please pass a valid API key."}}, "auth", False),
        (401, "", "auth", False),
        (403, {"message": "not allowed"}, "auth", False),
        (402, {"error": {"message": "Insufficient Balance"}}, "rate_limit", False),
        (429, {"error": {"code": "insufficient_quota", "message": "x"}}, "rate_limit", False),
        (429, {"error": {"message": "Your credit balance is too low"}}, "rate_limit", False),
        (429, {"error": {"message": "slow down"}}, "rate_limit", True),
        (400, {"message": "ThrottlingException: Too many tokens, please wait"}, "rate_limit", True),
        (400, {"error": {"code": "content_filter", "message": "filtered"}}, "content_filter", False),
        (400, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "bad_request", False),
        (404, "404 page not found", "bad_request", False),
        (413, "", "context_overflow", False),
        (408, {}, "server", True),
        (500, {"error": "llama runner process has terminated"}, "server", True),
        (503, None, "server", True),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "server", True),
        (307, "", "bad_request", False),
    ],
)
def test_the_kind_of_an_answer_that_is_none(status: int, body: Any, kind: str, retryable: bool) -> None:
    error = failed(status, body)
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)


@pytest.mark.parametrize(
    ("value", "kind", "retryable"),
    [
        ("boom", "server", True),
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, "server", True),
        ({"error": {"message": "x", "code": 502}}, "server", True),
        ({"error": {"message": "x", "code": "429"}}, "rate_limit", True),
        ({"error": {"message": "slow", "code": "rate_limit_exceeded"}}, "rate_limit", True),
        ({"error": {"message": "bad tool", "type": "invalid_request_error"}}, "bad_request", False),
        ({"error": {"message": "x", "type": "authentication_error"}}, "auth", False),
        ({"error": {"message": "x", "code": "context_length_exceeded"}}, "context_overflow", False),
        ([{"error": {"message": "x", "status": "INTERNAL"}}], "server", True),
    ],
)
def test_the_kind_of_an_error_inside_an_answer(value: Any, kind: str, retryable: bool) -> None:
    error = stream_error(MODEL, URL, value)
    assert (error.kind, error.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry_after": "20"}, {}, 20),
        ({"retry_after": "1.5"}, {}, 1.5),
        ({"retry_after_ms": "1500", "retry_after": "9"}, {}, 1.5),
        ({"retry_after": "soon"}, {}, None),
        ({"retry_after": "30s"}, {}, 30),
        ({"retry_after": "5 seconds"}, {}, 5),
        ({"retry_after": "7, 9"}, {}, 7),
        ({}, {"error": {"message": "x", "details": [{"retryDelay": "37s"}]}}, 37),
        ({}, {"error": {"message": "Please try again in 1m2.5s."}}, 62.5),
        ({}, {"error": {"message": "Please retry after 250ms"}}, 0.25),
        ({}, {"error": {"message": "no idea"}}, None),
    ],
)
def test_the_servers_waiting_time(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    error = failed(429, body, **headers)
    assert error.retry_after == (None if seconds is None else pytest.approx(seconds, abs=2))


@pytest.mark.parametrize(("ahead", "seconds"), [(30, 30), (-30, 0)])
def test_the_waiting_time_may_be_a_date(ahead: float, seconds: float) -> None:
    error = failed(429, {}, retry_after=email.utils.formatdate(time.time() + ahead, usegmt=True))
    assert error.retry_after == pytest.approx(seconds, abs=2)


def test_a_date_without_a_zone_is_utc_wherever_the_clock_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    # Windows has no such call, and keeps its own clock.
    set_zone = getattr(time, "tzset", lambda: None)
    monkeypatch.setenv("TZ", "XXX+5")
    set_zone()
    try:
        error = failed(429, {}, retry_after=email.utils.formatdate(time.time() + 30))
    finally:
        monkeypatch.undo()
        set_zone()
    assert error.retry_after == pytest.approx(30, abs=2)


def test_a_quota_that_renews_by_itself_is_worth_a_repeat() -> None:
    error = failed(429, {"error": {"message": "You exceeded your current quota. Please retry in 37.8s."}})
    assert (error.retryable, error.retry_after) == (True, 37.8)


def test_the_message_names_model_and_host_and_holds_the_servers_words() -> None:
    message = str(failed(401, {"error": {"message": "Incorrect key"}}))
    assert message == "p/m at example.org (status 401): Incorrect key. Check the api_key= given with the model."


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434"),
        ("http://user:secret@Box:8000/v1?key=sk-2", "box:8000"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("http://box:port/v1", "box"),
        ("http:///v1?api_key=sk-2", "http:///v1?api_key=…"),
    ],
)
def test_the_port_of_a_server_is_named_and_no_other_part_of_its_address(url: str, named: str) -> None:
    assert where(MODEL, url) == f"p/m at {named}"


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>502 Bad Gateway</title></head><body>" + "x" * 5000 + "</body></html>",
        "<!DOCTYPE html><body><script>var a</script><h1>502 Bad&nbsp;Gateway</h1>" + "<p>x</p>" * 2000,
    ],
)
def test_of_a_web_page_little_is_shown(page: str) -> None:
    message = str(failed(502, page))
    assert "502 Bad" in message
    assert len(message) < 900
    assert "<" not in message


def test_the_true_words_behind_a_gateway_are_shown() -> None:
    raw = json.dumps({"error": {"message": "maximum context length is 8192 tokens"}})
    error = failed(400, {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}})
    assert error.kind == "context_overflow"
    assert "8192" in str(error)


@pytest.mark.parametrize("hint", ["true", "false"])
def test_the_server_may_say_whether_to_repeat(hint: str) -> None:
    assert failed(500, {}, x_should_retry=hint).retryable is (hint == "true")


@pytest.mark.parametrize(
    "body",
    [
        {"success": False, "errors": [{"code": 7003, "message": "No such route"}]},
        {"errors": ["No such route"]},
        {"error_code": 18, "error_msg": "No such route"},
        {"code": 1210, "msg": "No such route"},
        {"base_resp": {"status_code": 1008, "status_msg": "No such route"}},
        {"Message": "No such route"},
        {"error": json.dumps({"error": {"message": "No such route"}})},
        '"No such route"',
        '\ufeff{"error": {"message": "No such route"}}',
        'event: error\ndata: {"error": {"message": "No such route"}}\n\n',
    ],
)
def test_the_servers_words_are_found_in_every_form(body: Any) -> None:
    assert f"{failed(400, body)}".startswith("p/m at example.org (status 400): No such route. ")
