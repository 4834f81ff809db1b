"""What is sent to a Responses server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import agent_magic as am
from agent_magic.config import ImageConfig
from agent_magic.providers.handoff import NO_RESULT
from agent_magic.providers.openai_responses_request import image_size
from agent_magic.providers.placeholders import IMAGE_LEFT_OUT, NO_OUTPUT
from agent_magic.stored import messages_from_json, messages_to_json

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = am.ToolSchema("get_weather", "The weather of a city.", SCHEMA)
IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
HI = am.UserMessage("hi")
SHOWN = {"type": "input_image", "image_url": "data:image/png;base64,aW1hZ2U=", "detail": "auto"}
HELLO = {
    "type": "response.completed",
    "response": {
        "status": "completed",
        "output": [{"type": "message", "id": "msg_0", "content": [{"type": "output_text", "text": "Hello"}]}],
    },
}


def model(**fields: Any) -> am.Model:
    given = {"id": "m", "api": "openai-responses", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-test"}
    return am.Model(**{**given, **fields})


def sent(server: Any, messages: Any, config: am.RequestConfig | None = None, **more: Any) -> dict[str, Any]:
    """The body of the request that asks for this."""
    if not server.answers:
        server.streams(HELLO)
    used = more.pop("model", None) or model()
    asyncio.run(am.complete(used, am.Context(messages=messages, **more), config))
    body: dict[str, Any] = server.body
    return body


def answer(*blocks: Any, of: am.Model | None = None, reason: str | None = None) -> am.AssistantMessage:
    of = of or model()
    return am.AssistantMessage(list(blocks), of.api, of.provider, of.id, stop_reason=reason)


def text(words: str) -> dict[str, str]:
    return {"type": "input_text", "text": words}


def thinking(number: int = 1, **fidelity: Any) -> am.ThinkingContent:
    return am.ThinkingContent("why", fidelity={"id": f"rs_{number}", "summary": [], **fidelity})


def test_nothing_is_stored_at_the_server_and_the_system_prompt_is_the_instructions(stand_in: Any) -> None:
    body = sent(stand_in, [HI], system_prompt="Be brief.")
    assert body == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [{"type": "message", "role": "user", "content": [text("hi")]}],
        "stream": True,
        "store": False,
    }


def test_a_user_shows_images_and_documents(stand_in: Any) -> None:
    linked = am.ImageContent(url="https://example.org/cat.png")
    pdf = am.InlineData(b"%PDF", "application/pdf")
    body = sent(stand_in, [am.UserMessage(["what is this?", IMAGE, linked, pdf])])
    assert body["input"][0]["content"] == [
        text("what is this?"),
        SHOWN,
        {"type": "input_image", "image_url": "https://example.org/cat.png", "detail": "auto"},
        {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
    ]
    with pytest.raises(am.InvalidDataError, match="audio/wav"):
        sent(stand_in, [am.UserMessage(am.InlineData("AAA=", "audio/wav"))])


def test_results_name_their_call_and_show_images_where_the_model_reads_them(stand_in: Any) -> None:
    calls = am.AssistantMessage([am.ToolCall(name, "f", {"x": "ü"}) for name in ("a", "b", "c")])
    results = [
        am.ToolResultMessage("a", "f", ["one", "two"]),
        am.ToolResultMessage("b", "f", ["see", IMAGE]),
        am.ToolResultMessage("c", "f", am.InlineData("AAA=", "audio/wav")),
    ]
    body = sent(stand_in, [HI, calls, *results], model=model(input=("text", "image")))
    assert body["input"][1] == {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":"ü"}'}
    assert body["input"][4:] == [
        {"type": "function_call_output", "call_id": "a", "output": "one\ntwo"},
        {"type": "function_call_output", "call_id": "b", "output": [text("see"), SHOWN]},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": "(Data of the type audio/wav was left out: the API cannot take it here.)",
        },
    ]
    body = sent(stand_in, [HI, calls, *results])
    assert body["input"][5]["output"] == f"see\n{IMAGE_LEFT_OUT}"
    assert sent(stand_in, [HI, calls])["input"][4]["output"] == NO_RESULT
    history = [HI, am.AssistantMessage([am.ToolCall("a", "f", {})]), am.ToolResultMessage("a", "f")]
    assert sent(stand_in, history)["input"][2]["output"] == NO_OUTPUT


def test_the_servers_own_items_go_back_whole_and_in_order_even_after_a_reload(stand_in: Any) -> None:
    summary = [{"type": "summary_text", "text": "why"}]
    history = [
        HI,
        answer(
            thinking(1, summary=summary, encrypted_content="one=="),
            am.TextContent("I look.", {"id": "msg_1", "phase": "commentary"}),
            thinking(2, encrypted_content="two=="),
            am.ToolCall("c", "f", {}, fidelity={"id": "fc_1"}),
        ),
        am.ToolResultMessage("c", "f", "done"),
    ]
    expected = [
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "one=="},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            "phase": "commentary",
        },
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "two=="},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
    ]
    assert sent(stand_in, history)["input"][1:] == expected
    assert sent(stand_in, messages_from_json(messages_to_json(history)))["input"][1:] == expected


def test_another_model_gets_texts_and_calls_only(stand_in: Any) -> None:
    own = (
        thinking(encrypted_content="x=="),
        am.TextContent("a", {"id": "msg_1"}),
        am.ToolCall("c", "f", {}, fidelity={"id": "fc_1"}),
    )
    history = [HI, answer(*own), am.ToolResultMessage("c", "f", "done")]
    assert sent(stand_in, history, model=model(id="another"))["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "a"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
    ]


def test_reasoning_that_the_server_could_not_read_again_stays_away_with_the_ids_that_ask_for_it(stand_in: Any) -> None:
    own = (thinking(), am.TextContent("a", {"id": "msg_1", "phase": "final_answer"}))
    assert sent(stand_in, [HI, answer(*own), HI])["input"][1:-1] == [
        {"type": "message", "role": "assistant", "content": "a"}
    ]
    open_weight = thinking(content=[{"type": "reasoning_text", "text": "why"}])
    items = sent(stand_in, [HI, answer(open_weight, own[1]), HI])["input"]
    assert [item["type"] for item in items] == ["message", "reasoning", "message", "message"]
    assert items[1]["content"] == [{"type": "reasoning_text", "text": "why"}]


def test_reasoning_that_led_to_nothing_stays_away(stand_in: Any) -> None:
    cut = answer(am.TextContent("a", {"id": "msg_1"}), thinking(encrypted_content="x=="), reason="length")
    assert [item["type"] for item in sent(stand_in, [HI, cut, HI])["input"]] == ["message", "message", "message"]


def test_an_image_of_the_model_goes_back_as_its_own_item_and_to_others_as_a_users(stand_in: Any) -> None:
    made = am.InlineData("aW1hZ2U=", "image/png", {"id": "ig_1"})
    history = [HI, answer("Here.", made), HI]
    own = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aW1hZ2U="}
    assert sent(stand_in, history)["input"][2] == own
    seeing = model(id="another", input=("text", "image"))
    assert sent(stand_in, history, model=seeing)["input"][2] == {"type": "message", "role": "user", "content": [SHOWN]}
    assert sent(stand_in, history, model=model(id="another"))["input"][2]["content"] == [text(IMAGE_LEFT_OUT)]


def test_call_ids_fit_the_api_and_differ_within_a_conversation(stand_in: Any) -> None:
    def turn(call_id: str) -> list[Any]:
        return [am.AssistantMessage([am.ToolCall(call_id, "f", {})]), am.ToolResultMessage(call_id, "f", call_id)]

    items = sent(stand_in, [HI, *turn("x" * 65), *turn("f:0"), *turn("f:0")])["input"]
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    assert [item["call_id"] for item in items if item["type"] == "function_call_output"] == calls
    assert len(set(calls)) == 3
    assert all(len(call) <= 64 for call in calls)
    assert "f:0" in calls


@pytest.mark.parametrize(
    ("fields", "config", "expected"),
    [
        ({}, {"max_tokens": 50}, {"max_output_tokens": 50}),
        ({}, {"temperature": 0.5}, {"temperature": 0.5}),
        ({}, {"tool_choice": "required"}, {"tool_choice": "required"}),
        ({}, {"tool_choice": ["a"]}, {"tool_choice": {"type": "function", "name": "a"}}),
        ({}, {"tool_choice": []}, {"tool_choice": "none"}),
        ({}, {"thinking_level": "off"}, {"reasoning": None, "include": None}),
        ({"reasoning": True}, {}, {"reasoning": None, "include": ["reasoning.encrypted_content"]}),
        ({"reasoning": True}, {"thinking_level": "max"}, {"reasoning": {"effort": "max"}}),
        ({"reasoning": True}, {"thinking_level": "off"}, {"reasoning": {"effort": "none"}}),
        (
            {"reasoning": True, "compat": {"thinking_levels": ("minimal", "high")}},
            {"thinking_level": "off"},
            {"reasoning": {"effort": "minimal"}},
        ),
        (
            {"reasoning": True},
            {"thinking_level": "low", "thinking_summary": True},
            {"reasoning": {"effort": "low", "summary": "auto"}},
        ),
        ({"reasoning": True}, {"thinking_summary": False}, {"reasoning": None}),
        ({"reasoning": True, "provider": "xai"}, {"thinking_level": "off"}, {"reasoning": None}),
        (
            {},
            {"response_schema": SCHEMA},
            {"text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA}}},
        ),
        ({}, {"prompt_caching": "enable", "trace_id": "t"}, {"prompt_cache_key": "t", "prompt_cache_retention": None}),
        (
            {"provider": "openai"},
            {"prompt_caching": "enhance", "trace_id": "t"},
            {"prompt_cache_key": "t", "prompt_cache_retention": "24h"},
        ),
        ({}, {"trace_id": "t"}, {"prompt_cache_key": None}),
        ({"compat": {"extra_body": {"truncation": "auto"}}}, {}, {"truncation": "auto"}),
    ],
)
def test_each_setting_has_the_form_of_the_api(
    stand_in: Any, fields: dict[str, Any], config: dict[str, Any], expected: dict[str, Any]
) -> None:
    tools = [am.ToolSchema("a"), am.ToolSchema("b")]
    body = sent(stand_in, [HI], am.RequestConfig(**config), tools=tools, model=model(**fields))
    assert {name: body.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "config"),
    [
        ({}, {"thinking_level": "high"}),
        ({}, {"thinking_summary": True}),
        ({"provider": "openai", "reasoning": True}, {"temperature": 0.5}),
        ({}, {"prompt_caching": "disable"}),
        ({}, {"prompt_caching": "enhance"}),
        ({}, {"image_config": {"image_size": "1K"}}),
        ({"provider": "openai"}, {"image_config": {"image_size": "9K"}}),
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


def test_a_model_that_reasons_takes_a_temperature_where_it_does_not_reason(stand_in: Any) -> None:
    config = am.RequestConfig(temperature=0.5, thinking_level="off")
    body = sent(stand_in, [HI], config, model=model(provider="openai", reasoning=True))
    assert (body["temperature"], body["reasoning"]) == (0.5, {"effort": "none"})


def test_a_tool_is_a_function_that_is_not_strict(stand_in: Any) -> None:
    tools = sent(stand_in, [HI], tools=[TOOL, am.ToolSchema("now")])["tools"]
    described = {"name": "get_weather", "description": "The weather of a city.", "parameters": SCHEMA}
    assert tools[0] == {"type": "function", **described, "strict": False}
    assert tools[1]["parameters"] == {"type": "object", "properties": {}}


def test_a_choice_of_several_tools_leaves_the_declarations_as_they_are_for_the_cache(stand_in: Any) -> None:
    tools = [am.ToolSchema(name) for name in ("a", "b", "c")]
    config = am.RequestConfig(tool_choice=["a", "c"])
    body = sent(stand_in, [HI], config, tools=tools)
    assert [tool["name"] for tool in body["tools"]] == ["a", "b", "c"]
    allowed = [{"type": "function", "name": "a"}, {"type": "function", "name": "c"}]
    assert body["tool_choice"] == {"type": "allowed_tools", "mode": "required", "tools": allowed}
    body = sent(stand_in, [HI], config, tools=tools, model=model(provider="vllm"))
    assert [tool["name"] for tool in body["tools"]] == ["a", "c"]
    assert body["tool_choice"] == "required"
    with pytest.raises(am.InvalidDataError, match="z"):
        sent(stand_in, [HI], am.RequestConfig(tool_choice=["z"]), tools=tools)


def test_the_cache_is_named_by_what_stays_the_same_in_a_conversation(stand_in: Any) -> None:
    config = am.RequestConfig(prompt_caching="enable")
    first = sent(stand_in, [HI], config, tools=[TOOL], system_prompt="s")
    later = sent(stand_in, [HI, am.AssistantMessage("a"), HI], config, tools=[TOOL], system_prompt="s")
    other = sent(stand_in, [HI], config, tools=[TOOL], system_prompt="t")
    assert first["prompt_cache_key"] == later["prompt_cache_key"] != other["prompt_cache_key"]
    assert len(first["prompt_cache_key"]) <= 64
    long = am.RequestConfig(prompt_caching="enable", trace_id="t" * 65)
    assert len(sent(stand_in, [HI], long)["prompt_cache_key"]) <= 64


def test_a_longer_conversation_begins_with_the_same_bytes(stand_in: Any) -> None:
    history = [HI, am.AssistantMessage("a"), am.UserMessage("b")]
    sent(stand_in, history[:1], system_prompt="s", tools=[TOOL])
    before = stand_in.requests[-1].body
    sent(stand_in, history, system_prompt="s", tools=[TOOL])
    after = stand_in.requests[-1].body
    end = before.index(b'],"stream"')
    assert after.startswith(before[:end])
    assert after.endswith(before[end:])


def test_a_message_is_made_into_json_once(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    history = [am.UserMessage("a"), am.AssistantMessage("b"), am.UserMessage("c")]
    first = sent(stand_in, history)
    monkeypatch.setattr("agent_magic.providers.openai_responses_request.wire_items", None)
    assert sent(stand_in, history) == first


@pytest.mark.parametrize(
    ("ratio", "size", "expected"),
    [
        (None, None, "auto"),
        ("1:1", None, "1024x1024"),
        ("3:2", "1K", "1536x1024"),
        ("2:3", "1k", "1024x1536"),
        ("16:9", "1K", "1536x864"),
        (None, "2K", "2048x2048"),
        ("9:16", "2K", "1152x2048"),
        ("4:1", "1K", None),
        ("wide", "1K", None),
        ("1:1", "9K", None),
    ],
)
def test_an_image_has_the_shape_that_was_asked_for(ratio: str | None, size: str | None, expected: str | None) -> None:
    assert image_size(ImageConfig(ratio, size)) == expected


def test_an_image_is_made_by_the_servers_tool(stand_in: Any) -> None:
    config = am.RequestConfig(image_config={"aspect_ratio": "3:2"})
    body = sent(stand_in, [HI], config, model=model(provider="openai"))
    assert body["tools"] == [{"type": "image_generation", "size": "1536x1024"}]
