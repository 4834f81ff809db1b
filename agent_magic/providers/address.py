"""The address in a base URL, taken apart as a request needs it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit

_PORTS = {"http": 80, "https": 443}
# What may stand in a path or a query as it is; a percent sign belongs to what is quoted already.
_PLAIN = "/:@!$&'()*+,;=?~%"


@dataclass(frozen=True)
class Address:
    """A server, and the `target` that is asked of it. `authorization` is empty where the URL names no user."""

    scheme: str
    host: str
    port: int
    target: str
    authorization: str

    @property
    def server(self) -> str:
        """Host and port as the header `Host` gives them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


@lru_cache
def address_of(url: str) -> Address:
    """Raises `ValueError` for what is no `http://` or `https://` URL with a host."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("no URL of HTTP")
    host = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode("ascii")
    target = quote(parts.path or "/", _PLAIN) + (f"?{quote(parts.query, _PLAIN)}" if parts.query else "")
    return Address(
        parts.scheme, host, parts.port or _PORTS[parts.scheme], target, _basic(parts.username, parts.password)
    )


def _basic(user: str | None, password: str | None) -> str:
    if user is None and password is None:
        return ""
    pair = f"{unquote(user or '')}:{unquote(password or '')}"
    return "Basic " + b64encode(pair.encode()).decode("ascii")
