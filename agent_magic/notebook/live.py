"""The live output of a notebook: one display, a widget or HTML while the run goes on, that becomes its record."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .bundle import mimebundle
from .connection import Method, Request
from .html import HtmlWriter
from .pace import Pace
from .record import RECORD_TYPE, Recorder
from .run_methods import run_methods
from .view import QuietView

if TYPE_CHECKING:
    from .kernel import NotebookKernel
    from .run_widget import PageWidget

# Updates of HTML a second. More of them lose messages on the way to the page.
RATE = 5.0
# So many may be saved up, and as many borrowed where the thread will be busy for a while.
SAVED = 3.0
# Seconds in which changes are gathered before they are drawn.
GATHERED = 0.02
# A long record takes long to draw; at most this part of the time is spent on it.
SHARE = 0.2
# Seconds that a page has to attach to the widget before it gets HTML.
ATTACHING = 0.4
# Seconds in which one may still be about to: it loads the code of the view.
LOADING = 1.5

_logger = logging.getLogger(__name__)


class LiveOutput(QuietView):
    """Publishes through the display publisher that the cell had at the start, whatever is captured later.

    A page that shows widgets attaches to one and is sent what changes. While none has, the display is HTML that is
    drawn again and again. `captured`: every update would be kept as an output of its own, so there are none.
    """

    def __init__(self, kernel: NotebookKernel, recorder: Recorder, captured: bool = False) -> None:
        super().__init__(recorder, kernel.origin_of)
        self._kernel = kernel
        self._publisher = kernel.shell.display_pub
        self._writer = HtmlWriter()
        self._updates = not captured
        self._display_id = f"agent-magic-{recorder.run}"
        self._loop = asyncio.get_running_loop()
        # Whatever is published belongs to the cell, also when a message of a page is the reason.
        self._context = contextvars.copy_context()
        self._timer: asyncio.TimerHandle | None = None
        self._pace = Pace(RATE, saved=SAVED, borrowed=SAVED)
        self._began = 0.0
        self._changed = False
        self._shown = False
        self._widget: PageWidget | None = None
        # Whether the display is the widget.
        self._as_widget = False
        self._late: threading.Timer | None = None
        self._drawn_late = False
        self._lock = threading.Lock()

    @property
    def may_be_followed(self) -> bool:
        loading = self._widget is not None and time.monotonic() - self._began < LOADING
        return loading or super().may_be_followed

    def start(self) -> None:
        self._began = time.monotonic()
        self._widget = self._new_widget()
        self._as_widget = self._widget is not None
        if self._as_widget:
            self.broadcast.note()
            self._publish(live=True)
            self._timer = self._loop.call_later(ATTACHING, self._nobody_attached)
        else:
            self._changed = True
            self.flush()

    def changed(self) -> None:
        super().changed()
        self._changed = True
        if self._updates and not self._as_widget and self._timer is None:
            self._timer = self._loop.call_later(max(GATHERED, self._pace.wait), self._draw)

    def flush(self) -> None:
        super().flush()
        if self._as_widget:
            if not self.broadcast.followed:
                self._draw_late()
        elif self._changed and self._updates and self._pace.may_borrow:
            self._draw()

    def finish(self) -> None:
        self._cancel_timer()
        widget, self._widget = self._widget, None
        if widget is not None:
            # The record takes its place, so it is not told whole; but a page that was loaded again does not see that.
            self.broadcast.tell()
            self.broadcast.detach(widget.connection)
        super().finish()
        try:
            self._publish(live=False)
        finally:
            if widget is not None:
                widget.close()
        for bundle in self.beyond:
            self._publisher.publish(bundle, {})

    # The widget -------------------------------------------------------------------------------------------------------

    def _new_widget(self) -> PageWidget | None:
        """The widget, where a page may be there that shows it."""
        kernel = self._kernel
        somebody = getattr(getattr(kernel.shell, "kernel", None), "_allow_stdin", False)
        if not (self._updates and somebody and kernel.settings.widgets and _hears_pages()):
            return None
        from .run_widget import PageWidget, widgets_are_built

        if not widgets_are_built():
            return None
        methods: Mapping[str, Method] = {**run_methods(kernel), "attach": Method(self._attach, at_once=True)}
        try:
            return PageWidget(methods, lambda: self._loop)
        except Exception:
            # Widgets that do not work here must not keep the run from being shown.
            _logger.warning("agent_magic cannot show a widget here.", exc_info=True)
            return None

    def _attach(self, request: Request) -> dict[str, Any]:
        snapshot = self.broadcast.attach(request.connection, self._loop)
        self._loop.call_soon_threadsafe(self._somebody_attached, context=self._context)
        self._show_again(snapshot["record"])
        return {"run": snapshot}

    def _show_again(self, record: dict[str, Any]) -> None:
        """Put the widget back where a page attaches that was given HTML, as the loop may stand still."""
        with self._lock:
            if self._drawn_late:
                self._drawn_late, self._as_widget = False, True
                self._context.copy().run(self._send, self._bundle(record, HtmlWriter()))

    def _somebody_attached(self) -> None:
        if self._widget is None:
            return
        self._cancel_timer()
        if not self._as_widget:
            self._as_widget = True
            self._publish(live=True)

    def _nobody_attached(self) -> None:
        self._timer = None
        self._as_widget = False
        self._draw()

    def _draw_late(self) -> None:
        """The loop will stand still, so that another thread gives the page HTML where it does not attach in time.

        A page from which the widget was taken while it still loaded would not attach any more, so it has longer here.
        """
        data = mimebundle(self.recorder.record(), live=True, writer=self._writer)

        def publish() -> None:
            with self._lock:
                if self._late is late and not self.broadcast.followed:
                    self._as_widget, self._drawn_late = False, True
                    self._context.copy().run(self._send, data)

        late = threading.Timer(max(0.0, self._began + LOADING - time.monotonic()), publish)
        late.daemon = True
        with self._lock:
            self._late = late
        late.start()

    # The display ------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self._cancel_timer()
        self._publish(live=True)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _publish(self, live: bool) -> None:
        began = time.monotonic()
        record = self.recorder.record()
        data = self._bundle(record, self._writer) if live else mimebundle(record, writer=self._writer)
        with self._lock:
            self._late, self._drawn_late = None, False
            self._send(data)
        self._shown, self._changed = True, False
        self._pace.spend(max(1.0, (time.monotonic() - began) * RATE / SHARE))

    def _bundle(self, record: dict[str, Any], writer: HtmlWriter) -> dict[str, Any]:
        """What is shown while the run goes on."""
        data = mimebundle(record, live=True, writer=writer)
        if not self._as_widget or self._widget is None:
            return data
        # The record is for a page that opens what was saved in mid-run, when the widget is no more.
        return {**self._widget.bundle, **data, RECORD_TYPE: record}

    def _send(self, data: dict[str, Any]) -> None:
        self._publisher.publish(data, {}, transient={"display_id": self._display_id}, update=self._shown)


def _hears_pages() -> bool:
    """Whether messages of a page may be handled while a cell runs; ipykernel before 7 keeps them waiting."""
    ipykernel = sys.modules.get("ipykernel")
    return ipykernel is None or ipykernel.version_info[0] >= 7
