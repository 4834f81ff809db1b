"""Where the Gemini API is, and the header that its key goes into."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit, urlunsplit

from ..models import Model
from ..secret import Secret
from .keys import key_for
from .vendors import VENDORS

_ENDS_WITH_VERSION = re.compile(r"/v\d+(alpha|beta)?\d*$")
_KEY_HEADERS = ("x-goog-api-key", "authorization")


def resource(model: Model) -> str:
    """The model's name as the API writes it, such as `models/gemini-2.5-pro`."""
    return model.id if model.id.startswith(("models/", "tunedModels/")) else f"models/{model.id}"


def address(model: Model, operation: str, query: str = "") -> str:
    """The URL of an operation below the model's base_url, which may end with a version and whose query is kept."""
    parts = urlsplit(model.base_url or VENDORS["google"].base_url)
    path = parts.path.rstrip("/")
    if not _ENDS_WITH_VERSION.search(path):
        path += "/v1beta"
    path = f"{path}/{quote(resource(model), safe='/+@')}:{operation}"
    return urlunsplit((parts.scheme, parts.netloc, path, "&".join(filter(None, (parts.query, query))), ""))


def key_headers(model: Model, url: str) -> dict[str, str | Secret]:
    """The header with the key for `url`; none where the model's own headers hold one, or the server needs none."""
    if any(name.lower() in _KEY_HEADERS for name in model.headers):
        return {}
    key = key_for(model, url)
    return {} if key is None else {"x-goog-api-key": key}
