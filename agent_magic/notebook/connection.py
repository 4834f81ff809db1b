"""One end of the protocol that a page and this kernel speak: requests and responses, events, and questions to a page.

A transport carries JSON objects to one or more pages, as a widget's messages or a comm's do. A page names itself in
the ids of its requests, `<page>:<n>`, and ignores responses that are not its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, replace
from typing import Any, Protocol

from IPython.core.error import UsageError

from .. import __version__
from ..errors import AgentMagicError, InvalidDataError

PROTOCOL = 1

KINDS = ("cell", "panel", "widget")

_logger = logging.getLogger(__name__)


class Transport(Protocol):
    """Carries messages to whatever pages are at its other end; may be called from any thread."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a JSON object, or lose it."""


@dataclass(frozen=True)
class Page:
    """Who has attached: what it draws, and the notebook that a panel belongs to.

    `looks`: whether its user sees it, as far as it says; the events of a run are for those.
    """

    id: str
    kind: str
    notebook: str | None = None
    looks: bool = True


@dataclass(frozen=True)
class Request:
    """What a page asks for. The readers of `params` raise `InvalidDataError` for what is missing or of another type."""

    connection: Connection
    page: str
    params: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """A string; without a `default` it must be there."""
        return str(self._read(name, default, str, "a text"))

    def flag(self, name: str) -> bool:
        return bool(self._read(name, None, bool, "true or false"))

    def choice(self, name: str, among: Sequence[str]) -> str:
        value = self.text(name)
        if value not in among:
            raise InvalidDataError(f"must be one of {', '.join(among)}, not {value!r}", name)
        return value

    def fields(self, name: str) -> dict[str, Any] | None:
        """A JSON object; None where it is null or not there."""
        if self.params.get(name) is None:
            return None
        return dict(self._read(name, None, dict, "an object"))

    def objects(self, name: str) -> list[dict[str, Any]]:
        """A list of JSON objects; empty where it is not there."""
        values = self._read(name, [], list, "a list of objects")
        if not all(isinstance(value, dict) for value in values):
            raise InvalidDataError("must be a list of objects", name)
        return list(values)

    def _read(self, name: str, default: Any, kind: type, words: str) -> Any:
        value = self.params.get(name, default)
        if not isinstance(value, kind):
            raise InvalidDataError(f"must be {words}", name)
        return value


@dataclass(frozen=True)
class Method:
    """What answers a request: a function that returns a JSON object, None for an empty one, or an awaitable of either.

    It runs on the connection's loop, as soon as that is free. One that is `at_once` runs in the thread that received
    the request, also while the loop stands still in a tool; so it must be safe there, quick, and no coroutine, but may
    give a `Future` of what another thread will answer.
    Whatever it raises is told to the page.
    """

    function: Callable[[Request], Any]
    at_once: bool = False


