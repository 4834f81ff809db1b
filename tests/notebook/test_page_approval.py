"""Questions that pages show: who is asked, in which order, and what counts."""

import asyncio
import builtins
import json
import threading
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

import agent_magic as am
from agent_magic.agent.policy import hash_of_arguments
from agent_magic.events import ToolExecutionStartEvent
from agent_magic.notebook import approval, question as questions
from agent_magic.notebook.approval import NOBODY, NotebookApprover
from agent_magic.notebook.bundle import mimebundle
from agent_magic.notebook.connection import Connection
from agent_magic.notebook.html import HtmlWriter
from agent_magic.notebook.run_methods import run_methods
from agent_magic.notebook.view import QuietView

from .record_script import SCHEMAS, Script, checked

SCHEMA = json.loads((SCHEMAS / "record.v1.json").read_text(encoding="utf-8"))
ARGUMENTS = {"path": "all", "times": 1}


def asked_for(**arguments: Any) -> am.ApprovalRequest:
    parameters = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["path"],
    }
    tool = am.AgentTool("danger", "Removes.", parameters, lambda arguments, context: None, effect="execute")
    return am.ApprovalRequest(
        "1", am.ToolCall("c1", "danger", arguments), arguments, hash_of_arguments(arguments), tool, "It runs code."
    )


class Run:
    """A run whose view pages follow, and what its approver answered."""

    def __init__(self, in_cell: bool = True) -> None:
        self.script = Script()
        self.view = QuietView(self.script.recorder)
        self.view.in_cell = in_cell
        self.stopped = 0
        # The questions that were open each time that pages were told.
        self.told: list[list[str]] = []
        self.kernel: Any = SimpleNamespace(
            view=self.view, stop=self._stop, runs=None, tell_pages=lambda: self.told.append(list(self.view.questions))
        )
        self.approver = NotebookApprover(self.kernel)

    def _stop(self) -> None:
        self.stopped += 1

    @property
    def item(self) -> dict[str, Any]:
        return next(item for item in self.script.items if item["kind"] == "approval")

    async def ask(self, request: am.ApprovalRequest, *pages: Callable[[], object]) -> am.ApprovalAnswer:
        asking = asyncio.ensure_future(self.approver.ask(request))
        await asyncio.sleep(0)
        for page in pages:
            page()
            await asyncio.sleep(0)
        return await asyncio.wait_for(asking, 10)


