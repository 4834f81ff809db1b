"""The abort signal is live, and can be given from any thread."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import agent_magic as am


def test_the_first_reason_stays() -> None:
    signal = am.AbortSignal()
    assert (signal.aborted, signal.reason) == (False, "")
    signal.throw_if_aborted()
    signal.abort("enough")
    signal.abort("again")
    assert (signal.aborted, signal.reason) == (True, "enough")
    with pytest.raises(am.AbortedError, match="enough"):
        signal.throw_if_aborted()


def test_callbacks_are_called_once_and_can_be_taken_back() -> None:
    signal, called = am.AbortSignal(), []
    signal.on_abort(lambda: called.append("kept"))
    take_back = signal.on_abort(lambda: called.append("taken back"))
    take_back()
    take_back()
    signal.abort()
    signal.abort()
    assert called == ["kept"]
    signal.on_abort(lambda: called.append("late"))
    assert called == ["kept", "late"]


def test_a_failing_callback_does_not_keep_the_others_from_being_called() -> None:
    signal, called = am.AbortSignal(), []

    def fail() -> None:
        raise ValueError("oops")

    signal.on_abort(fail)
    signal.on_abort(lambda: called.append("second"))
    with pytest.raises(ValueError, match="oops"):
        signal.abort()
    assert called == ["second"]


def test_waiting_ends_when_another_thread_aborts() -> None:
    signal = am.AbortSignal()

    async def wait() -> float:
        timer = threading.Timer(0.05, signal.abort)
        timer.start()
        start = time.perf_counter()
        await asyncio.wait_for(signal.wait(), 5)
        return time.perf_counter() - start

    assert 0.02 < asyncio.run(wait()) < 4.5
    asyncio.run(asyncio.wait_for(signal.wait(), 1))


def test_many_threads_see_one_abort() -> None:
    signal, called = am.AbortSignal(), []
    signal.on_abort(lambda: called.append(1))
    threads = [threading.Thread(target=signal.abort, args=(str(number),)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert called == [1]
