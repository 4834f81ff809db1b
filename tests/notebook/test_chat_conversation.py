"""What a page may ask about the conversation and the choices, over a transport in this process."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import agent_magic as am
from agent_magic.notebook.extension import load, unload
from agent_magic.notebook.history_records import TOTAL, Part, record_of
from agent_magic.session.entries import Entry, MessageEntry
from agent_magic.session.session import Session

from .local_page import Page, history, played, png, said
from .record_script import _validator

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


def test_undo_takes_back_the_run_that_was_shown_and_no_other(fresh: Any) -> None:
    async def play(page: Page) -> None:
        first, second, third = [(await page.say(text))["run"] for text in ("first", "second", "third")]
        assert "later messages" in await page.refusal("undo", run=second)
        assert history(page)[-2:] == ["third", "3"]
        # As by a double click, or in two panels.
        await page.ask("undo", run=third)
        assert "nothing was taken back" in await page.refusal("undo", run=third)
        assert history(page) == ["first", "1", "second", "2"]
        await page.ask("undo", run=second)
        await page.ask("undo", run=first)
        assert "no message of yours" in await page.refusal("undo", run=first)

    played(fresh, play, "1", "2", "3")


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


# Choices --------------------------------------------------------------------------------------------------------------


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
