"""Sends a request and gives the data of the answer as it comes. The one module that imports httpx, when it must.

`use_transport` puts something else in the place of the network, and `observe` shows all traffic with the keys
blanked. Redirects are never followed, so that a key goes nowhere else.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import Any

from httptools import HttpParserError

from ..config import RequestConfig
from ..errors import AuthenticationError, BadRequestError, ProviderError
from ..models import Model
from ..secret import Secret, shown_url
from . import network
from .address import Address, address_of
from .direct import CONNECT_TIMEOUT, KEPT_ALIVE, Answer, Connections, NoConnectionError
from .json_text import NotJSONError, parse_json
from .kept_ways import Way, way_to
from .keys import without_keys
from .provider_errors import connection_error, endless, http_error, interrupted, web_page, where
from .sse import SSEDecoder
from .transport import HTTPEvent, HTTPRequest, HTTPResponse, SilenceWatch, Transport

_LONGEST_ERROR_BODY = 100_000
# Seconds to wait for all of what a server says about a refusal.
_REFUSAL = 10.0
# Bytes. What goes on beyond this without one whole event is no answer, and would fill the memory.
_LONGEST_EVENT = 100_000_000
# How long to wait for the end of the body after the end marker, so that the connection can be used again.
_DRAIN = 0.25

# Of a header (RFC 9110, 5.6.2).
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

_transport: Transport | None = None
_listeners: list[Callable[[HTTPEvent], object]] = []


def use_transport(transport: Transport | None) -> Callable[[], None]:
    """Send every request by `transport`, None being the network. Returns a function that takes this back."""
    global _transport
    before, _transport = _transport, transport

    def restore() -> None:
        global _transport
        _transport = before

    return restore


def observe(listener: Callable[[HTTPEvent], object]) -> Callable[[], None]:
    """Call `listener(event)` for everything that is sent and received. Returns a function that ends this."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener) if listener in _listeners else None


async def post(
    model: Model,
    url: str,
    headers: Mapping[str, str | Secret],
    body: bytes,
    config: RequestConfig,
    is_complete: Callable[[], bool] = bool,
) -> AsyncGenerator[list[bytes], None]:
    """Send a JSON `body` and give the data payloads of each network read; a plain JSON answer is one payload.

    Names of `headers` are in small letters, and values that are keys must be `Secret`. Raises one of the kinds of
    `ProviderError`: for any status but 2xx, when no answer comes, and when the answer breaks off. Where an API has no
    end marker of its own, `is_complete()` tells after each read whether the payloads so far are the whole answer.
    Closing the generator, or cancelling its task, closes the connection at once.
    """
    merged: dict[str, str | Secret] = {
        "content-type": "application/json",
        "accept": "text/event-stream, application/json",
        "accept-encoding": "identity",
        **headers,
        **{name.lower(): value for name, value in model.headers.items()},
    }
    request = HTTPRequest(model, url, merged, body, config.timeout)
    _show("request", request, headers=request.shown_headers(), data=body)
    decoder = SSEDecoder()
    failure: ProviderError | None = None
    answered = ended = False
    unread = 0
    silence = SilenceWatch(request.timeout)
    try:
        with silence:
            async with (_transport or send)(request) as response:
                answered = True
                silence.heard()
                _show("response", request, response.status, response.headers)
                if not 200 <= response.status < 300:
                    # Its words have a limit of their own, since the status tells more than their silence.
                    silence.shorten(2 * _REFUSAL)
                    raise await _refusal(request, response)
                try:
                    async for data in response.body:
                        silence.heard()
                        if ended:
                            continue
                        if _listeners:
                            _show("data", request, data=data)
                        payloads = decoder.feed(data)
                        if payloads:
                            unread = 0
                            yield payloads
                        else:
                            unread += len(data)
                            if unread > _LONGEST_EVENT:
                                raise endless(model, url)
                        ended = decoder.is_done() or is_complete()
                        if ended:
                            silence.shorten(_DRAIN)
                except asyncio.CancelledError:
                    # A transport is left without an exception once the whole answer is here.
                    if not (ended and silence.expired):
                        raise
                    silence.forgive()
    except ProviderError as error:
        failure = error
    except asyncio.CancelledError:
        if not silence.expired:
            raise
        silence.forgive()
        failure = _too_silent(request, answered)
    rest = decoder.finish()
    if failure is None and decoder.raw and rest and rest[0].startswith(b"<"):
        failure = web_page(model, url, rest[0])
    # Once the end is here, a connection that breaks off loses nothing.
    if failure is not None and not ended:
        # Raised outside the except clause, so that it drags no exception of a library along as its context.
        clean = _without_keys(failure, request)
        _show("error", request, error=str(clean))
        raise clean
    if rest:
        yield rest
    _show("end", request)


