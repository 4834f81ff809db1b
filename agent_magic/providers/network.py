"""What the user's machine says about the way to servers: the proxy to take, and whose certificates to trust."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXY_VARIABLES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_ALL = (*CERTIFICATE_VARIABLES, *_PROXY_VARIABLES, "no_proxy", "NO_PROXY")
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Proxy:
    """A proxy, and what names it: an environment variable, or the system's settings."""

    url: str
    source: str

    @property
    def shown(self) -> str:
        """Its host and port, without the password that the URL may hold."""
        try:
            parts = urlsplit(self.url)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            return "that is no URL"
        return f"{parts.hostname or 'without a host'}{port}"


def settings() -> tuple[str | None, ...]:
    """What in the environment decides about the way; connections made under other settings are of no use."""
    return tuple(map(os.environ.get, _ALL))


def is_direct(scheme: str, host: str) -> bool:
    """Whether it is an unencrypted server of this machine, which needs neither proxy nor certificate."""
    return scheme == "http" and host in _LOCAL


def proxy_for(scheme: str, host: str) -> Proxy | None:
    """The proxy that the environment, or else the system's settings, name for this server."""
    from urllib.request import getproxies, proxy_bypass

    if is_direct(scheme, host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    name = scheme if proxies.get(scheme) else "all"
    found = proxies.get(name)
    if not found:
        return None
    variables = (f"{name}_proxy", f"{name}_proxy".upper())
    source = next((each for each in variables if os.environ.get(each)), "the system's settings")
    return Proxy(found if "://" in found else f"http://{found}", source)


def missing_certificates() -> str:
    """What is wrong with the variables that name certificates; empty where nothing is."""
    for name in CERTIFICATE_VARIABLES:
        path = os.environ.get(name, "")
        exists = os.path.isdir if name == "SSL_CERT_DIR" else os.path.exists
        if path and not exists(path):
            return (
                f"{name} is set to {path}, which does not exist. Set it to the file with the certificates, or unset it."
            )
    return ""


def tls_trouble(error: ssl.SSLError) -> str:
    """Why no encrypted connection came about, and the variable to set, in two sentences."""
    reason = getattr(error, "verify_message", "") or (getattr(error, "reason", "") or "the handshake failed").lower()
    reason = reason.replace("_", " ").rstrip(".")
    if reason in ("no certificate or crl found", "no start line"):
        named = ", ".join(name for name in CERTIFICATE_VARIABLES if os.environ.get(name))
        return f"There is no certificate in PEM form in the file that is named by {named or 'the system'}."
    what = f"No encrypted connection could be made: {reason}."
    if not isinstance(error, ssl.SSLCertVerificationError):
        return f"{what} A server that is not encrypted has a base_url with http://."
    if "hostname" in reason.lower() or "ip address" in reason.lower():
        return f"{what} The certificate is that of another server, so check base_url."
    if "expired" in reason or "not yet valid" in reason:
        return f"{what} Check the clock of this machine, else the server needs a new certificate."
    given = os.environ.get("SSL_CERT_FILE", "")
    if given:
        return (
            f"{what} SSL_CERT_FILE is set to {given}, which does not hold the authority of this server; add it there."
        )
    return (
        f"{what} Set SSL_CERT_FILE to a PEM file with the certificate of the authority, such as that of your "
        "organisation's proxy."
    )


def no_way(proxy: Proxy | None, host: str, what: str) -> str:
    """`what` with the variable that the user may have to set or change."""
    if proxy is not None:
        return (
            f"{what} It was tried by the proxy {proxy.shown} ({proxy.source}); NO_PROXY names servers to reach without."
        )
    return what if host in _LOCAL else f"{what} Where the network is reached by a proxy only, set HTTPS_PROXY to it."
