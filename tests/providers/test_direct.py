"""Connections straight to a server: each test a server that does one thing."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import pytest
from httptools import HttpParserError

from agent_magic.providers import direct
from agent_magic.providers.address import address_of
from agent_magic.providers.direct import Answer, Connections, NoConnectionError

from ..loopback import listening_socket

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Counts its connections, and keeps what it was asked."""

    def __init__(self, serve: Serve) -> None:
        self.connections = 0
        self._serve = serve

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def asked(reader: asyncio.StreamReader) -> bytes:
    """One request, its head and its body of two bytes."""
    return await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(2)


def run(serve: Serve, use: Callable[[Connections, Any], Awaitable[None]]) -> Server:
    """Let `use(connections, address)` talk to a server; returns it."""
    server = Server(serve)

    async def talk() -> None:
        listening = await asyncio.start_server(server.client, sock=listening_socket())
        address = address_of(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1?x=1")
        connections = Connections(address, None)
        with closing(listening):
            await asyncio.wait_for(use(connections, address), 10)
            await connections.aclose()

    asyncio.run(talk())
    return server


async def post(connections: Connections, address: Any, body: bytes = b"hi") -> tuple[Answer, bytes]:
    headers = {"host": address.server, "content-length": str(len(body))}
    async with connections.exchange("POST", address, headers, body) as answer:
        return answer, b"".join([data async for data in answer.body])


def test_one_connection_carries_one_exchange_after_the_other() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            assert (await asked(reader)).startswith(b"POST /v1?x=1 HTTP/1.1\r\n")
            writer.write(OK)

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(3):
            answer, body = await post(connections, address)
            assert (answer.status, body) == (200, b"ok")

    assert run(serve, use).connections == 1


@pytest.mark.parametrize(
    "last",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\n\r\nok",
        OK + b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n",
    ],
)
def test_a_connection_that_has_had_its_last_exchange_is_not_used_again(last: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(last)

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(2):
            assert (await post(connections, address))[1] == b"ok"

    assert run(serve, use).connections == 2


def test_what_nobody_asked_for_is_not_taken_for_an_answer() -> None:
    sent = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(OK)
        await asyncio.sleep(0.02)
        writer.write(b"HTTP/1.1 500 Late\r\ncontent-length: 4\r\n\r\nlate")
        sent.set()
        await asyncio.sleep(0.02)

    async def use(connections: Connections, address: Any) -> None:
        assert (await post(connections, address))[1] == b"ok"
        await sent.wait()
        await asyncio.sleep(0.05)
        assert (await post(connections, address))[1] == b"ok"

    assert run(serve, use).connections == 2


def test_a_connection_on_which_reading_was_stopped_hears_of_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "_UNREAD", 1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(OK)

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(2):
            assert (await post(connections, address))[1] == b"ok"
            await asyncio.sleep(0.05)

    assert run(serve, use).connections == 2


def test_a_connection_that_was_closed_while_the_loop_was_blocked_is_not_used_again() -> None:
    with closing(listening_socket()) as listening:
        address = address_of(f"http://127.0.0.1:{listening.getsockname()[1]}/")

        def serve() -> None:
            for _ in range(2):
                with closing(listening.accept()[0]) as client:
                    while not client.recv(2**16).endswith(b"hi"):
                        pass
                    client.sendall(OK)
                    time.sleep(0.1)

        async def use() -> None:
            connections = Connections(address, None)
            for _ in range(2):
                assert (await post(connections, address))[1] == b"ok"
                time.sleep(0.3)
            await connections.aclose()

        server = threading.Thread(target=serve)
        server.start()
        asyncio.run(use())
        server.join()


def test_a_connection_that_rested_too_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "KEPT_ALIVE", 0.0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await asked(reader)
            writer.write(OK)

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(2):
            await post(connections, address)

    assert run(serve, use).connections == 2


def test_an_answer_is_waited_for_behind_what_is_only_said_meanwhile() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + OK)

    async def use(connections: Connections, address: Any) -> None:
        answer, body = await post(connections, address)
        assert (answer.status, body) == (200, b"ok")

    run(serve, use)


def test_headers_of_one_name_are_joined_and_names_are_in_small_letters() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nX-Limit: 1\r\nx-limit: 2\r\nContent-Length: 0\r\n\r\n")

    async def use(connections: Connections, address: Any) -> None:
        answer, _ = await post(connections, address)
        assert answer.headers == {"x-limit": "1, 2", "content-length": "0"}

    run(serve, use)