async def get_json(model: Model, url: str, headers: Mapping[str, str | Secret], timeout: float) -> Any:
    """The JSON value at `url`; raises `ProviderError` as `post` does, and after `timeout` seconds in all."""
    merged: dict[str, str | Secret] = {
        "accept": "application/json",
        **headers,
        **{name.lower(): value for name, value in model.headers.items()},
    }
    request = HTTPRequest(model, url, merged, b"", timeout, method="GET")
    _show("request", request, headers=request.shown_headers())
    try:
        body = await asyncio.wait_for(_whole_body(request), timeout)
        value = parse_json(body)
    except ProviderError as error:
        failure = error
    except asyncio.TimeoutError:
        failure = _too_silent(request, answered=False)
    except NotJSONError:
        failure = interrupted(model, url, "The server sent something that is not JSON.")
    else:
        _show("end", request)
        return value
    clean = _without_keys(failure, request)
    _show("error", request, error=str(clean))
    raise clean


async def _whole_body(request: HTTPRequest) -> bytes:
    async with (_transport or send)(request) as response:
        _show("response", request, response.status, response.headers)
        if not 200 <= response.status < 300:
            raise await _refusal(request, response)
        body = b"".join([data async for data in response.body])
        _show("data", request, data=body)
        return body


def _too_silent(request: HTTPRequest, answered: bool) -> ProviderError:
    what = f"The server was silent for {request.timeout:g} seconds."
    make = interrupted if answered else connection_error
    return make(request.model, request.url, what)


async def _refusal(request: HTTPRequest, response: HTTPResponse) -> ProviderError:
    pieces: list[bytes] = []

    async def read() -> None:
        async for data in response.body:
            pieces.append(data)
            if sum(map(len, pieces)) > _LONGEST_ERROR_BODY:
                break

    # Whatever ends the explanation early, the status is known, and what came of the words has to do.
    with suppress(Exception):
        await asyncio.wait_for(read(), min(_REFUSAL, request.timeout or _REFUSAL))
    body = b"".join(pieces)
    _show("data", request, data=body)
    return http_error(request.model, request.url, response.status, response.headers, body)


def _show(
    kind: str,
    request: HTTPRequest,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    data: bytes = b"",
    error: str = "",
) -> None:
    for listener in tuple(_listeners):
        listener(HTTPEvent(kind, shown_url(request.url), headers or {}, status, data, error))


def _without_keys(error: ProviderError, request: HTTPRequest) -> ProviderError:
    """The same error; where the server's words repeat a key, without it."""
    words = without_keys(str(error), request.model)
    return type(error)(words, status=error.status, retryable=error.retryable, retry_after=error.retry_after)


# The network ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def send(request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
    """The network as a transport."""
    headers = {name: _revealed(value) for name, value in request.headers.items()}
    if not all(_NAME.fullmatch(name) and value.isascii() and value.isprintable() for name, value in headers.items()):
        place = where(request.model, request.url)
        raise AuthenticationError(f"{place}: the key, or a header, holds a character that no header can hold.")
    try:
        address = address_of(request.url)
    except ValueError:
        place = where(request.model, request.url)
        raise BadRequestError(f"{place}: base_url must be a URL that begins with https:// or http://.") from None
    if address.authorization:
        headers["authorization"] = address.authorization
    answered = False
    try:
        way = await way_to(address, _new_way)
        async with way.exchange(
            request.method, address, _sent_headers(address, request, headers), request.body
        ) as answer:
            answered = True
            yield HTTPResponse(answer.status, answer.headers, _decoded(answer))
    except ProviderError:
        raise
    except Exception as error:  # Whatever it is, it must not leave as an exception of a library.
        failed = _reading_failed(request, error) if answered else _connecting_failed(request, address, error)
        raise failed from None


