"""Many prompts at once: independent conversations, so many at a time, with their results in order."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import AbortedError, AgentMagicError, InvalidDataError
from .background import current_waiter
from .reply import Reply

log = logging.getLogger(__name__)

CONCURRENCY = 8
Result = Reply | AgentMagicError


@dataclass(frozen=True)
class Progress:
    """How far many prompts are: `done` of `total` have ended, `failed` of them with an error.

    `index` and `result` are of the one that ended just now, None before the first.
    """

    done: int
    total: int
    failed: int = 0
    index: int | None = None
    result: Result | None = None

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.total} done{failed}"


ProgressListener = Callable[[Progress], Any]


class Conversing(Protocol):
    """What is needed of an agent that has one of the conversations."""

    async def prompt(self, message: Any, **overrides: Any) -> Reply: ...

    def abort(self) -> None: ...


class ManyPrompts:
    """The conversations of one call. `new_agent()` gives an agent for each, with an empty history."""

    def __init__(
        self,
        new_agent: Callable[[], Conversing],
        prompts: Iterable[Any],
        concurrency: int,
        on_progress: ProgressListener | None,
        overrides: Mapping[str, Any],
    ) -> None:
        if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
            raise InvalidDataError(f"must be a whole number of at least 1, not {concurrency!r}", "concurrency")
        if isinstance(prompts, (str, bytes)):
            raise InvalidDataError("must be a list of prompts, not one", "prompts")
        self._new_agent = new_agent
        self._prompts = list(prompts)
        self._concurrency = concurrency
        self._on_progress = on_progress if on_progress is not None else shown_progress()
        self._overrides = overrides
        self._running: set[Conversing] = set()
        self._results: dict[int, Result] = {}
        self._interrupt: BaseException | None = None
        self._stopped = False

    def abort(self) -> None:
        """Stop what runs and begin no more; safe from any thread."""
        self._stopped = True
        for agent in tuple(self._running):
            agent.abort()

    async def results(self) -> list[Result]:
        """All results, in the order of the prompts. Cancelling it aborts what runs."""
        await self._tell(Progress(0, len(self._prompts)))
        waiting = iter(enumerate(self._prompts))
        workers = [
            asyncio.ensure_future(self._work(waiting)) for _ in range(min(self._concurrency, len(self._prompts)))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            self._stopped = True
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        if self._interrupt is not None:
            raise self._interrupt
        return [self._results.get(index, AbortedError()) for index in range(len(self._prompts))]

    async def _work(self, waiting: Iterator[tuple[int, Any]]) -> None:
        for index, prompt in waiting:
            if self._stopped:
                return
            self._results[index] = result = await self._result(prompt)
            failed = sum(isinstance(each, AgentMagicError) for each in self._results.values())
            await self._tell(Progress(len(self._results), len(self._prompts), failed, index, result))

    async def _result(self, prompt: Any) -> Result:
        agent = self._new_agent()
        self._running.add(agent)
        try:
            return await agent.prompt(prompt, **self._overrides)
        except AgentMagicError as error:
            return error
        except (KeyboardInterrupt, SystemExit) as interrupt:  # raised from a task it would stop the event loop
            self._interrupt = interrupt
            self.abort()
            return AbortedError(str(interrupt))
        finally:
            self._running.discard(agent)

    async def _tell(self, progress: Progress) -> None:
        """Call the listener where the caller is, so that what it prints or displays lands in the caller's cell."""
        listener, waiter = self._on_progress, current_waiter()
        if listener is None:
            return
        try:
            if waiter is None:
                listener(progress)
            else:
                await asyncio.wrap_future(waiter.submit(lambda: listener(progress)))
        except Exception:
            if not self._stopped:
                log.exception("A listener of the progress raised an exception; the prompts go on.")


# Showing how far it is ------------------------------------------------------------------------------------------------

# Made by layers above, where they can show more than a line of text.
displays: list[Callable[[], ProgressListener]] = []


def shown_progress() -> ProgressListener | None:
    """What shows the progress here: a display of the notebook, a line in a terminal, nothing anywhere else."""
    if displays:
        return displays[-1]()
    return line_of_progress if sys.stderr is not None and sys.stderr.isatty() else None


def line_of_progress(progress: Progress, width: int = 30) -> None:
    """Draw the progress in the last line of the terminal."""
    filled = width * progress.done // max(1, progress.total)
    end = "\n" if progress.done == progress.total else ""
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (width - filled)}] {progress}{end}")
    sys.stderr.flush()
