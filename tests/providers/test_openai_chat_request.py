"""What is sent to a Chat Completions server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_core import from_json

import agent_magic as am
from agent_magic.providers.handoff import NO_RESULT
from agent_magic.providers.openai_chat_request import (
    IMAGE_BELOW,
    IMAGE_LEFT_OUT,
    offered_level,
    request_body,
    wire_message,
)
from agent_magic.providers.quirks import Quirks

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = am.ToolSchema("get_weather", "The weather of a city.", SCHEMA)
ENABLED = {"chat_template_kwargs": {"enable_thinking": True}}
ONE_FUNCTION = {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
ASPECT = {"image_config": {"aspect_ratio": "4:3"}}
IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
HI = am.UserMessage("hi")


def model(**fields: Any) -> am.Model:
    return am.Model(**{"id": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-test", **fields})


def sent(server: Any, messages: Any, config: am.RequestConfig | None = None, **more: Any) -> dict[str, Any]:
    """The body of the request that asks for this."""
    if not server.answers:
        server.streams()
    used = more.pop("model", None) or model()
    asyncio.run(am.complete(used, am.Context(messages=messages, **more), config))
    body: dict[str, Any] = server.body
    return body


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_the_system_prompt_is_a_system_message_of_text_blocks(stand_in: Any) -> None:  # Y SP-011
    body = sent(stand_in, [HI], system_prompt="Be brief.")
    assert body["messages"][0] == {"role": "system", "content": [text("Be brief.")]}


def test_a_user_message_has_text_and_image_blocks(stand_in: Any) -> None:  # Y SP-012
    body = sent(stand_in, [am.UserMessage(["what is this?", IMAGE])])
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1hZ2U="}}
    assert body["messages"] == [{"role": "user", "content": [text("what is this?"), image]}]


def test_a_call_has_its_arguments_as_text_and_keeps_the_text_before_it(stand_in: Any) -> None:  # Y SP-013
    call = am.ToolCall("call_1", "get_weather", {"city": "Ürümqi"})
    result = am.ToolResultMessage("call_1", "get_weather", "sunny")
    wire = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city":"Ürümqi"}'},
    }
    body = sent(stand_in, [HI, am.AssistantMessage([call]), result])
    assert body["messages"][1] == {"role": "assistant", "content": None, "tool_calls": [wire]}
    body = sent(stand_in, [HI, am.AssistantMessage(["I look.", call]), result])
    assert body["messages"][1] == {"role": "assistant", "content": [text("I look.")], "tool_calls": [wire]}


def test_an_answer_has_text_blocks(stand_in: Any) -> None:  # Y SP-014
    body = sent(stand_in, [HI, am.AssistantMessage(["a", "b"]), HI])
    assert body["messages"][1] == {"role": "assistant", "content": [text("a"), text("b")]}


def test_a_result_names_its_call(stand_in: Any) -> None:  # Y SP-015
    call = am.AssistantMessage([am.ToolCall("call_1", "f", {})])
    body = sent(stand_in, [HI, call, am.ToolResultMessage("call_1", "f", "sunny")])
    assert body["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": [text("sunny")]}


def test_a_tool_is_a_function_with_its_schema(stand_in: Any) -> None:  # Y SP-016
    body = sent(stand_in, [HI], tools=[TOOL])
    function = {"name": "get_weather", "description": "The weather of a city.", "parameters": SCHEMA}
    assert body["tools"] == [{"type": "function", "function": function}]


def test_servers_that_refuse_block_lists_get_plain_text(stand_in: Any) -> None:
    body = sent(
        stand_in, [HI, am.AssistantMessage("a")], system_prompt="s", model=model(compat={"plain_string_content": True})
    )
    assert [message["content"] for message in body["messages"]] == ["s", "hi", "a"]


def test_images_of_results_follow_the_last_result(stand_in: Any) -> None:
    calls = am.AssistantMessage([am.ToolCall("1", "f", {}), am.ToolCall("2", "f", {})])
    results = [am.ToolResultMessage("1", "f", [IMAGE]), am.ToolResultMessage("2", "f", "two")]
    body = sent(stand_in, [HI, calls, *results, HI], model=model(input=("text", "image")))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert body["messages"][2]["content"] == [text(IMAGE_BELOW)]
    assert body["messages"][4]["content"][0]["type"] == "image_url"
    body = sent(stand_in, [HI, calls, *results, HI])
    assert body["messages"][2]["content"] == [text(IMAGE_LEFT_OUT)]
    assert "image_url" not in str(body)


@pytest.mark.parametrize(
    ("fields", "config", "expected"),
    [
        ({}, {"max_tokens": 5}, {"max_tokens": 5}),
        ({"provider": "openai"}, {"max_tokens": 5}, {"max_completion_tokens": 5}),
        ({"base_url": "https://api.openai.com/v1"}, {"max_tokens": 5}, {"max_completion_tokens": 5}),
        ({"compat": {"max_tokens_field": "n_predict"}}, {"max_tokens": 5}, {"n_predict": 5}),
        ({}, {"temperature": 0.5}, {"temperature": 0.5}),
        ({"reasoning": True}, {"thinking_level": "low"}, {"reasoning_effort": "low"}),
        ({"reasoning": True}, {"thinking_level": "off"}, {"reasoning_effort": "none"}),
        ({"reasoning": True, "provider": "openrouter"}, {"thinking_level": "low"}, {"reasoning": {"effort": "low"}}),
        ({"reasoning": True, "provider": "deepseek"}, {"thinking_level": "off"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning": True, "provider": "vllm"}, {"thinking_level": "high"}, ENABLED),
        ({}, {"tool_choice": "required"}, {"tool_choice": "required"}),
        ({}, {"tool_choice": ["get_weather"]}, ONE_FUNCTION),
        ({"provider": "openai"}, {"prompt_caching": "enhance"}, {"prompt_cache_retention": "24h"}),
        ({}, {"prompt_caching": "enable"}, {}),
        ({}, {"response_schema": SCHEMA}, {"response_format": JSON_SCHEMA}),
        ({"provider": "openrouter"}, ASPECT, ASPECT),
        ({"compat": {"extra_body": {"top_k": 3}}}, {}, {"top_k": 3}),
        ({"provider": "mistral"}, {}, {"stream": True}),
        ({}, {}, {"stream": True, "stream_options": {"include_usage": True}}),
    ],
)
def test_each_setting_has_the_form_that_the_server_wants(
    stand_in: Any, fields: dict[str, Any], config: dict[str, Any], expected: dict[str, Any]
) -> None:
    body = sent(stand_in, [HI], am.RequestConfig(**config), tools=[TOOL], model=model(**fields))
    assert {name: body.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "config"),
    [
        ({}, {"thinking_level": "high"}),
        ({"reasoning": True, "provider": "mistral"}, {"thinking_level": "high"}),
        ({}, {"thinking_summary": True}),
        ({}, {"prompt_caching": "disable"}),
        ({}, {"prompt_caching": "enhance"}),
        ({}, {"image_config": {"image_size": "1K"}}),
        ({}, {"tts_config": [{"voice": "v"}]}),
        ({"provider": "deepseek"}, {"response_schema": SCHEMA}),
    ],
)
def test_what_the_server_does_not_offer_is_refused_before_anything_is_sent(
    stand_in: Any, fields: dict[str, Any], config: dict[str, Any]
) -> None:
    (name,) = config
    with pytest.raises(am.UnsupportedParameterError, match=name):
        sent(stand_in, [HI], am.RequestConfig(**config), model=model(**fields))
    assert stand_in.requests == []


def test_a_thinking_level_that_is_not_offered_becomes_the_next_higher_one_else_the_highest() -> None:
    levels = model(compat={"thinking_levels": ("low", "high")})
    assert [offered_level(am.ThinkingLevel(each), levels) for each in ("off", "low", "medium", "max")] == [
        "low",
        "low",
        "high",
        "high",
    ]


def test_a_tool_choice_of_several_names_offers_only_those_tools(stand_in: Any) -> None:
    tools = [am.ToolSchema(name) for name in ("a", "b", "c")]
    body = sent(stand_in, [HI], am.RequestConfig(tool_choice=["a", "c"]), tools=tools)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["a", "c"]
    assert body["tool_choice"] == "required"
    with pytest.raises(am.InvalidDataError, match="z"):
        sent(stand_in, [HI], am.RequestConfig(tool_choice=["z"]), tools=tools)


def test_reasoning_goes_back_in_its_field_to_the_same_model_and_to_no_other(stand_in: Any) -> None:
    delta = {"reasoning_content": "why", "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}
    stand_in.streams({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}).streams()
    answer = asyncio.run(am.complete(model(), am.Context(messages=[HI])))
    history = [HI, answer, am.ToolResultMessage("c", "f", "done")]
    assert sent(stand_in, history)["messages"][1]["reasoning_content"] == "why"
    assert "reasoning_content" not in sent(stand_in, history, model=model(id="another"))["messages"][1]


def test_reasoning_details_and_extra_content_go_back_unchanged(stand_in: Any) -> None:
    details = [{"type": "reasoning.encrypted", "data": "opaque==", "index": 0}]
    extra = {"google": {"thought_signature": "c2ln"}}
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    stand_in.streams(
        {"choices": [{"index": 0, "delta": {"reasoning_details": details}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]},
    ).streams()
    answer = asyncio.run(am.complete(model(), am.Context(messages=[HI])))
    wire = sent(stand_in, [HI, answer, am.ToolResultMessage("c", "f", "done")])["messages"][1]
    assert wire["reasoning_details"] == details
    assert wire["tool_calls"][0]["extra_content"] == extra


def test_a_call_without_a_result_gets_one(stand_in: Any) -> None:
    body = sent(stand_in, [HI, am.AssistantMessage([am.ToolCall("c", "f", {})]), HI])
    assert body["messages"][2] == {"role": "tool", "tool_call_id": "c", "content": [text(NO_RESULT)]}


def test_half_characters_are_sent_as_valid_unicode(stand_in: Any) -> None:
    call = am.AssistantMessage([am.ToolCall("c", "f", {"x": "\ud83d"})])
    body = sent(stand_in, [am.UserMessage("a\ud83d\ude00b\udc00"), call, am.ToolResultMessage("c", "f", "\udfff")])
    assert body["messages"][0]["content"] == [text("a😀b\ufffd")]
    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"x":"\ufffd"}'
    assert body["messages"][2]["content"] == [text("\ufffd")]


def test_a_message_of_a_derived_class_is_sent_as_any_other(stand_in: Any) -> None:
    class Question(am.UserMessage):
        pass

    assert sent(stand_in, [Question("hi")])["messages"] == [{"role": "user", "content": [text("hi")]}]


def test_a_message_is_made_into_json_once(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    history = [am.UserMessage("a"), am.AssistantMessage("b"), am.UserMessage("c")]
    first = sent(stand_in, history)
    monkeypatch.setattr("agent_magic.providers.openai_chat_request.wire_message", None)
    assert sent(stand_in, history) == first


def test_system_prompt_and_tools_may_stand_in_either_place_but_not_differ(stand_in: Any) -> None:
    body = sent(stand_in, [HI], am.RequestConfig(system_prompt="s", tools=[TOOL]))
    assert body["messages"][0]["role"] == "system"
    assert len(body["tools"]) == 1
    with pytest.raises(am.InvalidDataError, match="system_prompt"):
        sent(stand_in, [HI], am.RequestConfig(system_prompt="s"), system_prompt="t")
    with pytest.raises(am.InvalidDataError, match="tools"):
        sent(stand_in, [HI], am.RequestConfig(tools=[TOOL]), tools=[am.ToolSchema("other")])


@pytest.mark.parametrize("plain", [False, True])
def test_messages_of_one_text_are_written_as_all_others(plain: bool) -> None:
    quirks = Quirks(plain_string_content=plain)
    said = [
        am.UserMessage('a "quoted" \\ line",\n\u2028é'),
        am.AssistantMessage(
            "100 % done %b",
        ),
    ]
    call = am.ToolCall("call_1", "get_weather", {"city": "Rome"})
    history = [*said, am.AssistantMessage([call]), am.ToolResultMessage("call_1", "get_weather", "sunny"), *said]
    for messages in (history, history[:1], history[:3], []):
        body = from_json(request_body(model(), am.Context(messages=messages), am.RequestConfig(), quirks))
        assert body["messages"] == [wire_message(message, model(), quirks) for message in messages]
        assert body["model"] == "m"
