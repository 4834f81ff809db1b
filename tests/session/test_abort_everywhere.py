"""A run that is stopped at any await leaves a history that every API accepts, in the agent and in its session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.config import RequestConfig
from agent_magic.providers import anthropic_request, gemini_request, openai_chat_request, openai_responses_request
from agent_magic.providers.anthropic_quirks import messages_quirks_of
from agent_magic.providers.handoff import prepare_messages
from agent_magic.providers.quirks import quirks_of
from agent_magic.session.session import Session

Wire = dict[str, Any]


async def quick() -> str:
    await asyncio.sleep(0)
    return "quick"


async def slow() -> str:
    for _ in range(6):
        await asyncio.sleep(0)
    return "slow"


async def failing() -> str:
    await asyncio.sleep(0)
    raise ValueError("failed")


def answers() -> list[Any]:
    first = [am.ToolCall("a", "quick", {}), am.ToolCall("b", "slow", {}), am.ToolCall("c", "failing", {})]
    return [["Let me see.", *first], [am.ThinkingContent("hm"), am.ToolCall("d", "slow", {})], "Done."]


# What each API asks of a history --------------------------------------------------------------------------------------


def check_chat(messages: list[Wire]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            continue
        assert waiting == []
        assert message.get("content") or message.get("tool_calls")
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert waiting == []


def check_responses(items: list[Wire]) -> None:
    waiting: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            waiting.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            waiting.remove(item["call_id"])
        elif item.get("role") == "user":
            assert waiting == []
    assert waiting == []


def check_anthropic(messages: list[Wire]) -> None:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        assert message["role"] == ("assistant" if place % 2 else "user")
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text"}]
        assert blocks
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == waiting
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)])
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert waiting == []


def check_gemini(contents: list[Wire]) -> None:
    waiting: list[str] = []
    for content in contents:
        assert content["parts"]
        results = [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part]
        assert results == waiting
        waiting = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    assert waiting == []


def body_of(api: str, context: am.Context) -> tuple[Wire, str, Callable[[list[Wire]], None]]:
    model, config = am.Model("m", api=api, base_url="https://models.example.org/v1", max_tokens=1000), RequestConfig()
    context = am.Context(messages=prepare_messages(am.convert_to_llm(context.messages), model))
    if api == "openai-chat":
        return (
            json.loads(openai_chat_request.request_body(model, context, config, quirks_of(model))),
            "messages",
            check_chat,
        )
    if api == "openai-responses":
        body = openai_responses_request.request_body(model, context, config, quirks_of(model))
        return json.loads(body), "input", check_responses
    if api == "anthropic":
        body = anthropic_request.request_body(model, context, config, messages_quirks_of(model))
        return json.loads(body), "messages", check_anthropic
    return json.loads(gemini_request.request_body(model, context, config)), "contents", check_gemini


APIS = ("openai-chat", "openai-responses", "anthropic", "gemini")


def assert_accepted(messages: list[Any]) -> None:
    for api in APIS:
        body, where, check = body_of(api, am.Context(messages=[*messages, am.UserMessage("and now?")]))
        assert body[where]
        check(body[where])


async def stopped_after(steps: int, how: str, session: Session) -> tuple[am.Agent, bool]:
    """A run that is stopped after so many turns of the event loop; also whether it had ended before."""
    agent = am.Agent(am.scripted(*answers()), [am.tool(quick), am.tool(slow), am.tool(failing)], max_retries=0)
    session.attach(agent)
    task = asyncio.ensure_future(agent.prompt("go"))
    for _ in range(steps):
        if task.done():
            break
        await asyncio.sleep(0)
    ended = task.done()
    if how == "abort":
        agent.abort()
    else:
        task.cancel()
    await asyncio.wait({task})
    await agent.wait_for_idle()
    return agent, ended


@pytest.mark.parametrize("how", ["abort", "cancel"])
def test_a_run_stopped_at_any_await_can_go_on_at_every_api(how: str) -> None:
    steps, ended = 0, False
    seen: set[tuple[str, ...]] = set()
    while not ended:
        session = Session.in_memory()
        agent, ended = asyncio.run(stopped_after(steps, how, session))
        assert_accepted(agent.messages)
        assert_accepted(list(session.messages))
        seen.add(tuple(message.role for message in agent.messages))
        steps += 1
    assert steps > 50
    assert len(seen) >= 5


@pytest.mark.parametrize("lines", range(2, 9))
def test_a_session_cut_after_any_line_can_go_on_at_every_api(lines: int, tmp_path: Path) -> None:
    path = tmp_path / "whole.jsonl"
    with Session.new(path=path) as session:
        asyncio.run(stopped_after(100_000, "abort", session))
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    with Session.open(cut) as again:
        assert_accepted(list(again.messages))
