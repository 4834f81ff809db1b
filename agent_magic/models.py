"""A model: which wire API it speaks, where, and what it can do (source: Y SP-007, SP-008; A Model)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from .errors import InvalidDataError
from .secret import Secret

# Names of APIs from the documents and what they mean here.
API_ALIASES = {"openai": "openai-chat", "": "openai-chat"}


# More than any price or bill; beyond it sums would lose digits or overflow.
_MOST = Decimal(10) ** 12


def exact(number: float | str | Decimal, name: str = "") -> Decimal:
    """`number` as the decimal that its shortest text names, so that 0.1 is exactly one tenth."""
    try:
        amount = number if isinstance(number, Decimal) else Decimal(str(number))
    except ArithmeticError:
        amount = _MOST
    if amount.is_nan() or not 0 <= amount < _MOST:
        raise InvalidDataError(f"must be an amount in USD, not {number!r}", name)
    return amount


@dataclass(frozen=True)
class ModelCost:
    """Prices in USD per million tokens. `ModelCost(0, 0, 0, 0)` is a model that costs nothing."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write"):
            object.__setattr__(self, name, exact(getattr(self, name), name))


@dataclass(frozen=True)
class Model:
    """A model at a server.

    `api` names the wire API: `openai-chat` (or `openai`), `openai-responses`, `anthropic`, `gemini`, `scripted`, or
    one given to `register_api`. `base_url` is the root that the vendor documents. `input` lists the kinds of content
    it reads. `cost` is None where the price is unknown. `context_window` and `max_tokens` count tokens, None where
    unknown. `compat` overrides single quirks of a compatible server by name.
    """

    id: str
    api: str = "openai-chat"
    provider: str = ""
    base_url: str = ""
    api_key: str | Secret | None = field(default=None, compare=False)
    name: str = ""
    reasoning: bool = False
    input: tuple[str, ...] = ("text",)
    cost: ModelCost | None = None
    context_window: int | None = None
    max_tokens: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    compat: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidDataError("a model needs an id", "id")
        put = object.__setattr__
        put(self, "api", API_ALIASES.get(self.api, self.api))
        put(self, "api_key", Secret.of(self.api_key))
        put(self, "name", self.name or self.id)
        put(self, "input", tuple(self.input))
        put(self, "headers", MappingProxyType(dict(self.headers)))
        put(self, "compat", MappingProxyType(dict(self.compat)))

    @property
    def secret(self) -> Secret | None:
        """The key given with this model, or None."""
        return Secret.of(self.api_key)

    @property
    def key(self) -> tuple[str, str, str]:
        """Provider, api and id: equal keys mean the same model, to which opaque wire data may be sent back."""
        return (self.provider, self.api, self.id)

    @property
    def label(self) -> str:
        """`provider/id`, as `get_model` takes it."""
        return f"{self.provider}/{self.id}" if self.provider else self.id

    def replace(self, **changes: Any) -> Model:
        """A copy with some fields changed."""
        return replace(self, **changes)
