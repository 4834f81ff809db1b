"""Odd answers of servers that speak the Messages API, beside those of the wire cases."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import agent_magic as am

MODEL = am.Model("m", "anthropic", base_url="http://127.0.0.1:9", api_key="sk-test")
CONTEXT = am.Context(messages=[am.UserMessage("hi")])
ENDS = (
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
)


def answered(server: Any, *events: dict[str, Any]) -> am.AssistantMessage:
    server.streams(*events, *ENDS)
    return asyncio.run(am.complete(MODEL, CONTEXT, am.RequestConfig(max_retries=0)))


def begun(index: Any, identity: str, given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": identity, "name": "look", "input": given}
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: Any, text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}}


@pytest.mark.parametrize("given", [{"n": 1}, '{"n":1}'])
@pytest.mark.parametrize("pieces", [(), ('{"n":1}',), ('{"n"', ":1}")])
def test_an_input_that_comes_whole_counts_once_beside_its_pieces(stand_in: Any, given: Any, pieces: Any) -> None:
    answer = answered(stand_in, begun(0, "a", given), *(more(0, piece) for piece in pieces))
    assert [(call.id, call.arguments) for call in answer.tool_calls] == [("a", {"n": 1})]


def test_an_index_may_be_a_text(stand_in: Any) -> None:
    events = [begun("0", "a", {}), begun("1", "b", {}), more("0", '{"n":'), more("1", '{"n":2'), more("0", "1}")]
    answer = answered(stand_in, *events, more("1", "}"))
    assert [(call.id, call.arguments) for call in answer.tool_calls] == [("a", {"n": 1}), ("b", {"n": 2})]
