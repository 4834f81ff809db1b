import asyncio
import base64
import json
from decimal import Decimal
from typing import Any

import pytest

from agent_magic.agent.reply import Reply, StopCause
from agent_magic.errors import AbortedError, BudgetExceededError, RateLimitError
from agent_magic.events import NoteEvent, PartialToolCall, TextDelta, ThinkingDelta, ToolCallItem
from agent_magic.messages import ImageContent, InlineData, TextContent, ThinkingContent, ToolCall
from agent_magic.models import Model, ModelCost
from agent_magic.notebook.limits import DETAIL_LIMIT, IMAGE_LIMIT, THINKING_LIMIT
from agent_magic.usage import Usage

from .record_script import MODEL, Script, checked

CALL = ToolCall("c1", "sales", {"region": "EU", "year": 2025})
ADDED = [TextContent(f"\n\n```{name}\nwhat it is\n```\n") for name in ("@df", "@fig")]
PIXEL = base64.b64encode(b"\x89PNG pixel").decode()


def kinds(script: Script) -> list[tuple[str, str]]:
    return [(item["kind"], item["state"]) for item in script.items]


def test_an_answer_is_its_texts_joined() -> None:
    script = Script().ask("Sales?").answer("They **rose**.", thinking="Let me see.")
    script.recorder.finish(Reply())
    record = checked(script.recorder)
    assert [(item["kind"], item["text"]) for item in record["items"]] == [
        ("user", "Sales?"),
        ("thinking", "Let me see."),
        ("text", "They **rose**."),
    ]
    assert (record["state"], record["stop_cause"], record["turns"]) == ("done", "completed", 1)
    assert record["seconds"] >= 0


def test_what_mentions_added_to_a_message_is_an_item_of_its_own_exactly_as_it_was_sent() -> None:
    blocks = [TextContent("Why @df and @fig?"), *ADDED, ImageContent(PIXEL, "image/png")]
    script = Script().ask(blocks).answer("So.")
    record = checked(script.recorder)
    user, context = record["items"][:2]
    assert (user["kind"], user["text"]) == ("user", "Why @df and @fig?")
    assert (context["kind"], context["title"]) == ("context", "What the model saw of @df, @fig")
    assert context["text"] == "".join(block.text for block in ADDED)
    assert context["outputs"] == [{"image/png": PIXEL}]


def test_a_call_goes_from_pending_over_running_to_done() -> None:
    script = Script().calls(CALL)
    assert kinds(script) == [("tool", "pending")]
    assert script.items[0]["summary"] == 'region="EU", year=2025'
    script.start(CALL).progress(CALL, "fold 3 of 5")
    assert (script.items[0]["state"], script.items[0]["progress"]) == ("running", "fold 3 of 5")
    script.result(CALL, "412")
    item = checked(script.recorder)["items"][0]
    assert (item["state"], item["result"], item["progress"]) == ("done", "412", "")
    assert item["arguments"] == {"region": "EU", "year": 2025}
    assert item["seconds"] >= 0
    assert script.recorder.record()["calls"] == 1


def test_a_call_is_shown_from_its_announcement_on() -> None:
    script = Script().begin().stream(PartialToolCall(0, "sales", "c1", ""), PartialToolCall(0, "", "", '{"reg'))
    assert script.items[0]["name"] == "sales"
    assert script.items[0]["arguments"] == {}
    checked(script.recorder)


def test_a_failure_shows_its_first_line() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "\nValueError: month must be in 1..12\nmore", is_error=True)
    item = checked(script.recorder)["items"][0]
    assert (item["state"], item["error"]) == ("failed", "ValueError: month must be in 1..12")


def test_a_denied_call_is_not_a_failed_one() -> None:
    script = Script().calls(CALL)
    script.recorder.mark_denied("c1", "not today")
    script.start(CALL).result(CALL, "Denied by the user: not today", is_error=True)
    item = checked(script.recorder)["items"][0]
    assert (item["state"], item["error"]) == ("denied", "not today")


def test_a_stopped_call_is_not_a_failed_one() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "Operation aborted", is_error=True)
    assert checked(script.recorder)["items"][0]["state"] == "aborted"


