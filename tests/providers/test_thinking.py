"""Levels of thinking that a model does not offer."""

from __future__ import annotations

import asyncio

import pytest

import agent_magic as am
from agent_magic.providers.thinking import clamping_note, offered_level

LEVELS = ("low", "high")


def model(levels: tuple[str, ...] = LEVELS, **fields: object) -> am.Model:
    return am.Model("m", reasoning=True, compat={"thinking_levels": levels}, **fields)


@pytest.mark.parametrize(
    ("asked", "given"),
    [("off", "low"), ("low", "low"), ("medium", "high"), ("high", "high"), ("xhigh", "high"), ("max", "high")],
)
def test_a_level_is_clamped_upwards_first(asked: str, given: str) -> None:
    assert offered_level(am.ThinkingLevel(asked), model()) == given
    assert offered_level(am.ThinkingLevel(asked), model(())) == asked


def test_clamping_is_noted_in_the_reply() -> None:
    used = am.scripted("Hello").replace(id="m", reasoning=True, compat={"thinking_levels": LEVELS})
    reply = asyncio.run(am.Agent(model=used, thinking_level="off").prompt("hi"))
    assert reply.notes == ("scripted/m does not offer the thinking level off; low was used.",)


def test_clamping_can_be_told_to_the_user() -> None:
    assert clamping_note(am.ThinkingLevel("max"), model()) == "m does not offer the thinking level max; high was used."
    assert clamping_note(am.ThinkingLevel("low"), model()) == ""
    assert clamping_note(None, model()) == ""
