"""Ids of calls that an API would refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence

import agent_magic as am
from agent_magic.providers.call_ids import with_fitting_ids

MODEL = am.Model("m", provider="p")
FORM = re.compile(r"[a-z0-9_]{1,40}")


def turn(call_id: str) -> list[am.Message]:
    return [am.AssistantMessage([am.ToolCall(call_id, "f", {})]), am.ToolResultMessage(call_id, "f", "r")]


def ids(messages: Sequence[am.Message]) -> list[str]:
    found = [
        each.tool_call_id if isinstance(each, am.ToolResultMessage) else each.all_tool_calls[0].id
        for each in messages
        if not isinstance(each, am.UserMessage)
    ]
    assert found[::2] == found[1::2]
    return found[::2]


def test_ids_that_fit_stay_and_so_do_their_messages() -> None:
    history = [am.UserMessage("hi"), *turn("a"), *turn("b")]
    assert all(new is old for new, old in zip(with_fitting_ids(history, FORM, MODEL), history, strict=True))


def test_other_ids_and_repeated_ones_become_fitting_and_different() -> None:
    history = [*turn("search:0"), *turn("search:0"), *turn("a"), *turn("a"), *turn("A" * 99)]
    found = ids(with_fitting_ids(history, FORM, MODEL))
    assert len(set(found)) == 5
    assert all(FORM.fullmatch(each) for each in found)
    assert found[2] == "a"


def test_a_longer_history_gives_the_same_ids() -> None:
    history = [*turn("search:0"), *turn("search:0"), *turn("x y")]
    assert ids(with_fitting_ids(history, FORM, MODEL))[:2] == ids(with_fitting_ids(history[:4], FORM, MODEL))
    again = with_fitting_ids(history, FORM, MODEL)
    assert all(one is other for one, other in zip(again, with_fitting_ids(history, FORM, MODEL), strict=True))


def test_a_model_gets_its_own_ids_back_whatever_their_form() -> None:
    own = am.AssistantMessage([am.ToolCall("functions.f:0 " + "x" * 99, "f", {})], "openai-chat", "p", "m")
    history = [own, am.ToolResultMessage(own.all_tool_calls[0].id, "f", "r")]
    assert ids(with_fitting_ids(history, FORM, MODEL)) == [own.all_tool_calls[0].id]
    assert ids(with_fitting_ids(history, FORM, am.Model("other", provider="p"))) != [own.all_tool_calls[0].id]


def test_forms_without_room_get_nine_characters() -> None:
    history = [part for number in range(300) for part in turn(f"call_{number:024}")]
    found = ids(with_fitting_ids(history, re.compile("[A-Za-z0-9]{9}"), MODEL))
    assert len(set(found)) == 300
    assert all(re.fullmatch("[a-z0-9]{9}", each) for each in found)
