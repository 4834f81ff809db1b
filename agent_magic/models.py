"""A model: which wire API it speaks, where, and what it can do (source: Y SP-007, SP-008; A Model)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from .errors import InvalidDataError
from .secret import Secret, shown_url

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


# What servers call the service that everybody gets.
_USUAL_SERVICE = ("", "default", "standard", "auto", "on_demand", "on-demand")


@dataclass(frozen=True)
class ModelCost:
    """Prices in USD per million tokens. `ModelCost(0, 0, 0, 0)` is a model that costs nothing.

    `cache_write_1h` is the price of what is kept in the cache for an hour; None means twice that of input, which
    Anthropic charges. `tiers` are prices by the length of the prompt: pairs of a number of tokens and the `ModelCost`
    that holds for every token of a request whose prompt is longer. `services` are the prices of other services than
    the usual one, such as `flex` and `priority`, by the name that the server reports. A `ModelCost` of None in either
    is a price that is not known.
    """

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)
    cache_write_1h: Decimal | None = None
    tiers: tuple[tuple[int, ModelCost | None], ...] = ()
    services: tuple[tuple[str, ModelCost | None], ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("input", "output", "cache_read", "cache_write"):
            put(self, name, exact(getattr(self, name), name))
        if self.cache_write_1h is not None:
            put(self, "cache_write_1h", exact(self.cache_write_1h, "cache_write_1h"))
        put(self, "tiers", tuple(sorted(_pairs(self.tiers, int, "tiers"), key=lambda each: each[0])))
        put(self, "services", _pairs(self.services, str, "services"))

    @property
    def hour_price(self) -> Decimal:
        return 2 * self.input if self.cache_write_1h is None else self.cache_write_1h

    def at(self, prompt_tokens: int, service: str | None = None) -> ModelCost | None:
        """The prices of a request with a prompt of this length, cached parts included; None where they are unknown."""
        prices: ModelCost | None = self
        if service and service.lower() not in _USUAL_SERVICE:
            prices = dict(self.services).get(service.lower())
        for above, dearer in prices.tiers if prices is not None else ():
            if prompt_tokens > above:
                prices = dearer
        return prices


def _pairs(given: Any, kind: type[Any], place: str) -> tuple[tuple[Any, ModelCost | None], ...]:
    pairs = tuple((key, prices) for key, prices in (given.items() if isinstance(given, Mapping) else given))
    for key, prices in pairs:
        if not isinstance(key, kind) or not (prices is None or isinstance(prices, ModelCost)):
            raise InvalidDataError(f"must be pairs of {kind.__name__} and ModelCost, not {(key, prices)!r}", place)
    return pairs


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

    def __repr__(self) -> str:
        # An address may hold a password, or a key in its query.
        shown = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}
        shown["base_url"] = shown_url(self.base_url)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __deepcopy__(self, memory: dict[int, object]) -> Model:
        return self

    def replace(self, **changes: Any) -> Model:
        """A copy with some fields changed."""
        return replace(self, **changes)
