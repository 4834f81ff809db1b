"""How well the demo model's matcher does on sentences that it was not written with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

import agent_magic as am
from agent_magic.providers.demo_matcher import choose
from agent_magic.providers.demo_words import listed

from . import demo_heldout_tools, demo_tools

HERE = Path(__file__).parent
EVALUATION = json.loads((HERE / "demo_sentences.json").read_text(encoding="utf-8"))
HELD_OUT = json.loads((HERE / "demo_heldout_sentences.json").read_text(encoding="utf-8"))


def tools_in(module: ModuleType) -> list[am.AgentTool]:
    functions = [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
    return [am.tool(each) for each in functions if callable(each) and not isinstance(each, type)]


EIGHT = tools_in(demo_tools)
SIX = tools_in(demo_heldout_tools)


def converted(tools: list[am.AgentTool], name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    tool = next(each for each in tools if each.name == name)
    call = am.ToolCall("id", name, arguments)
    return name, dict(am.validate_tool_arguments(tool, call))


def is_right(sentence: dict[str, Any], tools: list[am.AgentTool]) -> bool:
    choices = choose(sentence["text"], tools)
    missing = any(choice.missing for choice in choices)
    if sentence["kind"] == "missing":
        return missing
    if missing:
        return False
    try:
        called = [converted(tools, choice.tool.name, dict(choice.arguments)) for choice in choices]
    except am.ToolValidationError:
        return False
    return called == [converted(tools, call["name"], call["arguments"]) for call in sentence["calls"]]


def is_false_call(sentence: dict[str, Any], tools: list[am.AgentTool]) -> bool:
    choices = choose(sentence["text"], tools)
    return not sentence["calls"] and bool(choices) and not any(choice.missing for choice in choices)


def test_the_tools_are_those_that_the_sentences_were_written_for() -> None:
    assert len(EIGHT) == 8
    assert len(EVALUATION) == 40
    assert {call["name"] for sentence in EVALUATION for call in sentence["calls"]} == {tool.name for tool in EIGHT}


@pytest.mark.parametrize(
    ("sentences", "tools"),
    [(EVALUATION, EIGHT), (EVALUATION, EIGHT + SIX), (HELD_OUT, SIX), (HELD_OUT, EIGHT + SIX)],
    ids=["evaluation", "evaluation with more tools", "held out", "held out with more tools"],
)
def test_at_least_85_of_100_sentences_are_understood(
    sentences: list[dict[str, Any]], tools: list[am.AgentTool]
) -> None:
    wrong = [sentence["text"] for sentence in sentences if not is_right(sentence, tools)]
    assert len(wrong) <= 0.15 * len(sentences), wrong


@pytest.mark.parametrize(("sentences", "tools"), [(EVALUATION, EIGHT + SIX), (HELD_OUT, EIGHT + SIX)])
def test_no_tool_is_called_that_was_not_asked_for(sentences: list[dict[str, Any]], tools: list[am.AgentTool]) -> None:
    assert [sentence["text"] for sentence in sentences if is_false_call(sentence, tools)] == []


NO_REQUESTS = """
Hi there
What is machine learning?
My code raises a KeyError, what should I do?
What's the best way to plot a histogram with matplotlib?
I booked the lab on 3 March 2026.
The weather in Paris is lovely
How do I convert a column to float?
Who won the world cup in 2018?
Do you like the German language?
What does the translate function do?
Could you explain the sales figures to me?
How tall is Mount Everest in feet?
Summarise our conversation so far
Why did sales in EMEA drop in 2023?
Don't convert 5 km to miles
Is there a book about describing columns in pandas?
Which city has the best weather in Europe?
Would a bar chart be clearer than a line chart?
What kind of chart suits categorical data?
Give me an idea for a project
2023
""".strip().splitlines()


@pytest.mark.parametrize("sentence", NO_REQUESTS)
def test_talk_about_the_subject_of_a_tool_is_no_request(sentence: str) -> None:
    choices = choose(sentence, EIGHT)
    assert not choices or any(choice.missing for choice in choices)


def calls(sentence: str, *functions: Callable[..., Any]) -> list[tuple[str, dict[str, Any]]]:
    choices = choose(sentence, [am.tool(function) for function in functions])
    assert not any(choice.missing for choice in choices)
    return [(choice.tool.name, dict(choice.arguments)) for choice in choices]


def sales(region: str, year: int = 2025) -> None:
    """Monthly sales of a region.

    Args:
        region: Two-letter region code.
        year: Calendar year.
    """


def add(a: float, b: float) -> None:
    """Add two numbers."""


def test_the_first_minute_of_the_documentation() -> None:
    assert calls("Sales for EU in 2024", sales) == [("sales", {"region": "EU", "year": 2024})]


def test_codes_that_are_also_words_are_codes() -> None:
    assert calls("Compare the sales of EU and US in 2024", sales) == [
        ("sales", {"region": "EU", "year": 2024}),
        ("sales", {"region": "US", "year": 2024}),
    ]


def test_several_numbers_fill_several_parameters_of_one_call() -> None:
    assert calls("add 3 and 4.5", add) == [("add", {"a": 3, "b": 4.5})]


def test_arguments_are_in_the_order_of_the_signature() -> None:
    assert list(calls("In 2023, what were the sales of AP?", sales)[0][1]) == ["region", "year"]


def test_a_value_is_never_made_up() -> None:
    (choice,) = choose("What were the sales in 2023?", [am.tool(sales)])
    assert [parameter.name for parameter in choice.missing] == ["region"]
    assert dict(choice.arguments) == {"year": 2023}


def test_without_tools_nothing_is_chosen() -> None:
    assert choose("Sales for EU in 2024", []) == []
    assert choose("", [am.tool(sales)]) == []


ODD_SCHEMAS: list[dict[str, Any]] = [
    {},
    {"properties": {"x": True, "y": {}, "": {"type": "string", "description": None}}},
    {"properties": {"x": {"enum": [1, "a", None, True, 2.5, "", "-", {}, []]}}, "required": ["x", "absent"]},
    {"properties": {"x": {"type": "array"}, "y": {"type": "array", "items": True}, "z": {"type": ["string", "null"]}}},
    {"properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
    {"properties": {"x": {"type": "integer", "exclusiveMinimum": True}, "t": {"type": "string", "format": "time"}}},
    {"properties": {"x": {"anyOf": [True, {"type": "null"}]}, "o": {"type": "object"}}, "required": ["x", "o"]},
]
WORDS = listed(
    "plot weather 3 2024 3.5 'a_b' \"x\" and , . ? ! : ; the of in EU Paris New York 2026-01-01 tomorrow Q3 7:30 not "
    "without 31 February 99/99/2020 1,000 -5 £ ° é 日本語 \u202e ``` < > x=3 http://x.y/z me@x.org a/b.csv ' “ «"
)


@hypothesis.settings(deadline=None, max_examples=100)
@hypothesis.given(st.lists(st.sampled_from(WORDS), max_size=14), st.lists(st.sampled_from(ODD_SCHEMAS), max_size=4))
def test_any_text_and_any_schema_are_borne_and_the_choice_is_always_the_same(
    words: list[str], schemas: list[dict[str, Any]]
) -> None:
    tools = [am.ToolSchema(f"plot_{number}", "Plot weather.", each) for number, each in enumerate(schemas)]
    assert choose(" ".join(words), tools) == choose(" ".join(words), tools)