def test_the_same_call_id_in_a_later_turn_is_another_item() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "one").calls(CALL).start(CALL).result(CALL, "two")
    assert [item["result"] for item in checked(script.recorder)["items"]] == ["one", "two"]


def test_a_call_that_was_never_announced_gets_an_item_when_it_starts() -> None:
    script = Script().begin().start(CALL).result(CALL, "done")
    assert kinds(script) == [("tool", "done")]
    checked(script.recorder)


def test_interleaved_calls_keep_their_own_arguments() -> None:
    script = Script().begin()
    script.stream(PartialToolCall(0, "a", "1", ""), PartialToolCall(1, "b", "2", ""))
    script.stream(ToolCallItem(1, "2", "b", {"y": 2}), ToolCallItem(0, "1", "a", {"x": 1}))
    assert [(item["name"], item["arguments"]) for item in script.items] == [("a", {"x": 1}), ("b", {"y": 2})]


def test_thinking_ends_when_something_else_begins() -> None:
    script = Script().begin().stream(ThinkingDelta(0, "hm"))
    assert kinds(script) == [("thinking", "running")]
    script.stream(TextDelta(1, "Yes"))
    assert kinds(script) == [("thinking", "done"), ("text", "running")]
    assert script.items[0]["seconds"] >= 0


def test_a_message_that_did_not_stream_is_recorded_whole() -> None:
    script = Script().begin().end(ThinkingContent("hm"), TextContent("Yes"), CALL, InlineData(PIXEL, "image/png"))
    assert kinds(script) == [("thinking", "done"), ("text", "done"), ("tool", "pending"), ("media", "done")]
    assert checked(script.recorder)["items"][3]["outputs"] == [{"image/png": PIXEL}]


def test_an_aborted_answer_keeps_its_text_and_stops_its_calls() -> None:
    script = Script().begin().stream(TextDelta(0, "I will"), PartialToolCall(1, "sales", "c1", ""))
    script.end(TextContent("I will"), stop_reason="aborted")
    script.recorder.finish(Reply(stop_cause=StopCause.ABORTED))
    assert kinds(script) == [("text", "aborted"), ("tool", "aborted")]
    assert checked(script.recorder)["state"] == "aborted"


def test_halves_of_a_character_join_at_the_end_of_the_message() -> None:
    script = Script().begin().stream(TextDelta(0, "ok \ud83d"), TextDelta(0, "\ude00"))
    script.end(TextContent("ok \ud83d\ude00"))
    assert checked(script.recorder)["items"][0]["text"] == "ok 😀"


@pytest.mark.parametrize(
    ("outcome", "cause", "state"),
    [
        (Reply(), "completed", "done"),
        (Reply(stop_cause=StopCause.MAX_TURNS), "max_turns", "done"),
        (None, "completed", "done"),
        (KeyboardInterrupt(), "aborted", "aborted"),
        (asyncio.CancelledError(), "aborted", "aborted"),
        (AbortedError("enough"), "aborted", "aborted"),
        (BudgetExceededError("0.05 USD"), "budget_exceeded", "done"),
        (RateLimitError("slow down"), "error", "failed"),
    ],
)
def test_the_end_of_a_run_names_its_cause(outcome: Any, cause: str, state: str) -> None:
    script = Script().calls(CALL).start(CALL)
    script.recorder.finish(outcome)
    record = checked(script.recorder)
    assert (record["stop_cause"], record["state"]) == (cause, state)
    assert not [item for item in record["items"] if item["state"] in ("pending", "running")]


def test_an_error_is_an_item_of_the_record() -> None:
    script = Script().ask("x")
    script.recorder.finish(RateLimitError("Too many requests; wait a minute."))
    item = checked(script.recorder)["items"][-1]
    assert (item["kind"], item["text"]) == ("error", "RateLimitError: Too many requests; wait a minute.")


def test_a_request_that_was_sent_again_leaves_a_note() -> None:
    script = Script().begin().end(stop_reason="error", error="context overflow").answer("Fine.")
    script.recorder.finish(Reply(notes=("temperature was left out",)))
    texts = [(item["kind"], item["text"]) for item in checked(script.recorder)["items"]]
    assert texts == [
        ("note", "The request failed and was sent again: context overflow"),
        ("text", "Fine."),
        ("note", "temperature was left out"),
    ]