class Page:
    def __init__(self, run: Run, name: str = "p", answers: bool = True) -> None:
        self._run, self._name, self._answers = run, name, answers
        self._requests = 0
        self.sent: list[dict[str, Any]] = []
        loop = asyncio.get_running_loop()
        self.connection = Connection(self, run_methods(run.kernel), lambda: loop)
        self.request("attach", protocol=1, kind="cell")
        run.view.broadcast.attach(self.connection, loop)

    def send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(dict(message))
        if message["type"] == "ask" and self._answers:
            self.request("answer_ask", ask=message["id"], error="I cannot do that.")

    def request(self, method: str, **params: Any) -> str:
        self._requests += 1
        name = f"{self._name}:{self._requests}"
        self.connection.receive({"type": "request", "id": name, "method": method, "params": params})
        return name

    def error_of(self, name: str) -> str | None:
        (found,) = [each for each in self.sent if each["type"] == "response" and each["id"] == name]
        return found.get("error")

    def show(self, seen: bool = True) -> str:
        return self.request("shown", run="run-1", approval=self._run.item["id"], seen=seen)

    def answer(self, decision: str = "once", **more: Any) -> str:
        item = self._run.item
        params = {"reason": "", "arguments": None, "hash": item["hash"], **more}
        return self.request("answer", run="run-1", approval=item["id"], decision=decision, **params)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prompts of `input()`, which is answered with y."""
    prompts: list[str] = []

    def answer(prompt: str = "") -> str:
        prompts.append(prompt)
        return "y"

    monkeypatch.setattr(builtins, "input", answer)
    return prompts


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "PATIENCE", 0.1)
    monkeypatch.setattr(approval, "LONG_PATIENCE", 0.2)
    monkeypatch.setattr(questions, "LOOK", 0.05)
    monkeypatch.setattr(questions, "ANSWER_TIME", 0.1)


def test_a_question_in_the_record_is_whole_until_it_has_its_answer(typed: list[str]) -> None:
    code = "x = 1\n" + "y" * 50_000
    pending: list[dict[str, Any]] = []

    async def main() -> None:
        run = Run()
        page = Page(run)

        def look() -> None:
            jsonschema.Draft202012Validator(SCHEMA).validate(run.script.recorder.record())
            pending.append(run.item)
            page.answer()

        answer = await run.ask(asked_for(path=code), look)
        assert answer.decision == "allow"
        assert answer.arguments_hash == hash_of_arguments({"path": code})
        checked(run.script.recorder)
        assert (run.item["state"], run.item["text"]) == ("done", "")
        assert len(json.dumps(run.item)) < 25_000

    asyncio.run(main())
    (item,) = pending
    assert item["arguments"] == {"path": code}
    assert item["hash"] == hash_of_arguments({"path": code})
    assert (item["call_id"], item["effect"], item["reason"]) == ("c1", "execute", "It runs code.")
    assert item["text"].startswith("The model asks to run danger (runs code).")
    assert "y" * 50_000 in item["text"]
    assert "n = no" not in item["text"]
    assert typed == []


def test_every_readable_form_leaves_the_fields_for_pages_out() -> None:
    async def main() -> dict[str, Any]:
        run = Run()
        asking = asyncio.ensure_future(run.approver.ask(asked_for(path="<b>zebra</b>")))
        Page(run)
        await asyncio.sleep(0)
        record = run.script.recorder.record()
        asking.cancel()
        return record

    record = asyncio.run(main())
    item = record["items"][0]
    for form in (mimebundle(record, live=True), mimebundle(record)):
        for kind in ("text/html", "text/plain", "text/markdown"):
            text = form.get(kind, "")
            assert item["hash"] not in text
            assert "The model asks" not in text
            assert text.count("zebra") <= 1
            assert "<b>zebra</b>" not in form["text/html"]
    assert HtmlWriter().write(record).count("danger") == 1


def test_a_question_that_is_cut_off_by_stop_is_aborted() -> None:
    async def main() -> None:
        run = Run()
        page = Page(run)
        asking = asyncio.ensure_future(run.approver.ask(asked_for(path="all")))
        await asyncio.sleep(0)
        page.show()
        await asyncio.sleep(0.3)
        assert not asking.done(), "once shown, it waits for the page"
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert run.item["state"] == "aborted"
        assert run.view.questions == {}
        assert "not open any more" in str(page.error_of(page.answer()))

    asyncio.run(main())


def test_without_a_page_it_is_asked_by_input_at_once(typed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "PATIENCE", 1000.0)

    async def main() -> None:
        run = Run()
        monkeypatch.setattr(builtins, "input", lambda prompt: typed.append(f"{prompt} {run.told}") or "y")
        answer = await run.ask(asked_for(path="all"))
        assert answer.decision == "allow"
        assert run.item["state"] == "done"
        # Before the line of input keeps the thread, and before the tool may.
        assert run.told == [[run.item["id"]], []]
        assert typed[0].endswith(str(run.told[:1]))

    asyncio.run(main())
    assert len(typed) == 1


def test_a_page_that_does_not_show_it_in_time_leaves_it_to_input(typed: list[str]) -> None:
    async def main() -> None:
        run = Run()
        Page(run)
        assert (await run.ask(asked_for(path="all"))).decision == "allow"

    asyncio.run(main())
    assert len(typed) == 1


@pytest.mark.parametrize("how", ["detach", "close", "silence"])
def test_when_every_page_that_showed_it_is_gone_input_asks(typed: list[str], how: str) -> None:
    async def main() -> None:
        run = Run()
        first, second = Page(run, "one"), Page(run, "two", answers=how != "silence")
        asking = asyncio.ensure_future(run.approver.ask(asked_for(path="all")))
        await asyncio.sleep(0)
        first.show()
        second.show()
        first.request("detach")
        await asyncio.sleep(0)
        assert typed == [], "the other page shows it"
        if how == "detach":
            second.request("detach")
        elif how == "close":
            second.connection.close()
        assert (await asyncio.wait_for(asking, 10)).decision == "allow"

    asyncio.run(main())
    assert len(typed) == 1


def test_a_page_that_is_there_is_waited_for(typed: list[str]) -> None:
    async def main() -> None:
        run = Run()
        page = Page(run)
        asking = asyncio.ensure_future(run.approver.ask(asked_for(path="all")))
        await asyncio.sleep(0)
        page.show()
        await asyncio.sleep(0.5)
        assert not asking.done()
        assert sum(each["type"] == "ask" for each in page.sent) >= 2
        page.answer("deny", reason="not now")
        answer = await asyncio.wait_for(asking, 10)
        assert (answer.decision, answer.reason) == ("deny", "not now")
        assert run.item["state"] == "denied"

    asyncio.run(main())
    assert typed == []


@pytest.mark.parametrize("in_cell", [True, False])
def test_a_question_that_nobody_sees_is_waited_for_only_where_no_cell_could_ask(
    typed: list[str], in_cell: bool
) -> None:
    async def main() -> None:
        run = Run(in_cell=in_cell)
        page = Page(run)
        asking = asyncio.ensure_future(run.approver.ask(asked_for(path="all")))
        await asyncio.sleep(0)
        page.show(seen=False)
        await asyncio.sleep(0.5)
        assert asking.done() is in_cell
        if not in_cell:
            page.answer()
        assert (await asyncio.wait_for(asking, 10)).decision == "allow"

    asyncio.run(main())
    assert len(typed) == in_cell


@pytest.mark.parametrize("followed", [True, False])
def test_a_run_that_began_in_no_cell_never_asks_by_input(typed: list[str], followed: bool) -> None:
    async def main() -> None:
        run = Run(in_cell=False)
        if followed:
            Page(run)
        answer = await run.ask(asked_for(path="all"))
        assert (answer.decision, answer.reason) == ("deny", NOBODY)
        assert run.item["state"] == "denied"

    asyncio.run(main())
    assert typed == []


def test_the_first_answer_of_two_pages_counts(typed: list[str]) -> None:
    async def main() -> None:
        run = Run()
        one, two = Page(run, "one"), Page(run, "two")
        names: list[str] = []
        answer = await run.ask(
            asked_for(path="all"),
            one.show,
            two.show,
            lambda: names.extend([two.answer("always"), one.answer("deny")]),
        )
        assert (answer.decision, answer.scope) == ("allow", "always")
        assert two.error_of(names[0]) is None
        assert "answered already" in str(one.error_of(names[1]))

    asyncio.run(main())


def test_an_answer_may_come_in_any_thread(typed: list[str]) -> None:
    async def main() -> None:
        run = Run()
        page = Page(run)

        def answer() -> None:
            thread = threading.Thread(target=page.answer)
            thread.start()
            thread.join()

        assert (await run.ask(asked_for(path="all"), answer)).decision == "allow"

    asyncio.run(main())
    assert typed == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"decision": "perhaps"}, "decision: must be one of once, always, deny"),
        ({"hash": "0"}, "other arguments"),
        ({"hash": None}, "hash: must be a text"),
        ({"arguments": {"times": 2}}, "path"),
        ({"arguments": {"path": "all", "times": "many"}}, "times"),
        ({"arguments": ["all"]}, "arguments: must be an object"),
    ],
)
def test_an_answer_that_will_not_do_leaves_the_question_open(given: dict[str, Any], words: str) -> None:
    async def main() -> None:
        run = Run()
        page = Page(run)
        names: list[str] = []
        answer = await run.ask(
            asked_for(path="all"),
            lambda: names.append(page.answer(**given)),
            lambda: names.append(page.answer("deny")),
        )
        assert words in str(page.error_of(names[0]))
        assert page.error_of(names[1]) is None
        assert (answer.decision, answer.reason) == ("deny", "The user said no.")

    asyncio.run(main())


def test_edited_arguments_are_what_was_approved() -> None:
    edited = {"path": "one", "times": 2}

    async def main() -> None:
        run = Run()
        page = Page(run)
        run.view.recorder.handle(ToolExecutionStartEvent("c1", "danger", {"path": "all"}))
        answer = await run.ask(asked_for(path="all"), lambda: page.answer(arguments=edited))
        assert answer.arguments == edited
        assert answer.arguments_hash == hash_of_arguments(edited)
        assert run.item["arguments"] == edited
        (card,) = [item for item in run.script.items if item["kind"] == "tool"]
        assert (card["arguments"], card["summary"]) == (edited, 'path="one", times=2')

    asyncio.run(main())


def test_what_a_page_cannot_show_whole_it_cannot_answer(typed: list[str]) -> None:
    async def main() -> None:
        run = Run()
        page = Page(run)
        # What JSON cannot say reads otherwise in the record.
        names: list[str] = []
        asking = run.ask(asked_for(path="all", times=float("inf")), lambda: names.append(page.answer("deny")))
        assert (await asking).decision == "allow"
        assert "not open" in str(page.error_of(names[0]))

    asyncio.run(main())
    assert len(typed) == 1
