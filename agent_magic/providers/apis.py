"""The wire APIs by name: the built-in adapters and those given to `register_api`."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..config import RequestConfig
from ..errors import InvalidDataError, UnknownModelError
from ..models import API_ALIASES, Model

if TYPE_CHECKING:
    from ..abort import AbortSignal
    from ..events import StreamEvent
    from ..messages import Context

StreamFunction = Callable[
    ["Model", "Context", "RequestConfig", "AbortSignal | None"], "AsyncIterator[list[StreamEvent]]"
]
UnsupportedFunction = Callable[["Model", "RequestConfig"], Mapping[str, str]]

# Imported when first used.
_BUILT_IN = {
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "scripted": "scripted",
    "demo": "demo",
    "local": "local",
}


@dataclass(frozen=True)
class Adapter:
    """How one wire API is spoken.

    `stream(model, context, config, signal)` is an async generator of lists of `StreamEvent`: the deltas, then one
    `stop`. It raises `ProviderError` and leaves retries, pricing and the `start` event to the caller.
    `unsupported(model, config)` tells, by field, what of the request the API cannot do, and why.
    """

    stream: StreamFunction
    unsupported: UnsupportedFunction


_registered: dict[str, Adapter] = {}


def register_api(name: str, adapter: Any) -> None:
    """Make models with `api=name` use `adapter`.

    The adapter is an async generator function `stream(model, context, config, signal)` that yields lists of
    `StreamEvent`, or an object (such as a module) with that function and, if it likes,
    `unsupported(model, config) -> dict` from the names of fields it cannot do to the reason.
    A name registered before, or built in, is replaced.
    """
    if not name:
        raise InvalidDataError("an API needs a name", "name")
    stream = getattr(adapter, "stream", adapter)
    if not callable(stream):
        raise InvalidDataError(f"{adapter!r} is no adapter; it needs a function stream(model, context, config, signal)")
    _registered[API_ALIASES.get(name, name)] = Adapter(stream, getattr(adapter, "unsupported", _nothing_unsupported))


def adapter_for(model: Model) -> Adapter:
    """The adapter of the model's API, imported if need be; an unknown API is an `UnknownModelError`."""
    found = _registered.get(model.api)
    if found is None:
        module = _BUILT_IN.get(model.api)
        if module is None:
            raise UnknownModelError(_unknown(model.api))
        try:
            register_api(model.api, import_module(f".{module}", __package__))
        except ModuleNotFoundError as error:
            if error.name != f"{__package__}.{module}":
                raise
            raise UnknownModelError(f"The API {model.api!r} is not part of this version.") from None
        found = _registered[model.api]
    return found


def _unknown(api: str) -> str:
    known = sorted({*_BUILT_IN, *_registered})
    near = difflib.get_close_matches(api, known)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}."
    return f"No API is named {api!r}. {hint} Others can be added with agent_magic.register_api."


def _nothing_unsupported(model: Model, config: RequestConfig) -> Mapping[str, str]:
    return {}
