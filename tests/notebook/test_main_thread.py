import asyncio
import contextlib
import signal
import threading
import time

import pytest

from agent_magic.errors import AbortedError, ToolTimeoutError
from agent_magic.notebook.interrupt import stoppable
from agent_magic.notebook.main_thread import Interruption, interrupt_main_thread


def too_long() -> ToolTimeoutError:
    return ToolTimeoutError("too long")


def spin() -> None:
    while True:
        pass


@pytest.mark.parametrize("function", [lambda: time.sleep(5), spin], ids=["sleep", "loop"])
def test_a_time_out_ends_a_function_that_blocks(function: object) -> None:
    began = time.monotonic()
    with pytest.raises(ToolTimeoutError, match="too long"):
        Interruption().guard(function, 0.05, too_long)  # type: ignore[arg-type]
    assert time.monotonic() - began < 4.5


def test_a_cause_that_was_sent_is_what_is_raised() -> None:
    interruption = Interruption()
    threading.Timer(0.05, interruption.send, [AbortedError("enough")]).start()
    with pytest.raises(AbortedError, match="enough"):
        interruption.guard(lambda: time.sleep(5), None, too_long)


def test_an_interrupt_of_the_user_stays_one_even_if_the_function_swallows_it() -> None:
    def swallow() -> str:
        try:
            time.sleep(5)
        except BaseException:
            return "swallowed"
        return "slept"

    threading.Timer(0.05, interrupt_main_thread).start()
    with pytest.raises(KeyboardInterrupt):
        Interruption().guard(swallow, None, too_long)


def test_what_the_function_returns_or_raises_passes_through() -> None:
    assert Interruption().guard(lambda: 7, 1.0, too_long) == 7
    with pytest.raises(ZeroDivisionError):
        Interruption().guard(lambda: 1 / 0, None, too_long)


def test_a_signal_that_comes_too_late_interrupts_nothing() -> None:
    for _ in range(200):
        interruption = Interruption()
        threading.Thread(target=interruption.send, args=[AbortedError()]).start()
        with contextlib.suppress(AbortedError):
            interruption.guard(lambda: None, None, too_long)
        interruption.send(AbortedError())
    time.sleep(0.05)


def test_the_handler_of_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    Interruption().guard(lambda: None, None, too_long)
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_the_function_is_just_called() -> None:
    values: list[int] = []
    thread = threading.Thread(target=lambda: values.append(Interruption().guard(lambda: 7, 0.001, too_long)))
    thread.start()
    thread.join()
    assert values == [7]


def test_a_stop_that_the_loop_has_not_heard_yet_keeps_a_function_from_holding_it() -> None:
    """The page is told that a tool runs just before it does; who presses Stop then would have waited for its end."""
    did: list[str] = []

    async def main() -> None:
        async with stoppable(lambda: did.append("stopped"), lambda: did.append("cancelled")):
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                Interruption().guard(lambda: did.append("held"), None, too_long)
            await asyncio.sleep(0)
            Interruption().guard(lambda: did.append("called"), None, too_long)
            signal.raise_signal(signal.SIGINT)
        Interruption().guard(lambda: did.append("later"), None, too_long)

    asyncio.run(main())
    assert did[:3] == ["stopped", "called", "later"]
