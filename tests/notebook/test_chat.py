"""What a page may ask of the chat, over a transport in this process: every method, asked rightly and wrongly."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook import approval
from agent_magic.notebook.chat import Chat
from agent_magic.notebook.connection import Connection
from agent_magic.notebook.extension import load, unload
from agent_magic.notebook.history_records import TOTAL, Part, record_of
from agent_magic.session.entries import Entry, MessageEntry
from agent_magic.session.session import Session

from .record_script import _validator

Event = dict[str, Any]


class Page:
    """A page in this process: it is its own transport, and keeps what it is told."""

    def __init__(self, kernel: Any, name: str = "page") -> None:
        self.kernel = kernel
        self.name = name
        self.events: list[Event] = []
        self.state: Event = {}
        self.connection: Connection = kernel.chat.connect(self)
        self._number = 0

    def send(self, message: Any) -> None:
        self.events.append(dict(message))
        if message["type"] == "state":
            self.state = message["state"]

    async def answer(self, method: str, **params: Any) -> Event:
        self._number += 1
        name = f"{self.name}:{self._number}"
        self.connection.receive({"type": "request", "id": name, "method": method, "params": params})
        return await self.until(lambda: next((each for each in self.events if each.get("id") == name), None))

    async def ask(self, method: str, **params: Any) -> Any:
        response = await self.answer(method, **params)
        assert "error" not in response, response
        return response["result"]

    async def refusal(self, method: str, **params: Any) -> str:
        return str((await self.answer(method, **params))["error"])

    async def attach(self, **more: Any) -> Event:
        params = {"page": self.name, "protocol": 1, "kind": "panel", "notebook": "a.ipynb", **more}
        result = dict(await self.ask("attach", **params))
        self.state = result["state"]
        return result

    async def until(self, found: Callable[[], Any]) -> Any:
        for _ in range(1000):
            if (value := found()) is not None and value is not False:
                return value
            await asyncio.sleep(0.01)
        raise AssertionError(f"did not come; last: {self.events[-3:]}")

    async def say(self, text: str, *attachments: Event) -> Event:
        """Send a text and wait for the end of its run; the record."""
        seen = {event["run"] for event in self.runs}
        assert (await self.ask("send", text=text, attachments=list(attachments), when="now"))["as"] == "run"
        return await self.until(lambda: self.ended(seen))

    @property
    def runs(self) -> list[Event]:
        return [event for event in self.events if event["type"] == "run"]

    def ended(self, seen: set[str]) -> Event | None:
        if self.kernel.busy:
            return None
        done = [event for event in self.runs if event["run"] not in seen and event["record"]["state"] != "running"]
        return done[-1]["record"] if done else None


def played(shell: Any, play: Callable[[Page], Awaitable[None]], *answers: Any) -> None:
    """Let a page that has attached play, on the loop of what seems to be a kernel."""

    async def work() -> None:
        shell.kernel = SimpleNamespace(io_loop=SimpleNamespace(asyncio_loop=asyncio.get_running_loop()))
        kernel = shell.agent_magic.kernel
        if answers:
            kernel.agent.model = am.scripted(*answers)
        try:
            page = Page(kernel)
            await page.attach()
            await play(page)
            await kernel.agent.wait_for_idle()
            await asyncio.sleep(0.05)
        finally:
            kernel.chat.close()
            kernel._chat = None
            del shell.kernel

    asyncio.run(work())


def said(record: Event) -> list[tuple[str, str]]:
    return [(item["kind"], item["text"]) for item in record["items"] if "text" in item]


def history(page: Page) -> list[str]:
    return [message.text for message in page.kernel.agent.messages]


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


def png() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "PNG")
    return buffer.getvalue()


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


# Going back -----------------------------------------------------------------------------------------------------------


def test_retry_asks_again_and_undo_takes_back(fresh: Any) -> None:
    async def play(page: Page) -> None:
        assert "no message of yours" in await page.refusal("retry")
        assert "no message of yours" in await page.refusal("undo")
        await page.say("first")
        before = page.kernel.chat._revision
        seen = {event["run"] for event in page.runs}
        await page.ask("retry")
        await page.until(lambda: page.ended(seen))
        assert history(page) == ["first", "two"]
        result = await page.attach()
        assert [said(record) for record in result["runs"]] == [[("user", "first"), ("text", "two")]]
        assert result["state"]["history"] > before
        await page.ask("undo")
        assert history(page) == []
        assert (await page.attach())["runs"] == []

    played(fresh, play, "one", "two")


def test_a_page_is_told_that_the_history_moved_only_when_it_did(fresh: Any) -> None:
    async def play(page: Page) -> None:
        await page.say("first")
        await page.say("second")
        await page.until(lambda: page.state["context"] is not None and not page.state["busy"])
        assert {event["state"]["history"] for event in page.events if event["type"] == "state"} == {0}
        page.kernel.conversation.take_back()
        page.kernel.chat.changed()
        await page.until(lambda: page.state["history"] == 1)
        assert len((await page.attach())["runs"]) == 1

    played(fresh, play, "one", "two")


def test_an_edited_message_is_sent_from_its_place_with_what_was_attached(fresh: Any, data: Path) -> None:
    fresh.user_ns["x"], fresh.user_ns["y"] = 1, 2
    picture = {"kind": "image", "mime": "image/png", "data": base64.b64encode(png()).decode()}

    async def play(page: Page) -> None:
        record = await page.say("use @x", {"kind": "selection", "name": "s", "text": "chosen"}, picture)
        await page.say("later")
        seen = {event["run"] for event in page.runs}
        await page.ask("edit", run=record["run"], text="use @y")
        await page.until(lambda: page.ended(seen))
        assert len(page.kernel.agent.messages) == 2
        message = page.kernel.agent.messages[0]
        assert message.content[0].text == "use @y"
        assert [type(block).__name__ for block in message.content] == [
            "TextContent", "ImageContent", "TextContent", "TextContent"
        ]  # fmt: skip
        names = [block.text.strip().splitlines()[0] for block in message.content[2:]]
        assert names == ["```@y", "```@selection:s"]
        kept = [entry.message.text for entry in page.kernel.conversation.session.tree if entry.type == "message"]
        assert "later" in kept
        assert "not in this conversation" in await page.refusal("edit", run="nope", text="x")
        assert "not in this conversation" in await page.refusal("edit", run=record["run"], text="x")

    played(fresh, play, "one", "two", "three")


def test_a_message_that_cannot_be_made_leaves_the_conversation_where_it_was(fresh: Any) -> None:
    async def play(page: Page) -> None:
        record = await page.say("first")
        assert "file" in await page.refusal("edit", run=record["run"], text="see @file:/no/such")
        assert history(page) == ["first", "one"]

    played(fresh, play, "one")


# Conversations --------------------------------------------------------------------------------------------------------


def test_a_resumed_conversation_is_shown_by_records_of_what_is_kept(fresh: Any, data: Path) -> None:
    @am.tool
    def sales(region: str) -> str:
        return "7 " + region

    async def first(page: Page) -> None:
        page.kernel.shell.user_ns["sales"] = sales
        await page.say("How is it?", {"kind": "selection", "name": "s", "text": "chosen"})
        await page.say("And now?")

    played(fresh, first, [am.ToolCall("1", "sales", {"region": "EU"})], "fine", "still fine")
    live = [record for record, _ in fresh.agent_magic.kernel.runs.kept()]
    unload(fresh)
    load(fresh)

    async def later(page: Page) -> None:
        assert (await page.attach())["runs"] == []
        (stored,) = (await page.ask("sessions", filter="how is"))["sessions"]
        assert (stored["title"], stored["current"]) == ("How is it?", False)
        assert (await page.ask("sessions", filter="nothing like it"))["sessions"] == []
        told = await page.ask("resume", session=stored["id"])
        assert told["note"].startswith("Resumed")
        await page.until(lambda: page.state["session"] == {"id": stored["id"], "title": "How is it?"})
        result = await page.attach()
        assert len(result["runs"]) == 2
        for record, before in zip(result["runs"], live, strict=True):
            _validator("record.v1.json").validate(record)
            names = ("kind", "state", "text", "name", "arguments", "result", "title")
            items, others = (
                [{name: item[name] for name in names if name in item} for item in each["items"]]
                for each in (record, before)
            )
            assert items == others
            assert (record["state"], record["calls"]) == (before["state"], before["calls"])
        assert "in that conversation already" in await page.refusal("resume", session=stored["id"])
        assert "No session" in await page.refusal("resume", session="nope")
        edited = result["runs"][1]["run"]
        await page.ask("edit", run=edited, text="And later?")
        await page.until(lambda: not page.kernel.busy)
        assert [said(record)[0] for record in (await page.attach())["runs"]] == [
            ("user", "How is it?"),
            ("user", "And later?"),
        ]

    played(fresh, later, "better")


def test_fork_goes_on_in_a_copy_and_new_begins_anew(fresh: Any, data: Path) -> None:
    async def play(page: Page) -> None:
        assert "nothing to fork" in await page.refusal("fork", session="")
        await page.say("first")
        before = page.kernel.conversation.session.id
        await page.ask("fork", session=before)
        assert page.kernel.conversation.session.id != before
        (record,) = (await page.attach())["runs"]
        assert said(record) == [("user", "first"), ("text", "one")]
        await page.ask("new")
        assert (await page.attach())["runs"] == []
        await page.ask("fork", session=before)
        assert history(page)[:2] == ["first", "one"]
        assert len(list(data.glob("*.jsonl"))) == 3

    played(fresh, play, "one")


def test_bundle_is_the_record_of_a_run_as_a_cell(fresh: Any) -> None:
    async def play(page: Page) -> None:
        record = await page.say("say one")
        result = await page.ask("bundle", run=record["run"])
        assert result["source"] == "%%agent\nsay one"
        assert set(result["bundle"]) == {
            "application/vnd.agent-magic.run+json", "text/html", "text/markdown", "text/plain"
        }  # fmt: skip
        assert "one" in result["bundle"]["text/plain"]
        assert "not in this conversation" in await page.refusal("bundle", run="nope")

    played(fresh, play, "one")


# Choices and looks ----------------------------------------------------------------------------------------------------


def test_models_are_found_and_chosen(fresh: Any) -> None:
    async def play(page: Page) -> None:
        result = await page.ask("models", filter="gpt-5-mini")
        found = next(each for each in result["models"] if each["id"] == "openai/gpt-5-mini")
        assert found["window"] == 400_000
        assert found["key"] in (True, False)
        assert "high" in found["thinking"]
        assert result["current"] == "demo"
        assert len((await page.ask("models", filter="a"))["models"]) <= 50
        await page.ask("set_model", model="openai/gpt-5-mini")
        await page.until(lambda: page.state["model"]["id"] == "openai/gpt-5-mini")
        assert "gpt-5-mini" in await page.refusal("set_model", model="openai/gpt-5-minni")
        await page.ask("set_model", model="demo")

    played(fresh, play)


def test_tools_are_switched_and_unknown_ones_refused(fresh: Any) -> None:
    async def play(page: Page) -> None:
        await page.ask("set_tool", name="run_python", on=True)
        await page.until(lambda: {tool["name"]: tool["on"] for tool in page.state["tools"]}["run_python"])
        assert "Did you mean run_python" in await page.refusal("set_tool", name="run_pyton", on=True)
        assert "must be true or false" in await page.refusal("set_tool", name="run_python", on="yes")

    played(fresh, play)


def test_variables_are_named_without_their_values(fresh: Any) -> None:
    fresh.user_ns.update(numbers=[1, 2], secret="xyzzy")

    async def play(page: Page) -> None:
        found = {each["name"]: each for each in (await page.ask("variables"))["variables"]}
        assert found["numbers"] == {"name": "numbers", "type": "list", "summary": "list of 2"}
        assert "xyzzy" not in str(found)

    played(fresh, play)


def test_two_pages_see_the_same_and_an_unknown_method_is_told(fresh: Any) -> None:
    async def play(page: Page) -> None:
        other = Page(page.kernel, "other")
        await other.attach(kind="widget")
        await page.say("hi")
        await other.until(lambda: any(event["record"]["state"] == "done" for event in other.runs))
        assert other.runs[-1] == page.runs[-1]
        assert "knows no method 'fly'" in await page.refusal("fly")

    played(fresh, play, "one")


# Records --------------------------------------------------------------------------------------------------------------


def test_the_record_of_stored_messages_tells_failures_and_what_was_never_answered() -> None:
    failed = record_of(
        "r",
        "s",
        [
            am.UserMessage("hi"),
            am.AssistantMessage("half", stop_reason="error", error_message="it broke"),
        ],
        (1_000, 3_500),
    )
    _validator("record.v1.json").validate(failed)
    assert said(failed) == [("user", "hi"), ("text", "half"), ("error", "it broke")]
    assert (failed["state"], failed["started"], failed["seconds"]) == ("failed", 1_000, 2.5)
    asked = record_of("r", None, [am.UserMessage("hi")], (0, 0))
    assert (asked["state"], asked["items"][0]["text"]) == ("aborted", "hi")
    command = record_of("r", None, [am.BashExecutionMessage("ls", "a.txt")], (0, 0))
    assert command["items"][0]["title"] == "!ls"


def test_a_stored_run_lasts_from_when_its_message_was_kept_to_its_last_answer() -> None:
    entries: list[Entry] = [
        MessageEntry.of("a", None, 9_000, am.UserMessage("asked again, so written long before", timestamp=1_000)),
        MessageEntry.of("b", "a", 9_500, am.AssistantMessage("yes", timestamp=9_100)),
        MessageEntry.of("c", "b", 60_000, am.CustomMessage("kernel_restart", "told when it was resumed")),
    ]
    assert Part(entries).times == (9_000, 9_500)


def test_a_long_conversation_is_told_from_its_end(fresh: Any, data: Path) -> None:
    async def play(page: Page) -> None:
        session: Session = page.kernel.conversation.session
        for number in range(8):
            session.append(am.UserMessage(f"question {number}"))
            session.append(am.AssistantMessage("x" * (TOTAL // 4)))
        page.kernel.conversation._remember()
        result = await page.attach()
        assert 1 <= len(result["runs"]) < 8
        assert result["earlier"] == 8 - len(result["runs"])
        assert said(result["runs"][-1])[0] == ("user", "question 7")

    played(fresh, play)


def test_closing_ends_what_it_watched(fresh: Any) -> None:
    kernel = fresh.agent_magic.kernel
    before = (len(kernel._watchers), len(fresh.events.callbacks["post_run_cell"]), len(kernel.agent._listeners))
    chat = Chat(kernel)
    connection = chat.connect(SimpleNamespace(send=lambda message: None))
    chat.close()
    assert (len(kernel._watchers), len(fresh.events.callbacks["post_run_cell"]), len(kernel.agent._listeners)) == before
    assert connection.closed
