import re
from typing import Any

import pytest

from agent_magic.agent.reply import Reply, StopCause
from agent_magic.errors import RateLimitError
from agent_magic.events import TextDelta
from agent_magic.messages import ToolCall
from agent_magic.notebook.bundle import mimebundle
from agent_magic.notebook.html import HtmlWriter, item_html, record_html
from agent_magic.notebook.limits import FALLBACK_LIMIT
from agent_magic.notebook.record import RECORD_TYPE
from agent_magic.tools.result import to_result
from agent_magic.usage import Usage

from ..speed import cpu_seconds, fastest
from .record_script import MODEL, Script, checked
from .test_writer_safety import words

CALL = ToolCall("c1", "sales", {"region": "EU", "year": 2025})


def finished() -> Script:
    script = (
        Script()
        .ask("Sales for EU?")
        .calls(CALL)
        .start(CALL)
        .result(CALL, "412")
        .answer("It **rose**.", usage=Usage(6412, 388).priced(MODEL.cost))
    )
    script.recorder.finish(Reply())
    return script


def timeless(text: str) -> str:
    return text.replace("1 ms", "0 ms")


def test_a_saved_run_has_four_forms_and_a_live_one_two() -> None:
    script = finished()
    assert set(mimebundle(script.recorder.record())) == {RECORD_TYPE, "text/html", "text/markdown", "text/plain"}
    assert set(mimebundle(script.recorder.record(), live=True)) == {"text/html", "text/plain"}


def test_a_picture_of_a_call_stands_below_its_card() -> None:
    outputs = [{"text/plain": "412"}, {"image/png": "AAAA", "text/plain": "a figure"}]
    item = {"id": "1", "kind": "tool", "state": "done", "name": "draw", "summary": "", "outputs": outputs}
    card, _, below = item_html(item).partition("</details>")
    assert "412" in card
    assert "<img" not in card
    assert '<img src="data:image/png;base64,AAAA"' in below


def test_a_card_names_the_tool_its_arguments_and_its_state_on_one_line() -> None:
    item = {"id": "1", "kind": "tool", "state": "done", "name": "sales", "summary": 'region="EU"', "seconds": 0.2}
    line = item_html(item).partition("</summary>")[0]
    assert words(line + "</summary></details>") == 'sales region="EU" ✓ done · 0.2 s'


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"state": "pending"}, "f ○ waiting"),
        ({"state": "running", "progress": "fold 3 of 5"}, "f ● running · fold 3 of 5"),
        (
            {"state": "failed", "error": "ValueError: month must be in 1..12"},
            "f ✕ failed: ValueError: month must be in 1..12",
        ),
        ({"state": "denied", "error": "not today"}, "f ⊘ denied: not today"),
        ({"state": "aborted", "seconds": 65.0}, "f ■ stopped · 1 min 5 s"),
        ({"state": "done", "seconds": 0.0123}, "f ✓ done · 12 ms"),
    ],
)
def test_states_are_words_with_symbols(item: dict[str, Any], expected: str) -> None:
    line = item_html({"id": "1", "kind": "tool", "name": "f", **item}).partition("</summary>")[0]
    assert words(line + "</summary></details>") == expected


def test_cards_are_closed_unless_they_wait_for_the_user() -> None:
    assert "<details open" not in record_html(finished().recorder.record()).replace(' style="', "")
    waiting = {"id": "1", "kind": "approval", "state": "pending", "name": "run", "arguments": {"code": "x" * 5000}}
    assert " open>" in item_html(waiting)
    assert "x" * 5000 in item_html(waiting), "the code that waits for approval is shown uncut"
    assert item_html({**waiting, "state": "done"}).count("<details") == 0


def test_the_prompt_is_only_shown_on_request() -> None:
    record = finished().recorder.record()
    assert "Sales for EU?" not in record_html(record)
    assert "Sales for EU?" in record_html(record, with_prompt=True)
    # A note about the message, such as of a key in it, comes before it.
    note = {"id": "0", "kind": "note", "state": "done", "text": "Recorded."}
    noted = {**record, "items": [note, *record["items"]]}
    for form in mimebundle(noted).values():
        if isinstance(form, str):
            assert "Recorded." in form
            assert "Sales for EU?" not in form
    steered = Script().ask("a").answer("b").ask("and use a robust fit").recorder.record()
    assert "and use a robust fit" in record_html(steered)


