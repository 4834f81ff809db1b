"""Tools in writing: what a model is told, what it may answer, and how its text becomes a call again."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import agent_magic as am
from agent_magic.config import StopReason
from agent_magic.events import (
    PartialToolCall,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallItem,
    delta_event,
    stop_event,
)
from agent_magic.providers.local_tools import WrittenCalls, in_writing


@am.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@am.tool
def quote(text: str) -> str:
    """Say "it"."""
    return text


CALL = '<tool_call>{"name": "quote", "arguments": {"text":"a \\"}{ <tool_call> b","n":[{"x":1}]}'
ARGUMENTS = {"text": 'a "}{ <tool_call> b', "n": [{"x": 1}]}


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def read(parts: list[str], stop: StopReason = StopReason.STOP) -> tuple[list[StreamItem], WrittenCalls]:
    calls = WrittenCalls()
    items = [item for part in parts for event in calls.read([delta_event(TextDelta(0, part))]) for item in event.items]
    last = calls.read([stop_event(stop)])
    assert last[-1].event_type == "stop"
    return [*items, *(item for event in last for item in event.items)], calls


def text_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


cuts = st.lists(st.integers(0, 500), max_size=30)


@given(cuts, st.sampled_from(["", "}", "}</tool_call>", "}\n</tool_call> and more"]), st.sampled_from(["", "I add.\n"]))
def test_a_call_is_the_same_however_its_text_is_cut_and_ended(cuts: list[int], tail: str, before: str) -> None:
    items, calls = read(pieces(before + CALL + tail, cuts))

    assert text_of(items).strip() == before.strip()
    announced, *fragments = (item for item in items if isinstance(item, PartialToolCall))
    assert (announced.name, announced.arguments) == ("quote", "")
    assert announced.tool_call_id
    assert announced.index != 0 or not before
    assert json.loads("".join(fragment.arguments for fragment in fragments)) == ARGUMENTS
    (completed,) = (item for item in items if isinstance(item, ToolCallItem))
    assert (completed.id, completed.arguments) == (announced.tool_call_id, ARGUMENTS)
    assert calls.failure is None


@given(st.text("<tol_ca>{} x\n", max_size=60), cuts)
def test_text_without_a_call_comes_out_as_it_went_in(text: str, cuts: list[int]) -> None:
    items, calls = read(pieces(text, cuts))
    if "<tool_call>" not in text:
        assert text_of(items) == text
    assert not [item for item in items if isinstance(item, (PartialToolCall, ToolCallItem))]
    assert calls.failure is None


def test_the_start_of_a_call_that_did_not_become_one_is_text() -> None:
    items, _ = read(["Look: <tool_call> is a tag"])
    assert text_of(items) == "Look:<tool_call> is a tag"


def test_a_call_that_was_cut_is_announced_and_not_completed() -> None:
    items, calls = read([CALL[:60]], StopReason.LENGTH)
    assert [type(item) for item in items] == [PartialToolCall, PartialToolCall]
    assert calls.failure is None


def test_arguments_that_are_no_object_are_the_usual_error() -> None:
    _, calls = read(['<tool_call>{"name": "add", "arguments": {"a": }'])
    assert isinstance(calls.failure, am.ToolCallArgumentParseError)
    assert calls.failure.tool_name == "add"


def test_reasoning_passes_by() -> None:
    calls = WrittenCalls()
    (event,) = calls.read([delta_event(ThinkingDelta(0, "<tool_call>"))])
    assert event.items == (ThinkingDelta(0, "<tool_call>"),)


# The request ---------------------------------------------------------------------------------------------------------


def test_the_prompt_tells_of_the_tools_and_the_grammar_allows_words_or_one_call() -> None:
    written = in_writing(am.Context("Be brief.", [am.UserMessage("Hi")], [add, quote]), am.RequestConfig())

    assert written.context.system_prompt.startswith("Be brief.\n\nYou can call")
    assert '{"name":"add","description":"Add two numbers.","parameters":' in written.context.system_prompt
    assert not written.context.tools
    assert written.config.temperature == 0.0
    lines = written.grammar.splitlines()
    assert lines[:3] == ["%llguidance {}", "start: call | answer", "answer: TEXT"]
    assert "before[lazy]: TEXT" in written.grammar
    assert '\\"name\\": \\"add\\"' in written.grammar
    assert '"whitespace_flexible":false' in written.grammar


@pytest.mark.parametrize(
    ("choice", "start", "names"), [("required", "call", {"add", "quote"}), (["add"], "call", {"add"})]
)
def test_a_forced_call_leaves_no_other_way(choice: Any, start: str, names: set[str]) -> None:
    written = in_writing(am.Context("", [], [add, quote]), am.RequestConfig(tool_choice=choice, temperature=0.7))

    assert f"start: {start}\n" in written.grammar
    assert "answer" not in written.grammar
    assert {name for name in ("add", "quote") if f'\\"{name}\\"' in written.grammar} == names
    assert written.config.temperature == 0.7
    assert written.config.tool_choice is None


def test_without_tools_nothing_is_added() -> None:
    for context, choice in ((am.Context("Be brief.", []), None), (am.Context("Be brief.", [], [add]), "none")):
        written = in_writing(context, am.RequestConfig(tool_choice=choice))
        assert (written.context.system_prompt, written.grammar, written.config.temperature) == ("Be brief.", "", None)


def test_a_schema_is_told_and_held() -> None:
    written = in_writing(am.Context("", []), am.RequestConfig(response_schema={"type": "object"}))

    assert '{"type":"object"}' in written.context.system_prompt
    assert "start: answer\nanswer: %json {" in written.grammar
    assert written.config.response_schema is None


def test_a_tool_that_is_not_given_cannot_be_chosen() -> None:
    with pytest.raises(am.InvalidDataError, match="gone"):
        in_writing(am.Context("", [], [add]), am.RequestConfig(tool_choice=["gone"]))


def test_calls_and_results_become_text_of_two_speakers_in_turn() -> None:
    history = [
        am.UserMessage("Add"),
        am.AssistantMessage([am.TextContent("I add."), am.ToolCall("1", "add", {"a": 1}), am.ToolCall("2", "add", {})]),
        am.ToolResultMessage("1", "add", "3"),
        am.ToolResultMessage("2", "add", ""),
        am.UserMessage("And?"),
    ]
    written = in_writing(am.Context("", history, [add]), am.RequestConfig())

    calls = (
        '<tool_call>{"name": "add", "arguments": {"a":1}}</tool_call>\n'
        '<tool_call>{"name": "add", "arguments": {}}</tool_call>'
    )
    results = "<tool_response>\n3\n</tool_response>\n\n<tool_response>\n(no output)\n</tool_response>"
    assert [(message.role, message.text) for message in written.context.messages] == [
        ("user", "Add"),
        ("assistant", f"I add.\n{calls}"),
        ("user", f"{results}\n\nAnd?"),
    ]


def test_without_the_extra_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF" + bytes(20))
    model = am.get_model(f"local:{file}")
    with pytest.raises(am.AgentMagicError, match=r'pip install "agent-magic\[local\]"'):
        asyncio.run(am.complete(model, am.Context("", [am.UserMessage("Hi")])))
