"""Stored JSON: it round-trips, takes the documents' spellings, and names the place of a fault."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import agent_magic as am
from agent_magic.stored import message_from_json, message_to_json, register_stored
from agent_magic.stored_models import model_from_json, model_to_json, usage_from_json, usage_to_json

from .speed import cpu_seconds, fastest

texts = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, json_values, max_size=3)
fidelities = st.none() | objects
base64_texts = st.binary(min_size=1, max_size=8)
amounts = st.decimals(min_value=0, max_value=10**6, allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**9)
costs = st.builds(am.UsageCost, amounts, amounts, amounts, amounts)
usages = st.builds(
    am.Usage,
    counts,
    counts,
    counts,
    counts,
    cost=st.none() | costs,
    reasoning=st.none() | st.integers(0, 10**6),
    cache_write_1h=counts,
    service_tier=st.none() | texts,
)
times = st.integers(0, 2**53)
blocks = st.one_of(
    st.builds(am.TextContent, texts, fidelities),
    st.builds(am.ImageContent, base64_texts, st.just("image/png"), fidelity=fidelities),
    st.builds(am.ImageContent, url=st.just("https://example.org/a.png"), fidelity=fidelities),
    st.builds(am.ThinkingContent, texts, st.none() | base64_texts, st.none() | texts, st.booleans(), fidelities),
    st.builds(am.ToolCall, texts, texts, objects, st.none() | texts.filter(bool), fidelities),
    st.builds(am.InlineData, base64_texts, texts, fidelities),
    st.builds(am.Embedding, st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3)),
)
contents = st.lists(blocks, max_size=3)
messages = st.one_of(
    st.builds(am.UserMessage, contents, times),
    st.builds(
        am.AssistantMessage,
        contents,
        st.sampled_from(["", "openai-chat", "anthropic"]),
        texts,
        texts,
        st.none() | usages,
        st.sampled_from(am.StopReason),
        st.none() | texts,
        times,
    ),
    st.builds(
        am.ToolResultMessage,
        texts,
        texts,
        contents,
        json_values,
        st.none() | usages,
        st.none() | st.lists(texts, max_size=2),
        st.booleans(),
        times,
    ),
    st.builds(
        am.BashExecutionMessage,
        texts,
        texts,
        st.none() | st.integers(-1, 255),
        st.booleans(),
        st.booleans(),
        st.none() | texts,
        st.booleans(),
        times,
    ),
    st.builds(am.CompactionSummaryMessage, texts, counts, times),
    st.builds(am.BranchSummaryMessage, texts, texts, times),
    st.builds(am.CustomMessage, texts, contents, st.booleans(), json_values, times),
)


@settings(max_examples=max(300, settings.default.max_examples))
@given(st.lists(messages, max_size=4))
def test_messages_come_back_equal_through_json_text(given_messages: list[Any]) -> None:
    text = json.dumps(am.messages_to_json(given_messages), allow_nan=False)
    assert am.messages_from_json(json.loads(text)) == given_messages


@given(usages)
def test_costs_come_back_to_the_last_digit(usage: am.Usage) -> None:
    back = usage_from_json(json.loads(json.dumps(usage_to_json(usage))))
    assert back == usage
    assert back.cost is None or back.cost.total == usage.cost.total


def test_costs_are_json_numbers() -> None:
    usage = am.Usage(1000, 200, 500, 0, cost=am.UsageCost("0.0005", "0.0015", "0.00025", 0))
    assert usage_to_json(usage) == {
        "input": 1000,
        "output": 200,
        "cacheRead": 500,
        "cacheWrite": 0,
        "totalTokens": 1700,
        "cost": {"input": 0.0005, "output": 0.0015, "cacheRead": 0.00025, "cacheWrite": 0, "total": 0.00225},
    }


def test_stored_keys_are_camel_case_and_roles_are_the_documents() -> None:
    stored = am.messages_to_json(
        [
            am.UserMessage("hi", 1),
            am.AssistantMessage([am.ToolCall("c1", "add", {"a": 1})], "openai-chat", "openai", "m", timestamp=2),
            am.ToolResultMessage("c1", "add", "3", timestamp=3),
            am.BashExecutionMessage("ls", "a", 0, timestamp=4),
            am.CompactionSummaryMessage("s", 9, 5),
            am.BranchSummaryMessage("s", "b1", 6),
            am.CustomMessage("note", "n", timestamp=7),
        ]
    )
    roles = ["user", "assistant", "toolResult", "bashExecution", "compactionSummary", "branchSummary", "custom"]
    assert [each["role"] for each in stored] == roles
    assert stored[1] == {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c1", "name": "add", "arguments": {"a": 1}}],
        "api": "openai-chat",
        "provider": "openai",
        "model": "m",
        "stopReason": "tool_call",
        "timestamp": 2,
    }
    assert stored[2] == {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "add",
        "content": [{"type": "text", "text": "3"}],
        "isError": False,
        "timestamp": 3,
    }
    assert not any("_" in key for each in stored for key in each)


CALL = am.ToolCall("tc_123", "bash", {"command": "ls -la"})


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool", "id": "tc_123", "name": "bash", "arguments": {"command": "ls -la"}, "partial_json": None},
        {"type": "function", "id": "tc_123", "name": "bash", "arguments": {"command": "ls -la"}},
        {"type": "toolCall", "id": "tc_123", "name": "bash", "arguments": {"command": "ls -la"}, "partialJson": "{"},
        {"type": "tool_call", "tool_call_id": "tc_123", "name": "bash", "arguments": '{"command": "ls -la"}'},
        {"type": "function", "id": "tc_123", "function": {"name": "bash", "arguments": '{"command": "ls -la"}'}},
        {"id": "tc_123", "name": "bash", "arguments": {"command": "ls -la"}},
    ],
)
def test_every_spelling_of_a_call_is_read(block: dict[str, Any]) -> None:
    message = message_from_json({"role": "assistant", "content": [block]})
    assert message.content == (CALL,)
    assert "partial" not in json.dumps(message_to_json(message))


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"text": "hi"}, am.TextContent("hi")),
        ("hi", am.TextContent("hi")),
        ({"type": "text", "text": "hi", "textSignature": "s"}, am.TextContent("hi", {"signature": "s"})),
        ({"data": "aGk=", "mimeType": "image/png"}, am.ImageContent("aGk=", "image/png")),
        ({"type": "image", "data": "aGk=", "mime_type": "image/png"}, am.ImageContent("aGk=", "image/png")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            am.ImageContent("aGk=", "image/png"),
        ),
        ({"type": "image_url", "image_url": "https://e.org/i"}, am.ImageContent(url="https://e.org/i")),
        ({"type": "reasoningContent", "text": "hm"}, am.ThinkingContent("hm")),
        ({"type": "thinking", "thinking": "hm"}, am.ThinkingContent("hm")),
        (
            {"type": "thinking", "thinking": "", "thinkingSignature": "x", "redacted": True},
            am.ThinkingContent("", redacted=True, fidelity={"signature": "x"}),
        ),
        ({"type": "inline_data", "data": "aGk=", "mime_type": "a/b"}, am.InlineData("aGk=", "a/b")),
        ({"type": "embedding", "embedding": [0.1, 2]}, am.Embedding((0.1, 2))),
    ],
)
def test_every_spelling_of_a_block_is_read(block: Any, expected: am.Content) -> None:
    assert message_from_json({"role": "user", "content": [block]}).content == (expected,)


def test_calls_beside_the_content_come_after_it() -> None:
    message = message_from_json(
        {
            "role": "assistant",
            "content": [{"text": "Looking."}],
            "toolCalls": [{"type": "function", "id": "tc_123", "name": "bash", "arguments": {"command": "ls -la"}}],
            "usage": {"inputTokens": 100, "outputTokens": 50},
            "stopReason": "tool_calls",
            "errorMessage": None,
            "api": "openai",
        }
    )
    assert message.content == (am.TextContent("Looking."), CALL)
    assert (message.usage, message.stop_reason) == (am.Usage(100, 50), am.StopReason.TOOL_CALL)
    assert message.api == "openai-chat"


def test_the_role_tool_is_a_tool_result() -> None:
    first = message_from_json({"role": "tool", "tool_call_id": "a", "tool_name": "f", "content": "3", "is_error": True})
    second = message_from_json({"role": "toolResult", "toolCallId": "a", "toolName": "f", "content": [{"text": "3"}]})
    assert (first.tool_call_id, first.tool_name, first.text, first.is_error) == ("a", "f", "3", True)
    assert (second.tool_call_id, second.tool_name, second.text, second.is_error) == ("a", "f", "3", False)


def test_a_bash_execution_under_the_role_custom_is_one() -> None:
    message = message_from_json({"role": "custom", "command": "ls", "exit_code": 1, "exclude_from_context": True})
    assert isinstance(message, am.BashExecutionMessage)
    assert (message.exit_code, message.exclude_from_context) == (1, True)


@pytest.mark.parametrize(
    ("moment", "milliseconds"),
    [
        (0, 0),
        (1694502400000, 1694502400000),
        (1694502400.123, 1694502400123),
        ("2023-09-12T07:06:40Z", 1694502400000),
        ("2023-09-12T07:06:40.5", 1694502400500),
        ("2023-09-12T09:06:40.123456789+02:00", 1694502400123),
    ],
)
def test_every_form_of_a_time_becomes_milliseconds(moment: Any, milliseconds: int) -> None:
    assert message_from_json({"role": "user", "content": "hi", "timestamp": moment}).timestamp == milliseconds


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("done", "stop"),
        ("end_turn", "stop"),
        ("toolUse", "tool_call"),
        ("max_tokens", "length"),
        ("cancelled", "aborted"),
        ("a new word", "unknown"),
    ],
)
def test_every_word_for_a_stop_reason_is_read(word: str, reason: str) -> None:
    assert message_from_json({"role": "assistant", "content": "x", "stop_reason": word}).stop_reason == reason


def test_the_documents_wrong_total_is_computed_anew() -> None:
    usage = usage_from_json(
        {
            "input": 1000,
            "output": 200,
            "cache_read": 500,
            "cache_write": 0,
            "total_tokens": 1,
            "cost": {"input": 0.0005, "output": 0.0015, "cache_read": 0.00025, "cache_write": 0.0, "total": 0.0035},
        }
    )
    assert usage is not None
    assert usage.total_tokens == 1700
    assert usage.cost is not None
    assert usage.cost.total == Decimal("0.00225")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ([{"role": "user", "content": "a"}] * 3 + [{"role": "user", "content": [{"type": "text", "text": 5}]}],
         "messages[3].content[0].text"),
        ([{"role": "narrator"}], "messages[0].role"),
        ([{}], "messages[0].role"),
        ([7], "messages[0]"),
        (7, "messages"),
        ("[]", "messages"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": [5]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"type": "hologram"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "image", "data": "%%", "mimeType": "image/png"}]}],
         "messages[0].content[0].data"),
        ([{"role": "user", "content": [{"type": "image", "data": "aGk="}]}], "messages[0].content[0].mimeType"),
        ([{"role": "user", "content": "a", "timestamp": "noon"}], "messages[0].timestamp"),
        ([{"role": "user", "content": "a", "timestamp": True}], "messages[0].timestamp"),
        ([{"role": "user", "content": [{"text": "a", "fidelity": []}]}], "messages[0].content[0].fidelity"),
        ([{"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "f", "arguments": []}]}],
         "messages[0].content[0].arguments"),
        ([{"role": "assistant", "content": [{"type": "toolCall", "name": "f"}]}], "messages[0].content[0].id"),
        ([{"role": "assistant", "usage": {"input": -1}}], "messages[0].usage.input"),
        ([{"role": "assistant", "usage": {"input": "many"}}], "messages[0].usage.input"),
        ([{"role": "assistant", "usage": {"cost": {"input": "NaN"}}}], "messages[0].usage.cost.input"),
        ([{"role": "assistant", "usage": {"cost": 3}}], "messages[0].usage.cost"),
        ([{"role": "toolResult", "toolCallId": 1}], "messages[0].toolCallId"),
        ([{"role": "tool", "tool_call_id": 1}], "messages[0].tool_call_id"),
        ([{"role": "tool", "tool_call_id": "a", "is_error": "no"}], "messages[0].is_error"),
        ([{"role": "user", "content": [{"type": "embedding", "embedding": [1, "2"]}]}],
         "messages[0].content[0].embedding[1]"),
    ],
)  # fmt: skip
def test_wrong_data_is_refused_with_the_path_of_the_fault(data: Any, path: str) -> None:
    with pytest.raises(am.InvalidDataError) as caught:
        am.messages_from_json(data)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ")


keys = st.sampled_from(["role", "content", "type", "text", "usage", "arguments", "timestamp", "id", "name", "data"])
words = st.sampled_from(["user", "assistant", "tool", "custom", "text", "image", "toolCall"])
almost_messages = st.recursive(json_values | words, lambda each: st.dictionaries(keys, each | words, max_size=6))


@given(st.lists(almost_messages))
def test_no_data_at_all_raises_anything_but_invalid_data(data: list[Any]) -> None:
    with contextlib.suppress(am.InvalidDataError):
        am.messages_from_json(data)


def test_unknown_keys_are_ignored() -> None:
    assert message_from_json({"role": "user", "content": "hi", "mood": 3, "timestamp": 1}) == am.UserMessage("hi", 1)


def test_details_that_json_does_not_know_are_kept_as_text() -> None:
    stored = message_to_json(
        am.ToolResultMessage("a", "f", "", details={"at": Decimal("1.5"), "of": {1: float("nan")}})
    )
    assert stored["details"] == {"at": 1.5, "of": {"1": None}}


def test_details_that_cannot_even_be_shown_are_kept_as_the_name_of_their_class() -> None:
    class Closed:
        def __str__(self) -> str:
            raise RuntimeError("no")

    (stored,) = am.messages_to_json([am.ToolResultMessage("a", "f", "", details={Closed(): [Closed()]})])
    assert stored["details"] == {"Closed": ["Closed"]}


def test_details_that_contain_themselves_are_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(am.InvalidDataError, match=r"messages\[0\].*contains itself"):
        am.messages_to_json([am.ToolResultMessage("a", "f", "", details=loop)])


def test_a_class_of_ones_own_can_have_a_stored_form() -> None:
    @dataclass(frozen=True)
    class Verdict:
        score: int

    with pytest.raises(am.InvalidDataError, match="register_stored"):
        am.messages_to_json([Verdict(5)])
    register_stored("verdict", Verdict, lambda each: {"score": each.score}, lambda data: Verdict(data["score"]))
    assert am.messages_to_json([Verdict(5)]) == [{"role": "verdict", "score": 5}]
    assert am.messages_from_json([{"role": "verdict", "score": 5}]) == [Verdict(5)]


PRICES = am.ModelCost(
    "0.5", "1.5", "0.05", 0, 1,
    tiers=((200_000, am.ModelCost(1, 3)), (400_000, None)),
    services={"flex": am.ModelCost("0.1", tiers=((9, am.ModelCost(7)),)), "scale": None},
)  # fmt: skip


def test_a_model_round_trips_without_its_key_and_headers() -> None:
    model = am.Model(
        "gpt-4", "openai", "openai", "https://api.example.org/v1", "sk-hidden", "GPT-4", True, ("text", "image"),
        PRICES, 128_000, 4096, {"authorization": "sk-hidden"}, {"quirk": True},
    )  # fmt: skip
    stored = json.loads(json.dumps(model_to_json(model)))
    assert "hidden" not in json.dumps(stored)
    assert model_from_json(stored) == model


def test_a_model_without_api_speaks_chat_completions() -> None:
    documented = {
        "id": "m", "name": "M", "provider": "p", "baseUrl": "http://h/v1", "reasoning": False, "input": ["text"],
        "cost": {"input": 1, "output": 2, "cache_read": 0.1, "cache_write": 0}, "contextWindow": 8, "maxTokens": 4,
    }  # fmt: skip
    model = model_from_json(documented)
    assert (model.api, model.cost) == ("openai-chat", am.ModelCost(1, 2, "0.1", 0))


def test_ten_thousand_messages_are_read_and_written_in_under_400_ms_each() -> None:
    history = [
        message
        for number in range(5000)
        for message in (
            am.UserMessage(f"question {number}"),
            am.AssistantMessage([am.TextContent("answer " * 20)], "openai-chat", "p", "m", am.Usage(100, 20)),
        )
    ]
    stored = am.messages_to_json(history)
    assert fastest(lambda: cpu_seconds(lambda: am.messages_to_json(history)), 0.4) <= 0.4
    assert fastest(lambda: cpu_seconds(lambda: am.messages_from_json(stored)), 0.4) <= 0.4
