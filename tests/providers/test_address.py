"""Base URLs, taken apart."""

from __future__ import annotations

import pytest

from agent_magic.providers.address import address_of


@pytest.mark.parametrize(
    ("url", "scheme", "host", "server", "target", "authorization"),
    [
        ("https://a.example/v1/x", "https", "a.example", "a.example", "/v1/x", ""),
        ("http://a.example:8080", "http", "a.example", "a.example:8080", "/", ""),
        ("http://[::1]:11434/v1", "http", "::1", "[::1]:11434", "/v1", ""),
        ("https://a.example:443/a b/ü?q=1&r=%20x", "https", "a.example", "a.example", "/a%20b/%C3%BC?q=1&r=%20x", ""),
        ("https://bücher.example/", "https", "xn--bcher-kva.example", "xn--bcher-kva.example", "/", ""),
        ("http://me:p%40ss@a.example/", "http", "a.example", "a.example", "/", "Basic bWU6cEBzcw=="),
    ],
)
def test_an_address_is_taken_apart(
    url: str, scheme: str, host: str, server: str, target: str, authorization: str
) -> None:
    address = address_of(url)
    assert (address.scheme, address.host, address.server) == (scheme, host, server)
    assert (address.target, address.authorization) == (target, authorization)


@pytest.mark.parametrize("url", ["ftp://a.example/", "a.example/v1", "https://", "https://a:b/", "http://[::1/"])
def test_what_is_no_url_of_http_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL|[Pp]ort"):
        address_of(url)
