"""What a server says of its service decides the price, in every API."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.vendors import VENDORS

PRICES = am.ModelCost(4, 4, 4, 4, services={"flex": am.ModelCost(1, 1, 1, 1)})


def chat(service: str) -> list[dict[str, Any]]:
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 600_000, "completion_tokens": 400_000}
    return [{"choices": [choice], "service_tier": service}, {"choices": [], "service_tier": service, "usage": usage}]


def responses(service: str) -> list[dict[str, Any]]:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
    usage = {"input_tokens": 600_000, "output_tokens": 400_000}
    response = {"status": "completed", "service_tier": service, "output": [item], "usage": usage}
    return [{"type": "response.completed", "response": response}]


def anthropic(service: str) -> list[dict[str, Any]]:
    usage = {"input_tokens": 600_000, "output_tokens": 1, "service_tier": service}
    return [
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 400_000}},
        {"type": "message_stop"},
    ]


def gemini(service: str) -> list[dict[str, Any]]:
    counts = {"promptTokenCount": 600_000, "candidatesTokenCount": 400_000, "serviceTier": service}
    candidate = {"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "STOP"}
    return [{"candidates": [candidate], "usageMetadata": counts}]


APIS = {"openai-chat": chat, "openai-responses": responses, "anthropic": anthropic, "gemini": gemini}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("service", "total"), [("flex", Decimal(1)), ("default", Decimal(4)), ("standard", Decimal(4)), ("turbo", None)]
)
def test_the_service_that_was_given_decides_the_price(
    api: str, service: str, total: Decimal | None, stand_in: Any
) -> None:
    payloads = APIS[api](service)
    stand_in.gives(*(f"data: {json.dumps(payload)}\n\n".encode() for payload in payloads), b"data: [DONE]\n\n")
    model = am.Model("m", api=api, base_url="https://models.example/v1", api_key="any", cost=PRICES)
    answer = asyncio.run(am.complete(model, am.Context("", [am.UserMessage("Hi")])))

    assert answer.usage is not None
    assert answer.usage.total_tokens == 1_000_000
    assert (answer.usage.cost and answer.usage.cost.total) == total


def test_the_catalogue_has_the_tiers_and_services_of_a_model() -> None:
    cost = am.get_model("openai/gpt-5.4").cost
    assert cost is not None
    assert cost.at(272_000) is cost
    longer = cost.at(272_001)
    assert longer is not None
    assert longer.input > cost.input
    flex = cost.at(1, "flex")
    assert flex is not None
    assert flex.input < cost.input
    assert dict(flex.tiers)


def test_every_tier_of_the_catalogue_is_read() -> None:
    models = [model for name in VENDORS for model in am.list_models(name)]
    assert sum(bool(model.cost and model.cost.tiers) for model in models) > 90
    assert sum(bool(model.cost and model.cost.services) for model in models) > 90