def test_a_note_stands_where_it_was_told_and_not_again_at_the_end() -> None:
    script = Script()
    script.recorder.handle(NoteEvent("waiting 20 s"))
    script.answer("Fine.")
    script.recorder.finish(Reply(notes=("waiting 20 s",)))
    texts = [(item["kind"], item["text"]) for item in checked(script.recorder)["items"]]
    assert texts == [("note", "waiting 20 s"), ("text", "Fine.")]


def test_usage_and_cost_add_up_and_an_unknown_price_stays_unknown() -> None:
    script = (
        Script()
        .answer("a", usage=Usage(1000, 100).priced(MODEL.cost))
        .answer("b", usage=Usage(3000, 100).priced(MODEL.cost))
    )
    record = checked(script.recorder)
    assert (record["usage"]["input"], record["usage"]["output"]) == (4000, 200)
    assert record["cost"] == float(Decimal("0.0014"))
    assert record["context"] == {"used": 3100, "window": 32_000, "fraction": 0.0969}
    script.answer("c", usage=Usage(10, 10))
    assert checked(script.recorder)["cost"] is None


def test_a_free_model_costs_nothing_and_a_silent_server_leaves_usage_unknown() -> None:
    free = Model("demo", cost=ModelCost())
    assert checked(Script(free).answer("a", usage=Usage(5, 5).priced(free.cost)).recorder)["cost"] == 0
    silent = checked(Script().answer("a").recorder)
    assert (silent["usage"], silent["cost"], silent["context"]) == (None, None, None)


def test_displays_replace_the_images_that_were_meant_for_the_model() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, [ImageContent(PIXEL, "image/png")])
    assert script.items[0]["outputs"] == [{"image/png": PIXEL}]
    script.recorder.add_outputs("c1", [])
    assert script.items[0]["outputs"] == [{"image/png": PIXEL}]
    assert script.recorder.add_outputs("c1", [{"text/plain": "figure"}]) == []
    script.recorder.add_outputs("c1", [{"text/plain": "more"}])
    assert checked(script.recorder)["items"][0]["outputs"] == [{"text/plain": "figure"}, {"text/plain": "more"}]


def test_outputs_of_an_unknown_call_are_given_back() -> None:
    bundle = {"text/plain": "x"}
    assert Script().recorder.add_outputs("nobody", [bundle]) == [bundle]


def test_a_picture_over_the_limit_is_left_out_with_a_note() -> None:
    script = Script().calls(CALL).start(CALL)
    large = {"image/png": "A" * (IMAGE_LIMIT + 4), "text/plain": "figure"}
    assert script.recorder.add_outputs("c1", [large]) == [large]
    record = checked(script.recorder)
    assert record["items"][0]["outputs"] == [{"text/plain": "figure"}]
    assert record["omitted"] == ["1 images left out"]


def test_a_long_result_is_cut_with_a_note() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "x" * 50_000)
    result = checked(script.recorder)["items"][0]["result"]
    assert result.endswith("… 30,000 characters left out")
    assert len(result) < DETAIL_LIMIT + 50


def test_a_record_never_exceeds_one_megabyte() -> None:
    script = Script()
    for number in range(40):
        call = ToolCall(f"c{number}", "save", {"text": '"\n' * 5000})
        script.calls(call).start(call)
        script.recorder.add_outputs(call.id, [{"image/png": "A" * 100_000}])
        script.result(call, "é" * 10_000)
    for _ in range(1300):
        script.recorder.add_note("x")
    script.answer("ä\n" * 400_000, piece=10_000)
    script.recorder.add_item("approval", "pending", name="x" * 500_000, arguments={"code": "y" * 900_000})
    script.recorder.finish(Reply())
    record = checked(script.recorder)
    assert len(json.dumps(record).encode()) > 600_000
    assert any("characters left out" in note for note in record["omitted"])
    assert any("steps left out" in note for note in record["omitted"])


