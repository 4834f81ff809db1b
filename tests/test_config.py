"""Enums are plain strings; a request's configuration is checked where it is made."""

from __future__ import annotations

from typing import Any

import pytest

import agent_magic as am


@pytest.mark.parametrize(
    "kind", [am.ThinkingLevel, am.ToolExecutionMode, am.QueueMode, am.PromptCaching, am.StopReason]
)
def test_members_are_strings(kind: Any) -> None:
    for member in kind:
        assert member == member.value
        assert f"{member}" == str(member) == member.value
        assert {member.value: 1}[member] == 1


@pytest.mark.parametrize(
    ("kind", "word", "member"),
    [
        (am.ThinkingLevel, "THINKING_XHIGH", "xhigh"),
        (am.ThinkingLevel, "NONE", "off"),
        (am.ThinkingLevel, "none", "off"),
        (am.ToolExecutionMode, "EXECUTION_SEQUENTIAL", "sequential"),
        (am.QueueMode, "QUEUE_ONE_AT_A_TIME", "one-at-a-time"),
        (am.QueueMode, "QUEUE_ALL", "all"),
        (am.PromptCaching, "ENHANCE", "enhance"),
        (am.StopReason, "end_turn", "stop"),
        (am.StopReason, "tool_calls", "tool_call"),
    ],
)
def test_the_documents_words_are_read(kind: Any, word: str, member: str) -> None:
    assert kind.of(word) == member


def test_thinking_levels_rise() -> None:
    assert [*map(str, am.ThinkingLevel)] == ["off", "minimal", "low", "medium", "high", "xhigh", "max"]


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(am.InvalidDataError, match="off, minimal, low"):
        am.ThinkingLevel.of("enormous")


def test_the_documents_configuration_is_read() -> None:
    config = am.RequestConfig(
        max_tokens=1024,
        temperature=1.0,
        tools=[am.ToolSchema("get_weather", "Get weather.", {"type": "object"})],
        tool_choice="auto",
        thinking_summary=True,
        thinking_level="HIGH",
        system_prompt="You are helpful.",
        prompt_caching="ENABLE",
        image_config={"aspect_ratio": "4:3", "image_size": "1K"},
        tts_config=[{"voice": "Kore"}],
        embedding_config={"dimensions": 768},
        trace_id="agent1/conversation_001",
    )
    assert config.thinking_level is am.ThinkingLevel.HIGH
    assert config.prompt_caching is am.PromptCaching.ENABLE
    assert config.image_config == am.ImageConfig("4:3", "1K")
    assert config.tts_config == (am.SpeakerConfig("Kore"),)
    assert config.embedding_config == am.EmbeddingConfig(768)
    assert set(am.RequestConfig(max_tokens=5).given()) == {"max_tokens"}


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": 0},
        {"max_tokens": 1.5},
        {"max_tokens": True},
        {"temperature": "hot"},
        {"timeout": -1},
        {"tool_choice": "maybe"},
        {"thinking_level": "enormous"},
        {"image_config": {"colour": "red"}},
        {"embedding_config": 5},
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(am.InvalidDataError):
        am.RequestConfig(**fields)