def test_the_last_line_tells_model_tokens_cost_and_context() -> None:
    last = words(record_html(finished().recorder.record())).partition("rose. ")[2]
    assert last.startswith("openai/gpt-5-mini · 2 turns · 1 call · 6,412 tokens in · 388 out · $0.0024 ·")
    assert last.endswith("21 % of context")


def test_an_unknown_price_is_a_question_mark() -> None:
    record = Script().answer("a", usage=Usage(10, 10)).recorder.record()
    assert "cost ?" in words(record_html(record))
    assert "$0" not in words(record_html(record))


def test_a_run_that_no_model_answered_has_cost_nothing() -> None:
    script = Script().ask("Sales?").begin().end(stop_reason="error", error="no key")
    script.recorder.finish(RateLimitError("no key"))
    assert checked(script.recorder)["cost"] == 0
    assert "$0.00" in words(record_html(script.recorder.record()))


def test_an_answer_that_nobody_counted_has_an_unknown_price() -> None:
    script = Script().ask("Sales?").answer("They rose.")
    script.recorder.finish(Reply())
    assert "cost ?" in words(record_html(checked(script.recorder)))


@pytest.mark.parametrize("cause", [StopCause.MAX_TURNS, StopCause.LENGTH, StopCause.ABORTED])
def test_an_unusual_end_is_named(cause: StopCause) -> None:
    script = Script().answer("a")
    script.recorder.finish(Reply(stop_cause=cause))
    expected = {"max_turns": "stopped at the turn limit", "length": "cut at the output limit", "aborted": "stopped"}
    assert words(record_html(script.recorder.record())).endswith(expected[str(cause)])


def test_a_live_run_says_how_to_stop_it() -> None:
    script = Script().begin()
    assert words(record_html(script.recorder.record(), live=True)).endswith("■ Stop: interrupt the kernel")
    assert "Stop" not in record_html(script.recorder.record())


def test_an_error_stands_at_the_end_in_words() -> None:
    script = Script().ask("x")
    script.recorder.finish(RateLimitError("Too many requests.\nWait a minute."))
    assert "✕ RateLimitError: Too many requests. Wait a minute." in words(record_html(script.recorder.record()))


def test_a_long_result_is_cut_in_the_readable_forms_with_a_note() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "x" * 10_000)
    forms = mimebundle(script.recorder.record())
    for kind in ("text/html", "text/markdown", "text/plain"):
        assert forms[kind].count("x") < FALLBACK_LIMIT + 100
        assert "8,000 characters left out" in forms[kind]
    assert forms[RECORD_TYPE]["items"][0]["result"] == "x" * 10_000


def test_what_is_left_out_is_counted_from_the_whole_and_not_from_what_the_model_got() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, to_result("x" * 1_300_000).text)
    forms = mimebundle(script.recorder.record())
    for kind in ("text/html", "text/markdown", "text/plain"):
        assert "1,298,000 characters left out" in forms[kind]
        assert forms[kind].count("characters left out") == 1


def test_a_list_that_was_never_written_to_its_end_has_more_left_out_than_is_known() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, to_result(list(range(1_000_000))).text)
    forms = mimebundle(script.recorder.record())
    for kind in ("text/html", "text/markdown", "text/plain"):
        assert re.search(r"more than 13,9\d\d characters left out", forms[kind])


def test_a_table_is_drawn_from_its_data() -> None:
    table = {
        "name": "DataFrame",
        "columns": ["month", "revenue"],
        "index": ["0", "1"],
        "rows": [["2025-01", "412"], ["2025-02", "431.5"]],
        "numeric": [1],
        "shape": [12, 2],
    }
    item = {"id": "1", "kind": "media", "state": "done", "outputs": [{"application/vnd.agent-magic.table+json": table}]}
    assert words(item_html(item)) == "DataFrame 12 × 2 · the first 2 rows month revenue 0 2025-01 412 1 2025-02 431.5"
    assert item_html(item).count("text-align:right") == 3 + 3


def test_a_picture_is_part_of_the_page_and_has_words() -> None:
    item = {
        "id": "1",
        "kind": "media",
        "state": "done",
        "outputs": [{"image/png": "iVBOR\nw0K", "text/plain": "a figure"}],
    }
    assert '<img src="data:image/png;base64,iVBORw0K" alt="a figure"' in item_html(item)


