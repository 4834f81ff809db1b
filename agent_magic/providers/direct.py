"""HTTP/1.1 straight to a server: asyncio carries it, httptools takes the answers apart.

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

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from .address import Address
from .transport import SilenceWatch

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
# Bytes that may come without any of a body.
_LONGEST_HEAD = 2**17
# What has such a status is only said meanwhile, except that nothing of HTTP follows a change of the protocol.
_MEANWHILE = range(100, 200)
_OTHER_PROTOCOL = 101
# Seconds after which a server may have closed a connection that nobody used.
_SURELY_OPEN = 0.1


@dataclass(frozen=True)
class Answer:
    """Of a server: its status, its headers in small letters, and its body each time as much as has come."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class NoConnectionError(Exception):
    """There is no way to the server; the cause is an `OSError`, a `UnicodeError`, or a `TimeoutError` of asyncio."""


class Connection(asyncio.BufferedProtocol):
    """A connection for one exchange after the other. What breaks off raises `ConnectionError` or `HttpParserError`."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._news: asyncio.Future[None] | None = None
        self._answer: _IncomingAnswer | None = None
        self._lost: BaseException | None = None
        # asyncio's own buffer for what it reads is so large that memory is mapped for it each time.
        self._buffer = memoryview(bytearray(_READ))
        self.rested = 0.0

    # What asyncio calls -----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        if self._answer is None:
            # Nobody asked, so it must not be taken for the next answer.
            self.close()
            return
        self._answer.feed(self._buffer[:size])
        if self._answer.unread > _UNREAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        if self._answer is not None:
            self._answer.end()
        # asyncio says it only when all of the request has been sent, which such a server may never read.
        self.connection_lost(None)
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

    async def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request, and give the answer as soon as its head is here."""
        answer = self._answer = _IncomingAnswer()
        head = _head(method, target, headers)
        # It is not waited for: of a server that refuses a body before it has all of it, the answer counts.
        for piece in (head + body,) if len(body) < _READ else (head, body):
            self._transport.write(piece)
        while not answer.status:
            await self._more(answer)
        return Answer(answer.status, answer.headers, self._body(answer))

    async def _body(self, answer: _IncomingAnswer) -> AsyncIterator[bytes]:
        """The body of the answer, each time all that has come."""
        while True:
            if answer.came:
                yield answer.take()
            elif answer.is_complete:
                return
            else:
                await self._more(answer)

    async def _more(self, answer: _IncomingAnswer) -> None:
        """Wait for what has not come yet."""
        if answer.failure is not None:
            raise answer.failure
        if self._lost is not None:
            raise self._lost
        self._transport.resume_reading()
        self._news = asyncio.get_running_loop().create_future()
        await self._news

    def rest(self) -> bool:
        """Get ready for the next exchange; False where that cannot be, since this one is not over or was the last."""
        answer, self._answer = self._answer, None
        if answer is None or not answer.may_be_followed or not self.is_alive:
            return False
        if self._transport.get_write_buffer_size():
            # Who answers before the whole request is there may take the rest of it for the next one, or for nothing.
            return False
        # A large answer may have stopped it, and then nothing would be heard of what the server does meanwhile.
        self._transport.resume_reading()
        self.rested = time.monotonic()
        return True

    def close(self) -> None:
        self._transport.abort()


class _IncomingAnswer:
    """One answer as far as it has come. httptools, which takes the bytes apart, calls the methods named `on_…`."""

    def __init__(self) -> None:
        # 0 until the whole head is here.
        self.status = 0
        self.headers: dict[str, str] = {}
        self.came: list[bytes] = []
        self.unread = 0
        self.is_complete = False
        self.may_be_followed = False
        self.failure: Exception | None = None
        self._ends_with_connection = False
        self._bytes_of_head = 0
        self._parser = HttpResponseParser(self)
        # What most clients put up with. An answer that is misread harms nobody else: the connection is ours alone.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_keep_alive=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def feed(self, data: memoryview) -> None:
        if self.is_complete or self.failure is not None:
            self.may_be_followed = False
            return
        self._bytes_of_head += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self._fail(error)
        except HttpParserUpgrade:
            self._fail(HttpParserError("The server went on to speak another protocol."))
        if self._bytes_of_head > _LONGEST_HEAD:
            self._fail(HttpParserError("The head of the answer does not end."))

    def end(self) -> None:
        """The server sends nothing more."""
        if self.status and self._ends_with_connection:
            self.is_complete = True
        else:
            self._fail(ConnectionResetError("The connection was closed before the whole answer was here."))

    def take(self) -> bytes:
        came, self.came, self.unread = self.came, [], 0
        return came[0] if len(came) == 1 else b"".join(came)

    def _fail(self, error: Exception) -> None:
        # What comes behind a whole answer does it no harm, but belongs to no other.
        self.may_be_followed = False
        if not self.is_complete and self.failure is None:
            self.failure = error

    def on_message_begin(self) -> None:
        self.may_be_followed = False

    # What follows a whole answer in the same read is another's, and not looked at.

    def on_header(self, name: bytes, value: bytes) -> None:
        # Behind the body there may be more, which say nothing that is wanted.
        if self.status:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        if self.is_complete:
            return
        status = self._parser.get_status_code()
        if status in _MEANWHILE and status != _OTHER_PROTOCOL:
            self.headers = {}
            return
        codings = {each.strip() for each in self.headers.get("transfer-encoding", "identity").lower().split(",")}
        if status < _MEANWHILE.start or not codings <= {"chunked", "identity"}:
            raise HttpParserError("The answer has a form that nobody could read.")
        self.status = status
        self._ends_with_connection = "chunked" not in codings and "content-length" not in self.headers

    def on_body(self, data: bytes) -> None:
        if self.is_complete:
            return
        self.came.append(data)
        self.unread += len(data)
        self._bytes_of_head = 0

    def on_message_complete(self) -> None:
        if self.status and not self.is_complete:
            self.is_complete = True
            self.may_be_followed = self._parser.should_keep_alive()


def _head(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


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

        Raises `NoConnectionError`; for what breaks off, `ConnectionError` or `HttpParserError`.
        """
        if self._kept and time.monotonic() - self._kept[-1].rested > _SURELY_OPEN:
            # Where something blocked the loop, it has not heard yet that a server closed: it reads, and then tells.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        connection = self._rested() or await self._connected()
        try:
            yield await connection.ask(method, address.target, headers, body)
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
        # `wait_for` passes over a cancellation that comes together with the connection, before Python 3.12.
        watch = SilenceWatch(CONNECT_TIMEOUT)
        try:
            with watch:
                made = await loop.create_connection(
                    Connection,
                    self._address.host,
                    self._address.port,
                    ssl=self._context,
                    happy_eyeballs_delay=_NEXT_ADDRESS,
                )
        except (OSError, UnicodeError) as error:
            raise NoConnectionError from error
        except asyncio.CancelledError:
            if not watch.expired:
                raise
            watch.forgive()
            raise NoConnectionError from asyncio.TimeoutError()
        return made[1]

    async def aclose(self) -> None:
        """Close what is kept."""
        for connection in self._kept:
            connection.close()
        self._kept.clear()
        # A transport closes its socket in the next step of the loop.
        await asyncio.sleep(0)
