"""A day in the life: one conversation of 300 turns with tools, compactions, restarts, a fork and an undo."""

from __future__ import annotations

import itertools
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

import agent_magic as am
from agent_magic.notebook.extension import load, unload
from agent_magic.session.session import Session

TURNS = 300
RESTARTS = (110, 210)
FORK, UNDO = 150, 160
# Each turn takes about 450 tokens, so that the window is full every now and then.
RESULT = "0123456789" * 160
WINDOW = 20_000


class Day:
    """The cells of a day, and what each took."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.calls: list[float] = []
        self.bytes: list[float] = []
        self.process = psutil.Process()
        self.requests = 0

    def answer(self, context: Any, config: Any) -> Any:
        """A call for each message of the user, a sentence for each result, a summary where one is asked for."""
        self.requests += 1
        usage = am.Usage(sum(len(block.text) for each in context.messages for block in each.content[:1]) // 4, 12)
        said: list[Any] = ["Looked up."]
        if not context.tools:
            said = [f"Summary {self.requests}."]
        elif context.messages[-1].role == "user":
            said = ["Let me see.", am.ToolCall(f"call-{self.requests}", "look_up", {"number": self.requests})]
        return am.AssistantMessage(said, usage=usage)

    def start(self, resume: bool) -> None:
        load(self.shell)
        names = self.shell.user_ns
        names["m"] = am.scripted(*[self.answer] * (TURNS * 3)).replace(context_window=WINDOW)
        names["look_up"] = am.tool(look_up)
        self.run("%agent model m")
        if resume:
            self.run("%agent resume")

    def run(self, line: str) -> None:
        self.shell.run_cell(line).raise_error()

    def turn(self, number: int) -> None:
        with calls_counted() as count:
            self.run(f"%agent --quiet Message {number}")
        self.calls.append(next(count))
        self.bytes.append(self.process.memory_info().rss)


@contextmanager
def calls_counted() -> Iterator[Iterator[int]]:
    """Gives a counter that has counted each call and return of a function, Python's own included.

    A measure of work that a busy machine does not change.
    """
    count = itertools.count()
    sys.setprofile(lambda *_: next(count))
    try:
        yield count
    finally:
        sys.setprofile(None)


def look_up(number: int) -> str:
    """Look something up."""
    return f"{number}: {RESULT}"


@pytest.fixture
def day(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Day]:
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path))
    before = set(shell.user_ns)
    yield Day(shell)
    unload(shell)
    shell.config.pop("AgentMagic", None)
    for name in set(shell.user_ns) - before:
        del shell.user_ns[name]


def test_a_day_in_one_conversation_stays_quick_and_small(day: Day, tmp_path: Path) -> None:
    day.start(resume=False)
    for number in range(1, TURNS + 1):
        if number in RESTARTS:
            unload(day.shell)
            day.start(resume=True)
        elif number == FORK:
            day.run("%agent fork")
        elif number == UNDO:
            day.run("%agent undo")
        day.turn(number)
    messages = list(am.get_agent().messages)
    day.shell.agent_magic.kernel.conversation.close()
    first, second = sorted((tmp_path / "sessions").glob("*.jsonl"))
    session = Session.open(second, read_only=True)
    assert [each.timestamp for each in session.messages if each.role == "user"] == [
        each.timestamp for each in messages if each.role == "user"
    ]
    said = [entry.message.text for entry in session.tree if entry.type == "message" and entry.role == "user"]
    assert said == [f"Message {number}" for number in range(1, TURNS + 1)]
    assert session.skipped == 0
    assert sum(entry.type == "compaction" for entry in session.tree) >= 3
    assert len(Session.open(first, read_only=True).tree) < len(session.tree)
    for what, values in (("calls", day.calls), ("bytes of memory", day.bytes)):
        early, late = (statistics.median(part) for part in (values[50:100], values[-50:]))
        assert late <= 1.2 * early, f"a turn took {early} {what} at first and {late} at the end"
