"""Whole answers in the formats of the source document."""

from __future__ import annotations

from typing import Any

import pytest

import agent_magic as am

CALL = am.ToolCall("call_1", "getWeather", {"city": "Bangkok"})
EXTRAS = {
    "api": "openai",
    "provider": "anthropic",
    "model": "gpt-4",
    "usage": {"inputTokens": 100, "outputTokens": 50},
    "error_message": None,
}


def nested(arguments: Any) -> dict[str, Any]:
    """Format 1 with a call."""
    return {
        "finish_reason": "tool_calls",
        "message": {
            "role": "assistant",
            "content": "",
            "reasoning_content": "I need to call getWeather...",
            "tool_calls": [
                {"type": "function", "function": {"name": "getWeather", "arguments": arguments}, "id": "call_1"}
            ],
        },
    }


def listed(arguments: Any) -> dict[str, Any]:
    """Format 2 with a list of calls as a block."""
    call = {"type": "function", "function": {"name": "getWeather", "arguments": arguments}, "id": "call_1"}
    return {"content": [{"type": "tool_calls", "tool_calls": [call]}]}


def flat(arguments: Any) -> dict[str, Any]:
    """Format 2 with a call as a block."""
    return {"content": [{"type": "tool_call", "name": "getWeather", "arguments": arguments, "id": "call_1"}]}


@pytest.mark.parametrize("arguments", ['{"city":"Bangkok"}', {"city": "Bangkok"}])
@pytest.mark.parametrize("form", [nested, listed, flat])
def test_calls_are_read_with_arguments_as_text_or_object(form: Any, arguments: Any) -> None:
    message = am.AssistantMessage.from_response(form(arguments))
    assert message.tool_calls == (CALL,)
    assert message.text == ""
    assert message.stop_reason is am.StopReason.TOOL_CALL


def test_reasoning_of_format_1_comes_before_the_call() -> None:
    message = am.AssistantMessage.from_response(nested("{}"))
    assert message.content == (
        am.ThinkingContent("I need to call getWeather..."),
        am.ToolCall("call_1", "getWeather", {}),
    )


@pytest.mark.parametrize(
    "response",
    [
        {"finish_reason": "stop", "message": {"role": "assistant", "content": "It's 22°C in Bangkok"}},
        {"content": [{"type": "text", "text": "It's 22°C in Bangkok"}]},
        {"content": [{"type": "text", "text": "It's 22°C"}, {"type": "text", "text": " in Bangkok"}]},
    ],
)
def test_text_without_calls_is_read(response: dict[str, Any]) -> None:
    message = am.AssistantMessage.from_response(response)
    assert (message.text, message.tool_calls, message.usage) == ("It's 22°C in Bangkok", (), None)
    assert message.stop_reason is am.StopReason.STOP


@pytest.mark.parametrize("form", [nested, listed, flat])
def test_the_extras_are_read_in_every_format(form: Any) -> None:
    message = am.AssistantMessage.from_response({**form("{}"), **EXTRAS})
    assert message.model_key == ("anthropic", "openai-chat", "gpt-4")
    assert message.usage == am.Usage(100, 50)
    assert message.error_message is None


@pytest.mark.parametrize(
    ("fault", "text", "status"),
    [
        ({"error_message": "Optional error"}, "Optional error", None),
        ({"error_message": ""}, "without saying which", None),
        ({"error": {"message": "out of memory", "code": 503}}, "out of memory", 503),
        ({"error": "out of memory"}, "out of memory", None),
    ],
)
def test_an_error_in_the_answer_is_raised(fault: dict[str, Any], text: str, status: int | None) -> None:
    with pytest.raises(am.ProviderError, match=text) as caught:
        am.AssistantMessage.from_response({**flat("{}"), **fault})
    assert caught.value.status == status


def test_a_chat_completion_is_read() -> None:
    message = am.AssistantMessage.from_response(
        {
            "id": "chatcmpl-9",
            "object": "chat.completion",
            "created": 1760000000,
            "model": "replay-1",
            "choices": [{"index": 0, **nested('{"city":"Bangkok"}')}],
            "usage": {
                "prompt_tokens": 40,
                "completion_tokens": 12,
                "total_tokens": 52,
                "prompt_tokens_details": {"cached_tokens": 8},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
        }
    )
    assert message.tool_calls == (CALL,)
    assert message.usage == am.Usage(32, 12, cache_read=8, reasoning=5)
    assert (message.model, message.timestamp) == ("replay-1", 1760000000000)


def test_reasoning_that_is_counted_beside_the_completion_is_added() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 324,
             "completion_tokens_details": {"reasoning_tokens": 310}}  # fmt: skip
    message = am.AssistantMessage.from_response({"content": [{"type": "text", "text": "4"}], "usage": usage})
    assert message.usage == am.Usage(12, 312, reasoning=310)


@pytest.mark.parametrize("arguments", ['{"city":', "[1]", '"Bangkok"', "x" * 500])
@pytest.mark.parametrize("form", [nested, listed, flat])
def test_arguments_that_are_no_object_are_told_and_not_run(form: Any, arguments: str) -> None:
    message = am.AssistantMessage.from_response(form(arguments))
    (call,) = message.all_tool_calls
    assert message.tool_calls == ()
    assert call.arguments == {}
    assert call.arguments_error is not None
    assert call.arguments_error.startswith("The arguments are not a JSON object")
    assert len(call.arguments_error) < 260


@pytest.mark.parametrize("arguments", ["", None, "{}", "null"])
def test_empty_arguments_are_an_empty_object(arguments: Any) -> None:
    assert am.AssistantMessage.from_response(flat(arguments)).tool_calls[0].arguments == {}


def test_truncation_wins_over_calls() -> None:
    message = am.AssistantMessage.from_response({**nested("{}"), "finish_reason": "length"})
    assert message.stop_reason is am.StopReason.LENGTH


def test_calls_without_an_id_get_different_ones() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    first, second = am.AssistantMessage.from_response({"message": {"tool_calls": [call, call]}}).tool_calls
    assert first.id
    assert first.id != second.id


def test_a_filtered_answer_is_raised_with_what_came() -> None:
    with pytest.raises(am.ContentFilterError) as caught:
        am.AssistantMessage.from_response({"finish_reason": "content_filter", "message": {"content": "The recipe"}})
    assert caught.value.partial is not None
    assert caught.value.partial.text == "The recipe"


@pytest.mark.parametrize(
    ("response", "path"),
    [
        (None, ""),
        ({}, ""),
        ({"message": 5}, "message"),
        ({"choices": []}, "choices"),
        ({"choices": 5}, "choices"),
        ({"content": [5]}, "content[0]"),
        ({"content": [{"type": "tool_calls", "tool_calls": [{"function": {}}]}]}, "content[0].tool_calls[0].name"),
    ],
)
def test_what_is_no_answer_is_refused(response: Any, path: str) -> None:
    with pytest.raises(am.InvalidDataError) as caught:
        am.AssistantMessage.from_response(response)
    assert caught.value.path == path
