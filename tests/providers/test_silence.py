"""Silence of a server is measured while the loop can hear it."""

import asyncio
import time

from agent_magic.providers.transport import SilenceWatch

LIMIT = 0.3


async def listened(*blocks: float) -> tuple[bool, float]:
    """Whether the watch gave up while the loop was blocked for these seconds, and after how long of quiet it did."""
    watch, early, began = SilenceWatch(LIMIT), True, time.monotonic()
    try:
        with watch:
            for seconds in blocks:
                time.sleep(seconds)
                # As many turns as a loop takes between two cells.
                for _ in range(5):
                    await asyncio.sleep(0)
            early = watch.expired
            began = time.monotonic()
            await asyncio.sleep(60)
    except asyncio.CancelledError:
        watch.forgive()
        return early, time.monotonic() - began
    raise AssertionError("it never gave up")


def test_a_blocked_loop_hears_nothing_and_that_is_no_silence() -> None:
    early, quiet = asyncio.run(listened(*[1.5 * LIMIT] * 6))
    assert not early
    assert quiet > 0.6 * LIMIT


def test_a_loop_that_hears_nothing_gives_up_after_the_limit() -> None:
    early, quiet = asyncio.run(listened())
    assert not early
    assert quiet >= 0.9 * LIMIT


def test_what_is_heard_begins_the_count_anew() -> None:
    async def chatted() -> float:
        with SilenceWatch(LIMIT) as watch:
            began = time.monotonic()
            while time.monotonic() - began < 3 * LIMIT:
                await asyncio.sleep(LIMIT / 20)
                watch.heard()
            return time.monotonic() - began

    assert asyncio.run(chatted()) >= 3 * LIMIT


def test_without_a_limit_it_waits_for_ever() -> None:
    async def quiet() -> bool:
        with SilenceWatch(None) as watch:
            await asyncio.sleep(0.05)
            return watch.expired

    assert asyncio.run(quiet()) is False
