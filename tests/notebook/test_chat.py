"""What a page is told of runs, and what it may send, over a transport in this process: asked rightly and wrongly."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook import approval
from agent_magic.notebook.chat import Chat

from .local_page import Event, Page, history, played, png, said

# Whom a run is told --------------------------------------------------------------------------------------------------


def told_of_runs(page: Page) -> list[Event]:
    return [event for event in page.events if event["type"] in ("run", "deltas")]


def test_a_page_that_nobody_sees_is_told_of_a_run_by_the_state_alone(fresh: Any) -> None:
    async def play(page: Page) -> None:
        hidden = Page(page.kernel, "hidden")
        await hidden.attach(looks=False)
        record = await page.say("hi")
        await hidden.until(lambda: not hidden.state["busy"] and hidden.state["context"] is not None)
        assert told_of_runs(hidden) == []
        states = [event["state"] for event in hidden.events if event["type"] == "state"]
        assert record["run"] in {state["run"] for state in states if state["busy"]}
        # One that comes while a run goes on.
        await page.ask("send", text="again", attachments=[], when="now")
        late = Page(page.kernel, "late")
        await late.attach(looks=False)
        await page.until(lambda: not page.kernel.busy)
        assert told_of_runs(late) == []

    played(fresh, play, "one", ["two", am.Delay(0.2)])


def test_a_page_follows_a_run_from_when_it_is_shown_until_it_is_hidden(fresh: Any) -> None:
    goes_on: list[int] = []

    def answer() -> Iterator[Any]:
        yield "begun "
        for number in (1, 2, 3):
            while len(goes_on) < number:
                yield am.Delay(0.01)
            yield f"piece {number} "

    async def play(page: Page) -> None:
        hidden = Page(page.kernel, "hidden")
        await hidden.attach(looks=False)
        await page.ask("send", text="hi", attachments=[], when="now")
        goes_on.append(1)
        await page.until(lambda: "piece 1" in str(told_of_runs(page)))
        assert told_of_runs(hidden) == []
        await hidden.ask("look", on=True)
        [run] = told_of_runs(hidden)
        assert run["type"] == "run"
        assert [item["text"] for item in run["record"]["items"]] == ["hi", "begun piece 1 "]
        goes_on.append(2)
        await hidden.until(lambda: "piece 2" in str(told_of_runs(hidden)[1:]))
        await hidden.ask("look", on=False)
        known = len(told_of_runs(hidden))
        goes_on.append(3)
        await page.until(lambda: not page.kernel.busy)
        assert "piece 3" in str(told_of_runs(page))
        assert len(told_of_runs(hidden)) == known
        assert "must be true or false" in await hidden.refusal("look", on="yes")

    played(fresh, play, answer())


def test_a_connection_is_told_while_any_of_its_pages_looks(fresh: Any) -> None:
    async def play(page: Page) -> None:
        two = Page(page.kernel, "first")
        other = Page(page.kernel, "second")
        other.connection = two.connection
        other.events = two.events
        await two.attach(looks=False)
        await other.attach()
        await page.ask("send", text="hi", attachments=[], when="now")
        await two.until(lambda: told_of_runs(two))
        await other.ask("detach")
        known = len(told_of_runs(two))
        await page.until(lambda: not page.kernel.busy)
        assert len(told_of_runs(two)) == known

    played(fresh, play, [am.Delay(0.1), "one"])


def test_a_question_to_a_hidden_page_is_in_the_state_and_waits_for_it(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval, "LONG_PATIENCE", 0.3)

    async def play(page: Page) -> None:
        @am.tool(effect="execute")
        def drop(table: str) -> str:
            return "gone: " + table

        fresh.user_ns["drop"] = drop
        await page.ask("look", on=False)
        await page.ask("send", text="go", attachments=[], when="now")
        await page.until(lambda: page.state["questions"])
        [question] = page.state["questions"]
        where = {"run": page.state["run"], "approval": question}
        await page.ask("shown", **where, seen=False)
        await asyncio.sleep(0.5)
        assert told_of_runs(page) == []
        await page.ask("look", on=True)
        item = next(item for item in page.runs[-1]["record"]["items"] if item["id"] == question)
        assert (item["kind"], item["state"]) == ("approval", "pending")
        answer = {**where, "decision": "once", "reason": "", "hash": item["hash"], "arguments": None}
        await page.ask("answer", **answer)
        await page.until(lambda: not page.kernel.busy)
        assert "gone: sales" in str(page.runs[-1]["record"])
        # The answer is told before the tool may hold the thread.
        states = [event["state"] for event in page.events if event["type"] == "state"]
        after = states[next(place for place, state in enumerate(states) if state["questions"]) :]
        assert any(state["busy"] and not state["questions"] for state in after)

    played(fresh, play, am.AssistantMessage([am.ToolCall("c1", "drop", {"table": "sales"})]), "done")


# Sending --------------------------------------------------------------------------------------------------------------


def test_a_page_knows_of_a_run_before_a_tool_holds_the_thread(fresh: Any) -> None:
    told: list[Any] = []

    async def play(page: Page) -> None:
        @am.tool
        def look() -> str:
            """Look."""
            told.append(page.state["busy"])
            return "seen"

        fresh.user_ns["look"] = look
        # What was told just now is told again only after a while.
        await page.ask("set_tool", name="inspect", on=False)
        await page.until(lambda: not next(tool["on"] for tool in page.state["tools"] if tool["name"] == "inspect"))
        await page.say("go")
        await page.until(lambda: not page.state["busy"])

    played(fresh, play, am.AssistantMessage([am.ToolCall("c1", "look", {})]), "done")
    assert told == [True]


def test_what_is_attached_becomes_blocks_as_mentions_are(fresh: Any) -> None:
    picture = base64.b64encode(png()).decode()
    fresh.user_ns["sales"] = [1, 2, 3]

    async def play(page: Page) -> None:
        await page.say(
            "look at @sales",
            {"kind": "cell", "id": "c1", "source": "x = 1", "outputs_text": "1"},
            {"kind": "selection", "name": "notes.md", "text": "some words"},
            {"kind": "variable", "name": "sales"},
            {"kind": "image", "mime": "image/png", "data": picture},
        )
        message = page.kernel.agent.messages[0]
        assert [type(block).__name__ for block in message.content] == [
            "TextContent", "ImageContent", "TextContent", "TextContent", "TextContent"
        ]  # fmt: skip
        assert message.content[0].text == "look at @sales"
        assert [block.text.strip().splitlines()[0] for block in message.content[2:]] == [
            "```@sales",
            "```@cell:c1",
            "```@selection:notes.md",
        ]
        assert "x = 1\n\nits output\n1" in message.content[3].text

    played(fresh, play, "seen")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"text": "", "attachments": [], "when": "now"}, "The message is empty"),
        ({"text": "x", "attachments": [], "when": "never"}, "must be one of now, next"),
        ({"text": "x", "attachments": "no", "when": "now"}, "must be a list of objects"),
        ({"text": 1, "attachments": [], "when": "now"}, "must be a text"),
        ({"text": "x", "attachments": [{"kind": "mood"}], "when": "now"}, "must be cell, selection, variable or image"),
        ({"text": "x", "attachments": [{"kind": "variable", "name": "gone"}], "when": "now"}, "no variable gone"),
        ({"text": "x", "attachments": [{"kind": "image", "data": "!"}], "when": "now"}, "must be base64"),
        ({"text": "x", "attachments": [{"kind": "image", "data": "AAAA"}], "when": "now"}, "must be a PNG"),
        ({"text": "x", "attachments": [{"kind": "cell", "id": "c"}], "when": "now"}, "attachments.source"),
        ({"text": "see @file:/no/such/file", "attachments": [], "when": "now"}, "file"),
    ],
)
def test_what_cannot_be_sent_is_told_and_begins_no_run(fresh: Any, params: Event, message: str) -> None:
    async def play(page: Page) -> None:
        assert message in await page.refusal("send", **params)
        assert not page.kernel.busy
        assert page.runs == []
        assert history(page) == []

    played(fresh, play, "never")


def test_what_arrives_when_it_is_too_late_to_steer_is_the_next_message(fresh: Any) -> None:
    async def play(page: Page) -> None:
        agent = page.kernel.agent

        def late(event: Any) -> None:
            if isinstance(event, am.AgentEndEvent) and not sent:
                sent.append(1)
                agent.steer("late")

        sent: list[int] = []
        agent.subscribe(late)
        await page.say("first")
        await page.until(lambda: history(page)[-1:] == ["two"])
        assert history(page) == ["first", "one", "late", "two"]
        await page.until(lambda: not page.kernel.busy)

    played(fresh, play, "one", "two")


def test_what_waits_when_a_run_is_stopped_is_given_up_and_told_to_no_later_run(fresh: Any) -> None:
    async def play(page: Page) -> None:
        await page.ask("send", text="first", attachments=[], when="now")
        await page.until(lambda: "begun" in str(told_of_runs(page)))
        page.kernel.shell.user_ns["df"] = 1
        await page.ask("send", text="after", attachments=[], when="next")
        df = {"kind": "variable", "name": "df"}
        assert await page.ask("send", text="soon", attachments=[df], when="now") == {"as": "steer"}
        assert "The agent is at work" in await page.refusal("withdraw"), "the run that goes on takes it up"
        await page.ask("stop")
        await page.until(lambda: not page.state["busy"])
        assert page.state["queue"] == ["soon", "after"]
        assert await page.ask("withdraw") == {"texts": ["soon", "after"]}
        await page.until(lambda: page.state["queue"] == [])
        assert await page.ask("withdraw") == {"texts": []}
        await page.say("second")
        assert [text for text in history(page) if text in ("first", "soon", "after", "second")] == ["first", "second"]
        assert history(page)[-1] == "two"

    played(fresh, play, ["begun", am.Delay(10)], "two")


def test_what_is_sent_while_a_run_is_about_to_begin_steers_it(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(page: Page) -> None:
        ready = asyncio.Event()
        monkeypatch.setattr(page.kernel.servers, "ready", ready.wait)
        first = asyncio.ensure_future(page.ask("send", text="first", attachments=[], when="now"))
        await page.until(lambda: page.kernel.busy)
        assert await page.ask("send", text="second", attachments=[], when="now") == {"as": "steer"}
        ready.set()
        assert await first == {"as": "run"}
        await page.until(lambda: not page.kernel.busy)
        assert history(page) == ["first", "second", "one"]

    played(fresh, play, "one")


def test_of_two_messages_at_once_the_second_steers(fresh: Any) -> None:
    async def play(page: Page) -> None:
        sent = [page.ask("send", text=text, attachments=[], when="now") for text in ("first", "second")]
        assert await asyncio.gather(*sent) == [{"as": "run"}, {"as": "steer"}]
        await page.until(lambda: not page.kernel.busy)
        assert sorted(history(page)) in (["first", "one", "second"], ["first", "one", "second", "two"])

    played(fresh, play, "one", "two")


def test_a_page_that_attaches_keeps_no_news_from_the_others(fresh: Any) -> None:
    async def play(page: Page) -> None:
        page.kernel.tools.off.discard("shell")
        await Page(page.kernel, "other").attach()
        await page.until(lambda: {tool["name"]: tool["on"] for tool in page.state["tools"]}["shell"])

    played(fresh, play)


def test_stop_ends_a_run_that_is_about_to_begin(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(page: Page) -> None:
        never = asyncio.Event()
        with monkeypatch.context() as patch:
            patch.setattr(page.kernel.servers, "ready", never.wait)
            first = asyncio.ensure_future(page.refusal("send", text="first", attachments=[], when="now"))
            await page.until(lambda: page.kernel.busy)
            await page.ask("stop")
            assert "stopped" in await first
        assert not page.kernel.busy
        assert history(page) == []
        assert (await page.say("second"))["state"] == "done"

    played(fresh, play, "one")


def test_a_failed_run_is_told_in_its_record_and_the_next_one_works(fresh: Any) -> None:
    async def play(page: Page) -> None:
        record = await page.say("first")
        assert record["state"] == "failed"
        assert "BadRequestError: no" in said(record)[-1][1]
        assert (await page.say("second"))["state"] == "done"

    played(fresh, play, am.BadRequestError("no"), "two")


def test_a_run_that_cannot_begin_is_told_to_who_asked(fresh: Any) -> None:
    async def play(page: Page) -> None:
        page.kernel.settings.budget = 0.001
        page.kernel.agent.model = am.Model("unpriced", base_url="https://models.example.org/v1", api_key="k")
        assert "price" in await page.refusal("send", text="hi", attachments=[], when="now")
        assert page.runs == []
        assert not page.kernel.busy

    played(fresh, play)


def test_a_run_of_the_panel_takes_the_place_of_no_cell_in_a_recording(
    fresh: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "get_parent", lambda: {"metadata": {"cellId": "a cell"}}, raising=False)
    replaying = fresh.agent_magic.kernel.replaying
    cells: list[str] = []

    def answer(context: Any, config: Any) -> str:
        cells.append(replaying._whole.cell)
        return "seen"

    async def play(page: Page) -> None:
        page.kernel.settings.replay_file = str(tmp_path / "recording.json")
        page.kernel.settings.replay = "record"
        await page.say("hi")
        page.kernel.settings.replay = ""
        assert cells == [""]

    played(fresh, play, answer)


# Pages that come and go -----------------------------------------------------------------------------------------------


def test_two_pages_see_the_same_and_an_unknown_method_is_told(fresh: Any) -> None:
    async def play(page: Page) -> None:
        other = Page(page.kernel, "other")
        await other.attach(kind="widget")
        await page.say("hi")
        await other.until(lambda: any(event["record"]["state"] == "done" for event in other.runs))
        assert other.runs[-1] == page.runs[-1]
        assert "knows no method 'fly'" in await page.refusal("fly")

    played(fresh, play, "one")


def test_closing_ends_what_it_watched(fresh: Any) -> None:
    kernel = fresh.agent_magic.kernel
    before = (len(kernel._watchers), len(fresh.events.callbacks["post_run_cell"]), len(kernel.agent._listeners))
    chat = Chat(kernel)
    connection = chat.connect(SimpleNamespace(send=lambda message: None))
    chat.close()
    assert (len(kernel._watchers), len(fresh.events.callbacks["post_run_cell"]), len(kernel.agent._listeners)) == before
    assert connection.closed
