"""Tokens and what they cost (source: A Usage, UsageCost; H usage metadata)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from .errors import InvalidDataError
from .models import ModelCost, exact

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class UsageCost:
    """Exact US dollars. `total` is always the sum of the other four."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)
    total: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write"):
            object.__setattr__(self, name, exact(getattr(self, name), name))
        object.__setattr__(self, "total", self.input + self.output + self.cache_read + self.cache_write)

    def __add__(self, other: UsageCost) -> UsageCost:
        return UsageCost(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer, or of several.

    `input` counts tokens neither read from nor written to a cache; `output` includes `reasoning` (None where the
    server does not tell); `total_tokens` is always the sum of the four counts; `cost` is None where unknown.
    `cache_write_1h` is the part of `cache_write` that is kept for an hour; `service_tier` what the server called the
    service that it gave, such as `flex`, None where it does not tell.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: UsageCost | None = None
    reasoning: int | None = None
    cache_write_1h: int = 0
    service_tier: str | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write", "cache_write_1h"):
            count = getattr(self, name)
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise InvalidDataError(f"must be a count of tokens, not {count!r}", name)
        object.__setattr__(self, "total_tokens", self.input + self.output + self.cache_read + self.cache_write)

    @property
    def cached_tokens(self) -> int:
        """The prompt's tokens that were read from a cache (H)."""
        return self.cache_read

    @property
    def prompt_tokens(self) -> int:
        """The prompt's other tokens (H)."""
        return self.input + self.cache_write

    @property
    def thoughts_tokens(self) -> int | None:
        """The answer's tokens spent on reasoning, None where unknown (H)."""
        return self.reasoning

    @property
    def response_tokens(self) -> int:
        """The answer's other tokens (H)."""
        return self.output - (self.reasoning or 0)

    def priced(self, prices: ModelCost | None) -> Usage:
        """The same tokens, of one request, with their cost at these prices; without prices the cost is unknown.

        The length of the prompt and the service decide which of the prices hold.
        """
        if prices is not None:
            prices = prices.at(self.input + self.cache_read + self.cache_write, self.service_tier)
        if prices is None:
            return self
        minutes = max(0, self.cache_write - self.cache_write_1h)
        cost = UsageCost(
            self.input * prices.input / _MILLION,
            self.output * prices.output / _MILLION,
            self.cache_read * prices.cache_read / _MILLION,
            (minutes * prices.cache_write + self.cache_write_1h * prices.hour_price) / _MILLION,
        )
        return replace(self, cost=cost)

    def __add__(self, other: Usage) -> Usage:
        """The sum; its cost is unknown as soon as one cost is, its reasoning known as soon as one is."""
        known = [each.reasoning for each in (self, other) if each.reasoning is not None]
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
            reasoning=sum(known) if known else None,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            service_tier=self.service_tier if self.service_tier == other.service_tier else None,
        )


def total_usage(usages: Iterable[Usage]) -> Usage | None:
    """The sum of these, None when there are none."""
    total: Usage | None = None
    for usage in usages:
        total = usage if total is None else total + usage
    return total
