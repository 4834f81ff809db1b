"""Answers with the status of success that tell of a failure, each in a form of its own that some server has."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import agent_magic as am

APIS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}
BEGINNINGS = {
    "openai-chat": {"choices": [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": None}]},
    "openai-responses": {"type": "response.output_text.delta", "item_id": "i", "delta": "Hel"},
    "anthropic": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]},
}
FORMS: list[Any] = [
    {"error": {"message": "no credit left"}},
    {"error": "no credit left"},
    {"errors": [{"message": "no credit left"}], "success": False},
    {"detail": "no credit left"},
    {"detail": [{"loc": ["body"], "msg": "no credit left"}]},
    {"message": "no credit left", "code": "x"},
    {"msg": "no credit left", "success": False},
    {"error_code": 18, "error_msg": "no credit left"},
    {"base_resp": {"status_code": 1008, "status_msg": "no credit left"}},
    {"type": "error", "message": "no credit left"},
]


def failing(stand_in: Any, api: str, *pieces: bytes) -> am.ProviderError:
    stand_in.gives(*pieces)
    model = am.Model("m", api=api, base_url="http://127.0.0.1:9" + APIS[api], api_key="sk-1")
    context = am.Context(messages=[am.UserMessage("hi")])
    with pytest.raises(am.ProviderError) as caught:
        asyncio.run(am.complete(model, context, am.RequestConfig(max_retries=0)))
    return caught.value


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(form))
def test_the_servers_words_are_the_error_in_an_event_and_in_place_of_a_stream(
    stand_in: Any, api: str, form: Any
) -> None:
    whole = failing(stand_in, api, json.dumps(form).encode())
    later = failing(stand_in, api, event(BEGINNINGS[api]), event(form))
    assert "m at 127.0.0.1:9: no credit left. " in str(whole)
    assert "m at 127.0.0.1:9: no credit left. " in str(later)
    assert later.partial is not None
    assert later.partial.text == "Hel"


@pytest.mark.parametrize("api", APIS)
def test_an_error_that_is_written_into_a_stream_without_being_an_event_is_read(stand_in: Any, api: str) -> None:
    error = failing(stand_in, api, event(BEGINNINGS[api]), b'{"error": {"message": "out of memory", "code": 503}}\n')
    assert (error.kind, error.status) == ("server", 503)
    assert "out of memory" in str(error)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (b"upstream connect error or disconnect/reset before headers", "upstream connect error or disconnect/reset"),
        (b"data: upstream gone.\n\n", "upstream gone. Send"),
        (b": ping\n\n<html><title>502 Bad Gateway</title></html>", "502 Bad Gateway"),
    ],
)
def test_words_that_came_in_place_of_an_answer_are_told(stand_in: Any, api: str, words: bytes, told: str) -> None:
    error = failing(stand_in, api, words)
    assert (error.kind, error.retryable) == ("stream_interrupted", True)
    assert f"Among it came: {told}" in str(error)


def test_the_error_of_a_choice_is_read(stand_in: Any) -> None:
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "idle"}}
    error = failing(stand_in, "openai-chat", event({"choices": [choice]}))
    assert (error.kind, error.status, error.retryable) == ("server", 502, True)
    assert "idle" in str(error)


def test_a_whole_message_beside_an_empty_delta_is_read(stand_in: Any) -> None:
    choice = {"index": 0, "delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}
    stand_in.gives(json.dumps({"choices": [choice]}).encode())
    model = am.Model("m", base_url="http://127.0.0.1:9/v1", api_key="sk-1")
    assert asyncio.run(am.complete(model, am.Context(messages=[am.UserMessage("hi")]))).text == "Hello"


def test_events_without_blank_lines_between_them_are_read(stand_in: Any) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines = [event(each)[:-1] for each in (BEGINNINGS["openai-chat"], BEGINNINGS["openai-chat"], end)]
    stand_in.gives(*lines, b"data: [DONE]\n")
    model = am.Model("m", base_url="http://127.0.0.1:9/v1", api_key="sk-1")
    assert asyncio.run(am.complete(model, am.Context(messages=[am.UserMessage("hi")]))).text == "HelHel"


def test_an_event_without_any_words_is_no_failure(stand_in: Any) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    quiet = [{"code": 0, "msg": ""}, {"error": None, "message": ""}, {"errors": []}, {"base_resp": {"status_code": 0}}]
    stand_in.streams(BEGINNINGS["openai-chat"], *quiet, end)
    model = am.Model("m", base_url="http://127.0.0.1:9/v1", api_key="sk-1")
    assert asyncio.run(am.complete(model, am.Context(messages=[am.UserMessage("hi")]))).text == "Hel"
