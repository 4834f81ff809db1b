"""What is sent to a Messages server, and what of its answer goes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers import http
from agent_magic.providers.anthropic_request import request_url
from agent_magic.providers.catalogue import _catalogue
from agent_magic.providers.placeholders import IMAGE_BELOW, IMAGE_LEFT_OUT
from agent_magic.providers.transport import HTTPRequest, HTTPResponse
from agent_magic.stored import message_from_json, message_to_json

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = am.ToolSchema("get_weather", "The weather of a city.", SCHEMA)
OTHER = am.ToolSchema("list_files")
IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
WIRE_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aW1hZ2U="}}
HI = am.UserMessage("hi")
MARK = {"cache_control": {"type": "ephemeral"}}
ADAPTIVE = {"adaptive_thinking": True, "thinking_levels": ("off", "low", "medium", "high", "xhigh", "max")}
ALWAYS = {"adaptive_thinking": True, "thinking_levels": ("low", "medium", "high")}
PLAIN = am.RequestConfig(prompt_caching="disable")


def model(**fields: Any) -> am.Model:
    return am.Model(**{"id": "m", "api": "anthropic", "base_url": "http://127.0.0.1:9", "api_key": "sk-test", **fields})


def answered(*blocks: dict[str, Any], reason: str = "end_turn", usage: Any = None) -> bytes:
    """A whole answer of these blocks."""
    content = list(blocks) or [{"type": "text", "text": "Hello"}]
    return json.dumps({"type": "message", "content": content, "stop_reason": reason, "usage": usage}).encode()


def asked(server: Any, messages: Any, config: am.RequestConfig | None = PLAIN, **more: Any) -> am.AssistantMessage:
    if not server.answers:
        server.gives(answered())
    used = more.pop("model", None) or model()
    return asyncio.run(am.complete(used, am.Context(messages=messages, **more), config))


def sent(server: Any, messages: Any, config: am.RequestConfig | None = PLAIN, **more: Any) -> dict[str, Any]:
    """The body of the request that asks for this."""
    asked(server, messages, config, **more)
    body: dict[str, Any] = server.body
    return body


def refused(config: am.RequestConfig, **fields: Any) -> str:
    """Why this is refused before anything is sent."""
    with pytest.raises(am.UnsupportedParameterError) as caught:
        asyncio.run(am.complete(model(**fields), am.Context(messages=[HI], tools=[TOOL, OTHER]), config))
    return str(caught.value)


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


# Address, key ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("http://127.0.0.1:9/anthropic", "http://127.0.0.1:9/anthropic/v1/messages"),
        ("http://127.0.0.1:9/v1/messages?a=b", "http://127.0.0.1:9/v1/messages?a=b"),
    ],
)
def test_the_address_is_the_same_with_and_without_its_version(base_url: str, url: str) -> None:
    assert request_url(model(base_url=base_url)) == url


def test_the_key_goes_in_the_header_that_the_server_reads(stand_in: Any) -> None:
    sent(stand_in, [HI])
    headers = stand_in.requests[-1].headers
    assert (headers["x-api-key"].reveal(), headers["anthropic-version"]) == ("sk-test", "2023-06-01")
    sent(stand_in, [HI], model=model(base_url="https://openrouter.ai/api"))
    headers = stand_in.requests[-1].headers
    assert headers["authorization"].reveal() == "Bearer sk-test"
    assert "x-api-key" not in headers


# Settings -------------------------------------------------------------------------------------------------------------


def test_the_length_of_the_answer_is_always_given(stand_in: Any) -> None:
    assert sent(stand_in, [HI])["max_tokens"] == 8192
    assert sent(stand_in, [HI], model=model(context_window=4096))["max_tokens"] == 2048
    assert sent(stand_in, [HI], model=model(max_tokens=64_000))["max_tokens"] == 64_000
    assert sent(stand_in, [HI], PLAIN.replace(max_tokens=7), model=model(max_tokens=64_000))["max_tokens"] == 7


def test_a_model_that_thinks_adaptively_gets_an_effort_word(stand_in: Any) -> None:
    used = model(reasoning=True, compat=ADAPTIVE)
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="high", max_tokens=100), model=used)
    assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": "high"})
    assert body["max_tokens"] == 100
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="off"), model=used)
    assert body["thinking"] == {"type": "disabled"}
    assert "output_config" not in body
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="minimal", thinking_summary=True), model=used)
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "low"}
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="off"), model=model(reasoning=True, compat=ALWAYS))
    assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})
    assert "thinking" not in sent(stand_in, [HI], model=used)


def test_an_older_model_gets_a_budget_on_top_of_the_answer(stand_in: Any) -> None:
    used = model(reasoning=True, max_tokens=20_000)
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="medium", max_tokens=500), model=used)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 8192}
    assert body["max_tokens"] == 8692
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="max", max_tokens=500), model=used)
    assert (body["thinking"]["budget_tokens"], body["max_tokens"]) == (19_500, 20_000)
    body = sent(stand_in, [HI], PLAIN.replace(thinking_level="high"), model=used)
    assert (body["thinking"]["budget_tokens"], body["max_tokens"]) == (16_384, 20_000)


def test_no_budget_is_asked_for_in_the_middle_of_calls_that_began_without_thinking(stand_in: Any) -> None:
    call = am.ToolCall("c", "get_weather", {})
    history = [HI, am.AssistantMessage([call]), am.ToolResultMessage("c", "get_weather", "sunny")]
    config = PLAIN.replace(thinking_level="low")
    assert "thinking" not in sent(stand_in, history, config, model=model(reasoning=True))
    thought = am.ThinkingContent("hm", fidelity={"signature": "s"})
    history[1] = am.AssistantMessage([thought, call], api="anthropic", model="m")
    assert "thinking" in sent(stand_in, history, config, model=model(reasoning=True))
    assert "thinking" in sent(
        stand_in, [*history[:1], am.AssistantMessage("a"), HI], config, model=model(reasoning=True)
    )


def test_the_choice_of_tools(stand_in: Any) -> None:
    def choice(value: Any) -> tuple[Any, list[str]]:
        body = sent(stand_in, [HI], PLAIN.replace(tool_choice=value), tools=[TOOL, OTHER])
        return body.get("tool_choice"), [tool["name"] for tool in body.get("tools", ())]

    both = ["get_weather", "list_files"]
    assert choice(None) == (None, both)
    assert choice("auto") == ({"type": "auto"}, both)
    assert choice("none") == ({"type": "none"}, both)
    assert choice("required") == ({"type": "any"}, both)
    assert choice(["list_files"]) == ({"type": "tool", "name": "list_files"}, both)
    assert choice(["list_files", "get_weather"]) == ({"type": "any"}, ["list_files", "get_weather"])
    with pytest.raises(am.InvalidDataError, match="search"):
        choice(["search"])
    assert "tool_choice" not in sent(stand_in, [HI], PLAIN.replace(tool_choice="required"))


def test_no_call_is_required_of_a_model_that_thinks(stand_in: Any) -> None:
    required = am.RequestConfig(tool_choice="required")
    assert "thinking_level" in refused(required.replace(thinking_level="low"), reasoning=True)
    assert "tool_choice" in refused(am.RequestConfig(tool_choice=["list_files"]), reasoning=True, compat=ALWAYS)
    # Some models think unless told otherwise.
    body = sent(stand_in, [HI], required, tools=[TOOL], model=model(reasoning=True, compat=ADAPTIVE))
    assert body["thinking"] == {"type": "disabled"}
    assert body["tool_choice"] == {"type": "any"}


def test_a_temperature_goes_only_to_models_that_take_one(stand_in: Any) -> None:
    cold = PLAIN.replace(temperature=0.5)
    assert sent(stand_in, [HI], cold)["temperature"] == 0.5
    assert "temperature" not in sent(stand_in, [HI], PLAIN.replace(temperature=1.0))
    assert "takes none" in refused(cold, compat=ADAPTIVE)
    assert "while it thinks" in refused(cold.replace(thinking_level="low"), reasoning=True)
    assert sent(stand_in, [HI], cold, model=model(id="claude-opus-4-6", compat=ADAPTIVE))["temperature"] == 0.5


def test_a_schema_has_closed_objects_and_tells_what_cannot_be_enforced(stand_in: Any) -> None:
    size = {"type": "integer", "minimum": 1, "description": "In metres."}
    schema = {
        "type": "object",
        "properties": {"size": size, "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}, "maxItems": 2}},
        "$defs": {"part": {"type": "object", "properties": {}, "additionalProperties": True}},
    }
    body = sent(stand_in, [HI], PLAIN.replace(response_schema=schema))
    assert body["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "description": "In metres.\n\n{minimum: 1}"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}, "description": "{maxItems: 2}"},
            },
            "$defs": {"part": {"type": "object", "properties": {}, "additionalProperties": False}},
            "additionalProperties": False,
        },
    }
    used = model(reasoning=True, compat=ADAPTIVE)
    body = sent(stand_in, [HI], PLAIN.replace(response_schema=schema, thinking_level="high"), model=used)
    assert sorted(body["output_config"]) == ["effort", "format"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("thinking_level", "low"),
        ("thinking_summary", True),
        ("image_config", {}),
        ("tts_config", [{"voice": "a"}]),
        ("embedding_config", {}),
    ],
)
def test_what_the_api_does_not_offer_is_refused(field: str, value: Any) -> None:
    assert field in refused(am.RequestConfig(**{field: value}))


# Cache ----------------------------------------------------------------------------------------------------------------


def test_the_system_prompt_and_the_last_block_of_the_user_are_marked(stand_in: Any) -> None:
    history = [am.UserMessage(["a", "b"]), am.AssistantMessage("c"), am.UserMessage(["d", "e"])]
    body = sent(stand_in, history, None, system_prompt="Be brief.", tools=[TOOL])
    assert body["system"] == [{**text("Be brief."), **MARK}]
    assert body["messages"][2]["content"] == [text("d"), {**text("e"), **MARK}]
    assert json.dumps(body).count("cache_control") == 2
    body = sent(stand_in, history, None, tools=[TOOL, OTHER])
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK["cache_control"]]
    body = sent(stand_in, history, am.RequestConfig(prompt_caching="enhance"), system_prompt="Be brief.")
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in json.dumps(sent(stand_in, history, PLAIN, system_prompt="Be brief."))


def test_a_longer_conversation_begins_with_the_same_bytes(stand_in: Any) -> None:
    calls = [am.ToolCall(f"bad id {number}", "get_weather", {"city": "Oslo"}) for number in range(3)]
    results = [am.ToolResultMessage(call.id, "get_weather", ["sunny", IMAGE], is_error=True) for call in calls]
    history = [HI, am.AssistantMessage(["I look.", *calls]), *results, HI, am.AssistantMessage("b"), HI]
    bodies = []
    for length in (1, 5, 6, 8):
        asked(stand_in, history[:length], PLAIN, tools=[TOOL], system_prompt="s", model=model(input=("text", "image")))
        bodies.append(stand_in.requests[-1].body)
    starts = [body.partition(b']}],"')[0].removesuffix(b"}") for body in bodies]
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(starts))


def test_an_hour_in_the_cache_has_its_own_price(stand_in: Any) -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 1_000_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 400_000, "ephemeral_1h_input_tokens": 600_000},
        "output_tokens_details": {"thinking_tokens": 5},
    }
    stand_in.gives(answered(usage=usage))
    priced = model(cost=am.ModelCost(3, 15, "0.3", "3.75"))
    found = asked(stand_in, [HI], model=priced).usage
    assert found is not None
    assert (found.input, found.output, found.cache_read, found.cache_write) == (10, 20, 30, 1_000_000)
    assert found.reasoning == 5
    assert found.cost is not None
    assert found.cost.cache_write == Decimal("0.4") * Decimal("3.75") + Decimal("0.6") * 6
    assert found.cost.total == sum((found.cost.input, found.cost.output, found.cost.cache_read), found.cost.cache_write)
    assert asked(stand_in, [HI]).usage == am.Usage(10, 20, 30, 1_000_000, reasoning=5, cache_write_1h=600_000)


def test_what_was_written_for_different_times_counts_where_no_sum_is_given(stand_in: Any) -> None:
    written = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    stand_in.gives(answered(usage={"input_tokens": 1, "output_tokens": 2, "cache_creation": written}))
    assert asked(stand_in, [HI]).usage == am.Usage(1, 2, 0, 7, cache_write_1h=4)


def test_the_price_of_an_hour_is_that_of_the_catalogue() -> None:
    models = _catalogue()["anthropic"]
    priced = [each["cost"] for each in models.values() if "cache_write_1h" in each.get("cost", {})]
    assert len(priced) > 10
    assert [cost["cache_write_1h"] for cost in priced] == [am.ModelCost(cost["input"]).hour_price for cost in priced]


# Messages -------------------------------------------------------------------------------------------------------------


def test_results_begin_the_turn_of_the_user_whose_messages_are_joined(stand_in: Any) -> None:
    calls = [am.ToolCall("a", "f", {"x": "Ürümqi"}), am.ToolCall("b", "f", {})]
    results = [am.ToolResultMessage("b", "f", ""), am.ToolResultMessage("a", "f", "bad", is_error=True)]
    body = sent(stand_in, [HI, am.AssistantMessage(["I look.", *calls]), *results, am.UserMessage("and?"), HI])
    assert body["messages"] == [
        {"role": "user", "content": [text("hi")]},
        {
            "role": "assistant",
            "content": [
                text("I look."),
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "Ürümqi"}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": [text("(no output)")]},
                {"type": "tool_result", "tool_use_id": "a", "content": [text("bad")], "is_error": True},
                text("and?"),
                text("hi"),
            ],
        },
    ]


def test_images_are_sent_where_the_api_takes_them(stand_in: Any) -> None:
    sees = model(input=("text", "image"))
    url = am.ImageContent(url="https://example.org/a.png")
    body = sent(stand_in, [am.UserMessage(["what?", IMAGE, url])], model=sees)
    wire_url = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    assert body["messages"][0]["content"] == [text("what?"), WIRE_IMAGE, wire_url]
    call = am.AssistantMessage([am.ToolCall("a", "f", {})])
    body = sent(stand_in, [HI, call, am.ToolResultMessage("a", "f", ["seen", IMAGE])], model=sees)
    assert body["messages"][2]["content"][0]["content"] == [text("seen"), WIRE_IMAGE]
    failed = am.ToolResultMessage("a", "f", ["seen", IMAGE], is_error=True)
    content = sent(stand_in, [HI, call, failed, HI], model=sees)["messages"][2]["content"]
    assert content[0]["content"] == [text("seen"), text(IMAGE_BELOW)]
    assert content[1:] == [WIRE_IMAGE, text("hi")]
    body = sent(stand_in, [HI, call, am.ToolResultMessage("a", "f", IMAGE)])
    assert body["messages"][2]["content"][0]["content"] == [text(IMAGE_LEFT_OUT)]
    body = sent(stand_in, [HI, am.AssistantMessage(["Here", am.InlineData("aW1hZ2U=", "image/png")]), HI], model=sees)
    assert body["messages"][1]["content"] == [text("Here")]
    assert body["messages"][2]["content"][1:] == [WIRE_IMAGE, text("hi")]


def test_media_that_no_server_takes_is_refused_in_words(stand_in: Any) -> None:
    document = am.InlineData(b"%PDF", "application/pdf")
    source = {"type": "base64", "media_type": "application/pdf", "data": document.data}
    body = sent(stand_in, [am.UserMessage([document])])
    assert body["messages"][0]["content"] == [{"type": "document", "source": source}]
    with pytest.raises(am.InvalidDataError, match="image/tiff"):
        sent(stand_in, [am.UserMessage([am.ImageContent("aW1hZ2U=", "image/tiff")])])
    with pytest.raises(am.InvalidDataError, match="audio/wav"):
        sent(stand_in, [am.UserMessage([am.InlineData("aW1hZ2U=", "audio/wav")])])


def test_the_user_begins_and_nothing_is_empty(stand_in: Any) -> None:
    body = sent(stand_in, [am.AssistantMessage("Hello"), am.UserMessage([]), am.AssistantMessage([" ", "b"]), HI])
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"] == [text("Hello"), text("b")]


# What goes back -------------------------------------------------------------------------------------------------------

THOUGHT = [
    {"type": "thinking", "thinking": "I wonder.", "signature": "c2lnbmVk"},
    {"type": "redacted_thinking", "data": "aGlkZGVu"},
    {"type": "thinking", "thinking": "", "signature": "b21pdHRlZA=="},
    {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
]


def test_thinking_goes_back_unchanged_to_its_model_only_and_after_it_was_stored(stand_in: Any) -> None:
    stand_in.gives(answered(*THOUGHT, reason="tool_use"))
    answer = asked(stand_in, [HI])
    assert answer.thinking == "I wonder."
    assert answer.stop_reason == "tool_call"
    stored = message_from_json(json.loads(json.dumps(message_to_json(answer))))
    result = am.ToolResultMessage("a", "f", "1")
    for message in (answer, stored):
        assert sent(stand_in, [HI, message, result])["messages"][1]["content"] == THOUGHT
        other = sent(stand_in, [HI, message, result], model=model(id="other"))
        assert other["messages"][1]["content"] == THOUGHT[3:]


def test_an_answer_never_ends_with_thinking(stand_in: Any) -> None:
    cut = am.AssistantMessage(
        ["a", am.ThinkingContent("b", fidelity={"signature": "s"})], api="anthropic", model="m", stop_reason="length"
    )
    assert sent(stand_in, [HI, cut, HI])["messages"][1]["content"] == [text("a")]


def test_unsigned_thinking_goes_back_to_compatible_servers_only(stand_in: Any) -> None:
    stand_in.gives(answered({"type": "thinking", "thinking": "hm"}, text("a")))
    answer = asked(stand_in, [HI])
    unsigned = {"type": "thinking", "thinking": "hm", "signature": ""}
    assert sent(stand_in, [HI, answer, HI])["messages"][1]["content"] == [unsigned, text("a")]
    official = model(base_url="https://api.anthropic.com")
    assert sent(stand_in, [HI, answer, HI], model=official)["messages"][1]["content"] == [text("a")]


# Answers --------------------------------------------------------------------------------------------------------------


def test_a_refusal_is_an_error_with_the_servers_reason(stand_in: Any) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "This is dangerous."}
    stop = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "First"}}
    stand_in.streams(delta, stop, {"type": "message_stop"})
    with pytest.raises(am.ContentFilterError, match=r"This is dangerous\.") as caught:
        asked(stand_in, [HI])
    assert caught.value.partial is not None
    assert caught.value.partial.text == "First"


@pytest.mark.parametrize(
    ("reason", "read"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("tool_use", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("something_new", "unknown"),
    ],
)
def test_reasons_to_stop(stand_in: Any, reason: str, read: str) -> None:
    stand_in.gives(answered(reason=reason))
    assert asked(stand_in, [HI]).stop_reason == read


def test_a_connection_that_stays_open_after_the_end_is_not_waited_for() -> None:
    @asynccontextmanager
    async def transport(request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
        async def body() -> AsyncIterator[bytes]:
            yield b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\n'
            yield b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
            await asyncio.sleep(60)

        yield HTTPResponse(200, {}, body())

    restore = http.use_transport(transport)
    try:
        answer = asyncio.run(asyncio.wait_for(am.complete(model(), am.Context(messages=[HI])), 5))
    finally:
        restore()
    assert answer.text == "a"


def test_words_between_events_and_missing_blank_lines_do_no_harm(stand_in: Any) -> None:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}
    line = b"data: " + json.dumps(delta).encode() + b"\n"
    stand_in.gives(b"data: keepalive\n\n", line, line, b"\n", b'data: {"type":"message_stop"}\n\n')
    assert asked(stand_in, [HI]).text == "HelloHello"


def test_half_characters_in_different_pieces_are_joined(stand_in: Any) -> None:
    def delta(index: int, kind: str, name: str, escaped: str) -> bytes:
        head = f'data: {{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{name}":"'
        return f'{head}{escaped}"}}}}\n\n'.encode()

    call = {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "f"}}
    stand_in.gives(
        delta(0, "text_delta", "text", "\\ud83d"),
        delta(0, "text_delta", "text", "\\ude00"),
        b"data: " + json.dumps(call).encode() + b"\n\n",
        delta(1, "input_json_delta", "partial_json", '{\\"x\\":\\"\\ud83d'),
        delta(1, "input_json_delta", "partial_json", '\\ude00\\"}'),
        b'data: {"type":"message_stop"}\n\n',
    )
    answer = asked(stand_in, [HI])
    assert answer.text == "😀"
    assert answer.tool_calls[0].arguments == {"x": "😀"}
