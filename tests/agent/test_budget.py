"""A budget is never overrun: answers are shortened to what is left, and requests refused when that is too little."""

from __future__ import annotations

from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent.budget import Account, estimated_prompt

PRICE = am.ModelCost(input=1, output=10)


def asked_for(model: Any) -> list[int | None]:
    return [config.max_tokens for _, config in model.requests]


def test_max_tokens_is_lowered_to_what_the_prompt_leaves() -> None:
    model = am.scripted("one", "two")
    agent = am.Agent(model, budget=am.Budget(tokens=1_000))
    agent.run("x" * 300)
    assert asked_for(model) == [1_000 - 108]  # 100 tokens of text and 8 around them


def test_a_smaller_max_tokens_of_ones_own_stays() -> None:
    model = am.scripted("one")
    am.Agent(model, budget=am.Budget(tokens=10_000), max_tokens=300).run("go")
    assert asked_for(model) == [300]


def test_dollars_count_the_prompt_and_limit_the_answer() -> None:
    model = am.scripted("one").replace(cost=PRICE)
    am.Agent(model, budget=am.Budget(usd=0.01)).run("x" * 3_000)
    # 1,008 tokens of prompt cost 0.001008; the rest buys answers at 0.00001 a token.
    assert asked_for(model) == [899]


@pytest.mark.parametrize(("tokens", "refused"), [(256 + 9, False), (255 + 9, True)])
def test_a_request_is_refused_when_fewer_than_256_tokens_are_left_for_the_answer(tokens: int, refused: bool) -> None:
    model = am.scripted("fine")
    agent = am.Agent(model, budget=am.Budget(tokens=tokens))
    if refused:
        with pytest.raises(am.BudgetExceededError, match="raise the budget"):
            agent.run("go")
    else:
        agent.run("go")
    assert len(model.requests) == (0 if refused else 1)


def test_a_dollar_budget_on_a_model_without_a_price_is_an_error_before_anything_happens() -> None:
    agent = am.Agent(am.scripted("never").replace(cost=None), budget=am.Budget(usd=1))
    with pytest.raises(am.InvalidDataError, match="price is not known"):
        agent.run("go")
    assert agent.messages == []


def test_a_free_model_never_uses_up_dollars() -> None:
    model = am.scripted("one")
    am.Agent(model, budget=am.Budget(usd=0)).run("go")
    assert asked_for(model) == [None]


def test_the_agents_budget_holds_over_runs_and_one_given_to_a_call_for_that_run() -> None:
    answers = [am.AssistantMessage("done", usage=am.Usage(input=300, output=100)) for _ in range(4)]
    model = am.scripted(*answers)
    agent = am.Agent(model, budget=am.Budget(tokens=1_500))
    agent.run("go")
    agent.run("go", budget=am.Budget(tokens=900))
    # The agent has 1,500 less 400 spent less a prompt of 409; the run 900 less the prompt.
    assert asked_for(model)[1] == 900 - 409
    with pytest.raises(am.BudgetExceededError):
        agent.run("go", budget=am.Budget(tokens=500))
    assert len(model.requests) == 2


def test_reset_opens_the_budget_again() -> None:
    answer = am.AssistantMessage("done", usage=am.Usage(input=300, output=400))
    agent = am.Agent(am.scripted(answer, answer), budget=am.Budget(tokens=800))
    agent.run("go")
    agent.reset()
    assert agent.run("go").text == "done"


def test_what_a_server_does_not_report_is_estimated_for_the_budget_and_unknown_in_the_usage() -> None:
    account = Account()
    account.add_answer(am.AssistantMessage("x" * 300), am.Model("some").replace(cost=PRICE), 50)
    assert (account.spent.input, account.spent.output) == (50, 108)
    assert account.usage.total_tokens == 0
    assert account.usage.cost is None


def test_the_estimate_of_a_prompt_starts_from_the_last_real_count() -> None:
    history = [
        am.UserMessage("x" * 9_000),
        am.AssistantMessage("fine", usage=am.Usage(input=2_000, output=10)),
        am.UserMessage("y" * 30),
    ]
    assert estimated_prompt(history, "", None) == 2_010 + 18


@pytest.mark.parametrize(
    "wrong", [{"usd": -1}, {"usd": "much"}, {"usd": float("nan")}, {"tokens": -1}, {"tokens": 1.5}]
)
def test_amounts_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(am.InvalidDataError):
        am.Budget(**wrong)