def test_many_calls_do_not_crowd_out_the_answer() -> None:
    script = Script()
    for number in range(200):
        call = ToolCall(f"c{number}", "read", {})
        script.calls(call).start(call).result(call, "x" * 10_000)
    text = "The answer. " * 8000
    script.answer(text, piece=1000)
    assert checked(script.recorder)["items"][-1]["text"] == text


def test_what_json_cannot_say_becomes_text() -> None:
    call = ToolCall("c1", "f", {"a": float("nan"), "b": float("inf"), "c": b"x", "d": "\ud800", 3: (1, 2)})
    script = Script().begin().stream(ToolCallItem(0, call.id, call.name, call.arguments))
    assert checked(script.recorder)["items"][0]["arguments"] == {
        "a": "nan",
        "b": "inf",
        "c": "b'x'",
        "d": "\ufffd",
        "3": [1, 2],
    }


def test_items_that_did_not_change_are_the_same_object() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "x").begin().stream(TextDelta(0, "a"))
    before = script.items
    script.stream(TextDelta(0, "b"))
    after = script.items
    assert before[0] is after[0]
    assert (before[1]["text"], after[1]["text"]) == ("a", "ab")


def test_deltas_come_coalesced_and_only_once() -> None:
    script = Script().begin()
    seen = len(script.recorder.deltas_since(0))
    script.stream(TextDelta(0, "a"), TextDelta(0, "b"), TextDelta(0, "c"))
    new = script.recorder.deltas_since(seen)
    script.recorder.deltas_since(0)
    assert [delta.get("set", delta.get("append")) for delta in new] == [
        {"kind": "text", "state": "running", "text": ""},
        {"text": "abc"},
    ]
    assert script.recorder.deltas_since(new[-1]["seq"]) == []


def test_no_part_of_a_record_names_a_kernel_or_a_widget() -> None:
    script = Script().ask("x").calls(CALL).start(CALL).result(CALL, "y").answer("z")
    script.recorder.finish(Reply())
    words = json.dumps(checked(script.recorder))
    assert not [word for word in ("model_id", "kernel", "widget", "command", "comm") if word in words]


def test_deltas_that_were_read_never_change() -> None:
    script = Script().calls(CALL).start(CALL).progress(CALL, "1")
    read = [dict(delta) for delta in script.recorder.deltas_since(0)]
    script.progress(CALL, "2").progress(CALL, "3")
    deltas = script.recorder.deltas_since(0)
    assert deltas[: len(read)] == read
    assert [delta["set"] for delta in deltas[len(read) :]] == [{"progress": "3"}]


def test_reasoning_that_streams_on_and_on_is_cut() -> None:
    script = Script().answer("Yes", thinking="hm " * 40_000, piece=1000)
    record = checked(script.recorder)
    assert len(record["items"][0]["text"]) == THINKING_LIMIT
    assert record["omitted"] == ["70,000 characters left out"]


@pytest.mark.parametrize("kind", ["audio/wav", "text/html", "image/svg+xml", "application/javascript"])
def test_media_that_cannot_be_shown_is_named(kind: str) -> None:
    script = Script().begin().end(InlineData("QUJD", kind))
    assert checked(script.recorder)["items"][0]["outputs"] == [{"text/plain": f"{kind}, 3 bytes, not shown here"}]


def test_half_a_character_in_an_error_does_no_harm() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "bad \ud83d", is_error=True)
    assert checked(script.recorder)["items"][0]["error"] == "bad \ufffd"


@pytest.mark.parametrize("items", [0, 40])
def test_a_question_shows_whole_what_a_call_would_run_also_where_the_record_is_full(items: int) -> None:
    script = Script()
    recorder = script.recorder
    for _ in range(items):
        recorder.add_item("context", text="x" * DETAIL_LIMIT)
    reason = "run_cell runs code.\nThe cell c1:\n" + "if x:\n    y()\n" * 2_000
    asked = recorder.add_question("Run it?", {"id": "c1"}, call_id="c1", name="run_cell", reason=reason)
    assert recorder.record()["items"][-1]["reason"] == reason
    recorder.close_question(asked, "done", {"id": "c1"})
    assert len(recorder.record()["items"][-1]["reason"]) < DETAIL_LIMIT + 100
    checked(recorder)
