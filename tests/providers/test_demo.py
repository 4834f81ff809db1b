"""The model `demo` as the agent meets it: what it says, calls and streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal

import pytest

import agent_magic as am
from agent_magic.providers.catalogue import list_models
from agent_magic.providers.demo_replies import SUGGESTED
from agent_magic.providers.vendors import VENDORS

from ..speed import cpu_seconds, fastest

DEMO = am.get_model("demo", compat={"seconds": 0})


def sales(region: str, year: int = 2025) -> int:
    """Monthly sales of a region.

    Args:
        region: Two-letter region code.
        year: Calendar year.
    """
    return year


def book(room: Literal["lab", "hall"], day: str) -> str:
    """Book a room.

    Args:
        day: Date of the booking.
    """
    return day


def ask(*messages: Any, tools: tuple[Callable[..., Any], ...] = (sales,), **config: Any) -> am.AssistantMessage:
    history = [am.UserMessage(each) if isinstance(each, str) else each for each in messages]
    context = am.Context(messages=history, tools=[am.tool(each) for each in tools])
    return asyncio.run(am.complete(DEMO, context, am.RequestConfig(**config)))


def result(call: am.ToolCall, content: Any, is_error: bool = False) -> am.ToolResultMessage:
    return am.ToolResultMessage(call.id, call.name, content, is_error=is_error)


def after(content: Any, is_error: bool = False) -> str:
    """What demo says when the call for `Sales for EU` came to `content`."""
    asked = am.UserMessage("Sales for EU")
    called = ask(asked)
    return ask(asked, called, result(called.tool_calls[0], content, is_error)).text


def test_what_a_command_printed_is_no_request() -> None:
    def leave(code: int) -> None:
        """Exit with a code."""

    ran = am.convert_to_llm_message(am.BashExecutionMessage("false", exit_code=1))
    assert ask(ran, "hello", tools=(leave,)).tool_calls == ()
    assert [call.arguments for call in ask(ran, "Exit with 5", tools=(leave,)).tool_calls] == [{"code": 5}]


def test_it_says_what_it_is() -> None:
    assert DEMO.name == "demo: built-in, no language model"
    assert "no language model" in ask("Hello").text
    assert "no language model" in after("12")


def test_it_costs_nothing_and_counts_the_same_for_the_same() -> None:
    first, second = ask("Sales for EU"), ask("Sales for EU")
    assert first.usage is not None
    assert first.usage == second.usage
    assert first.usage.cost is not None
    assert first.usage.cost.total == 0
    assert first.content == second.content


def test_it_calls_what_was_asked_for() -> None:
    message = ask("Sales for EU and US in 2024")
    assert [call.arguments for call in message.tool_calls] == [
        {"region": "EU", "year": 2024},
        {"region": "US", "year": 2024},
    ]
    assert message.stop_reason == "tool_call"
    assert len({call.id for call in message.tool_calls}) == 2


def test_calls_of_a_later_turn_have_ids_of_their_own() -> None:
    asked = am.UserMessage("Sales for EU")
    called = ask(asked)
    again = ask(asked, called, result(called.tool_calls[0], "1"), am.AssistantMessage("1"), "Sales for US")
    assert called.tool_calls[0].id != again.tool_calls[0].id


def test_it_asks_for_what_is_missing_and_takes_the_answer() -> None:
    asked = am.UserMessage("Book the lab, please.")
    question = ask(asked, tools=(book,))
    assert question.tool_calls == ()
    assert "**day**" in question.text
    assert "Date of the booking" in question.text
    answered = ask(asked, question, "on 3 March 2026", tools=(book,))
    assert answered.tool_calls[0].arguments == {"room": "lab", "day": "2026-03-03"}


def test_unsure_it_calls_nothing_and_names_its_tools() -> None:
    message = ask("What is the capital of France?", tools=(sales, book))
    assert message.tool_calls == ()
    assert "`sales(region, year=…)`: Monthly sales of a region." in message.text
    assert "`book(room, day)`" in message.text


def test_without_tools_it_says_how_to_make_one() -> None:
    assert "@tool" in ask("Sales for EU", tools=()).text


def test_it_names_the_keys_that_are_set_and_never_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for vendor in VENDORS.values():
        for variable in vendor.key_variables:
            monkeypatch.delenv(variable, raising=False)
    assert "`%agent model openai/gpt-5-mini`" in ask("Hello").text
    assert "`%agent models local`" in ask("Hello").text
    monkeypatch.setenv("GROQ_API_KEY", "gsk-never-to-be-shown")
    text = ask("Hello").text
    assert "`GROQ_API_KEY`" in text
    assert "`%agent model groq/" in text
    assert "never-to-be-shown" not in text


@pytest.mark.parametrize("vendor", sorted(SUGGESTED))
def test_the_line_to_type_names_a_model_that_exists(vendor: str) -> None:
    assert SUGGESTED[vendor] in [model.id for model in list_models(vendor)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("18", '`sales(region="EU")` returned 18.'),
        ("Sunny.", "returned Sunny."),
        ('{"units": 3, "revenue": 60}', "- units: **3**\n- revenue: **60**"),
        ("one\ntwo", "```text\none\ntwo\n```"),
        ("| a | b |\n| - | - |\n| 1 | 2 |", "\n\n| a | b |\n| - | - |\n| 1 | 2 |"),
        ("```\nfence", "````text\n```\nfence\n````"),
        ((), "returned nothing."),
        ("Done. The tool returned nothing.", ")` returned nothing."),
        (am.ImageContent("AAAA", "image/png"), "returned an image."),
        ("<b>x</b> [y](z)", r"\<b\>x\</b\> \[y\](z)"),
    ],
)
def test_it_says_what_came_back(content: Any, said: str) -> None:
    assert said in after(content)


def test_a_whole_table_of_numbers_is_told_by_its_ranges() -> None:
    head = "DataFrame of 3 rows and 2 columns\nTypes: month int64, revenue float64\n"
    text = after(head + "   month  revenue\n0      1    404.5\n1      2     98.0\n2     10    411.0")
    assert "returned a DataFrame of 3 rows and 2 columns: month 1 to 10, revenue 98.0 to 411.0." in text
    assert "```" not in text


@pytest.mark.parametrize("row", ["2  ...  ...", "2  10  n/a", "2  10"])
def test_a_table_that_is_cut_or_holds_other_than_numbers_is_shown_as_it_is(row: str) -> None:
    head = "DataFrame of 3 rows and 2 columns\nTypes: month int64, revenue float64\n   month  revenue\n"
    assert row in after(f"{head}0  1  404.5\n1  2  98.0\n{row}")


def test_long_results_are_cut_with_a_note() -> None:
    text = after("\n".join(f"line {number}" for number in range(100)))
    assert "line 7\n```" in text
    assert "92 more lines" in text


def test_an_error_is_called_one() -> None:
    text = after("KeyError: 'XX'\n  in sales", is_error=True)
    assert "failed: KeyError: 'XX'" in text
    assert "returned" not in text


def test_each_of_several_results_is_reported() -> None:
    asked = am.UserMessage("Sales for EU and US")
    called = ask(asked)
    results = [result(call, f"result {number}") for number, call in enumerate(called.tool_calls)]
    text = ask(asked, called, *results).text
    assert "result 0" in text
    assert "result 1" in text


def test_a_message_during_the_run_is_answered_after_the_results() -> None:
    asked = am.UserMessage("Sales for EU")
    called = ask(asked)
    message = ask(asked, called, result(called.tool_calls[0], "12"), "Sales for US in 2020")
    assert "returned 12" in message.text
    assert message.tool_calls[0].arguments == {"region": "US", "year": 2020}


@pytest.mark.parametrize(
    "context",
    [
        "```agent-magic context\nsales of AP in 2001\n```",
        "<context>\nsales of AP in 2001\n</context>",
        "~~~~\nsales of AP in 2001\n~~~~",
    ],
)
def test_fenced_material_is_not_the_question(context: str) -> None:
    message = ask(am.UserMessage(["Sales for EU in 2024", context]))
    assert [call.arguments for call in message.tool_calls] == [{"region": "EU", "year": 2024}]
    assert ask(am.UserMessage(["Hello", context])).tool_calls == ()


def test_tool_choice_is_kept_to() -> None:
    assert ask("Sales for EU", tool_choice="none").tool_calls == ()
    assert ask("Sales for EU", tools=(sales, book), tool_choice=["book"]).tool_calls == ()
    assert len(ask("Sales for EU", tools=(sales, book), tool_choice=["sales"]).tool_calls) == 1


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(am.UnsupportedParameterError, match="no language model"):
        ask("Sales for EU", response_schema={"type": "object"})


def test_it_streams_in_pieces_within_its_time() -> None:
    async def pieces() -> list[am.StreamEvent]:
        context = am.Context(messages=[am.UserMessage("Hello")], tools=[am.tool(sales)])
        return [event async for event in am.stream(am.get_model("demo"), context)]

    ask("Hello")  # Loads what is loaded at first use.

    def seconds() -> float:
        start = time.perf_counter()
        asyncio.run(pieces())
        return time.perf_counter() - start

    assert fastest(seconds, 0.4) <= 0.4
    events = asyncio.run(pieces())
    assert [events[0].event_type, events[-1].event_type] == ["start", "stop"]
    assert len(events) >= 8


def test_abort_ends_it_at_once() -> None:
    signal = am.AbortSignal()

    async def abort_at_the_first_words() -> None:
        context = am.Context(messages=[am.UserMessage("Hello")])
        async for event in am.stream(am.get_model("demo", compat={"seconds": 60}), context, signal=signal):
            if event.items:
                signal.abort("enough")

    with pytest.raises(am.AbortedError, match="enough") as caught:
        asyncio.run(abort_at_the_first_words())
    assert caught.value.partial is not None
    assert caught.value.partial.text


def test_it_answers_through_the_agent() -> None:
    reply = am.Agent(model=DEMO, tools=[sales]).run("Sales for EU in 2024")
    assert "returned 2024" in reply.text


@pytest.mark.parametrize("text", ["Sales for EU, as List<int>", "Sales for EU " + "and so on " * 10_000, "<a" * 50_000])
def test_long_and_odd_messages_are_read_quickly(text: str) -> None:
    assert fastest(lambda: cpu_seconds(lambda: ask(text)), 1) <= 1
    message = ask(text)
    assert "Sales for EU" not in text or message.tool_calls[0].arguments == {"region": "EU"}


def test_what_came_with_a_message_is_named_and_not_taken_for_the_question() -> None:
    block = "\n\n```@df\nSales for EU in 2024\n```\n"
    came = [am.UserMessage(["What is in @df?", block, "\n\n````@file:a b.csv\n```\n````\n"])]
    said = am.Agent("demo").run(came).text
    assert "With your message came `@df` and `@file:a b.csv`, for a real model to read." in said
    assert "With your message" not in am.Agent("demo").run([am.UserMessage(["hi", "```\nx\n```"])]).text
