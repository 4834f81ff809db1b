"""One question about a call that waits for an answer, wherever it is shown. The first answer counts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from typing import Any

from ..agent.policy import ApprovalAnswer, ApprovalRequest
from ..errors import AbortedError, AgentMagicError, InvalidDataError
from ..messages import ToolCall
from .connection import Connection, Request

DECISIONS = ("once", "always", "deny")
SAID_NO = "The user said no."

# Seconds between two looks whether the pages that show a question are still there, and that they have to answer.
LOOK = 5.0
ANSWER_TIME = 10.0

_ANSWERED = "This question was answered already."


class Question:
    """Waits for the answer to `request`, whose item in the record is `item`. Made on the run's loop.

    What pages say of it may come in any thread; `by_page` is awaited on the run's loop.
    """

    def __init__(self, item: str, request: ApprovalRequest) -> None:
        self.item = item
        self.request = request
        self._answer: Future[ApprovalAnswer] = Future()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._shown: dict[tuple[Connection, str], Callable[[], None]] = {}

    # Answers ----------------------------------------------------------------------------------------------------------

    @property
    def answered(self) -> bool:
        return self._answer.done()

    @property
    def answer(self) -> ApprovalAnswer:
        """The answer, once there is one. Raises `AbortedError` where the run was stopped instead."""
        return self._answer.result(timeout=0)

    def settle(self, answer: ApprovalAnswer) -> bool:
        """Let this be the answer; False if there is one already."""
        return self._end(lambda: self._answer.set_result(answer))

    def abort(self) -> None:
        """The run is stopped, so nobody needs to answer any more."""
        self._end(lambda: self._answer.set_exception(AbortedError("Operation aborted")))

    def on_answered(self, listener: Callable[[], object]) -> None:
        """Call `listener` when there is an answer, in the thread that gives it; at once if there is one."""
        self._answer.add_done_callback(lambda _: listener())

    def _end(self, end: Callable[[], None]) -> bool:
        try:
            end()
        except InvalidStateError:
            return False
        self._tell()
        return True

    # Pages ------------------------------------------------------------------------------------------------------------

    def show(self, request: Request) -> None:
        """A page shows the question and can answer it."""
        if self.answered:
            raise AgentMagicError(_ANSWERED)
        connection, place = request.connection, (request.connection, request.page)

        def left(page: str) -> None:
            if page == place[1]:
                self._leave(place)

        self._shown.setdefault(place, connection.on_left(left))
        self._tell()

    def take(self, request: Request) -> None:
        """Take the answer of a page. Raises `AgentMagicError` for one that will not do; the question stays open."""
        answer = answer_of(self.request, request)
        if not self.settle(answer):
            raise AgentMagicError(_ANSWERED)

    async def by_page(self, patience: float, look: bool) -> None:
        """Wait until a page has answered. Also returns when for `patience` seconds no page has shown the question.

        `look`: take a page for gone that does not answer when it is asked whether it is there.
        """
        looking = asyncio.ensure_future(self._look()) if look else None
        try:
            while not self.answered:
                self._news.clear()
                shown = bool(self._shown)
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._news.wait(), None if shown else patience)
                    continue
                if not self._shown:
                    return
        finally:
            if looking is not None:
                looking.cancel()

    def close(self) -> None:
        """Listen to no page any more."""
        for place in list(self._shown):
            self._leave(place)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            places = list(self._shown)
            there = await asyncio.gather(
                *(connection.is_there(page, ANSWER_TIME) for connection, page in places), return_exceptions=True
            )
            for place, is_there in zip(places, there, strict=True):
                if is_there is not True:
                    self._leave(place)

    def _leave(self, place: tuple[Connection, str]) -> None:
        forget = self._shown.pop(place, None)
        if forget is not None:
            forget()
            self._tell()

    def _tell(self) -> None:
        # The loop may have ended with the run.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._news.set)


def answer_of(asked: ApprovalRequest, request: Request) -> ApprovalAnswer:
    """What a page answers: `decision`, `reason`, `arguments` (edited ones, or null) and `hash` of those it showed.

    Raises `InvalidDataError` for arguments that do not fit the tool, and for a hash that is not that of the question.
    """
    decision = request.choice("decision", DECISIONS)
    if decision == "deny":
        return asked.deny(request.text("reason", "").strip() or SAID_NO)
    if request.text("hash") != asked.arguments_hash:
        raise InvalidDataError("the page showed other arguments than those that would run; look at them again", "hash")
    edited = request.fields("arguments")
    problem = problem_with(asked, edited) if edited is not None else ""
    if problem:
        raise AgentMagicError(problem)
    return asked.allow("always" if decision == "always" else "once", edited)


def problem_with(asked: ApprovalRequest, arguments: Mapping[str, Any]) -> str:
    """What the tool would say to these arguments; empty where they fit."""
    from ..tools.validation import validate_tool_arguments

    try:
        validate_tool_arguments(asked.tool, ToolCall(asked.call.id, asked.call.name, dict(arguments)))
    except AgentMagicError as error:
        return str(error)
    return ""
