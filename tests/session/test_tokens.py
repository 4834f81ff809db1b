"""Counting tokens: real usage where it holds, an estimate for the rest."""

from __future__ import annotations

from agent_magic import (
    AssistantMessage,
    BashExecutionMessage,
    CompactionSummaryMessage,
    ImageContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    tool,
)
from agent_magic.session.tokens import context_tokens, last_usage, message_tokens, text_tokens


def test_four_bytes_are_a_token_rounded_up() -> None:
    assert [text_tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert message_tokens(UserMessage("x" * 9)) == 3


def test_scripts_other_than_latin_are_not_underestimated() -> None:
    assert text_tokens("数据分析" * 10) == 30
    assert text_tokens("\ud800") == 1


def test_calls_reasoning_and_images_count_also_those_of_the_user() -> None:
    call = AssistantMessage([ThinkingContent("x" * 8), ToolCall("1", "name", {"a": 1})])
    assert message_tokens(call) == (8 + 4 + len('{"a": 1}')) // 4
    assert message_tokens(UserMessage([ImageContent("AAAA", "image/png")])) == 1200
    assert message_tokens(ToolResultMessage("1", "f", [ImageContent("AAAA", "image/png")])) == 1200


def test_what_no_model_sees_counts_nothing() -> None:
    assert message_tokens(BashExecutionMessage("ls", "x" * 400, exclude_from_context=True)) == 0
    assert message_tokens(BashExecutionMessage("ls", "x" * 400)) > 100


def test_the_last_usage_counts_and_only_what_came_after_is_estimated() -> None:
    messages = [
        UserMessage("x" * 4000),
        AssistantMessage("hi", usage=Usage(100, 20, 30, 40)),
        ToolResultMessage("1", "f", "y" * 40),
    ]
    assert context_tokens(messages, "prompt" * 100) == 190 + 10


def test_usage_of_failed_and_aborted_answers_and_zero_usage_do_not_count() -> None:
    good = AssistantMessage("good", usage=Usage(50, 5))
    for bad in (
        AssistantMessage("x", usage=Usage(9999, 1), stop_reason="error"),
        AssistantMessage("x", usage=Usage(9999, 1), stop_reason="aborted"),
        AssistantMessage("x", usage=Usage()),
        AssistantMessage("x"),
    ):
        assert last_usage([good, bad]) == (55, 1)
        assert last_usage([bad]) == (0, 0)


def test_usage_from_before_a_compaction_is_stale() -> None:
    summary = CompactionSummaryMessage("s" * 40, 90_000, timestamp=10)
    kept = AssistantMessage("k" * 40, usage=Usage(90_000, 10), timestamp=10)
    assert context_tokens([summary, kept]) < 100
    fresh = AssistantMessage("new", usage=Usage(70, 7), timestamp=11)
    assert context_tokens([summary, kept, fresh]) == 77


def test_without_usage_the_prompt_and_the_tools_are_estimated_too() -> None:
    @tool
    def look(place: str) -> str:
        """Look at a place."""
        return place

    bare = context_tokens([UserMessage("x" * 40)])
    assert bare == 10
    assert context_tokens([UserMessage("x" * 40)], "p" * 40) == 20
    assert context_tokens([UserMessage("x" * 40)], "p" * 40, {"look": look}) > 30