class Connection:
    """Answers the pages at the other end of `transport` by a table of `methods`.

    `loop` gives the event loop on which requests are answered now: that of the run that goes on, else the main one.
    Built in are the checks and the first fields of the answer of `attach`, for which `methods` may have a function
    that gives the rest, and `answer_ask` and `detach`. All of it may be used from any thread.
    """

    def __init__(
        self,
        transport: Transport,
        methods: Mapping[str, Method],
        loop: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._methods = {
            **methods,
            "attach": Method(self._attach, at_once="attach" in methods and methods["attach"].at_once),
            "answer_ask": Method(self._answer_ask, at_once=True),
            "detach": Method(self._detach, at_once=True),
        }
        self._attached = methods.get("attach")
        self._pages: dict[str, Page] = {}
        self._asks: dict[str, tuple[str, Future[Any]]] = {}
        self._numbers = itertools.count(1)
        self._left: list[Callable[[str], object]] = []
        self._tasks: set[asyncio.Future[Any]] = set()
        self.closed = False

    @property
    def pages(self) -> tuple[Page, ...]:
        """Those that have attached, and have not said that they left."""
        return tuple(self._pages.values())

    @property
    def looks(self) -> bool:
        """Whether any of its pages does: all of them are sent the same."""
        return any(page.looks for page in self.pages)

    def look(self, page: str, on: bool) -> None:
        """From now on that page looks, or does not. Does nothing where it has not attached."""
        known = self._pages.get(page)
        if known is not None:
            self._pages[page] = replace(known, looks=on)

    # To the pages -----------------------------------------------------------------------------------------------------

    def send(self, event: Mapping[str, Any]) -> None:
        """Send an event to every page. A transport that fails must not end a run, so it is only logged."""
        if self.closed:
            return
        try:
            self._transport.send(event)
        except Exception:
            _logger.warning("A message of agent_magic did not reach the page.", exc_info=True)

    async def ask(self, page: str, method: str, params: Mapping[str, Any], timeout: float | None = None) -> Any:
        """Have a page do something that only it can; returns its result.

        Raises `AgentMagicError` with the page's words where it could not, when it left, and after `timeout` seconds.
        """
        answer = await self._asked(page, method, params, timeout)
        if not answer.done():
            raise AgentMagicError(f"The page did not answer {method} within {timeout:g} s.")
        return answer.result()

    async def is_there(self, page: str, timeout: float) -> bool:
        """Whether the page answers within so many seconds, were it only that it does not know what it was asked."""
        answer = await self._asked(page, "is_there", {}, timeout)
        return answer.done() and page in self._pages

    async def _asked(self, page: str, method: str, params: Mapping[str, Any], timeout: float | None) -> Future[Any]:
        name, answer = f"k{next(self._numbers)}", Future[Any]()
        if page not in self._pages:
            _set(answer, None, _GONE)
            return answer
        self._asks[name] = (page, answer)
        self.send({"type": "ask", "id": name, "page": page, "method": method, "params": dict(params)})
        waiting = asyncio.wrap_future(answer)
        # Whether there is an exception is looked at where it is raised.
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await asyncio.wait({waiting}, timeout=timeout)
        finally:
            self._asks.pop(name, None)
        return answer

    def on_left(self, listener: Callable[[str], object]) -> Callable[[], None]:
        """Call `listener(page)` when a page has left, in whatever thread learns of it. Returns how to end that."""
        self._left.append(listener)
        return lambda: self._left.remove(listener) if listener in self._left else None

    def close(self) -> None:
        """Send nothing more. Every page has left."""
        self.closed = True
        for page in self.pages:
            self._leave(page.id)

    # From the pages ---------------------------------------------------------------------------------------------------

    def receive(self, message: Any) -> None:
        """Take in what a page sent, in any thread. Never raises: what is wrong with it is told to the page."""
        if self.closed or not isinstance(message, dict) or message.get("type") != "request":
            return
        name = message.get("id")
        if not isinstance(name, str):
            return
        method = message.get("method")
        known = self._methods.get(method) if isinstance(method, str) else None
        if known is None:
            self._refuse(name, f"This kernel's agent_magic {__version__} knows no method {method!r}.")
            return
        params = message.get("params", {})
        if not isinstance(params, dict):
            self._refuse(name, "params: must be an object")
            return
        request = Request(self, name.rpartition(":")[0], params)
        if known.at_once:
            self._respond(name, known, request)
            return
        try:
            self._loop().call_soon_threadsafe(self._respond, name, known, request)
        except RuntimeError as error:
            self._refuse(name, f"This kernel cannot answer now: {error}")

    def _respond(self, name: str, method: Method, request: Request) -> None:
        try:
            result = method.function(request)
        except Exception as error:
            self._refuse(name, _words(error))
            return
        if isinstance(result, Future):
            result.add_done_callback(lambda done: self._settle(name, done))
            return
        if not inspect.isawaitable(result):
            self._grant(name, result)
            return
        # The loop holds its tasks only weakly.
        task = asyncio.ensure_future(result)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._settle(name, done))

    def _settle(self, name: str, task: asyncio.Future[Any] | Future[Any]) -> None:
        if isinstance(task, asyncio.Future):
            self._tasks.discard(task)
        if task.cancelled():
            self._refuse(name, "This was stopped.")
        elif (error := task.exception()) is not None:
            self._refuse(name, _words(error))
        else:
            self._grant(name, task.result())

    def _grant(self, name: str, result: Any) -> None:
        self.send({"type": "response", "id": name, "result": {} if result is None else result})

    def _refuse(self, name: str, words: str) -> None:
        self.send({"type": "response", "id": name, "error": words})

    # What every connection answers ------------------------------------------------------------------------------------

    def _attach(self, request: Request) -> Any:
        protocol = request.params.get("protocol")
        if protocol != PROTOCOL:
            raise AgentMagicError(_mismatch(protocol))
        notebook = request.params.get("notebook")
        known = self._pages.get(request.page)
        # A page repeats this until it is answered, and may have said something else by then.
        looks = request.params.get("looks") is not False if known is None else known.looks
        place = notebook if isinstance(notebook, str) else None
        self._pages[request.page] = Page(request.page, request.choice("kind", KINDS), place, looks)
        greeting = {"protocol": PROTOCOL, "version": __version__}
        rest = None if self._attached is None else self._attached.function(request)
        return _joined(greeting, rest) if inspect.isawaitable(rest) else {**greeting, **(rest or {})}

    def _answer_ask(self, request: Request) -> None:
        page, answer = self._asks.get(request.text("ask"), ("", None))
        if answer is None or page != request.page:
            raise AgentMagicError("This is not awaited any more.")
        _set(answer, request.params.get("result"), request.params.get("error"))

    def _detach(self, request: Request) -> None:
        self._leave(request.page)

    def _leave(self, page: str) -> None:
        if self._pages.pop(page, None) is None:
            return
        for asked, answer in list(self._asks.values()):
            if asked == page:
                _set(answer, None, _GONE)
        for listener in list(self._left):
            listener(page)


_GONE = "The page that could have done this is gone. Open the notebook again."


def _set(answer: Future[Any], result: Any, error: Any) -> None:
    # Whoever waits may have given up, or the page may have left, in another thread.
    with contextlib.suppress(InvalidStateError):
        if error is not None:
            answer.set_exception(AgentMagicError(str(error)))
        else:
            answer.set_result(result)


async def _joined(greeting: Mapping[str, Any], rest: Any) -> dict[str, Any]:
    return {**greeting, **((await rest) or {})}


def _words(error: BaseException) -> str:
    if isinstance(error, (AgentMagicError, UsageError)):
        return str(error)
    _logger.error("A request of a page failed.", exc_info=error)
    return f"{type(error).__name__}: {error}"


def _mismatch(protocol: Any) -> str:
    if isinstance(protocol, int) and protocol > PROTOCOL:
        return (
            f"This page speaks protocol {protocol} and agent_magic {__version__} in the kernel {PROTOCOL}. Update "
            "agent_magic where the kernel runs, then restart the kernel."
        )
    return (
        f"This page speaks protocol {protocol} and agent_magic {__version__} in the kernel {PROTOCOL}. Update "
        "agent_magic where JupyterLab runs, then reload the page."
    )
