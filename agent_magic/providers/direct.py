"""HTTP/1.1 straight to a server: asyncio carries it, h11 writes and reads it.

A short turn of a tool loop spent more than half of its time in the locks and checkpoints of a general client. That one
is still what goes by proxies.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import h11

from .address import Address

CONNECT_TIMEOUT = 20.0
KEPT_ALIVE = 60.0
# Connections to one server that are kept for later.
_KEPT = 20
# Seconds after which the next address of a host is tried beside the first.
_NEXT_ADDRESS = 0.25
# Bytes that are read at once.
_READ = 2**16
# Bytes that may wait to be read before the server is made to wait.
_UNREAD = 2**20


@dataclass(frozen=True)
class Answer:
    """Of a server: its status, its headers in small letters, and its body each time as much as has come."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class NoConnectionError(Exception):
    """There is no way to the server; the cause is an `OSError`, or a `TimeoutError` of asyncio."""


class Connection(asyncio.BufferedProtocol):
    """A connection for one exchange after the other. What breaks off raises `ConnectionError` or an error of h11."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT)
        self._transport: Any = None
        self._news: asyncio.Future[None] | None = None
        self._idle = True
        self._lost: BaseException | None = None
        self._unread = 0
        # asyncio's own buffer for what it reads is so large that memory is mapped for it each time.
        self._buffer = memoryview(bytearray(_READ))
        self.rested = 0.0

    # What asyncio calls -----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        if self._idle:
            # Nobody asked, so it must not be taken for the next answer.
            self.close()
            return
        self._http.receive_data(bytes(self._buffer[:size]))
        self._unread += size
        if self._unread > _UNREAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        if self._idle:
            self.close()
        else:
            self._http.receive_data(b"")
        return False

    def connection_lost(self, error: BaseException | None) -> None:
        self._lost = error or ConnectionResetError("The connection was closed.")
        self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    # One exchange -----------------------------------------------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        return self._lost is None and not self._transport.is_closing()

    async def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> h11.Response:
        """Send a request, and give the head of its answer."""
        self._idle = False
        request = h11.Request(method=method, target=target, headers=list(headers.items()))
        head, data = self._http.send(request), self._http.send(h11.Data(data=body))
        self._http.send(h11.EndOfMessage())
        # It is not waited for: of a server that refuses a body before it has all of it, the answer counts.
        for piece in (head + data,) if len(data) < _READ else (head, data):
            self._transport.write(piece)
        while isinstance(event := await self._event(), h11.InformationalResponse):
            pass
        if not isinstance(event, h11.Response):
            raise ConnectionResetError("The connection was closed before any answer came.")
        return event

    async def body(self) -> AsyncIterator[bytes]:
        """The body of the answer, each time all that has come."""
        while True:
            came: list[bytes] = []
            failure: h11.ProtocolError | None = None
            try:
                while isinstance(event := self._http.next_event(), h11.Data):
                    came.append(event.data)
            except h11.ProtocolError as error:
                failure = error
            if came:
                yield b"".join(came)
            if failure is not None:
                raise failure
            if event is not h11.NEED_DATA:
                return
            if not came:  # While what came was used, more may have come.
                await self._more()

    async def _event(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            await self._more()
        return event

    async def _more(self) -> None:
        """Wait for what has not come yet."""
        if self._lost is not None:
            raise self._lost
        if self._unread > _UNREAD:
            self._transport.resume_reading()
        self._unread = 0
        self._news = asyncio.get_running_loop().create_future()
        await self._news

    def rest(self) -> bool:
        """Get ready for the next exchange; False where that cannot be, since this one is not over or was the last."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE or not self.is_alive:
            return False
        if self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        self._idle, self.rested = True, time.monotonic()
        return True

    def close(self) -> None:
        self._transport.abort()


class Connections:
    """One loop's connections to one server; `context` is for `https`."""

    def __init__(self, address: Address, context: ssl.SSLContext | None) -> None:
        self._address = address
        self._context = context
        self._kept: list[Connection] = []

    @contextlib.asynccontextmanager
    async def exchange(
        self, method: str, address: Address, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[Answer]:
        """The answer to a request. Unless its body is read to the end, the connection is closed.

        Raises `NoConnectionError`; for what breaks off, `ConnectionError` or an error of h11.
        """
        connection = self._rested() or await self._connected()
        try:
            response = await connection.ask(method, address.target, headers, body)
            yield Answer(response.status_code, _by_name(response), connection.body())
        finally:
            if len(self._kept) < _KEPT and connection.rest():
                self._kept.append(connection)
            else:
                connection.close()

    def _rested(self) -> Connection | None:
        while self._kept:
            connection = self._kept.pop()
            if connection.is_alive and time.monotonic() - connection.rested < KEPT_ALIVE:
                return connection
            connection.close()
        return None

    async def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            connecting = loop.create_connection(
                Connection,
                self._address.host,
                self._address.port,
                ssl=self._context,
                happy_eyeballs_delay=_NEXT_ADDRESS,
            )
            return (await asyncio.wait_for(connecting, CONNECT_TIMEOUT))[1]
        except (OSError, asyncio.TimeoutError) as error:
            raise NoConnectionError from error

    async def aclose(self) -> None:
        """Close what is kept."""
        for connection in self._kept:
            connection.close()
        self._kept.clear()
        # A transport closes its socket in the next step of the loop.
        await asyncio.sleep(0)


def _by_name(response: h11.Response) -> dict[str, str]:
    """The headers; where there are several of a name, with commas between them."""
    found: dict[str, str] = {}
    for raw, value in response.headers:
        name, text = raw.decode("latin-1"), value.decode("latin-1")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found
