"""A limit on what an agent, or one run, may spend. It is checked before each request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..config import RequestConfig, StopReason
from ..errors import BudgetExceededError, InvalidDataError
from ..messages import AssistantMessage, ImageContent, InlineData, Message, TextContent, ThinkingContent, ToolCall
from ..models import Model, ModelCost, exact
from ..usage import Usage, UsageCost

# A request that could answer with fewer tokens than this is not sent.
LEAST_ANSWER = 256

# Deliberately high, so that an estimate errs towards spending less: most text has about four bytes a token.
BYTES_PER_TOKEN = 3
TOKENS_PER_IMAGE = 1_600
TOKENS_PER_MESSAGE = 8

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Budget:
    """At most `usd` US dollars and `tokens` tokens, of prompts and answers together; None is no limit.

    Given to an `Agent` it holds until `reset()`, given to one call it holds for that run. Before each request the
    answer's `max_tokens` is lowered to what is left beside the prompt; the request is refused when fewer than 256
    are left.
    """

    usd: Decimal | float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.usd is not None:
            try:
                usd = exact(self.usd)
            except (ArithmeticError, ValueError, TypeError):
                raise InvalidDataError(f"must be an amount of US dollars, not {self.usd!r}", "usd") from None
            if not usd.is_finite() or usd < 0:
                raise InvalidDataError(f"must be an amount of US dollars, not {self.usd!r}", "usd")
            object.__setattr__(self, "usd", usd)
        if self.tokens is not None and (not isinstance(self.tokens, int) or self.tokens < 0):
            raise InvalidDataError(f"must be a count of tokens, not {self.tokens!r}", "tokens")

    def check_model(self, model: Model) -> None:
        """Raise `InvalidDataError` when this budget cannot be kept with `model`."""
        if self.usd is not None and model.cost is None:
            raise InvalidDataError(
                f"A budget in US dollars cannot be kept with {model.label}, whose price is not known. Give the model a "
                "ModelCost, or give the budget in tokens."
            )

    def answer_tokens(self, spent: Usage, prompt_tokens: int, model: Model) -> int | None:
        """How many tokens the next answer may have, None for any number.

        Raises `BudgetExceededError` when fewer than 256 are left beside a prompt of `prompt_tokens`.
        """
        limits = [
            limit
            for limit in (self._left_by_tokens(spent, prompt_tokens), self._left_by_usd(spent, prompt_tokens, model))
            if limit is not None
        ]
        if not limits:
            return None
        if min(limits) < LEAST_ANSWER:
            raise BudgetExceededError(self._refusal(spent, prompt_tokens))
        return min(limits)

    def _left_by_tokens(self, spent: Usage, prompt_tokens: int) -> int | None:
        return None if self.tokens is None else self.tokens - spent.total_tokens - prompt_tokens

    def _left_by_usd(self, spent: Usage, prompt_tokens: int, model: Model) -> int | None:
        if self.usd is None:
            return None
        self.check_model(model)
        # Of a length whose price is unknown, the usual one has to do.
        prices = (model.cost and model.cost.at(prompt_tokens)) or model.cost or ModelCost()
        spent_usd = spent.cost.total if spent.cost is not None else Decimal(0)
        left = exact(self.usd) - spent_usd - prompt_tokens * max(prices.input, prices.cache_write) / _MILLION
        if left < 0:
            return -1
        return None if prices.output == 0 else int(left * _MILLION / prices.output)

    def _refusal(self, spent: Usage, prompt_tokens: int) -> str:
        limits = [f"{self.usd} USD"] if self.usd is not None else []
        limits += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        cost = "" if spent.cost is None else f" and {spent.cost.total} USD"
        return (
            f"The next request would exceed the budget of {' and '.join(limits)}: {spent.total_tokens:,} tokens{cost} "
            f"are spent, and the prompt takes about {prompt_tokens:,} more. It was not sent; raise the budget to go on."
        )


def limited(
    config: RequestConfig, model: Model, budgets: Iterable[tuple[Budget, Usage]], prompt_tokens: int
) -> RequestConfig:
    """`config` with `max_tokens` lowered to what each budget leaves beside what was spent of it."""
    limits = [budget.answer_tokens(spent, prompt_tokens, model) for budget, spent in budgets]
    known = [limit for limit in limits if limit is not None]
    if not known:
        return config
    wanted = config.max_tokens or model.max_tokens
    lowest = min(known)
    return config if wanted is not None and wanted <= lowest else config.replace(max_tokens=lowest)


class Account:
    """What an agent or a run has used.

    `usage` adds up what the servers reported; its cost is unknown as soon as one answer's is. `spent` is what counts
    for a budget: where a server did not tell, it is estimated.
    """

    def __init__(self) -> None:
        self.usage = self.spent = Usage(cost=UsageCost())

    def add(self, usage: Usage | None) -> None:
        """Take in what a tool or a summary used."""
        if usage is not None:
            self.usage += usage
            # What an unknown price adds cannot be told, and must not hide what is known.
            self.spent += usage if usage.cost is not None else usage.priced(ModelCost())

    def add_answer(self, message: AssistantMessage, model: Model, prompt_tokens: int) -> None:
        """Take in an answer to a prompt of about `prompt_tokens`."""
        if message.usage is not None:
            self.usage += message.usage
            self.spent += message.usage if message.usage.cost is not None else message.usage.priced(model.cost)
            return
        if message.stop_reason not in (StopReason.ERROR, StopReason.ABORTED):
            self.usage += Usage(cost=UsageCost() if model.cost == ModelCost() else None)
        if message.content:
            self.spent += Usage(prompt_tokens, estimated_tokens([message])).priced(model.cost)


# Estimates ------------------------------------------------------------------------------------------------------------


def estimated_prompt(messages: Iterable[Message], system_prompt: str, tools: Mapping[str, Any] | None) -> int:
    """About how many tokens a request takes: the last answer's own count, and an estimate of what came after it."""
    newest: list[Message] = []
    for message in reversed(list(messages)):
        if isinstance(message, AssistantMessage) and message.usage is not None and message.usage.total_tokens:
            return message.usage.total_tokens + estimated_tokens(newest)
        newest.append(message)
    declared = sum(_text_tokens(f"{tool.name}{tool.description}{tool.input_schema}") for tool in (tools or {}).values())
    return _text_tokens(system_prompt) + declared + estimated_tokens(newest)


def estimated_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens these messages take, rather too many than too few."""
    return sum(TOKENS_PER_MESSAGE + sum(_block_tokens(block) for block in message.content) for message in messages)


def _block_tokens(block: Any) -> int:
    if isinstance(block, (TextContent, ThinkingContent)):
        return _text_tokens(block.text)
    if isinstance(block, ToolCall):
        return _text_tokens(f"{block.name}{block.arguments}")
    return TOKENS_PER_IMAGE if isinstance(block, (ImageContent, InlineData)) else 0


def _text_tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