@pytest.mark.parametrize(
    "outputs",
    [
        [{"image/png": 'x" onerror="alert(1)'}],
        [{"image/svg+xml": "<svg>"}],
        [{"application/vnd.agent-magic.table+json": {"columns": "x", "rows": [[1], 2]}}],
        [{"application/vnd.agent-magic.table+json": {"columns": [], "rows": [], "index": ["1"], "shape": []}}],
        [{"text/html": "<script>alert(1)</script>"}],
    ],
)
def test_outputs_of_another_shape_draw_nothing(outputs: list[dict[str, Any]]) -> None:
    assert item_html({"id": "1", "kind": "media", "state": "done", "outputs": outputs}) == ""


def test_unknown_kinds_and_keys_are_ignored() -> None:
    record = finished().recorder.record()
    extended = {**record, "new": 1, "items": [{**item, "new": {}} for item in record["items"]]}
    extended["items"].append({"id": "99", "kind": "hologram", "state": "glowing"})
    for live in (True, False):
        for kind in ("text/html", "text/plain"):
            assert mimebundle(extended, live=live)[kind] == mimebundle(record, live=live)[kind]
    assert mimebundle(extended)["text/markdown"] == mimebundle(record)["text/markdown"]


def test_a_dollar_sign_outside_of_the_answer_starts_no_formula() -> None:
    script = Script().calls(ToolCall("c1", "price", {})).start(ToolCall("c1", "price", {}))
    script.result(ToolCall("c1", "price", {}), "ValueError: $5 or $6 \\(x\\)", is_error=True).answer("From $5 to $6.")
    source = record_html(script.recorder.record())
    outside_code = source.replace("<span>$</span>", "").replace("<span>\\</span>", "").split("<pre")[0]
    assert "$" not in outside_code
    assert "\\" not in outside_code


# Cost -----------------------------------------------------------------------------------------------------------------


PARAGRAPH = (
    "The revenue of **APAC** grew by `31 %` over the year, which is more than that of EU, *mostly* in the second half; "
    "see [the report](https://example.org/report).\n\n- one point about $x_1$\n- another point\n\n"
)


def test_a_long_answer_and_many_cards_are_written_within_300_ms() -> None:
    script = Script()
    for number in range(500):
        call = ToolCall(f"c{number}", "sales", {"region": "EU", "year": number})
        script.calls(call).start(call).result(call, "month revenue\n" * 10)
    script.answer(PARAGRAPH * (100_000 // len(PARAGRAPH)), piece=1000)
    script.recorder.finish(Reply())
    record = checked(script.recorder)
    assert fastest(lambda: cpu_seconds(lambda: record_html(record)), 0.3) <= 0.3


def test_a_step_of_a_long_live_answer_costs_little() -> None:
    script = Script()
    for number in range(500):
        call = ToolCall(f"c{number}", "sales", {"region": "EU", "year": number})
        script.calls(call).start(call).result(call, "month revenue\n" * 10)
    script.begin().stream(TextDelta(0, PARAGRAPH * (100_000 // len(PARAGRAPH))))
    writer = HtmlWriter()
    writer.write(script.recorder.record(), live=True)

    def step() -> None:
        script.stream(TextDelta(0, "Another paragraph that says more.\n\n"))
        writer.write(script.recorder.record(), live=True)

    assert fastest(lambda: cpu_seconds(step), 0.02) <= 0.02


def test_an_item_that_changes_after_its_end_is_written_again() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "412")
    writer = HtmlWriter()
    assert "a chart" not in writer.write(script.recorder.record(), live=True)
    script.recorder.add_outputs("c1", [{"text/plain": "a chart"}])
    assert "a chart" in writer.write(script.recorder.record(), live=True)


def test_finished_items_are_written_once() -> None:
    script = Script().calls(CALL).start(CALL).result(CALL, "412")
    writer = HtmlWriter()
    first = writer.write(script.recorder.record(), live=True)
    script.answer("More.")
    second = writer.write(script.recorder.record(), live=True)
    card = first[first.index("<details") : first.index("</details>")]
    assert card in second
    assert second == HtmlWriter().write(script.recorder.record(), live=True)


def test_what_the_model_saw_is_a_fold_that_leaves_nothing_out_and_shows_pictures() -> None:
    text = "\n\n```@df\n" + "column: int64\n" * 500 + "the last line\n```\n"
    item = {"id": "1", "kind": "context", "state": "done", "title": "What the model saw of @df", "text": text}
    drawn = item_html({**item, "outputs": [{"image/png": "AAAA"}]})
    assert drawn.startswith("<details")
    assert " open" not in drawn.partition(">")[0]
    assert "What the model saw of @df" in drawn.partition("</summary>")[0]
    assert "the last line" in drawn
    assert "left out" not in drawn
    assert '<img src="data:image/png;base64,AAAA"' in drawn
