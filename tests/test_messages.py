"""Messages and blocks: plain, frozen, made with the documents' defaults."""

from __future__ import annotations

import dataclasses
import time

import pytest

import agent_magic as am


def test_a_text_is_one_text_block_and_the_empty_text_none() -> None:
    assert am.UserMessage("hi").content == (am.TextContent("hi"),)
    assert am.UserMessage("").content == ()
    assert am.UserMessage(am.TextContent("hi")) == am.UserMessage(["hi"], am.UserMessage("hi").timestamp)


def test_time_stamps_are_integer_milliseconds_of_the_present() -> None:
    stamp = am.UserMessage("hi").timestamp
    assert isinstance(stamp, int)
    assert abs(stamp - time.time() * 1000) < 5000


def test_the_documents_defaults() -> None:
    message = am.AssistantMessage(["I'll check."], timestamp=1)
    assert (message.api, message.provider, message.model, message.usage) == ("", "", "", None)
    assert (message.stop_reason, message.error_message, message.role) == (am.StopReason.STOP, None, "assistant")
    result = am.ToolResultMessage(tool_call_id="a", tool_name="f", content="3")
    assert (result.details, result.usage, result.added_tool_names, result.is_error) == (None, None, None, False)


def test_calls_keep_their_place_among_the_text() -> None:
    first, second = am.ToolCall("a", "f", {}), am.ToolCall("b", "f", {}, "The arguments are cut.")
    message = am.AssistantMessage(["One.", first, "Two.", second])
    assert message.content == (am.TextContent("One."), first, am.TextContent("Two."), second)
    assert message.stop_reason is am.StopReason.TOOL_CALL
    assert message.tool_calls == (first,)
    assert message.all_tool_calls == (first, second)
    assert message.text == "One.Two."


@pytest.mark.parametrize(
    "message",
    [
        am.UserMessage("a"),
        am.AssistantMessage("a"),
        am.ToolResultMessage("a"),
        am.BashExecutionMessage("a"),
        am.CompactionSummaryMessage("a"),
        am.BranchSummaryMessage("a"),
        am.CustomMessage("a"),
        am.TextContent("a"),
        am.Context(),
        am.AgentContext(),
    ],
)
def test_everything_is_frozen(message: object) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        message.timestamp = 5


@pytest.mark.parametrize("block", [am.ImageContent(b"\x00\xff", "image/png"), am.InlineData(b"\x00\xff", "a/b")])
def test_bytes_are_encoded_and_decoded(block: am.ImageContent | am.InlineData) -> None:
    assert (block.data, block.bytes) == ("AP8=", b"\x00\xff")


@pytest.mark.parametrize("arguments", [{}, {"data": "AP8="}, {"data": "AP8=", "mime_type": "a/b", "url": "http://x"}])
def test_an_image_needs_either_data_with_its_type_or_a_url(arguments: dict[str, str]) -> None:
    with pytest.raises(am.InvalidDataError):
        am.ImageContent(**arguments)


def test_a_block_of_the_wrong_kind_is_named() -> None:
    with pytest.raises(am.InvalidDataError, match=r"content\[1\]: int"):
        am.UserMessage(["a", 5])


class Tool:
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize("kind", [am.Context, am.AgentContext])
def test_tools_of_a_context_are_a_read_only_mapping_in_order(kind: type[am.Context]) -> None:
    context = kind("", (), [Tool("b"), Tool("a")])
    assert context.tools is not None
    assert list(context.tools) == ["b", "a"]
    assert kind().tools is None
    with pytest.raises(TypeError):
        context.tools["c"] = Tool("c")
    with pytest.raises(am.InvalidDataError, match="two tools"):
        kind("", (), [Tool("a"), Tool("a")])
