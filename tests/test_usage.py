"""Tokens and costs are exact, and unknown is not zero."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

import agent_magic as am
from agent_magic.usage import total_usage

counts = st.integers(0, 10**9)
usages = st.builds(am.Usage, counts, counts, counts, counts)
prices = st.decimals(min_value=0, max_value=1000, places=4)
price_lists = st.builds(am.ModelCost, prices, prices, prices, prices)


def test_the_documents_example_adds_up() -> None:
    usage = am.Usage(1000, 200, 500, 0).priced(am.ModelCost("0.5", "7.5", "0.5", 0))
    assert usage.total_tokens == 1700
    assert usage.cost == am.UsageCost("0.0005", "0.0015", "0.00025", 0)
    assert usage.cost is not None
    assert usage.cost.total == Decimal("0.00225")


@given(usages, price_lists)
def test_a_cost_is_exactly_tokens_times_price(usage: am.Usage, cost: am.ModelCost) -> None:
    priced = usage.priced(cost).cost
    assert priced is not None
    assert priced.input * 1_000_000 == usage.input * cost.input
    assert priced.total == priced.input + priced.output + priced.cache_read + priced.cache_write


@given(usages, usages)
def test_sums_count_every_token(first: am.Usage, second: am.Usage) -> None:
    assert (first + second).total_tokens == first.total_tokens + second.total_tokens


def test_floats_mean_their_shortest_text() -> None:
    assert am.ModelCost(0.1, 0.2).input + am.ModelCost(0.1, 0.2).output == Decimal("0.3")


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    known = am.Usage(1).priced(am.ModelCost(0, 0, 0, 0))
    assert known.cost == am.UsageCost()
    assert am.Usage(1).priced(None).cost is None
    assert (known + am.Usage(1)).cost is None
    assert total_usage([]) is None


def test_reasoning_is_part_of_the_output() -> None:
    usage = am.Usage(10, 8, 7, 5, reasoning=3)
    assert (usage.cached_tokens, usage.prompt_tokens, usage.thoughts_tokens, usage.response_tokens) == (7, 15, 3, 5)
    assert (usage + am.Usage(output=1)).reasoning == 3
    assert (am.Usage() + am.Usage()).reasoning is None


@pytest.mark.parametrize("count", [-1, 1.5, True, "1", None])
def test_a_count_that_is_none_is_refused(count: Any) -> None:
    with pytest.raises(am.InvalidDataError, match="input"):
        am.Usage(input=count)


@pytest.mark.parametrize("price", [-1, "NaN", "Infinity", "1e999999", "dear", None, True, []])
@pytest.mark.parametrize("kind", [am.ModelCost, am.UsageCost])
def test_a_price_that_is_none_is_refused(kind: Any, price: Any) -> None:
    with pytest.raises(am.InvalidDataError) as caught:
        kind(output=price)
    assert caught.value.path == "output"
