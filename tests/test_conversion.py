"""From an agent's messages to those that a model is sent."""

from __future__ import annotations

import pytest

import agent_magic as am


def test_messages_of_a_conversation_pass_through() -> None:
    messages = [am.UserMessage("a"), am.AssistantMessage("b"), am.ToolResultMessage("c", "f", "d")]
    sent = am.convert_to_llm(messages)
    assert all(before is after for before, after in zip(messages, sent, strict=True))


def test_the_documents_example() -> None:
    messages = [
        am.UserMessage("a"),
        am.AssistantMessage("b"),
        am.ToolResultMessage("c", "f", "d"),
        am.BashExecutionMessage("ls"),
        am.CompactionSummaryMessage("s"),
    ]
    assert [each.role for each in am.convert_to_llm(messages)] == ["user", "assistant", "toolResult", "user", "user"]


@pytest.mark.parametrize(
    ("message", "prefix", "suffix"),
    [
        (am.CompactionSummaryMessage("Sum.", 9, 5), am.COMPACTION_SUMMARY_PREFIX, am.COMPACTION_SUMMARY_SUFFIX),
        (am.BranchSummaryMessage("Sum.", "b", 5), am.BRANCH_SUMMARY_PREFIX, am.BRANCH_SUMMARY_SUFFIX),
    ],
)
def test_a_summary_stands_between_its_prefix_and_suffix(message: am.AgentMessage, prefix: str, suffix: str) -> None:
    assert am.convert_to_llm([message]) == [am.UserMessage(f"{prefix}Sum.{suffix}", 5)]


def test_a_custom_message_keeps_its_content() -> None:
    image = am.ImageContent(b"hi", "image/png")
    assert am.convert_to_llm([am.CustomMessage("note", ["Look:", image], timestamp=5)]) == [
        am.UserMessage(["Look:", image], 5)
    ]


def test_a_command_is_told_with_its_output_and_end() -> None:
    (sent,) = am.convert_to_llm([am.BashExecutionMessage("ls", "a ``` b\n", 2, False, True, "all.txt")])
    assert "```\nls\n```" in sent.text
    assert "````\na ``` b\n````" in sent.text
    assert "exit code 2" in sent.text
    assert "all of it is in all.txt" in sent.text
    (cancelled,) = am.convert_to_llm([am.BashExecutionMessage("ls", "", None, True)])
    assert "cancelled" in cancelled.text
    assert "printed nothing" in cancelled.text


def test_an_excluded_command_and_unknown_classes_are_left_out() -> None:
    assert am.convert_to_llm([am.BashExecutionMessage("ls", exclude_from_context=True), object()]) == []


def test_any_class_can_register() -> None:
    class Note:
        pass

    @am.convert_to_llm_message.register(Note)
    def _(note: Note) -> am.UserMessage:
        return am.UserMessage("noted", 1)

    assert am.convert_to_llm([Note()]) == [am.UserMessage("noted", 1)]
