"""The universal form of messages, both ways."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

import agent_magic as am

# Every kind of item that the source document shows, in the message that may hold it.
DOCUMENTED: list[dict[str, Any]] = [
    {
        "role": "user",
        "content_items": [
            {"type": "text", "text": "Hello", "fidelity": {"phase": "commentary"}},
            {"type": "image_url", "image_url": "https://example.com/image.jpg"},
            {"type": "inline_data", "data": "aGk=", "mime_type": "image/png", "fidelity": {"signature": "sig"}},
        ],
        "created_at": 1694502400000,
    },
    {
        "role": "assistant",
        "content_items": [
            {"type": "thinking", "thinking": "Reasoning", "fidelity": {"signature": "sig"}},
            {"type": "inline_thinking", "data": "aGk=", "mime_type": "image/png", "fidelity": {"signature": "sig"}},
            {
                "type": "tool_call",
                "name": "get_weather",
                "arguments": {"location": "Paris"},
                "tool_call_id": "call_1",
                "fidelity": {"signature": "sig"},
            },
        ],
        "usage_metadata": {"cached_tokens": 4, "prompt_tokens": 10, "thoughts_tokens": None, "response_tokens": 1},
        "finish_reason": "tool_call",
        "created_at": 1694502400001,
    },
    {
        "role": "user",
        "content_items": [
            {"type": "tool_result", "text": "22 C", "tool_call_id": "call_1", "images": ["data:image/png;base64,aGk="]}
        ],
        "created_at": 1694502400002,
    },
    {
        "role": "assistant",
        "content_items": [{"type": "embedding", "embedding": [0.1, 0.2]}],
        "usage_metadata": None,
        "finish_reason": "stop",
        "created_at": 1694502400003,
    },
]


def test_the_documents_message_is_the_same_after_both_ways() -> None:
    assert am.messages_to_uni(am.messages_from_uni(DOCUMENTED)) == DOCUMENTED
    json.dumps(am.messages_to_uni(am.messages_from_uni(DOCUMENTED)))


def test_every_item_becomes_its_block() -> None:
    model = am.Model("m", provider="p")
    user, assistant, result, embedding = am.messages_from_uni(DOCUMENTED, model=model)
    assert user.content == (
        am.TextContent("Hello", {"phase": "commentary"}),
        am.ImageContent(url="https://example.com/image.jpg"),
        am.InlineData("aGk=", "image/png", {"signature": "sig"}),
    )
    assert assistant.content == (
        am.ThinkingContent("Reasoning", fidelity={"signature": "sig"}),
        am.ThinkingContent("", "aGk=", "image/png", fidelity={"signature": "sig"}),
        am.ToolCall("call_1", "get_weather", {"location": "Paris"}, fidelity={"signature": "sig"}),
    )
    assert assistant.model_key == model.key
    assert result == am.ToolResultMessage(
        "call_1", "get_weather", ["22 C", am.ImageContent("aGk=", "image/png")], timestamp=1694502400002
    )
    assert embedding.content == (am.Embedding((0.1, 0.2)),)


def test_a_user_message_with_results_becomes_several_with_the_results_first() -> None:
    items = [
        {"type": "text", "text": "Here you are."},
        {"type": "tool_result", "text": "1", "tool_call_id": "a"},
        {"type": "tool_result", "text": "2", "tool_call_id": "b"},
    ]
    found = am.messages_from_uni([{"role": "user", "content_items": items, "created_at": 5}])
    assert [message.role for message in found] == ["toolResult", "toolResult", "user"]
    assert [message.text for message in found] == ["1", "2", "Here you are."]


def test_results_of_one_answer_become_one_user_message() -> None:
    written = am.messages_to_uni([am.ToolResultMessage("a", "f", "1"), am.ToolResultMessage("b", "f", "2")])
    assert [each["role"] for each in written] == ["user"]
    assert [item["tool_call_id"] for item in written[0]["content_items"]] == ["a", "b"]


@pytest.mark.parametrize("data", [b"\x00\xff", {"type": "Buffer", "data": [0, 255]}, "AP8="])
def test_bytes_become_base64(data: Any) -> None:
    item = {"type": "inline_data", "data": data, "mime_type": "image/png"}
    (message,) = am.messages_from_uni([{"role": "user", "content_items": [item]}])
    (block,) = message.content
    assert isinstance(block, am.InlineData)
    assert block.bytes == b"\x00\xff"
    assert block.data == base64.b64encode(b"\x00\xff").decode()


def test_token_math() -> None:
    counts = {"cached_tokens": 7, "prompt_tokens": 10, "thoughts_tokens": 3, "response_tokens": None}
    (message,) = am.messages_from_uni([{"role": "assistant", "content_items": [], "usage_metadata": counts}])
    assert isinstance(message, am.AssistantMessage)
    assert message.usage == am.Usage(input=10, output=3, cache_read=7, reasoning=3)
    usage = am.Usage(input=10, output=8, cache_read=7, cache_write=5, reasoning=3)
    (written,) = am.messages_to_uni([am.AssistantMessage("x", usage=usage)])
    assert written["usage_metadata"] == {
        "cached_tokens": 7, "prompt_tokens": 15, "thoughts_tokens": 3, "response_tokens": 5,
    }  # fmt: skip


def test_messages_of_an_agent_are_converted_first() -> None:
    written = am.messages_to_uni([am.CompactionSummaryMessage("All is well."), object()])
    assert len(written) == 1
    assert "All is well." in written[0]["content_items"][0]["text"]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ([{"role": "system"}], "messages[0].role"),
        ([{"role": "user", "content_items": 5}], "messages[0].content_items"),
        ([{"role": "user", "content_items": [{"type": "text"}]}], "messages[0].content_items[0].text"),
        ([{"role": "user", "content_items": [{"type": "song"}]}], "messages[0].content_items[0].type"),
        ([{"role": "user", "content_items": [{"type": "tool_result", "text": "1"}]}],
         "messages[0].content_items[0].tool_call_id"),
        ([{"role": "user", "content_items": [{"type": "tool_result", "tool_call_id": "a", "images": [5]}]}],
         "messages[0].content_items[0].images[0]"),
        ([{"role": "user", "content_items": [{"type": "image_url", "image_url": "data:nothing"}]}],
         "messages[0].content_items[0].url"),
        ([{"role": "assistant", "usage_metadata": {"prompt_tokens": "x"}}],
         "messages[0].usage_metadata.prompt_tokens"),
    ],
)  # fmt: skip
def test_wrong_data_is_refused_with_the_path_of_the_fault(data: Any, path: str) -> None:
    with pytest.raises(am.InvalidDataError) as caught:
        am.messages_from_uni(data)
    assert caught.value.path == path
