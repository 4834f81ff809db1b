"""What servers that speak the Messages API want differently when asked. Reading is tolerant anyway."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any

from ..models import Model
from .keys import host_of
from .vendors import VENDORS

# Newer models refuse every temperature; of those that think adaptively these came before.
_TAKES_TEMPERATURE = re.compile(r"claude-(opus|sonnet)-4[-.]6")


@dataclass(frozen=True)
class MessagesQuirks:
    """Each field can be set by name in `Model.compat`."""

    # The header that holds the key, and what stands before it.
    key_header: str = "x-api-key"
    key_prefix: str = ""
    # Whether the model decides itself how much to think, and is asked by an effort word; else by a budget of tokens.
    adaptive_thinking: bool = False
    # Whether the model takes a temperature at all.
    temperature: bool = True
    # Whether a call may be required while the model thinks.
    required_call_while_thinking: bool = False
    # Whether reasoning without a signature goes back to the server that made it.
    unsigned_thinking: bool = True
    # Whether blocks may be marked for the server's cache.
    cache_marks: bool = True
    # Whether the answer can be held to a schema.
    response_schema: bool = True


_BEARER: dict[str, Any] = {"key_header": "authorization", "key_prefix": "Bearer "}
# By a host, or the end of one.
_BY_HOST: dict[str, dict[str, Any]] = {
    "openrouter.ai": _BEARER,
    "moonshot.ai": _BEARER,
    "moonshot.cn": _BEARER,
    "minimax.io": _BEARER,
    "minimaxi.com": _BEARER,
    "z.ai": _BEARER,
    "bigmodel.cn": _BEARER,
}
_NAMES = frozenset(each.name for each in fields(MessagesQuirks))


def messages_quirks_of(model: Model) -> MessagesQuirks:
    """The quirks of the model and its server; what `compat` says comes first."""
    host = f".{host_of(model.base_url)}"
    found: dict[str, Any] = dict(next((each for name, each in _BY_HOST.items() if host.endswith(f".{name}")), {}))
    if VENDORS["anthropic"].owns(model.base_url) or not model.base_url:
        found["unsigned_thinking"] = False
    if model.compat.get("adaptive_thinking"):
        found["temperature"] = _TAKES_TEMPERATURE.search(model.id) is not None
    own = {name: value for name, value in model.compat.items() if name in _NAMES}
    return replace(MessagesQuirks(), **{**found, **own})
