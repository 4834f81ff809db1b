"""Large sessions open fast, and appending costs the same at any length."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magic import AssistantMessage, ToolCall, ToolResultMessage, Usage, UserMessage
from agent_magic.session.session import Session

from ..speed import cpu_seconds, fastest


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of 10,000 messages."""
    with Session.new(tmp_path_factory.mktemp("large")) as session:
        for number in range(2500):
            session.append(UserMessage("What are the sales of this region? " * 5))
            session.append(AssistantMessage(["Let me look. " * 10, ToolCall(f"c{number}", "sales", {"region": "EU"})]))
            session.append(ToolResultMessage(f"c{number}", "sales", "month revenue\n" * 50))
            session.append(AssistantMessage("They are rising. " * 20, "openai-chat", "openai", "m", Usage(900, 90)))
        assert session.path is not None
        return session.path


def test_ten_thousand_messages_open_in_half_a_second(large: Path) -> None:
    def open_and_close() -> None:
        Session.open(large).close()

    def open_and_remember() -> None:
        with Session.open(large) as session:
            assert len(session.messages) == 10_000

    assert fastest(lambda: cpu_seconds(open_and_close), 0.4) <= 0.4
    assert fastest(lambda: cpu_seconds(open_and_remember), 0.8) <= 0.8


def test_appending_takes_as_long_at_the_end_as_at_the_start(large: Path, tmp_path: Path) -> None:
    def seconds(session: Session) -> float:
        def append() -> None:
            for _ in range(100):
                session.append(UserMessage("hello"))

        spent = []
        for _ in range(5):
            spent.append(cpu_seconds(append))
            session.flush()
        return min(spent)

    with Session.new(tmp_path) as small, Session.open(large, read_only=True).fork(folder=tmp_path) as long:
        assert seconds(long) < 3 * seconds(small) + 0.005


def test_listing_does_not_read_the_messages(large: Path) -> None:
    (found,) = Session.list(large.parent)
    assert fastest(lambda: cpu_seconds(lambda: Session.list(large.parent)), 0.1) <= 0.1
    assert found.messages == 10_000