def _revealed(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value


def _sent_headers(address: Address, request: HTTPRequest, headers: Mapping[str, str]) -> dict[str, str]:
    length = {"content-length": str(len(request.body))} if request.method == "POST" else {}
    return {"host": address.server, "user-agent": "agent-magic", **length, **headers}


def _decoded(answer: Answer) -> AsyncIterator[bytes]:
    """The body as it was before compression; that it be left out was asked for, but some servers cannot."""
    # `x-gzip` is an old name of the same (RFC 9110, 8.4.1.3).
    encoding = answer.headers.get("content-encoding", "identity").lower().replace("x-gzip", "gzip").encode("latin-1")
    if encoding == b"identity":
        return answer.body
    import httpx

    class Body(httpx.AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return answer.body

    return httpx.Response(answer.status, headers={b"content-encoding": encoding}, stream=Body()).aiter_bytes()


def _connecting_failed(request: HTTPRequest, address: Address, error: Exception) -> ProviderError:
    proxy = network.proxy_for(address.scheme, address.host)
    tls = _tls_error(error)
    unreadable = isinstance(error, OSError) and not isinstance(error, ConnectionError)
    settled = network.missing_certificates() if tls is not None or unreadable else ""
    if tls is not None and not settled:
        settled = network.tls_trouble(tls)
    elif proxy is not None and isinstance(error, (ImportError, ValueError)):
        wanted = "; a SOCKS proxy needs the package socksio" if isinstance(error, ImportError) else ""
        settled = f"The proxy {proxy.shown} ({proxy.source}) cannot be used{wanted}."
    if settled:
        return connection_error(request.model, request.url, settled, retryable=False)
    return connection_error(request.model, request.url, network.no_way(proxy, address.host, _what_happened(error)))


def _what_happened(error: Exception) -> str:
    import httpx

    if isinstance(error.__cause__ or error, (asyncio.TimeoutError, httpx.TimeoutException)):
        return f"No connection within {CONNECT_TIMEOUT:g} seconds."
    if isinstance(error, httpx.ProxyError):
        return f"The proxy refused the connection: {error}." if str(error) else "The proxy refused the connection."
    if isinstance(error, (NoConnectionError, httpx.ConnectError)):
        return "No connection could be made."
    if isinstance(error, HttpParserError):
        return "What the server sent is no answer of HTTP; one that is encrypted has a base_url with https://."
    return "The connection was closed before any answer came."


def _reading_failed(request: HTTPRequest, error: Exception) -> ProviderError:
    import httpx

    if isinstance(error, httpx.DecodingError):
        return interrupted(request.model, request.url, "The compressed answer is damaged.")
    return interrupted(request.model, request.url, "The connection broke off in the middle of the answer.")


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error
        error = error.__cause__ or error.__context__
    return None


class _ByProxy:
    """The connections of one loop to one server, by a proxy."""

    def __init__(self, proxy: network.Proxy) -> None:
        import httpx

        self._transport = httpx.AsyncHTTPTransport(
            verify=_ssl_context(network.settings()),
            trust_env=False,
            proxy=proxy.url,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEPT_ALIVE),
        )

    @asynccontextmanager
    async def exchange(
        self, method: str, address: Address, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[Answer]:
        import httpx

        url = f"{address.scheme}://{address.server}{address.target}"
        timeout = {"timeout": {"connect": CONNECT_TIMEOUT}}
        # A client would add what is not wanted here, cookies and redirects.
        response = await self._transport.handle_async_request(
            httpx.Request(method, url, headers=headers, content=body, extensions=timeout)
        )
        try:
            stream: Any = response.stream
            yield Answer(response.status_code, dict(response.headers), aiter(stream))
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()


def _new_way(address: Address) -> Way:
    proxy = network.proxy_for(address.scheme, address.host)
    if proxy is not None:
        return _ByProxy(proxy)
    return Connections(address, _ssl_context(network.settings()) if address.scheme == "https" else None)


@lru_cache(maxsize=1)
def _ssl_context(settings: tuple[str | None, ...]) -> ssl.SSLContext:
    """One for all servers, since making it takes 20 ms: httpx's authorities, the system's, and the user's own."""
    import httpx

    context = httpx.create_ssl_context()
    context.load_default_certs()
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        file = os.environ.get(variable, "")
        if os.path.isfile(file):
            context.load_verify_locations(file)
    context.set_alpn_protocols(["http/1.1"])
    return context
