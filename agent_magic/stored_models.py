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
        "cost": None if model.cost is None else _prices_to_json(model.cost),
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
        cost=None if cost is None else read.at("cost", lambda each: ModelCost(**_prices_from_json(each)), cost),
        context_window=read.optional_integer(data, "contextWindow", "context_window"),
        max_tokens=read.optional_integer(data, "maxTokens", "max_tokens"),
        compat=read.fidelity(data, "compat") or {},
    )


def _prices_to_json(prices: UsageCost | ModelCost) -> Json:
    written = [read.number(getattr(prices, name)) for name in _PRICED]
    return dict(zip(("input", "output", "cacheRead", "cacheWrite"), written, strict=True))


def _prices_from_json(data: Any) -> Json:
    data = read.mapping(data, "an object of amounts in USD")
    keys = (("input",), ("output",), ("cacheRead", "cache_read"), ("cacheWrite", "cache_write"))
    return {name: read.first(data, *each) or 0 for name, each in zip(_PRICED, keys, strict=True)}
