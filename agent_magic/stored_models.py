"""Usage, cost and models as JSON and back (source: Y SP-002, SP-007, SP-008; A Usage, Model)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import reading as read
from .models import Model, ModelCost
from .usage import Usage, UsageCost

Json = dict[str, Any]
Data = Mapping[str, Any]

_PRICED = ("input", "output", "cache_read", "cache_write")


def usage_to_json(usage: Usage | None) -> Json | None:
    """Counts of tokens, and their cost in USD where it is known."""
    if usage is None:
        return None
    stored: Json = {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total_tokens,
    }
    if usage.cache_write_1h:
        stored["cacheWrite1h"] = usage.cache_write_1h
    if usage.service_tier is not None:
        stored["serviceTier"] = usage.service_tier
    if usage.reasoning is not None:
        stored["reasoning"] = usage.reasoning
    if usage.cost is not None:
        stored["cost"] = {**_prices_to_json(usage.cost), "total": read.number(usage.cost.total)}
    return stored


def usage_from_json(data: Any) -> Usage | None:
    """Usage of six fields, or of the two that the first document has; totals are always computed anew."""
    if data is None:
        return None
    data = read.mapping(data, "an object of token counts")
    cost = data.get("cost")
    return Usage(
        read.integer(data, "input", "inputTokens", "input_tokens"),
        read.integer(data, "output", "outputTokens", "output_tokens"),
        read.integer(data, "cacheRead", "cache_read"),
        read.integer(data, "cacheWrite", "cache_write"),
        cost=None if cost is None else read.at("cost", lambda each: UsageCost(**_prices_from_json(each)), cost),
        reasoning=read.optional_integer(data, "reasoning"),
        cache_write_1h=read.optional_integer(data, "cacheWrite1h", "cache_write_1h") or 0,
        service_tier=read.optional_text(data, "serviceTier", "service_tier"),
    )


def model_to_json(model: Model) -> Json:
    """A model without its key and headers, which are never stored."""
    stored = {
        "id": model.id,
        "name": model.name,
        "api": model.api,
        "provider": model.provider,
        "baseUrl": model.base_url,
        "reasoning": model.reasoning,
        "input": list(model.input),
        "cost": None if model.cost is None else cost_to_json(model.cost),
        "contextWindow": model.context_window,
        "maxTokens": model.max_tokens,
        "compat": read.json_safe(model.compat) or None,
    }
    return {key: value for key, value in stored.items() if value is not None}


def model_from_json(data: Any) -> Model:
    """A model in the form of `model_to_json` or of the source documents (Y SP-007, A Model)."""
    data = read.mapping(data, "a model")
    cost = data.get("cost")
    kinds = read.at("input", lambda each: read.items(each, "kinds of content"), data.get("input") or ["text"])
    return Model(
        id=read.text(data, "id"),
        api=read.optional_text(data, "api") or "",
        provider=read.optional_text(data, "provider") or "",
        base_url=read.optional_text(data, "baseUrl", "base_url") or "",
        name=read.optional_text(data, "name") or "",
        reasoning=read.flag(data, "reasoning"),
        input=tuple(kinds),
        cost=None if cost is None else read.at("cost", cost_from_json, cost),
        context_window=read.optional_integer(data, "contextWindow", "context_window"),
        max_tokens=read.optional_integer(data, "maxTokens", "max_tokens"),
        compat=read.fidelity(data, "compat") or {},
    )


def cost_to_json(cost: ModelCost) -> Json:
    """Prices in USD per million tokens, with those of long prompts and of other services where there are any."""
    stored = _prices_to_json(cost)
    if cost.cache_write_1h is not None:
        stored["cacheWrite1h"] = read.number(cost.cache_write_1h)
    if cost.tiers:
        stored["tiers"] = [{"above": above, **(cost_to_json(each) if each else {})} for above, each in cost.tiers]
    if cost.services:
        stored["services"] = {name: cost_to_json(each) if each else None for name, each in cost.services}
    return stored


def cost_from_json(data: Any) -> ModelCost:
    """Prices in the form of `cost_to_json`. A tier without prices, and a service that is null, are unknown."""
    prices = _prices_from_json(data)
    tiers = read.at("tiers", lambda each: read.items(each, "a list of prices"), data.get("tiers") or [])
    services = read.at("services", lambda each: read.mapping(each, "prices by name"), data.get("services") or {})
    return ModelCost(
        **prices,
        cache_write_1h=read.first(data, "cacheWrite1h", "cache_write_1h"),
        tiers=tuple(read.at(f"tiers[{place}]", _tier_from_json, each) for place, each in enumerate(tiers)),
        services=tuple(
            (name, None if each is None else read.at(f"services.{name}", cost_from_json, each))
            for name, each in services.items()
        ),
    )


def _tier_from_json(data: Any) -> tuple[int, ModelCost | None]:
    data = read.mapping(data, "prices above a number of tokens")
    return read.integer(data, "above"), cost_from_json(data) if len(data) > 1 else None


def _prices_to_json(prices: UsageCost | ModelCost) -> Json:
    written = [read.number(getattr(prices, name)) for name in _PRICED]
    return dict(zip(("input", "output", "cacheRead", "cacheWrite"), written, strict=True))


def _prices_from_json(data: Any) -> Json:
    data = read.mapping(data, "an object of amounts in USD")
    keys = (("input",), ("output",), ("cacheRead", "cache_read"), ("cacheWrite", "cache_write"))
    return {name: read.first(data, *each) or 0 for name, each in zip(_PRICED, keys, strict=True)}
