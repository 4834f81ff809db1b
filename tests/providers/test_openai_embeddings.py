"""Embeddings of the OpenAI APIs."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from typing import Any

import pytest

import agent_magic as am

CONFIG = am.RequestConfig(embedding_config={"dimensions": 2}, max_retries=0)


def embedded(server: Any, answer: Any, *texts: str, **fields: Any) -> am.AssistantMessage:
    server.gives(json.dumps(answer).encode())
    config = fields.pop("config", CONFIG)
    model = am.Model(**{"id": "e", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-test", **fields})
    return asyncio.run(am.complete(model, am.Context(messages=[am.UserMessage(each) for each in texts]), config))


def vectors(*values: Any) -> dict[str, Any]:
    data = [{"object": "embedding", "index": index, "embedding": value} for index, value in enumerate(values)]
    return {"object": "list", "data": data, "usage": {"prompt_tokens": 7, "total_tokens": 7}}


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses"])
def test_each_message_has_a_vector_whatever_the_api(stand_in: Any, api: str) -> None:
    answer = embedded(stand_in, vectors([0.5, 1], [2, 3]), "one", "", api=api)
    assert answer.content == (am.Embedding((0.5, 1.0)), am.Embedding((2.0, 3.0)))
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output) == (7, 0)
    assert stand_in.requests[-1].url == "http://127.0.0.1:9/v1/embeddings"
    assert stand_in.body == {"model": "e", "input": ["one", " "], "encoding_format": "float", "dimensions": 2}


def test_a_model_may_be_known_to_make_embeddings(stand_in: Any) -> None:
    embedded(stand_in, vectors([1, 2]), "one", compat={"embedding": True}, config=None)
    assert stand_in.body == {"model": "e", "input": ["one"], "encoding_format": "float"}


def test_vectors_may_come_in_base64_and_in_any_order(stand_in: Any) -> None:
    answer = vectors(*(base64.b64encode(struct.pack("<2f", *each)).decode() for each in ((1, 2), (3, 4))))
    answer["data"].reverse()
    assert embedded(stand_in, answer, "a", "b").content == (am.Embedding((1.0, 2.0)), am.Embedding((3.0, 4.0)))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (vectors([1, 2], [3, 4]), am.ServerError),
        (vectors([]), am.ServerError),
        (vectors("no base64"), am.ServerError),
        (vectors({"x": 1}), am.ServerError),
        ({"data": None}, am.ServerError),
        ([], am.ServerError),
        ({"error": {"message": "No embeddings", "type": "invalid_request_error"}}, am.BadRequestError),
    ],
)
def test_an_answer_without_one_vector_for_each_message_is_an_error(stand_in: Any, answer: Any, kind: Any) -> None:
    with pytest.raises(kind):
        embedded(stand_in, answer, "one")


def test_other_settings_mean_nothing_and_are_refused(stand_in: Any) -> None:
    config = am.RequestConfig(embedding_config={}, max_tokens=3, thinking_level="low")
    with pytest.raises(am.UnsupportedParameterError, match=r"max_tokens.*thinking_level"):
        embedded(stand_in, vectors([1]), "one", config=config)
    assert stand_in.requests == []


def test_what_is_no_text_is_refused(stand_in: Any) -> None:
    model = am.Model("e", base_url="http://127.0.0.1:9/v1", api_key="sk-test")
    for messages in ([], [am.UserMessage(am.ImageContent("AAAA", "image/png"))]):
        with pytest.raises(am.InvalidDataError):
            asyncio.run(am.complete(model, am.Context(messages=messages), CONFIG))
