"""Which call a piece belongs to, where servers number and name them in ways that the wire cases do not show."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import agent_magic as am

MODEL = am.Model("m", base_url="http://127.0.0.1:9/v1", api_key="sk-1")
CONTEXT = am.Context(messages=[am.UserMessage("hi")])


def chunk(*pieces: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(pieces)}, "finish_reason": finish}]}


def piece(index: int | None, identity: str, name: str | None, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": identity, "function": function, **({} if index is None else {"index": index})}


@pytest.mark.parametrize("numbered", [True, False])
def test_pieces_that_each_have_a_new_id_are_one_call_until_one_says_a_name(stand_in: Any, numbered: bool) -> None:
    first, second = (0, 1) if numbered else (None, None)
    stand_in.streams(
        chunk(piece(first, "a1", "look", "")),
        chunk(piece(first, "a2", None, '{"n"')),
        chunk(piece(first, "a3", None, ":1}")),
        chunk(piece(second, "b1", "look", '{"n":')),
        chunk(piece(second, "b2", None, "2}")),
        chunk(finish="tool_calls"),
    )
    answer = asyncio.run(am.complete(MODEL, CONTEXT, am.RequestConfig(max_retries=0)))
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [("a1", {"n": 1}), ("b1", {"n": 2})]
