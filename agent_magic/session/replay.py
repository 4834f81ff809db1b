"""Recording what is asked of models and answered by them, and playing it again without a network.

Both are transports of `providers/http.py`. A model in a file of this machine is asked anew each time, and models
without a server (`demo`, `scripted`) never come here. Nothing here says yes to a tool: calls are decided where they
are played, by the policy there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from ..errors import ReplayError, ServerConnectionError
from ..providers import http
from ..providers.keys import do_without_keys
from ..providers.transport import HTTPRequest, HTTPResponse, Transport
from .recording import Exchange, Recording
from .request_form import RequestForm, difference, form_of, keys_of, nearest, without_keys

Mask = Callable[[str], str]


class Recorder:
    """Sends requests by `network` and keeps each with its whole answer in `recording`.

    `mask` hides what looks like a key in the texts of a request; known keys are hidden in any case. Kept is what was
    answered, refusals too, but not what broke off, nor a refusal after which the request is sent again.
    """

    def __init__(self, recording: Recording, mask: Mask = str, network: Transport | None = None) -> None:
        self.recording = recording
        self.cell = ""
        self._mask = mask
        self._network = network or http.send

    def install(self) -> Callable[[], None]:
        """Let all requests go this way. Returns a function that takes this back."""
        return http.use_transport(self.transport)

    @asynccontextmanager
    async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
        if _of_this_machine(request) or not _asks_a_model(request):
            async with self._network(request) as response:
                yield response
            return
        form, keys, cell = form_of(request, self._mask), keys_of(request), self.cell
        number = self.recording.number()
        pieces: list[bytes] = []
        ended = False

        async def kept(body: HTTPResponse) -> AsyncIterator[bytes]:
            nonlocal ended
            async for piece in body.body:
                pieces.append(piece)
                yield piece
            ended = True

        async with self._network(request) as response:
            try:
                yield HTTPResponse(response.status, response.headers, kept(response))
                # Whoever leaves without an exception has read all there is to read, if not to the very end.
                ended = True
            finally:
                if ended and not _sent_again(response.status):
                    answer = _without_keys(b"".join(pieces), keys)
                    self.recording.keep(number, Exchange(form, response.status, answer, cell))


class Player:
    """Answers requests from `recording`, without a network and without keys.

    A request that was not recorded is a `ReplayError` that shows what is other than in the nearest recorded one.
    """

    def __init__(self, recording: Recording, mask: Mask = str) -> None:
        self.recording = recording
        self.cell = ""
        self._mask = mask

    def install(self) -> Callable[[], None]:
        """Let all requests be answered here, keys or not. Returns a function that takes this back."""
        undo = (http.use_transport(self.transport), do_without_keys())

        def restore() -> None:
            for each in undo:
                each()

        return restore

    @asynccontextmanager
    async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
        if _of_this_machine(request):
            async with http.send(request) as response:
                yield response
            return
        if not _asks_a_model(request):
            raise ServerConnectionError(
                f"{request.model.label}: while recorded answers are played, no server is asked."
            )
        form = form_of(request, self._mask)
        exchange = self.recording.answer_to(form, self.cell)
        if exchange is None:
            raise ReplayError(self._missing(form))
        yield HTTPResponse(exchange.status, {}, _streamed(exchange))

    def _missing(self, form: RequestForm) -> str:
        path, recorded = self.recording.path, [each.request for each in self.recording.exchanges]
        near = nearest(form, recorded)
        if near is None:
            what = "holds no exchange" if path.exists() else "does not exist"
            return f"There is nothing to replay: {path} {what}. Run the cells with --record first."
        return (
            f"This request was not recorded in {path.name}. It differs from the nearest of {len(recorded)} there:\n"
            f"{difference(near, form)}\nRun the cell with --record to record it, or take the change back."
        )


async def _streamed(exchange: Exchange) -> AsyncIterator[bytes]:
    for chunk in exchange.chunks:
        yield chunk
        # A read each, as from a network, so that the answer streams.
        await asyncio.sleep(0)


def _of_this_machine(request: HTTPRequest) -> bool:
    return request.model.provider == "local"


def _asks_a_model(request: HTTPRequest) -> bool:
    """Else it asks a server what models it has, or the like."""
    return request.method == "POST"


def _sent_again(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500


def _without_keys(body: bytes, keys: list[str]) -> bytes:
    # Latin-1 leaves every byte as it is, also in what is no UTF-8; keys are ASCII.
    return without_keys(body.decode("latin-1"), keys).encode("latin-1")
