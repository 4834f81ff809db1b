"""What pages are told of a run, in a time that passes only where the loop would wait."""

import asyncio
import json
import selectors
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from agent_magic.events import TextDelta
from agent_magic.messages import ToolCall
from agent_magic.notebook import broadcast, pace
from agent_magic.notebook.broadcast import Broadcast
from agent_magic.notebook.connection import Connection
from agent_magic.notebook.view import QuietView

from .record_script import Script, replayed

# The bytes that the protocol of Jupyter puts around a message of a widget, as measured in a kernel.
AROUND = 650
CALL = ToolCall("c1", "sales", {"region": "EU"})


class Clock(selectors.SelectSelector):
    """A selector by which time passes at once, and only while the loop has nothing to do."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += timeout or 0.0
        return super().select(0)


class Page:
    """The other end of a connection: keeps messages with their times, and follows the run by them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.connection = Connection(self, {}, asyncio.get_running_loop)
        self.messages: list[tuple[float, dict[str, Any]]] = []
        self.run: dict[str, Any] | None = None

    def send(self, message: Mapping[str, Any]) -> None:
        message = json.loads(json.dumps(message))
        self.messages.append((self.clock.now, message))
        if message["type"] == "run":
            self.run = message
        elif self.run is not None:
            fresh = [each for each in message["deltas"] if each["seq"] > self.run["seq"]]
            assert fresh[0]["seq"] == self.run["seq"] + 1, "a change is missing"
            record = replayed(self.run["record"], fresh)
            self.run = {**self.run, "record": record, "seq": fresh[-1]["seq"]}

    def attach(self, told: Broadcast) -> None:
        snapshot = told.attach(self.connection, asyncio.get_running_loop())
        self.run = json.loads(json.dumps(snapshot))

    @property
    def record(self) -> dict[str, Any]:
        assert self.run is not None
        return dict(self.run["record"])

    @property
    def times(self) -> list[float]:
        return [when for when, _ in self.messages]

    def types(self) -> list[str]:
        return [message["type"] for _, message in self.messages]


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Clock], Awaitable[None]]], None]:
    """Runs a coroutine function, which is given the clock, on a loop of that clock."""
    clock = Clock()
    for module in (broadcast, pace):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def run(function: Callable[[Clock], Awaitable[None]]) -> None:
        loop = asyncio.SelectorEventLoop(clock)
        monkeypatch.setattr(loop, "time", lambda: clock.now)
        try:
            loop.run_until_complete(function(clock))
        finally:
            loop.close()

    return run


async def stream(script: Script, view: QuietView, tokens: int, seconds: float) -> None:
    for number in range(tokens):
        script.stream(TextDelta(0, f"word{number % 10} "))
        view.changed()
        await asyncio.sleep(seconds / tokens)


def most_in_a_second(times: list[float]) -> int:
    return max(sum(1 for each in times if start <= each < start + 1) for start in times)


