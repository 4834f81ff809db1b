"""Proxies and private certificates: what the environment says is followed, and what is wrong with it is named."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

import agent_magic as am
from agent_magic.providers import http, kept_ways, network

from ..loopback import listening_socket

CONTEXT = am.Context(messages=[am.UserMessage("hi")])
HOST = "models.example.org"
BODY = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in network._ALL:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def certificates(authority: trustme.CA) -> Iterator[str]:
    with authority.cert_pem.tempfile() as path:
        yield path


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(ANSWER)
    await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def closed_at_the_end(server: asyncio.Server) -> AsyncIterator[asyncio.Server]:
    """From Python 3.12 on `async with server` waits for all connections, and encrypted ones take 30 s to end."""
    try:
        yield server
    finally:
        server.close()


async def served(*hosts: str, authority: trustme.CA | None = None, handler: Handler = answer) -> Any:
    """A server on a port of this machine; encrypted, with a certificate for `hosts`, where there is an authority."""
    context = None
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*hosts).configure_cert(context)
    return closed_at_the_end(await asyncio.start_server(handler, sock=listening_socket(), ssl=context))


def port_of(server: Any) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


async def ask(url: str) -> am.AssistantMessage:
    model = am.Model("m", base_url=url, api_key="sk-none")
    return await am.complete(model, CONTEXT, am.RequestConfig(max_retries=1))


async def failure(url: str) -> am.ProviderError:
    with pytest.raises(am.ServerConnectionError) as caught:
        await ask(url)
    return caught.value


# Answers ------------------------------------------------------------------------------------------------------------


def test_a_compressed_answer_is_read_whatever_else_its_head_holds() -> None:
    async def compressed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            "HTTP/1.0 200 OK\r\nserver: Zürich\r\ncontent-encoding: gzip\r\n\r\n".encode() + gzip.compress(BODY)
        )
        writer.close()

    async def run() -> None:
        async with await served(handler=compressed) as server:
            assert (await ask(f"http://127.0.0.1:{port_of(server)}/v1")).text == "Hello"

    asyncio.run(run())


def test_the_ways_of_ended_loops_may_be_forgotten_by_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        def is_closed(self) -> bool:
            kept_ways._kept.clear()
            return True

    monkeypatch.setattr(kept_ways, "_kept", {(Ended(), 1): None, (Ended(), 2): None})

    async def run() -> None:
        async with await served() as server:
            model = am.Model("m", base_url=f"http://127.0.0.1:{port_of(server)}/v1", api_key="sk-none")
            assert (await am.complete(model, CONTEXT, am.RequestConfig(max_retries=0))).text == "Hello"

    asyncio.run(run())


# Certificates ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_private_authority_is_trusted_once_the_variable_that_the_error_names_is_set(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, certificates: str, variable: str
) -> None:
    """Complaint 46 about other tools: behind a proxy that inspects TLS, ten attempts failed and no cure was named."""

    async def run() -> None:
        async with await served("localhost", authority=authority) as server:
            url = f"https://localhost:{port_of(server)}/v1"
            error = await failure(url)
            assert not error.retryable
            assert "Set SSL_CERT_FILE" in str(error)
            monkeypatch.setenv(variable, certificates)
            assert (await ask(url)).text == "Hello"

    asyncio.run(run())


def test_an_authority_that_the_given_file_does_not_hold_is_named_with_the_file(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA
) -> None:
    async def run() -> str:
        with trustme.CA().cert_pem.tempfile() as other:
            monkeypatch.setenv("SSL_CERT_FILE", other)
            async with await served("localhost", authority=authority) as server:
                error = str(await failure(f"https://localhost:{port_of(server)}/v1"))
            assert other in error
            return error

    assert "does not hold the authority" in asyncio.run(run())


@pytest.mark.parametrize("variable", network.CERTIFICATE_VARIABLES)
def test_a_file_of_certificates_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, variable: str
) -> None:
    async def run() -> str:
        async with await served("localhost", authority=authority) as server:
            return str(await failure(f"https://localhost:{port_of(server)}/v1"))

    monkeypatch.setenv(variable, "gone.pem")
    assert f"{variable} is set to gone.pem, which does not exist" in asyncio.run(run())


def test_a_file_without_certificates_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "notes.pem"
    file.write_text("nothing here")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    error = asyncio.run(failure("https://localhost:9/v1"))
    assert "no certificate in PEM form in the file that is named by SSL_CERT_FILE" in str(error)


def test_the_certificate_of_another_server_is_told(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, certificates: str
) -> None:
    async def run() -> str:
        async with await served("elsewhere.example", authority=authority) as server:
            return str(await failure(f"https://localhost:{port_of(server)}/v1"))

    monkeypatch.setenv("SSL_CERT_FILE", certificates)
    assert "certificate is that of another server" in asyncio.run(run())


def test_the_authorities_of_the_system_are_trusted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ssl.SSLContext] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, *_: asked.append(self))
    http._ssl_context.cache_clear()
    assert http._ssl_context(network.settings()) in asked
    http._ssl_context.cache_clear()


# Proxies --------------------------------------------------------------------------------------------------------------


class LoopbackProxy:
    """A proxy that leads everything to one port of this machine, or answers each request with `refusal`."""

    def __init__(self, port: int = 0, refusal: bytes = b"") -> None:
        self.heads: list[bytes] = []
        self._port = port
        self._refusal = refusal

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        if self._refusal:
            writer.write(self._refusal)
        elif head.startswith(b"CONNECT"):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            there, out = await asyncio.open_connection("127.0.0.1", self._port)
            await asyncio.gather(pump(reader, out), pump(there, writer))
        else:
            writer.write(ANSWER)
        writer.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_is_taken_to_an_encrypted_server(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, certificates: str, variable: str
) -> None:
    async def run() -> None:
        async with await served(HOST, authority=authority) as server:
            proxy = LoopbackProxy(port_of(server))
            async with await served(handler=proxy.handle) as door:
                monkeypatch.setenv(variable, f"http://user:pass-word@127.0.0.1:{port_of(door)}")
                monkeypatch.setenv("SSL_CERT_FILE", certificates)
                assert (await ask(f"https://{HOST}/v1")).text == "Hello"
        assert proxy.heads[0].startswith(b"CONNECT models.example.org:443 ")
        assert b"proxy-authorization: basic" in proxy.heads[0].lower()

    asyncio.run(run())


def test_a_proxy_is_taken_to_an_unencrypted_server_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        proxy = LoopbackProxy()
        async with await served(handler=proxy.handle) as door:
            monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{port_of(door)}")
            assert (await ask(f"http://{HOST}/v1")).text == "Hello"
        assert proxy.heads[0].startswith(b"POST http://models.example.org/v1/chat/completions ")

    asyncio.run(run())


@pytest.mark.parametrize("exempt", [True, False])
def test_servers_of_this_machine_and_those_in_no_proxy_are_reached_directly(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, certificates: str, exempt: bool
) -> None:
    async def run() -> None:
        proxy = LoopbackProxy(refusal=b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        async with await served(handler=proxy.handle) as door:
            for name in ("HTTP_PROXY", "HTTPS_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{port_of(door)}")
            async with await served() as server:
                assert (await ask(f"http://127.0.0.1:{port_of(server)}/v1")).text == "Hello"
            async with await served("localhost", authority=authority) as server:
                monkeypatch.setenv("SSL_CERT_FILE", certificates)
                if exempt:
                    monkeypatch.setenv("NO_PROXY", "localhost")
                    assert (await ask(f"https://localhost:{port_of(server)}/v1")).text == "Hello"
                else:
                    await failure(f"https://localhost:{port_of(server)}/v1")
        assert bool(proxy.heads) is not exempt

    asyncio.run(run())


@pytest.mark.parametrize("refusal", [b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", b"HTTP/1.1 502 No\r\n\r\n"])
def test_a_proxy_that_refuses_is_named_with_its_variable_and_without_its_password(
    monkeypatch: pytest.MonkeyPatch, refusal: bytes
) -> None:
    async def run() -> None:
        async with await served(handler=LoopbackProxy(refusal=refusal).handle) as door:
            monkeypatch.setenv("HTTPS_PROXY", f"http://user:pass-word@127.0.0.1:{port_of(door)}")
            error = str(await failure(f"https://{HOST}/v1"))
            assert f"127.0.0.1:{port_of(door)} (HTTPS_PROXY)" in error
            assert refusal[9:12].decode() in error
            assert "pass-word" not in error

    asyncio.run(run())


def test_a_proxy_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    error = str(asyncio.run(failure(f"https://{HOST}/v1")))
    assert "proxy 127.0.0.1:9 (HTTPS_PROXY)" in error
    assert "NO_PROXY" in error


@pytest.mark.parametrize(
    ("url", "words"), [("socks5://127.0.0.1:9", "socksio"), ("ftp://127.0.0.1:9", "127.0.0.1:9 (HTTPS_PROXY)")]
)
def test_a_proxy_of_a_kind_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, url: str, words: str) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("HTTPS_PROXY", url)
    error = asyncio.run(failure(f"https://{HOST}/v1"))
    assert words in str(error)
    assert not error.retryable


def test_without_a_proxy_the_variable_for_one_is_named_for_servers_elsewhere_only() -> None:
    assert "set HTTPS_PROXY" in network.no_way(None, HOST, "No connection.")
    assert "PROXY" not in network.no_way(None, "localhost", "No connection.")
