"""What is made of the answers of Responses servers, proper and odd ones."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import agent_magic as am

MODEL = am.Model("m", "openai-responses", base_url="http://127.0.0.1:9/v1", api_key="sk-test")
CONTEXT = am.Context(messages=[am.UserMessage("hi")])
CONFIG = am.RequestConfig(max_retries=0)


def answered(server: Any, *events: dict[str, Any]) -> am.AssistantMessage:
    server.streams(*events)
    return asyncio.run(am.complete(MODEL, CONTEXT, CONFIG))


def completed(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": list(output), **more}}


def message(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": text}], **more}


def call(arguments: Any = '{"a":1}', **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": arguments, **more}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def test_what_came_only_in_a_done_event_or_in_the_end_counts_and_counts_once(stand_in: Any) -> None:
    done_events = [
        event("output_item.added", output_index=0, item=message("")),
        event("output_text.done", output_index=0, item_id="msg_1", text="Hello"),
        event("output_item.done", output_index=0, item=message("Hello")),
    ]
    assert answered(stand_in, *done_events, completed(message("Hello"))).text == "Hello"
    assert answered(stand_in, *done_events[1:2], completed(message("Hello"))).text == "Hello"
    assert answered(stand_in, *done_events[2:], completed()).text == "Hello"
    assert answered(stand_in, completed(message("Hello"))).text == "Hello"
    partly = event("output_text.delta", output_index=0, item_id="msg_1", delta="Hel")
    assert answered(stand_in, partly, completed(message("Hello"))).text == "Hello"


def test_ids_that_change_with_every_event_do_no_harm(stand_in: Any) -> None:
    answer = answered(
        stand_in,
        event("output_item.added", output_index=0, item=call("", id="x1")),
        event("function_call_arguments.delta", output_index=0, item_id="x2", delta='{"a":'),
        event("function_call_arguments.delta", output_index=0, item_id="x3", delta="1}"),
        event("output_item.done", output_index=0, item=call(id="x4")),
        completed(call(id="x5")),
    )
    assert [(each.id, each.name, each.arguments) for each in answer.all_tool_calls] == [("c1", "f", {"a": 1})]


@pytest.mark.parametrize("ids", [(None, None, None, None), ("x1", "x2", "x3", "x4")])
def test_a_call_that_is_ended_without_place_and_known_id_is_the_same_call(stand_in: Any, ids: Any) -> None:
    answer = answered(
        stand_in,
        event("output_item.added", item=call("", id=ids[0])),
        event("function_call_arguments.delta", delta='{"a":1}'),
        event("output_item.done", item=call(id=ids[1])),
        event("output_item.added", item=call("", call_id="c2", id=ids[2])),
        event("function_call_arguments.delta", delta='{"a":2}'),
        event("output_item.done", item=call('{"a":2}', call_id="c2", id=ids[3])),
        completed(),
    )
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [("c1", {"a": 1}), ("c2", {"a": 2})]


def test_a_text_that_is_ended_without_place_and_id_is_there_once(stand_in: Any) -> None:
    delta = event("output_text.delta", delta="Hello")
    done = event("output_item.done", item=message("Hello", id=None))
    assert answered(stand_in, delta, done, completed()).text == "Hello"
    assert answered(stand_in, delta, done, completed(message("Hello", id=None))).text == "Hello"


def test_places_that_are_all_the_same_do_no_harm_where_ids_are_right(stand_in: Any) -> None:
    first, second = call("", id="fc_1"), call("", id="fc_2", call_id="c2")
    answer = answered(
        stand_in,
        event("output_item.added", output_index=0, item=first),
        event("output_item.added", output_index=0, item=second),
        event("function_call_arguments.delta", output_index=0, item_id="fc_1", delta='{"a":1}'),
        event("function_call_arguments.delta", output_index=0, item_id="fc_2", delta='{"a":2}'),
        event("output_item.done", output_index=0, item={**first, "arguments": '{"a":1}'}),
        event("output_item.done", output_index=0, item={**second, "arguments": '{"a":2}'}),
        completed(),
    )
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [("c1", {"a": 1}), ("c2", {"a": 2})]


@pytest.mark.parametrize("arguments", ['{"a":1}', {"a": 1}])
def test_arguments_may_come_whole_as_text_or_object(stand_in: Any, arguments: Any) -> None:
    answer = answered(stand_in, completed(call(arguments)))
    assert answer.tool_calls[0].arguments == {"a": 1}
    assert answer.tool_calls[0].fidelity == {"id": "fc_1"}
    assert answer.stop_reason == "tool_call"


def test_a_call_without_call_id_is_named_by_its_item(stand_in: Any) -> None:
    assert answered(stand_in, completed(call(call_id=None))).tool_calls[0].id == "fc_1"


def test_reasoning_is_thinking_and_kept_whole_and_before_what_follows(stand_in: Any) -> None:
    parts = [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]
    item = {"type": "reasoning", "id": "rs_1", "summary": parts, "encrypted_content": "x==", "status": None}
    answer = answered(
        stand_in,
        event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_1", "summary": []}),
        event("reasoning_summary_text.delta", output_index=0, item_id="rs_1", summary_index=0, delta="one"),
        event("reasoning_summary_text.delta", output_index=0, item_id="rs_1", summary_index=1, delta="two"),
        event("output_item.done", output_index=0, item=item),
        completed(item, message("Hello", phase="final_answer")),
    )
    thought, text = answer.content
    assert answer.thinking == "one\n\ntwo"
    assert thought.fidelity == {"id": "rs_1", "summary": parts, "encrypted_content": "x=="}
    assert text == am.TextContent("Hello", {"id": "msg_1", "phase": "final_answer"})


def test_hidden_reasoning_is_redacted_and_reasoning_without_anything_is_no_block(stand_in: Any) -> None:
    hidden = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x=="}
    answer = answered(stand_in, completed(hidden, message("Hello")))
    assert isinstance(answer.content[0], am.ThinkingContent)
    assert answer.content[0].redacted
    empty = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert [block.type for block in answered(stand_in, completed(empty, message("Hello"))).content] == ["text"]


def test_an_image_of_the_servers_tool_is_data_and_comes_once(stand_in: Any) -> None:
    item = {"type": "image_generation_call", "id": "ig_1", "result": "aW1hZ2U=", "output_format": "webp"}
    partial = event("image_generation_call.partial_image", output_index=0, partial_image_b64="AAA=")
    done = event("output_item.done", output_index=0, item=item)
    answer = answered(stand_in, partial, done, completed(item))
    assert answer.content == (am.InlineData("aW1hZ2U=", "image/webp", {"id": "ig_1"}),)


def test_a_refusal_is_a_content_filter_error_with_the_models_words(stand_in: Any) -> None:
    with pytest.raises(am.ContentFilterError, match="I cannot"):
        answered(stand_in, event("refusal.delta", delta="I "), event("refusal.delta", delta="cannot"), completed())
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "I will not"}]}
    with pytest.raises(am.ContentFilterError, match="I will not"):
        answered(stand_in, completed(refused))


def test_an_incomplete_answer_is_cut_or_filtered(stand_in: Any) -> None:
    cut = completed(message("Hel"), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert answered(stand_in, cut).stop_reason == "length"
    filtered = completed(message("Hel"), status="incomplete", incomplete_details={"reason": "content_filter"})
    with pytest.raises(am.ContentFilterError) as caught:
        answered(stand_in, filtered)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Hel"


def test_a_cut_call_is_no_error_but_cannot_be_run(stand_in: Any) -> None:
    cut = completed(call('{"a":'), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    answer = answered(stand_in, cut)
    assert (answer.stop_reason, answer.tool_calls) == ("length", ())
    assert answer.all_tool_calls[0].arguments_error


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        (
            [completed(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow down."})],
            am.RateLimitError,
        ),
        ([completed(status="failed")], am.ServerError),
        ([completed(status="cancelled")], am.ServerError),
        ([{"type": "error", "code": "context_length_exceeded", "message": "Too long."}], am.ContextOverflowError),
        ([{"type": "error", "error": {"type": "invalid_request_error", "message": "Bad."}}], am.BadRequestError),
        ([{"error": {"message": "Overloaded"}}], am.ServerError),
        ([{"detail": "Internal error"}], am.ServerError),
        ([event("output_text.delta", delta="Hel")], am.StreamInterruptedError),
        ([completed()], am.EmptyResponseError),
        ([completed(call("[1]"))], am.ToolCallArgumentParseError),
    ],
)
def test_each_failure_is_the_error_of_its_kind(stand_in: Any, events: list[Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        answered(stand_in, *events)


def test_one_json_object_is_the_whole_answer(stand_in: Any) -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 3,
    }
    whole = {"object": "response", "status": "completed", "error": None, "output": [message("Hello")], "usage": usage}
    stand_in.gives(json.dumps(whole).encode())
    answer = asyncio.run(am.complete(MODEL, CONTEXT, CONFIG))
    assert answer.text == "Hello"
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output, answer.usage.cache_read, answer.usage.cache_write) == (3, 3, 4, 2)


@pytest.mark.parametrize("junk", [None, 1, True, [], ["x"], [{}], {"type": []}, {"id": {}, "type": "message"}])
@pytest.mark.parametrize(
    "key", ["item", "delta", "text", "arguments", "item_id", "output_index", "refusal", "response"]
)
def test_values_of_the_wrong_kind_are_passed_over(stand_in: Any, key: str, junk: Any) -> None:
    kinds = "output_item.added output_item.done output_text.delta output_text.done refusal.delta refusal.done"
    more = "reasoning_text.delta reasoning_summary_text.done"
    odd = [event(kind, **{key: junk}) for kind in f"{kinds} {more}".split()]
    assert answered(stand_in, *odd, completed(junk, message("Hello"))).text == "Hello"


def test_half_characters_that_come_apart_are_joined(stand_in: Any) -> None:
    pieces = [
        b'data: {"type":"response.output_text.delta","delta":"a\\ud83d"}\n\n',
        b'data: {"type":"response.output_text.delta","delta":"\\ude00b\\ud83d"}\n\n',
        b'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n',
    ]
    stand_in.gives(*pieces)
    assert asyncio.run(am.complete(MODEL, CONTEXT, CONFIG)).text == "a😀b\ufffd"
