"""What is made of answers of the Gemini API, beyond the wire cases."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import wave
from typing import Any

import pytest

import agent_magic as am

MODEL = am.Model("gemini-3.5-flash", api="gemini", base_url="http://127.0.0.1:9", api_key="sk-test")
CONTEXT = am.Context(messages=[am.UserMessage("hi")])
ONCE = am.RequestConfig(max_retries=0)


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **more}


def ask(server: Any, *chunks: Any) -> am.AssistantMessage:
    if chunks:
        server.streams(*chunks)
    return asyncio.run(am.complete(MODEL, CONTEXT, ONCE))


def sound(data: bytes, rate: int = 24_000) -> dict[str, Any]:
    mime_type = f"audio/L16;codec=pcm;rate={rate}"
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode()}}


def test_raw_sound_in_pieces_becomes_one_file_that_plays(stand_in: Any) -> None:
    message = ask(stand_in, chunk(sound(b"\x01\x02\x03\x04")), chunk(sound(b"\x05\x06"), finish="STOP"))
    (block,) = message.content
    assert isinstance(block, am.InlineData)
    assert block.mime_type == "audio/wav"
    with wave.open(io.BytesIO(block.bytes)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        assert file.readframes(10) == b"\x01\x02\x03\x04\x05\x06"


def test_sound_of_another_rate_is_another_file(stand_in: Any) -> None:
    message = ask(stand_in, chunk(sound(b"ab"), sound(b"cd", 16_000), finish="STOP"))
    rates = []
    for block in message.content:
        assert isinstance(block, am.InlineData)
        with wave.open(io.BytesIO(block.bytes)) as file:
            rates.append(file.getframerate())
    assert rates == [24_000, 16_000]


def test_an_image_is_data_and_one_of_the_thinking_is_thinking(stand_in: Any) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}
    message = ask(stand_in, chunk({**image, "thought": True}, {"text": "Here: "}, image, finish="STOP"))
    assert message.content == (
        am.ThinkingContent("", "aW1n", "image/png"),
        am.TextContent("Here: "),
        am.InlineData("aW1n", "image/png"),
    )


def test_text_before_and_after_a_signed_empty_part_reads_as_one(stand_in: Any) -> None:
    message = ask(
        stand_in,
        chunk({"text": "Hel"}),
        chunk({"text": "lo"}),
        chunk({"text": "", "thoughtSignature": "c2ln"}, finish="STOP"),
    )
    assert message.content == (am.TextContent("Hello", {"signature": "c2ln", "from": 5}),)


def test_names_of_fields_may_be_in_snake_case(stand_in: Any) -> None:
    part = {"function_call": {"name": "f", "args": {"some_key": 1}}, "thought_signature": "c2ln"}
    usage = {"prompt_token_count": 5, "candidates_token_count": 2, "cached_content_token_count": 1}
    candidate = {"content": {"parts": [part]}, "finish_reason": "STOP"}
    message = ask(stand_in, {"candidates": [candidate], "usage_metadata": usage})
    (call,) = message.tool_calls
    assert (call.name, call.arguments, call.fidelity) == ("f", {"some_key": 1}, {"signature": "c2ln"})
    assert message.usage == am.Usage(4, 2, 1)


@pytest.mark.parametrize("form", ["list", "object"])
def test_a_whole_answer_in_place_of_a_stream_is_read(stand_in: Any, form: str) -> None:
    chunks = [chunk({"text": "Hel"}), chunk({"text": "lo"}, finish="STOP")]
    whole: Any = chunks if form == "list" else chunk({"text": "Hel"}, {"text": "lo"}, finish="STOP")
    stand_in.gives(json.dumps(whole, indent=2).encode())
    assert ask(stand_in).text == "Hello"


def test_ids_that_repeat_in_one_answer_are_told_apart(stand_in: Any) -> None:
    call = {"functionCall": {"id": "same", "name": "f", "args": {}}}
    message = ask(stand_in, chunk(call, call, finish="STOP"))
    assert len({each.id for each in message.tool_calls}) == 2


def test_a_model_that_says_stop_in_every_chunk_is_read_to_its_end(stand_in: Any) -> None:
    message = ask(stand_in, chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="STOP"))
    assert message.text == "ab"


def test_a_failure_after_a_stop_counts_more_than_the_stop(stand_in: Any) -> None:
    with pytest.raises(am.ContentFilterError, match="SAFETY"):
        ask(stand_in, chunk({"text": "a"}, finish="STOP"), chunk(finish="SAFETY"))


@pytest.mark.parametrize(
    ("chunks", "kind", "words"),
    [
        ([chunk({"text": "x"}, finish="PROHIBITED_CONTENT")], "content_filter", "PROHIBITED_CONTENT"),
        ([{"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no such"}}], "content_filter", "no such"),
        ([chunk(finish="MAX_TOKENS")], "empty_response", "MAX_TOKENS"),
        ([chunk(finish="STOP")], "empty_response", "STOP"),
        ([chunk({"text": "hm", "thought": True}, finish="STOP")], "empty_response", "STOP"),
        ([chunk(finish="UNEXPECTED_TOOL_CALL")], "server", "UNEXPECTED_TOOL_CALL"),
        ([chunk(finish="MISSING_THOUGHT_SIGNATURE")], "bad_request", "MISSING_THOUGHT_SIGNATURE"),
        ([chunk({"text": "x"})], "stream_interrupted", "ended before"),
        ([chunk({"text": "x"}), {"error": {"code": 503, "message": "overloaded"}}], "server", "overloaded"),
        ([chunk({"functionCall": {"name": "f", "args": [1]}}, finish="STOP")], "tool_call_arguments", "'f'"),
    ],
)
def test_what_is_no_proper_answer_is_an_error_of_its_kind(
    stand_in: Any, chunks: list[Any], kind: str, words: str
) -> None:
    with pytest.raises(am.ProviderError) as raised:
        ask(stand_in, *chunks)
    assert raised.value.kind == kind
    assert words in str(raised.value)


def test_a_malformed_call_is_asked_for_again_by_itself(stand_in: Any) -> None:
    stand_in.streams(chunk(finish="MALFORMED_FUNCTION_CALL")).streams(chunk({"text": "ok"}, finish="STOP"))
    config = am.RequestConfig(max_retry_delay=0.01)
    assert asyncio.run(am.complete(MODEL, CONTEXT, config)).text == "ok"


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_arguments_with_what_is_no_number_of_json_are_refused(stand_in: Any, number: float) -> None:
    with pytest.raises(am.ToolCallArgumentParseError):
        ask(stand_in, chunk({"functionCall": {"name": "f", "args": {"x": number}}}, finish="STOP"))
    words = {"x": "NaN and Infinity are words"}
    message = ask(stand_in, chunk({"functionCall": {"name": "f", "args": words}}, finish="STOP"))
    assert [call.arguments for call in message.tool_calls] == [words]


def test_an_answer_cut_off_keeps_its_whole_calls(stand_in: Any) -> None:
    message = ask(stand_in, chunk({"functionCall": {"name": "f"}}, finish="MAX_TOKENS"))
    assert message.stop_reason is am.StopReason.LENGTH
    assert [call.arguments for call in message.tool_calls] == [{}]


def test_halves_of_characters_are_joined_and_a_half_alone_is_replaced(stand_in: Any) -> None:
    stand_in.gives(
        b'data: {"candidates":[{"content":{"parts":[{"text":"a\\ud83d"}]}}]}\n\n'
        b'data: {"candidates":[{"content":{"parts":[{"text":"\\ude00b\\ud83d"}]},"finishReason":"STOP"}]}\n\n'
    )
    assert ask(stand_in).text == "a😀b\ufffd"


def test_unknown_reasons_and_other_candidates_do_no_harm(stand_in: Any) -> None:
    more = {"index": 1, "content": {"parts": [{"text": "other"}]}, "finishReason": "STOP"}
    first = chunk({"text": "x"}, {"executableCode": {"code": "1"}}, finish="SOMETHING_NEW")
    message = ask(stand_in, {"candidates": [*first["candidates"], more]})
    assert (message.text, message.stop_reason) == ("x", am.StopReason.UNKNOWN)
