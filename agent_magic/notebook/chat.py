"""What the panel and the chat widgets may ask of this kernel, and what they are told: one conversation, any pages.

Every request is answered by what the subcommands of `%agent` and the cells do, so that there is one way for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..agent.reply import StopCause
from ..errors import AgentBusyError, AgentMagicError
from ..events import AgentEndEvent, AgentEvent, AgentStartEvent, MessageEndEvent, ToolExecutionStartEvent
from ..messages import UserMessage
from .chat_message import chat_message, kept_of
from .chat_state import queued_texts, state_of
from .command import Errand
from .connection import KINDS, Connection, Method, Page, Request, Transport
from .conversation_methods import check_idle, conversation_methods
from .exchanges import NOTHING_SAID, retry
from .flags import CellOptions
from .history_records import History
from .kernel import NotebookKernel
from .late_pages import LatePages
from .panel_run import PanelRuns
from .run_methods import kernel_loop, main_loop, run_methods

if TYPE_CHECKING:
    from .record import Recorder
    from .view import View

# States a second that pages are told at most, and seconds in which changes are gathered.
RATE = 5.0
GATHERED = 0.03

_TOLD = (AgentStartEvent, AgentEndEvent, MessageEndEvent, ToolExecutionStartEvent)

_logger = logging.getLogger(__name__)


class Chat:
    """The chat of one kernel, for all pages that show it. Made for the first one; `close` ends it for all."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self.history = History(kernel)
        self._kernel = kernel
        self._runs = PanelRuns(kernel)
        self._late = LatePages(kernel)
        self._connections: dict[Connection, Callable[[], object]] = {}
        self._active: dict[str, float] = {}
        # The notebook where the run that goes on began.
        self.notebook: str | None = None
        self._followed: Recorder | None = None
        self._told: dict[str, Any] | None = None
        self._told_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        # Pages come and go, and begin to look, in any thread.
        self._attending = threading.Lock()
        self._revision = 0
        self._seen: tuple[str, ...] | None = None
        events = kernel.shell.events
        events.register("post_run_cell", self._on_cell)
        self._undo: list[Callable[[], object]] = [
            lambda: events.unregister("post_run_cell", self._on_cell),
            kernel.agent.subscribe(self._on_event),
            kernel.watch_runs(self._follow, self._at_rest),
        ]

    # Connections ------------------------------------------------------------------------------------------------------

    def connect(self, transport: Transport) -> Connection:
        """Serve the pages at the other end of `transport`, until the connection is closed."""
        connection = Connection(transport, self.methods(), self._loop)
        self.add(connection, connection.close)
        return connection

    def add(self, connection: Connection, close: Callable[[], object]) -> None:
        """Tell its pages, too, what happens, until it is closed; `close` ends it with the chat."""
        self._connections = {each: end for each, end in self._connections.items() if not each.closed}
        self._connections[connection] = close
        connection.on_left(lambda page: self._neglect(connection))

    def close(self) -> None:
        self._runs.close()
        for undo in self._undo:
            undo()
        if self._timer is not None:
            self._timer.cancel()
        for close in self._connections.values():
            close()
        self._connections = {}

    def _loop(self) -> asyncio.AbstractEventLoop:
        return kernel_loop(self._kernel)

    @property
    def may_be_seen(self) -> bool:
        """Whether there is a page, or was one that may come again."""
        return any(not connection.closed for connection in self._connections)

    def page(self) -> tuple[Connection, Page] | None:
        """The panel that was last used, with its connection; during a run, of the notebook where that began."""
        found = [
            (connection, page)
            for connection in self._connections
            for page in connection.pages
            if page.kind == "panel" and page.notebook is not None and self.notebook in (None, page.notebook)
        ]
        return max(found, key=lambda each: self._active.get(each[1].id, 0.0), default=None)

    def methods(self) -> dict[str, Method]:
        """What a page may request, by name."""
        noted = {
            "attach": Method(self.attach),
            "send": Method(self.send),
            "withdraw": Method(self.withdraw),
            "retry": Method(self.retry),
            "edit": Method(self.edit),
            **conversation_methods(self._kernel, self.history, self.changed),
        }
        return {
            **run_methods(self._kernel),
            **{name: Method(self._noting(method)) for name, method in noted.items()},
            "look": Method(self.look, at_once=True),
            "stop": Method(self._stopping(run_methods(self._kernel)["stop"]), at_once=True),
        }

    def _noting(self, method: Method) -> Callable[[Request], Any]:
        def answer(request: Request) -> Any:
            self._active[request.page] = time.monotonic()
            return method.function(request)

        return answer

    def attach(self, request: Request) -> dict[str, Any]:
        runs, earlier = self.history.records()
        state = self._state()
        self.changed()
        # Behind the answer, which makes the page ready for it.
        asyncio.get_running_loop().call_soon(self._attend, request.connection)
        if request.choice("kind", KINDS) == "panel":
            self._late.add(request.page, request.connection)
        return {"state": state, "runs": runs, "earlier": earlier}

    def look(self, request: Request) -> None:
        """The user sees the page from now on, or does not see it any more."""
        on = request.flag("on")
        request.connection.look(request.page, on)
        (self._attend if on else self._neglect)(request.connection)

    # Runs -------------------------------------------------------------------------------------------------------------

    async def send(self, request: Request) -> dict[str, Any]:
        text, attachments = request.text("text"), request.objects("attachments")
        when = request.choice("when", ("now", "next"))
        message = await chat_message(self._kernel, text, attachments)

        async def made() -> UserMessage:
            return message

        try:
            await self._run(Errand(CellOptions(), made))
        except AgentBusyError:
            agent = self._kernel.agent
            (agent.steer if when == "now" else agent.follow_up)(message)
            self.changed()
            return {"as": "steer" if when == "now" else "follow_up"}
        return {"as": "run"}

    def withdraw(self, request: Request) -> dict[str, Any]:
        """Give up what no run has taken up yet, as after Stop; the texts go back to the page."""
        # Another run may have begun, which takes it up.
        check_idle(self._kernel)
        texts = queued_texts(self._kernel)
        self._kernel.agent.clear_queues()
        self.changed()
        return {"texts": texts}

    async def retry(self, request: Request) -> None:
        errand = retry(self._kernel, ())
        if not isinstance(errand, Errand):
            raise AgentMagicError(NOTHING_SAID)
        await self._run(errand)

    async def edit(self, request: Request) -> None:
        check_idle(self._kernel)
        text, prompt = request.text("text"), self.history.prompt_of(request.text("run"))

        async def message() -> UserMessage:
            before: UserMessage = prompt.message
            made = await chat_message(self._kernel, text, (), kept_of(before))
            self._kernel.conversation.go_before(prompt)
            return made

        await self._run(Errand(CellOptions(), message))

    def _stopping(self, stop: Method) -> Callable[[Request], Any]:
        def answer(request: Request) -> None:
            stop.function(request)
            # Or it may be about to begin.
            self._runs.stop()

        return answer

    async def _run(self, errand: Errand) -> None:
        """Begin a run on the kernel's own loop, whichever loop this is. Raises `AgentBusyError` during a run."""
        check_idle(self._kernel)
        loop = main_loop(self._kernel)
        if loop is asyncio.get_running_loop():
            await self._runs.start(errand)
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._runs.start(errand), loop))

    def _follow(self, view: View) -> None:
        """A run begins: tell every page."""
        self._notice_moves()
        self._followed = view.recorder
        self._late.begin(view, [page.id for connection in self._connections for page in connection.pages])
        found = self.page()
        self.notebook = None if found is None else found[1].notebook
        for connection in self._connections:
            self._attend(connection)
        # Its first tool may keep this thread, and only a page that knows of the run offers to stop it.
        self.tell()

    def _neglect(self, connection: Connection) -> None:
        if not connection.looks:
            self._attend(connection)

    def _attend(self, connection: Connection) -> None:
        """Tell the pages of a connection all of the run that goes on, if there is one, and one of them looks."""
        with self._attending:
            view = self._kernel.view if self._kernel.runs.going_on else None
            if view is None:
                return
            self._followed = view.recorder
            if not connection.looks:
                view.broadcast.detach(connection)
            else:
                snapshot = view.broadcast.attach(connection, self._loop())
                connection.send({"type": "run", **snapshot})

    def _at_rest(self) -> None:
        """A run has ended: take up what was sent when it was too late to steer it."""
        self.notebook = None
        self._late.end()
        if self._followed is not None and self._seen is not None:
            self._seen = (*self._seen, self._followed.run)
            self._followed = None
        self.changed()
        agent = self._kernel.agent
        if any(agent.queued_messages) and agent.state.stop_cause is StopCause.COMPLETED:
            main_loop(self._kernel).call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        async def nothing() -> None:
            return None

        if not self._kernel.busy and any(self._kernel.agent.queued_messages):
            self._runs.begin(Errand(CellOptions(), nothing))

    # The state --------------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Something that pages show may have changed; may be called from any thread."""
        if any(connection.pages for connection in self._connections):
            # The loop may have ended, with all else.
            with contextlib.suppress(RuntimeError):
                self._loop().call_soon_threadsafe(self._tell_soon)

    def tell(self) -> None:
        """Tell the state at once, as the thread may be busy next; to be called from that of the run's loop."""
        if any(connection.pages for connection in self._connections):
            self._tell()

    def _on_event(self, event: AgentEvent) -> None:
        if isinstance(event, _TOLD):
            self.changed()

    def _on_cell(self, result: Any = None) -> None:
        # A cell may have defined tools, or changed the settings or the conversation.
        self.changed()

    def _tell_soon(self) -> None:
        if self._timer is None:
            wait = max(GATHERED, self._told_at + 1 / RATE - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait, self._tell)

    def _tell(self) -> None:
        self._timer, self._told_at = None, time.monotonic()
        try:
            state = self._state()
        except Exception:
            _logger.exception("The state of the agent could not be told to the page.")
            return
        if state != self._told:
            self._told = state
            for connection in self._connections:
                if connection.pages:
                    connection.send({"type": "state", "state": state})

    def _state(self) -> dict[str, Any]:
        self._notice_moves()
        followed = self._followed if self._kernel.runs.going_on else None
        return state_of(self._kernel, None if followed is None else followed.run, self._revision)

    def _notice_moves(self) -> None:
        """Count up when the earlier runs are others than those that pages were told or have followed to their end."""
        now = self.history.names()
        if self._seen is not None and now != self._seen:
            self._revision += 1
        self._seen = now
