"""The cut: never between a call and its result, never past what a summary would lose."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from agent_magic import AssistantMessage, ToolCall, ToolResultMessage, UserMessage
from agent_magic.session.context import context_messages
from agent_magic.session.cut import Cut, cut, messages_of
from agent_magic.session.entries import CompactionEntry, Entry
from agent_magic.session.session import Session
from agent_magic.session.tokens import message_tokens

WORDS = "x" * 400  # 100 tokens


def session_of(*messages: Any) -> Session:
    session = Session.in_memory()
    for message in messages:
        session.append(message)
    return session


def exchange(number: int) -> list[Any]:
    return [UserMessage(f"{number:04d}" + WORDS[4:]), AssistantMessage(WORDS)]


def turn_with_calls(*results: str) -> list[Any]:
    messages: list[Any] = [UserMessage("go")]
    for number, text in enumerate(results):
        messages.append(AssistantMessage([ToolCall(f"c{number}", "f", {})]))
        messages.append(ToolResultMessage(f"c{number}", "f", text))
    return messages


def roles(entries: Sequence[Entry]) -> list[str]:
    return [message.role for message in messages_of(entries)]


def test_about_as_much_as_wanted_is_kept_from_the_end() -> None:
    session = session_of(*(message for number in range(10) for message in exchange(number)))
    parts = cut(session.branch, 400)
    assert len(parts.kept) == 4
    assert len(parts.history) == 16
    assert not parts.prefix
    assert not parts.shortened


def test_nothing_and_a_single_message_are_not_cut() -> None:
    assert cut([], 100).is_empty
    assert cut(session_of(UserMessage("hi")).branch, 100).is_empty


def test_at_most_half_is_kept_of_a_short_conversation() -> None:
    session = session_of(*exchange(0), *exchange(1))
    parts = cut(session.branch, 20_000)
    assert (len(parts.history), len(parts.kept)) == (2, 2)


def test_a_cut_inside_a_turn_splits_history_and_the_beginning_of_the_turn() -> None:
    session = session_of(*exchange(0), *turn_with_calls(*[WORDS] * 10))
    parts = cut(session.branch, 300)
    assert len(parts.history) == 2
    assert roles(parts.prefix)[0] == "user"
    assert roles(parts.kept) == ["assistant", "toolResult"] * 2 or roles(parts.kept) == ["assistant", "toolResult"] * 3


def test_a_call_stays_with_its_results_also_when_something_stands_between_them() -> None:
    session = session_of(
        *exchange(0),
        *exchange(1),
        UserMessage("go"),
        AssistantMessage([ToolCall("a", "f", {}), ToolCall("b", "f", {})]),
        ToolResultMessage("a", "f", "short"),
        UserMessage("a word from the side"),
        ToolResultMessage("b", "f", WORDS * 3),
    )
    parts = cut(session.branch, 100)
    assert roles(parts.kept) == ["assistant", "toolResult", "user", "toolResult"]
    assert roles(parts.prefix) == ["user"]


def test_a_huge_last_result_does_not_keep_everything() -> None:
    session = session_of(*exchange(0), *exchange(1), *turn_with_calls("y" * 400_000))
    parts = cut(session.branch, 1000, room=5000)
    assert roles(parts.history) == ["user", "assistant"] * 2
    assert roles(parts.kept) == ["assistant", "toolResult"]
    ((entry_id, characters),) = parts.shortened.items()
    assert entry_id == parts.kept[1].id
    assert 15_000 < characters <= 20_000


def test_only_the_largest_results_are_shortened_and_the_kept_part_fits() -> None:
    session = session_of(
        UserMessage("go"),
        AssistantMessage([ToolCall(name, "f", {}) for name in "abc"]),
        ToolResultMessage("a", "f", "x" * 400),
        ToolResultMessage("b", "f", "x" * 40_000),
        ToolResultMessage("c", "f", "数" * 20_000),
    )
    parts = cut(session.branch, 1000, room=6000)
    assert set(parts.shortened) == {parts.kept[2].id, parts.kept[3].id}
    session.append_compaction("", parts.kept[0].id, 0, {"shortened": dict(parts.shortened)})
    kept = context_messages(session.branch)[1:]
    assert sum(map(message_tokens, kept)) < 6200
    assert "left out here" in kept[2].text
    assert kept[1].text == "x" * 400


def test_the_next_cut_begins_with_what_the_last_one_kept() -> None:
    session = session_of(*(message for number in range(6) for message in exchange(number)))
    first = cut(session.branch, 400)
    session.append_compaction("S", first.kept[0].id, 0, None)
    for number in range(6, 10):
        for message in exchange(number):
            session.append(message)
    second = cut(session.branch, 400)
    assert second.history[: len(first.kept)] == first.kept
    assert isinstance(second.previous, CompactionEntry)
    assert second.previous.summary == "S"


def random_conversation(seed: int) -> list[Any]:
    dice = random.Random(seed)
    messages: list[Any] = []
    for turn in range(dice.randint(1, 8)):
        messages.append(UserMessage("u" * dice.randint(1, 2000)))
        for step in range(dice.randint(0, 4)):
            calls = [ToolCall(f"{turn}.{step}.{n}", "f", {}) for n in range(dice.randint(1, 3))]
            messages.append(AssistantMessage(calls))
            results = [ToolResultMessage(call.id, "f", "r" * dice.randint(0, 9000)) for call in calls]
            dice.shuffle(results)
            messages.extend(results)
        messages.append(AssistantMessage("a" * dice.randint(1, 2000)))
    return messages


def check_parts(session: Session, parts: Cut) -> None:
    start = session.branch.index(parts.kept[0])
    calls: set[str] = set()
    for message in messages_of(session.branch[start:]):
        if isinstance(message, AssistantMessage):
            calls |= {call.id for call in message.all_tool_calls}
        elif isinstance(message, ToolResultMessage):
            assert message.tool_call_id in calls
    assert not parts.prefix or not parts.kept or roles(parts.prefix)[0] == "user"


@pytest.mark.parametrize("seed", range(60))
def test_every_cut_of_a_random_conversation_is_sound_and_loses_nothing(seed: int) -> None:
    session = session_of(*random_conversation(seed))
    keep = random.Random(seed).choice([0, 50, 500, 5000])
    seen: list[Entry] = []
    for _ in range(3):
        parts = cut(session.branch, keep, room=3000)
        check_parts(session, parts)
        seen.extend([*parts.history, *parts.prefix])
        expected = [e for e in session.branch if e not in seen and not isinstance(e, CompactionEntry)]
        assert list(parts.kept) == expected
        session.append_compaction("S", parts.kept[0].id, 0, {"shortened": dict(parts.shortened)})
        for message in random_conversation(seed + 1000):
            session.append(message)
