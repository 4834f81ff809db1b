"""A history made fit for a model."""

from __future__ import annotations

from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.handoff import NO_RESULT, clean_text, prepare_messages
from agent_magic.providers.placeholders import DATA_LEFT_OUT, IMAGE_LEFT_OUT

from ..speed import cpu_seconds, fastest

MODEL = am.Model("m", provider="p")
CALL = am.ToolCall("c", "f", {}, fidelity={"signature": "s"})
HI = am.UserMessage("hi")


def answer(*content: Any, **fields: Any) -> am.AssistantMessage:
    return am.AssistantMessage(content, api="openai-chat", provider="p", model="m", **fields)


def roles(messages: list[Any]) -> list[str]:
    return [message.role for message in prepare_messages(messages, MODEL)]


def result(call_id: str = "c") -> am.ToolResultMessage:
    return am.ToolResultMessage(call_id, "f", "done")


@pytest.mark.parametrize("after", [[], [HI], [answer("x")]])
def test_a_call_without_a_result_gets_an_error_result_right_after_it(after: list[Any]) -> None:
    prepared = prepare_messages([HI, answer(CALL), *after], MODEL)
    made_up = prepared[2]
    assert isinstance(made_up, am.ToolResultMessage)
    assert (made_up.tool_call_id, made_up.text, made_up.is_error) == ("c", NO_RESULT, True)
    assert prepared[3:] == after


def test_a_result_without_a_call_and_a_second_result_are_left_out() -> None:
    assert roles([HI, result("gone"), answer(CALL), result(), result()]) == ["user", "assistant", "toolResult"]


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_of_an_answer_that_broke_off_only_its_text_is_kept(reason: str) -> None:
    broken = answer(am.ThinkingContent("t"), "text", CALL, stop_reason=reason)
    assert prepare_messages([HI, broken], MODEL)[1].content == (am.TextContent("text"),)
    assert roles([HI, answer(am.ThinkingContent("t"), stop_reason=reason), HI]) == ["user", "user"]


def test_opaque_data_and_reasoning_go_to_the_same_model_only() -> None:
    made = am.InlineData("aW1hZ2U=", "image/png", {"c": 3})
    message = answer(am.ThinkingContent("t", fidelity={"a": 1}), am.TextContent("x", {"b": 2}), made, CALL)
    assert prepare_messages([HI, message, result()], MODEL)[1].content == message.content
    for other in (am.Model("m2", provider="p"), am.Model("m", provider="p2"), am.Model("m", api="demo", provider="p")):
        content = prepare_messages([HI, message, result()], other)[1].content
        assert content == (am.TextContent("x"), am.InlineData(made.data, "image/png"), am.ToolCall("c", "f", {}))


def test_empty_text_is_left_out() -> None:
    assert roles([HI, answer(am.TextContent(" \n")), HI]) == ["user", "user"]


@pytest.mark.parametrize(
    ("text", "clean"), [("a", "a"), ("é", "é"), ("\ud83d\ude00", "😀"), ("a\ud83db", "a\ufffdb"), ("\udc00", "\ufffd")]
)
def test_text_becomes_valid_unicode(text: str, clean: str) -> None:
    assert clean_text(text) == clean


IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
SEEN_BY_ANOTHER = am.AssistantMessage("a", "anthropic", "q", "n")


def test_media_that_another_model_was_shown_give_way_to_words_once() -> None:
    shown = am.UserMessage(["what?", IMAGE, IMAGE, am.InlineData(b"%PDF", "application/pdf")])
    content = prepare_messages([shown, SEEN_BY_ANOTHER, HI], MODEL)[0].content
    texts = [block.text for block in content if isinstance(block, am.TextContent)]
    assert texts == ["what?", IMAGE_LEFT_OUT, DATA_LEFT_OUT.format("application/pdf")]
    reads = MODEL.replace(input=("text", "image", "pdf"))
    assert prepare_messages([shown, SEEN_BY_ANOTHER, HI], reads)[0] is shown


@pytest.mark.parametrize("after", [[], [answer("I see"), HI], [HI]])
def test_what_the_model_is_shown_itself_stays(after: list[Any]) -> None:
    shown = am.UserMessage([IMAGE])
    assert prepare_messages([shown, *after], MODEL)[0] is shown


class Question(am.UserMessage):
    def __init__(self, subject: str, *more: am.ImageContent) -> None:
        super().__init__([f"What is {subject}?", *more])


class Measured(am.ToolResultMessage):
    pass


@pytest.mark.parametrize("question", [Question("it"), Question("\ud83d"), Question("it", IMAGE)])
def test_a_message_of_a_derived_class_is_sent_as_one_of_the_class_it_comes_from(question: am.UserMessage) -> None:
    measured = Measured("c", "f", "done", is_error=True)
    spoken, _, result_, _ = prepare_messages([question, answer(CALL), measured, am.AssistantMessage("x")], MODEL)
    assert spoken == am.UserMessage([clean_text(question.text), *question.content[1:]], question.timestamp)
    assert result_ == am.ToolResultMessage("c", "f", "done", is_error=True, timestamp=measured.timestamp)


def test_what_cannot_be_sent_is_named() -> None:
    bash: Any = am.BashExecutionMessage("ls")
    with pytest.raises(am.InvalidDataError, match=r"messages\[1\].*BashExecutionMessage"):
        prepare_messages([HI, bash], MODEL)


def test_the_caller_s_messages_stay_as_they_are_and_are_cleaned_once() -> None:
    message = answer(CALL)
    other = am.Model("m2")
    first = prepare_messages([message, result()], other)[0]
    assert message.content == (CALL,)
    assert prepare_messages([message, result()], other)[0] is first


def test_two_thousand_messages_take_little_time() -> None:
    messages = [HI, am.AssistantMessage("b")] * 1000
    prepare_messages(messages, MODEL)

    assert fastest(lambda: cpu_seconds(lambda: prepare_messages(messages, MODEL)), 0.05) <= 0.05