def test_a_page_follows_a_stream_at_no_more_than_20_messages_a_second(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, page = QuietView(script.recorder), Page(clock)
        page.attach(view.broadcast)
        began = clock.now
        await stream(script, view, 600, 6.0)
        assert page.times[0] - began < 0.05, "the first token waits for nothing"
        assert 10 <= most_in_a_second(page.times) <= 20
        script.recorder.finish()
        view.finish()
        assert page.record == script.recorder.record()

    timed(main)


@pytest.mark.parametrize("seconds", [10.0, 40.0])
def test_four_thousand_tokens_cost_at_most_400_kilobytes(timed: Any, seconds: float) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, page = QuietView(script.recorder), Page(clock)
        page.attach(view.broadcast)
        await stream(script, view, 4000, seconds)
        view.flush()
        spent = sum(AROUND + len(json.dumps(message)) for _, message in page.messages)
        # The record at the end holds the text in four forms.
        assert spent + 4 * len(page.record["items"][0]["text"]) < 400_000
        assert len(page.messages) > 5 * seconds

    timed(main)


def test_what_follows_a_large_result_does_not_wait_for_it(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, page = QuietView(script.recorder), Page(clock)
        page.attach(view.broadcast)
        await stream(script, view, 4000, 40.0)
        script.calls(CALL).start(CALL).result(CALL, "x" * 15_000)
        view.add_outputs("c1", [{"image/png": "A" * 200_000}], "user")
        await asyncio.sleep(0.5)
        script.answer("So it is.")
        view.changed()
        await asyncio.sleep(0.5)
        assert page.record == script.recorder.record()

    timed(main)


def test_nothing_is_done_while_nobody_is_attached(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view = QuietView(script.recorder)
        await stream(script, view, 50, 1.0)
        assert not asyncio.all_tasks() - {asyncio.current_task()}
        assert view.broadcast._timer is None
        page = Page(clock)
        page.attach(view.broadcast)
        assert page.record == script.recorder.record()
        assert page.messages == []

    timed(main)


def test_a_snapshot_comes_every_few_seconds_only_while_something_changes(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, page = QuietView(script.recorder), Page(clock)
        page.attach(view.broadcast)
        await stream(script, view, 300, 12.0)
        assert page.types().count("run") == 2
        await asyncio.sleep(1)
        before = len(page.messages)
        await asyncio.sleep(60)
        assert len(page.messages) == before

    timed(main)


def test_before_the_thread_blocks_all_is_told(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, page = QuietView(script.recorder), Page(clock)
        page.attach(view.broadcast)
        script.stream(TextDelta(0, "Let me see."))
        view.changed()
        view.flush()
        assert page.record == script.recorder.record()

    timed(main)


def test_progress_in_a_blocked_thread_is_told_although_it_comes_too_early() -> None:
    async def main() -> None:
        script = Script().calls(CALL).start(CALL)
        view, page = QuietView(script.recorder), Page(Clock())
        page.attach(view.broadcast)
        for number in range(10):
            script.progress(CALL, f"step {number}")
            view.flush()
        # The loop stands still; another thread tells the last one.
        end = time.monotonic() + 5
        while page.record["items"][0]["progress"] != "step 9" and time.monotonic() < end:
            time.sleep(0.01)
        assert page.record["items"][0]["progress"] == "step 9"
        assert len(page.messages) < 8

    asyncio.run(main())


def test_a_page_that_attaches_while_the_thread_is_blocked_gets_what_was_noted_and_then_the_rest() -> None:
    async def main() -> None:
        script = Script().calls(CALL).start(CALL)
        view, page, loop = QuietView(script.recorder), Page(Clock()), asyncio.get_running_loop()
        view.flush()
        script.progress(CALL, "half")

        def attach() -> None:
            page.run = view.broadcast.attach(page.connection, loop)

        thread = threading.Thread(target=attach)
        thread.start()
        thread.join()
        assert page.record["items"][0]["state"] == "running"
        assert "progress" not in page.record["items"][0]
        await asyncio.sleep(0)
        assert page.record == script.recorder.record()

    asyncio.run(main())


def test_a_page_whose_first_change_came_before_its_snapshot_is_repaired_while_the_thread_is_blocked() -> None:
    async def main() -> None:
        script = Script().calls(CALL).start(CALL)
        view, page, loop = QuietView(script.recorder), Page(Clock()), asyncio.get_running_loop()
        answers: list[dict[str, Any]] = []

        def in_thread(function: Callable[[], dict[str, Any]]) -> None:
            thread = threading.Thread(target=lambda: answers.append(function()))
            thread.start()
            thread.join()

        view.flush()
        in_thread(lambda: view.broadcast.attach(page.connection, loop))
        script.progress(CALL, "half")
        view.flush()
        # Sent, but the page cannot have used it: the answer of `attach` is still on its way.
        assert page.types() == ["deltas"]
        in_thread(lambda: view.broadcast.snapshot(loop))
        assert answers[1]["seq"] > answers[0]["seq"]
        assert answers[1]["record"]["items"][0]["progress"] == "half"

    asyncio.run(main())


def test_two_pages_are_told_the_same_and_one_that_is_closed_nothing(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, pages = QuietView(script.recorder), [Page(clock) for _ in range(4)]
        for page in pages[:3]:
            page.attach(view.broadcast)
        await stream(script, view, 10, 0.5)
        pages[3].attach(view.broadcast)
        pages[0].connection.close()
        view.broadcast.detach(pages[1].connection)
        counts = [len(page.messages) for page in pages[:2]]
        await stream(script, view, 10, 0.5)
        view.flush()
        assert [len(page.messages) for page in pages[:2]] == counts
        assert pages[2].record == pages[3].record == script.recorder.record()
        assert view.broadcast.followed
        pages[2].connection.close()
        pages[3].connection.close()
        assert not view.broadcast.followed

    timed(main)


def test_the_end_is_told_whole_and_nothing_after_it(timed: Any) -> None:
    async def main(clock: Clock) -> None:
        script = Script()
        view, page = QuietView(script.recorder), Page(clock)
        page.attach(view.broadcast)
        await stream(script, view, 3, 0.1)
        script.recorder.finish()
        view.finish()
        assert page.messages[-1][1]["type"] == "run"
        assert page.messages[-1][1]["record"]["state"] == "done"
        count = len(page.messages)
        view.changed()
        view.flush()
        await asyncio.sleep(10)
        assert len(page.messages) == count

    timed(main)
