"""Ids of calls that an API would refuse."""

from __future__ import annotations

import re

import agent_magic as am
from agent_magic.providers.call_ids import with_fitting_ids

FORM = re.compile(r"[a-z0-9_]{1,40}")


def turn(call_id: str) -> list[am.Message]:
    return [am.AssistantMessage([am.ToolCall(call_id, "f", {})]), am.ToolResultMessage(call_id, "f", "r")]


def ids(messages: list[am.Message]) -> list[str]:
    found = [
        each.tool_call_id if isinstance(each, am.ToolResultMessage) else each.all_tool_calls[0].id
        for each in messages
        if not isinstance(each, am.UserMessage)
    ]
    assert found[::2] == found[1::2]
    return found[::2]


def test_ids_that_fit_stay_and_so_do_their_messages() -> None:
    history = [am.UserMessage("hi"), *turn("a"), *turn("b")]
    assert all(new is old for new, old in zip(with_fitting_ids(history, FORM), history, strict=True))


def test_other_ids_and_repeated_ones_become_fitting_and_different() -> None:
    history = [*turn("search:0"), *turn("search:0"), *turn("a"), *turn("a"), *turn("A" * 99)]
    found = ids(with_fitting_ids(history, FORM))
    assert len(set(found)) == 5
    assert all(FORM.fullmatch(each) for each in found)
    assert found[2] == "a"


def test_a_longer_history_gives_the_same_ids() -> None:
    history = [*turn("search:0"), *turn("search:0"), *turn("x y")]
    assert ids(with_fitting_ids(history, FORM))[:2] == ids(with_fitting_ids(history[:4], FORM))
    again = with_fitting_ids(history, FORM)
    assert all(one is other for one, other in zip(again, with_fitting_ids(history, FORM), strict=True))
