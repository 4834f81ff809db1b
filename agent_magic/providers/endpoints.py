"""What servers really serve, asked only when the user wants to know: one endpoint, or those of this machine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidDataError, ProviderError, ServerError
from ..models import Model
from ..secret import Secret
from .http import get_json
from .keys import host_of, key_for
from .openai_server import key_headers
from .provider_errors import where
from .vendors import VENDORS, Vendor, base_url_of, vendor_named

# A server of this machine that does not answer within this many seconds is none.
LOCAL_TIMEOUT = 0.3
_TIMEOUT = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# The path of the list below the root that the vendor documents.
_LISTS = {"anthropic": "/v1/models?limit=1000", "gemini": "/v1beta/models?pageSize=1000"}


@dataclass(frozen=True)
class Endpoint:
    """A server and the ids of the models that it lists. `provider` is empty where it is not known."""

    provider: str
    base_url: str
    models: tuple[str, ...]


async def served_models(place: str, timeout: float = _TIMEOUT) -> Endpoint:
    """Ask the endpoint at `place`, a URL as `base_url` has it or a provider's name, which models it serves.

    The key is that of `login` or of the vendor's variable. Raises `ProviderError` and `InvalidDataError`.
    """
    vendor = vendor_named(place)
    base_url = base_url_of(vendor) if vendor is not None else place
    if "://" not in base_url:
        raise InvalidDataError(f"{place!r} is neither a provider nor a URL such as http://127.0.0.1:8000/v1", "place")
    vendor = vendor or next((each for each in VENDORS.values() if each.owns(base_url)), None)
    return await _asked(vendor, base_url.rstrip("/"), timeout)


async def local_servers() -> list[Endpoint]:
    """The servers of Ollama, LM Studio, vLLM and llama.cpp that run on this machine, at their usual ports.

    Only this machine is asked, all at once, for 0.3 seconds each; what does not answer with models is left out.
    """
    places = [(vendor, base_url_of(vendor)) for vendor in VENDORS.values() if vendor.local]
    asked = [_asked(vendor, url, LOCAL_TIMEOUT) for vendor, url in places if host_of(url) in _LOOPBACK]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, ProviderError):
            raise answer
    return [answer for answer in answers if isinstance(answer, Endpoint)]


async def _asked(vendor: Vendor | None, base_url: str, timeout: float) -> Endpoint:
    provider = vendor.name if vendor is not None else ""
    model = Model("models", vendor.api if vendor is not None else "", provider, base_url)
    root, _, query = base_url.partition("?")
    url = f"{root}{_LISTS.get(model.api, '/models')}" + (f"?{query}" if query else "")
    answer = await get_json(model, url, _headers(model, url), timeout)
    return Endpoint(provider, base_url, _ids(model, url, answer))


def _headers(model: Model, url: str) -> dict[str, str | Secret]:
    if model.api in _LISTS:
        key = key_for(model, url)
        if key is None:
            return {}
        return (
            {"x-api-key": key, "anthropic-version": "2023-06-01"}
            if model.api == "anthropic"
            else {"x-goog-api-key": key}
        )
    return key_headers(model, url)


def _ids(model: Model, url: str, answer: Any) -> tuple[str, ...]:
    """The ids in the answer: a list under `data` or `models`, or alone, of objects with an `id` or a `name`."""
    found = answer
    if isinstance(answer, dict):
        found = answer.get("data") if isinstance(answer.get("data"), list) else answer.get("models")
    if not isinstance(found, list):
        raise ServerError(f"{where(model, url)}: The server lists no models there. Check the base_url.")
    names = [each.get("id") or each.get("name") for each in found if isinstance(each, dict)]
    return tuple(name.removeprefix("models/") for name in names if isinstance(name, str) and name)
