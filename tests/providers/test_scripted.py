"""The scripted model: plays what it is given, as a server would stream it."""

from __future__ import annotations

import asyncio
import doctest
import time
from typing import Any

import pytest

import agent_magic as am
from agent_magic.events import PartialToolCall, StreamEvent, TextDelta, ToolCallItem
from agent_magic.providers import scripted as module

HI = am.Context(messages=[am.UserMessage("Hi")])


def complete(model: am.Model, context: am.Context = HI, **config: Any) -> am.AssistantMessage:
    return asyncio.run(am.complete(model, context, am.RequestConfig(**config)))


def events(model: am.Model) -> list[StreamEvent]:
    async def collect() -> list[StreamEvent]:
        return [event async for event in am.stream(model, HI)]

    return asyncio.run(collect())


def test_a_text_is_streamed_word_by_word() -> None:
    found = events(am.scripted("The quick  brown\nfox"))
    texts = [item.text for event in found for item in event.items if isinstance(item, TextDelta)]
    assert len(texts) == 4
    assert "".join(texts) == "The quick  brown\nfox"
    assert [found[0].event_type, found[-1].event_type] == ["start", "stop"]
    assert {event.event_type for event in found[1:-1]} == {"delta"}


def test_a_message_comes_out_as_it_went_in() -> None:
    given = am.AssistantMessage(
        [
            am.ThinkingContent("Let me see.", fidelity={"signature": "abc"}),
            am.TextContent("First."),
            am.TextContent("Second.", fidelity={"id": "x"}),
            am.ToolCall("call_1", "add", {"a": 1, "b": [2, {"c": "é"}]}),
            am.ToolCall("call_2", "now", {}),
            am.InlineData("AAAA", "image/png"),
        ],
        usage=am.Usage(input=10, output=5, cache_read=3),
    )
    message = complete(am.scripted(given))
    assert message.content == given.content
    assert message.usage is not None
    assert (message.usage.input, message.usage.output, message.usage.cache_read) == (10, 5, 3)
    assert message.stop_reason == "tool_call"
    assert (message.provider, message.api, message.model) == ("scripted", "scripted", "scripted")


def test_a_call_is_announced_then_fragmented_then_completed() -> None:
    found = events(am.scripted(am.ToolCall("call_1", "search", {"query": "a long enough text"})))
    items = [item for event in found for item in event.items]
    announcement, *fragments, completion = items
    assert announcement == PartialToolCall(0, "search", "call_1", "")
    assert len(fragments) > 1
    assert all(isinstance(each, PartialToolCall) and (each.name, each.tool_call_id) == ("", "") for each in fragments)
    joined = "".join(each.arguments for each in fragments if isinstance(each, PartialToolCall))
    assert joined == '{"query": "a long enough text"}'
    assert completion == ToolCallItem(0, "call_1", "search", {"query": "a long enough text"})
    assert found[-1].finish_reason == "tool_call"


def test_usage_is_estimated_alike_for_alike_and_costs_nothing() -> None:
    first, second = complete(am.scripted("Hello there")), complete(am.scripted("Hello there"))
    assert first.usage == second.usage
    assert first.usage is not None
    assert (first.usage.input, first.usage.output) == (1, 3)
    assert first.usage.cost == am.UsageCost()


def test_a_list_is_played_within_one_answer() -> None:
    message = complete(am.scripted(["One ", am.Delay(0), "two", am.ToolCall("c", "f", {}), "three"]))
    assert [block.type for block in message.content] == ["text", "toolCall", "text"]
    assert message.text == "One twothree"


def test_an_exception_is_raised_with_what_came_before_it() -> None:
    error = am.BadRequestError("no such thing")
    with pytest.raises(am.BadRequestError, match="no such thing") as caught:
        complete(am.scripted(["Half an ", error]))
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Half an "


def test_a_failure_that_may_pass_is_tried_again_with_the_next_answer() -> None:
    model = am.scripted(am.ServerError("busy", status=503, retryable=True, retry_after=0), "Fine now")
    assert complete(model).text == "Fine now"
    assert len(model.requests) == 2


def test_a_message_that_ends_with_an_error_fails_like_a_server() -> None:
    given = am.AssistantMessage("So far", stop_reason="error", error_message="the server fell over")
    with pytest.raises(am.ServerError, match="the server fell over"):
        complete(am.scripted(given))


def test_arguments_that_did_not_parse_fail_like_a_real_answer() -> None:
    bad = am.ToolCall("c", "f", {}, arguments_error="not JSON")
    with pytest.raises(am.ToolCallArgumentParseError) as caught:
        complete(am.scripted(["Text ", bad, am.ToolCall("d", "g", {"x": 1})]))
    partial = caught.value.partial
    assert partial is not None
    assert [call.id for call in partial.tool_calls] == ["d"]
    assert [call.id for call in partial.all_tool_calls] == ["c", "d"]


def test_a_truncated_answer_keeps_its_reason() -> None:
    bad = am.ToolCall("c", "f", {}, arguments_error="cut off")
    message = complete(am.scripted(am.AssistantMessage(["Text", bad], stop_reason="length")))
    assert message.stop_reason == "length"
    assert message.tool_calls == ()
    assert len(message.all_tool_calls) == 1


def test_functions_see_the_request() -> None:
    async def later(context: am.Context, config: am.RequestConfig) -> Any:
        await asyncio.sleep(0)
        return lambda context, config: [f"{context.messages[-1].content[0].text}: ", f"{config.max_tokens}"]

    model = am.scripted(lambda context, config: context.system_prompt, later)
    assert complete(model, am.Context("Be brief.", HI.messages)).text == "Be brief."
    assert complete(model, max_tokens=7).text == "Hi: 7"


def test_requests_are_kept_in_order_also_by_copies() -> None:
    model = am.scripted("a", "b")
    complete(model)
    copy = model.replace(name="another")
    assert complete(copy, temperature=0.5).text == "b"
    assert isinstance(copy, module.ScriptedModel)
    assert [request.config.temperature for request in model.requests] == [None, 0.5]
    assert model.requests == copy.requests
    assert model.requests[0].context.messages[-1].content == (am.TextContent("Hi"),)


def test_running_out_of_answers_says_so() -> None:
    model = am.scripted("only one")
    complete(model)
    with pytest.raises(am.BadRequestError, match=r"1 answer.*number 2"):
        complete(model)


def test_an_abort_ends_a_delay_at_once() -> None:
    signal = am.AbortSignal()

    async def run() -> None:
        model = am.scripted(["Wait ", am.Delay(60), "for it"])
        asyncio.get_running_loop().call_later(0.05, signal.abort, "no patience")
        await am.complete(model, HI, signal=signal)

    start = time.perf_counter()
    with pytest.raises(am.AbortedError, match="no patience") as caught:
        asyncio.run(run())
    assert time.perf_counter() - start < 20
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Wait "


@pytest.mark.parametrize("answer", [12, object(), am.ServerError])
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    with pytest.raises(am.InvalidDataError, match="no answer of a scripted model"):
        complete(am.scripted(answer))


def test_a_model_without_a_script_is_refused() -> None:
    with pytest.raises(am.InvalidDataError, match=r"agent_magic\.scripted"):
        complete(am.Model("x", api="scripted"))


def test_two_scripts_do_not_share_answers() -> None:
    first, second = am.scripted("a"), am.scripted("a")
    assert first != second
    complete(first)
    assert second.requests == ()


def test_the_documented_example_works() -> None:
    assert doctest.testmod(module).failed == 0