def test_what_came_before_a_connection_broke_off_is_given_first() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")

    async def use(connections: Connections, address: Any) -> None:
        async with connections.exchange("POST", address, {"host": "x", "content-length": "2"}, b"hi") as answer:
            assert await anext(answer.body) == b"half"
            with pytest.raises((ConnectionError, HttpParserError)):
                await anext(answer.body)

    run(serve, use)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        CHUNKED + b"\r\n2 \r\nok\r\n0\r\n\r\n",
        CHUNKED + b"content-length: 9\r\n\r\n2;x=y\r\nok\r\n0\r\nx-other: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: in two\r\n lines\r\ny: \x01\xff\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.0 100 Continue\r\nconnection: close\r\n\r\n" + OK,
        OK + b"HTTP/1.1 500 Other\r\nx-other: 1\r\ncontent-length: 5\r\n\r\nother",
        OK + b"no HTTP at all",
    ],
)
def test_what_servers_get_slightly_wrong_is_put_up_with(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(answer)

    async def use(connections: Connections, address: Any) -> None:
        found, body = await post(connections, address)
        assert (found.status, body) == (200, b"ok")
        assert "x-other" not in found.headers

    run(serve, use)


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked,\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        CHUNKED + b"\r\nzz\r\n",
        CHUNKED + b"\r\n2\r\nok\r\n",
    ],
)
def test_what_is_no_whole_answer_is_an_error(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(answer)

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(2):
            with pytest.raises((ConnectionError, HttpParserError)):
                await post(connections, address)

    assert run(serve, use).connections == 2


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, b"HTTP/1.1 000 What\r\n\r\n"])
def test_a_head_that_cannot_become_an_answer_is_an_error_at_once(start: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(start)
        await reader.read()

    async def use(connections: Connections, address: Any) -> None:
        with pytest.raises(HttpParserError):
            await post(connections, address)

    run(serve, use)


@pytest.mark.parametrize(("before", "status"), [(b"", 101), (OK, 200)])
def test_a_server_that_goes_on_in_another_protocol_is_not_listened_to(
    before: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(before + b"HTTP/1.1 101 Other\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n\x01")
        await reader.read()

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(2):
            assert (await post(connections, address))[0].status == status

    assert run(serve, use).connections == 2
    assert not caplog.records


def test_a_server_that_closes_without_an_answer_is_an_error() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)

    async def use(connections: Connections, address: Any) -> None:
        with pytest.raises((ConnectionError, HttpParserError)):
            await post(connections, address)

    run(serve, use)


def test_a_refusal_counts_that_comes_before_the_whole_body_is_sent() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")
        await writer.drain()
        await asyncio.sleep(0.2)

    async def use(connections: Connections, address: Any) -> None:
        for _ in range(2):
            answer, body = await post(connections, address, b"x" * 20_000_000)
            assert (answer.status, body) == (413, b"no")

    assert run(serve, use).connections == 2


def test_an_answer_ends_with_what_its_server_sends_even_if_that_does_not_read_the_request() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 413 Too Large\r\n\r\nno")
        writer.write_eof()
        await left.wait()

    async def use(connections: Connections, address: Any) -> None:
        answer, body = await post(connections, address, b"x" * 20_000_000)
        left.set()
        assert (answer.status, body) == (413, b"no")

    left = asyncio.Event()
    run(serve, use)


def test_a_server_that_is_faster_than_its_reader_waits() -> None:
    size = 30_000_000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size)
        for _ in range(size // 100_000):
            writer.write(b"x" * 100_000)
            await writer.drain()

    async def use(connections: Connections, address: Any) -> None:
        length, longest = 0, 0
        async with connections.exchange("POST", address, {"host": "x", "content-length": "2"}, b"hi") as answer:
            async for data in answer.body:
                await asyncio.sleep(0.005)
                length, longest = length + len(data), max(longest, len(data))
        assert length == size
        assert longest < 4_000_000

    run(serve, use)


def test_leaving_an_answer_early_closes_its_connection_at_once() -> None:
    closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        try:
            assert await reader.read() == b""
        finally:
            closed.set()

    async def use(connections: Connections, address: Any) -> None:
        async with connections.exchange("POST", address, {"host": "x", "content-length": "2"}, b"hi") as answer:
            assert await anext(answer.body) == b"half"
        await closed.wait()

    run(serve, use)


def test_a_server_that_never_ends_the_handshake_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "CONNECT_TIMEOUT", 0.1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def use(connections: Connections, address: Any) -> None:
        with pytest.raises(NoConnectionError) as caught:
            await post(Connections(address, ssl.create_default_context()), address)
        assert isinstance(caught.value.__cause__, asyncio.TimeoutError)

    assert run(serve, use).connections == 1


def test_a_request_that_is_cancelled_just_as_its_connection_is_made_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def use(connections: Connections, address: Any) -> None:
        loop = asyncio.get_running_loop()
        connect = loop.create_connection

        async def connect_and_cancel(*arguments: Any, **more: Any) -> Any:
            made = await connect(*arguments, **more)
            loop.call_soon(asking.cancel)
            return made

        monkeypatch.setattr(loop, "create_connection", connect_and_cancel)
        asking = asyncio.ensure_future(post(connections, address))
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, 1)

    run(serve, use)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://a..b/"])
def test_where_nobody_listens_there_is_no_connection(url: str) -> None:
    async def use(connections: Connections, address: Any) -> None:
        nobody = address_of(url)
        with pytest.raises(NoConnectionError):
            await post(Connections(nobody, None), nobody)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pass

    assert run(serve, use).connections == 0
