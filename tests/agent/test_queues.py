"""Queued messages leave in order, one or all at a time."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent.queues import MessageQueue


def test_one_at_a_time_takes_the_oldest_and_all_takes_all() -> None:
    queue = MessageQueue()
    for text in "xyz":
        queue.put(text)
    assert queue.take() == ["x"]
    queue.mode = am.QueueMode.ALL
    assert queue.messages == ("y", "z")
    assert queue.take() == ["y", "z"]
    assert queue.take() == []


def test_clear_leaves_nothing() -> None:
    queue = MessageQueue("all")
    queue.put("x")
    queue.clear()
    assert (len(queue), queue.take()) == (0, [])


def test_a_queue_that_is_cleared_while_it_is_taken_from_gives_what_is_left() -> None:
    class Vanishing(deque[Any]):
        def __len__(self) -> int:
            return super().__len__() + 1

    queue = MessageQueue("all")
    queue._messages = Vanishing(["x"])
    assert queue.take() == ["x"]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(am.InvalidDataError, match="one-at-a-time"):
        MessageQueue("some")
