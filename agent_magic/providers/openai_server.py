"""Where a server of the OpenAI APIs is, and the header that its key goes into; Azure's servers differ in both."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from ..models import Model
from ..secret import Secret
from .keys import key_for
from .quirks import quirks_of
from .vendors import VENDORS, base_url_of, vendor_named

_OPERATIONS = ("/chat/completions", "/responses", "/embeddings")
_KEY_HEADERS = ("authorization", "api-key")


def address(model: Model, operation: str) -> str:
    """The URL of an operation, such as `/responses`, below the model's base_url, whose query is kept.

    A base_url that names an operation already leads to its neighbours too; Azure's endpoint alone, as its portal
    shows it, is completed.
    """
    vendor = vendor_named(model.provider)
    root = model.base_url or (base_url_of(vendor) if vendor else "") or base_url_of(VENDORS["openai"])
    parts = urlsplit(root)
    path = parts.path.rstrip("/")
    for known in _OPERATIONS:
        path = path.removesuffix(known)
    if not path and VENDORS["azure"].owns(root):
        path = "/openai/v1"
    return urlunsplit((parts.scheme, parts.netloc, path + operation, parts.query, ""))


def key_headers(model: Model, url: str) -> dict[str, str | Secret]:
    """The header with the key for `url`; none where the model's own headers hold one, or the server needs none."""
    if any(name.lower() in _KEY_HEADERS for name in model.headers):
        return {}
    key = key_for(model, url)
    quirks = quirks_of(model)
    return {} if key is None else {quirks.key_header: Secret(quirks.key_prefix + key.reveal())}
