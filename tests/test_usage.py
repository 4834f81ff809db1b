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


# Tiers and services ---------------------------------------------------------------------------------------------------

LONG = am.ModelCost(4, 20, "0.4", 5)
LONGER = am.ModelCost(8, 40, "0.8", 10)
TIERED = am.ModelCost(2, 10, "0.2", "2.5", tiers=((500_000, LONGER), (200_000, LONG)))


@pytest.mark.parametrize(
    ("usage", "rates"),
    [
        (am.Usage(200_000, 7, 0, 0), TIERED),
        (am.Usage(200_001, 7, 0, 0), LONG),
        (am.Usage(1, 7, 100_000, 100_000), LONG),
        (am.Usage(0, 300_000, 100_000, 100_000), TIERED),
        (am.Usage(500_000, 7, 0, 0), LONG),
        (am.Usage(100_000, 7, 400_000, 1), LONGER),
    ],
)
def test_the_highest_tier_that_the_whole_prompt_exceeds_prices_every_token(
    usage: am.Usage, rates: am.ModelCost
) -> None:
    cost = usage.priced(TIERED).cost
    assert cost is not None
    assert cost.input * 1_000_000 == usage.input * rates.input
    assert cost.output * 1_000_000 == usage.output * rates.output
    assert cost.cache_read * 1_000_000 == usage.cache_read * rates.cache_read
    assert cost.cache_write * 1_000_000 == usage.cache_write * rates.cache_write


def test_a_tier_holds_for_each_request_and_not_for_their_sum() -> None:
    one = am.Usage(150_000).priced(TIERED)
    assert (one + one).cost == am.UsageCost("0.6")


def test_the_service_that_the_server_names_has_its_own_prices_and_tiers() -> None:
    flex = am.ModelCost(1, 5, tiers=((200_000, am.ModelCost(2, 9)),))
    prices = am.ModelCost(2, 10, services={"flex": flex, "scale": None})

    def cost(tokens: int, service: str | None) -> Decimal | None:
        priced = am.Usage(tokens, service_tier=service).priced(prices).cost
        return None if priced is None else priced.total * 1_000_000

    assert cost(100, "flex") == cost(100, "FLEX") == 100
    assert cost(300_000, "flex") == 600_000
    assert [cost(100, usual) for usual in (None, "default", "standard", "on_demand", "auto")] == [200] * 5
    assert cost(100, "scale") is None, "a price that is not known is not the usual one"
    assert cost(100, "priority") is None


def test_what_is_kept_for_an_hour_costs_what_the_prices_say_or_twice_the_input() -> None:
    usage = am.Usage(0, 0, 0, 10, cache_write_1h=4)
    for hour, expected in ((None, 6 * 3 + 4 * 4), (7, 6 * 3 + 4 * 7)):
        cost = usage.priced(am.ModelCost(2, 0, 0, 3, cache_write_1h=hour)).cost
        assert cost is not None
        assert cost.cache_write * 1_000_000 == expected


def test_an_unknown_tier_makes_the_cost_unknown() -> None:
    prices = am.ModelCost(1, 1, tiers=((10, None),))
    assert am.Usage(10).priced(prices).cost is not None
    assert am.Usage(11).priced(prices).cost is None


@pytest.mark.parametrize("tiers", [[("many", am.ModelCost())], [(5, 3)]])
def test_a_tier_that_is_none_is_refused(tiers: Any) -> None:
    with pytest.raises(am.InvalidDataError, match="tiers"):
        am.ModelCost(tiers=tiers)
