"""Every wire case, through `complete` and `stream`, for every way of cutting the bytes.

An API joins by one line in `APIS`.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

import agent_magic as am
from agent_magic.events import PartialToolCall, TextDelta, ThinkingDelta, ToolCallItem

from . import replay_server

# The APIs that this version speaks, and what comes after the server's address in their base_url.
APIS = {"openai-chat": "/v1", "anthropic": "", "openai-responses": "/v1", "gemini": ""}
SPLITS = (0, 1, 7)
# One byte at a time takes too long for more than this.
LONGEST_IN_BYTES = 20_000

KEY = "sk-a-key-that-no-message-may-hold"
CONFIG = am.RequestConfig(max_retries=0)
CASES = {name: case for name, case in replay_server.load_cases().items() if case["api"] in APIS}


def split_case(case: dict[str, Any], size: int) -> dict[str, Any]:
    """The case with its body cut into pieces of `size` bytes."""
    length = sum(map(len, replay_server.body_pieces(case)))
    size = max(size, length // LONGEST_IN_BYTES)
    return {**case, "response": {**case["response"], "split_bytes": size, "pause_ms": 0}}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, str]]:
    """The base URLs of a server for each way of cutting."""
    with ExitStack() as stack:
        urls = {0: stack.enter_context(replay_server.serving())}
        for size in SPLITS[1:]:
            root = tmp_path_factory.mktemp(f"split-{size}")
            for name, case in CASES.items():
                (root / case["api"]).mkdir(exist_ok=True)
                (root / case["api"] / f"{name}.json").write_text(json.dumps(split_case(case, size)), encoding="utf-8")
            urls[size] = stack.enter_context(replay_server.serving(root))
        yield urls


@dataclass
class Outcome:
    """What a client made of an answer."""

    message: am.AssistantMessage | None
    error: am.ProviderError | None
    events: list[am.StreamEvent]


def model_of(case: dict[str, Any], url: str) -> am.Model:
    return am.Model(case["name"], api=case["api"], base_url=url + APIS[case["api"]], api_key=KEY, reasoning=True)


def context_of(case: dict[str, Any], *more: am.Message) -> am.Context:
    request = case["request"]
    messages = [
        am.UserMessage(each["text"]) if each["role"] == "user" else am.AssistantMessage(each["text"])
        for each in request["messages"]
        if each["role"] in ("user", "assistant")
    ]
    tools = [
        am.ToolSchema(tool["name"], tool.get("description", ""), tool["parameters"])
        for tool in request.get("tools", ())
    ]
    return am.Context(messages=[*messages, *more], tools=tools)


async def streamed(model: am.Model, context: am.Context) -> Outcome:
    events: list[am.StreamEvent] = []
    keep = events.append
    try:
        async for event in am.stream(model, context, CONFIG):
            keep(event)
    except am.ProviderError as error:
        return Outcome(error.partial, error, events)
    return Outcome(None, None, events)


async def completed(model: am.Model, context: am.Context) -> Outcome:
    try:
        return Outcome(await am.complete(model, context, CONFIG), None, [])
    except am.ProviderError as error:
        return Outcome(error.partial, error, [])


def text_of(events: list[am.StreamEvent], kind: type[TextDelta] | type[ThinkingDelta]) -> str:
    return "".join(item.text for event in events for item in event.items if isinstance(item, kind))


def of_message(outcome: Outcome) -> dict[str, Any]:
    message, error = outcome.message, outcome.error
    usage = message.usage if message is not None else None
    return {
        "text": message.text if message else "",
        "thinking": message.thinking if message else "",
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in (message.tool_calls if message and error is None else ())
        ],
        "finish_reason": message.stop_reason.value if message and error is None else None,
        "usage": usage and {name: getattr(usage, name) for name in ("input", "output", "cache_read", "cache_write")},
    }


def of_events(outcome: Outcome) -> dict[str, Any]:
    items = [item for event in outcome.events for item in event.items]
    stop = outcome.events[-1] if outcome.error is None else None
    usage = stop.usage if stop is not None else None
    return {
        "text": text_of(outcome.events, TextDelta),
        "thinking": text_of(outcome.events, ThinkingDelta),
        "tool_calls": [
            {"id": item.id, "name": item.name, "arguments": item.arguments}
            for item in items
            if isinstance(item, ToolCallItem) and outcome.error is None
        ],
        "finish_reason": stop.finish_reason.value if stop is not None and stop.finish_reason else None,
        "usage": usage and {name: getattr(usage, name) for name in ("input", "output", "cache_read", "cache_write")},
    }


def differences(got: dict[str, Any], error: am.ProviderError | None, right: dict[str, Any]) -> list[str]:
    """What is not as it should be; empty when all is right."""
    found = [
        f"{name}: {got[name]!r} instead of {right[name]!r}"
        for name in ("text", "thinking", "finish_reason")
        if got[name] != right[name]
    ]
    calls = [
        {**call, "id": None} if want["id"] is None else call
        for call, want in zip(got["tool_calls"], right["tool_calls"], strict=False)
    ]
    if calls != right["tool_calls"] or len(got["tool_calls"]) != len(calls):
        found.append(f"tool_calls: {str(got['tool_calls'])[:300]}")
    ids = [call["id"] for call in got["tool_calls"]]
    if len(set(ids)) != len(ids) or not all(ids):
        found.append(f"ids: {ids}")
    want = right["error"]
    if want is None:
        if got["usage"] != right["usage"]:
            found.append(f"usage: {got['usage']} instead of {right['usage']}")
        return found if error is None else [*found, f"error: {error!r}"]
    if error is None:
        return [*found, "no error"]
    if error.kind != want["kind"]:
        found.append(f"kind: {error.kind} instead of {want['kind']}")
    if (want["message_contains"] or "").lower() not in str(error).lower():
        found.append(f"message: {error}")
    if want["retryable"] not in (None, error.retryable):
        found.append(f"retryable: {error.retryable}")
    wait = want["retry_after_s"]
    if wait is not None and (error.retry_after is None or abs(error.retry_after - wait) > 2):
        found.append(f"retry_after: {error.retry_after} instead of {wait}")
    return found


def broken_protocol(outcome: Outcome) -> list[str]:
    """How the events break the stream protocol; empty when they do not."""
    kinds = [event.event_type for event in outcome.events]
    found: list[str] = []
    if outcome.error is None and (kinds.count("start"), kinds.count("stop"), kinds[:1], kinds[-1:]) != (
        1,
        1,
        ["start"],
        ["stop"],
    ):
        found.append(f"order of events: {kinds[:3]} ... {kinds[-3:]}")
    if outcome.error is not None and ("stop" in kinds or kinds.count("start") > 1):
        found.append(f"events before an error: {kinds[:3]} ... {kinds[-3:]}")
    announced: dict[int, PartialToolCall] = {}
    arguments: dict[int, str] = {}
    for item in (item for event in outcome.events for item in event.items):
        if isinstance(item, PartialToolCall) and item.index not in announced:
            if not item.name or not item.tool_call_id or item.arguments:
                found.append(f"no announcement: {item}")
            announced[item.index], arguments[item.index] = item, ""
        elif isinstance(item, PartialToolCall):
            if item.name or item.tool_call_id:
                found.append(f"identity repeated: {item}")
            arguments[item.index] += item.arguments
        elif isinstance(item, ToolCallItem):
            first = announced.get(item.index)
            if first is None or (first.name, first.tool_call_id) != (item.name, item.id):
                found.append(f"completed as another call: {item}")
            elif (json.loads(arguments[item.index] or "{}") or {}) != item.arguments:
                found.append(f"fragments do not add up: {arguments[item.index][:200]}")
    return found


def check(case: dict[str, Any], got: dict[str, Any], outcome: Outcome) -> None:
    variants = replay_server.expected_variants(case)
    found = [differences(got, outcome.error, right) for right in variants]
    assert [] in found, found[0]
    if outcome.error is not None:
        assert KEY not in f"{outcome.error!r} {outcome.error.partial!r}"
        assert outcome.error.__cause__ is None
        assert outcome.error.__context__ is None


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_read_right_however_its_bytes_are_cut(servers: dict[int, str], name: str, split: int) -> None:
    case = CASES[name]
    model, context = model_of(case, servers[split]), context_of(case)

    async def both() -> tuple[Outcome, Outcome]:
        return await streamed(model, context), await completed(model, context)

    by_stream, by_complete = asyncio.run(both())
    check(case, of_events(by_stream), by_stream)
    check(case, of_message(by_complete), by_complete)
    assert broken_protocol(by_stream) == []


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["expected"]["error"] is None])
def test_an_answer_can_be_sent_back_with_what_the_server_wants_unchanged(servers: dict[int, str], name: str) -> None:
    case = CASES[name]
    model, url = model_of(case, servers[0]), servers[0]

    async def two_turns() -> am.AssistantMessage:
        answer = await am.complete(model, context_of(case), CONFIG)
        results = [am.ToolResultMessage(call.id, call.name, "done") for call in answer.tool_calls]
        await am.complete(model, context_of(case, answer, *results, am.UserMessage("go on")), CONFIG)
        return answer

    answer = asyncio.run(two_turns())
    sent = last_request(url)
    for text in case["expected"].get("replay_must_contain", ()):
        assert text in json.dumps(sent["body"], ensure_ascii=False)
    for call in answer.tool_calls:
        assert call.id in json.dumps(sent["body"])


def last_request(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/requests") as response:
        requests: list[dict[str, Any]] = json.load(response)
    return requests[-1]


def test_a_server_that_recovers_is_asked_again_and_the_answer_has_one_start(servers: dict[int, str]) -> None:
    model = am.Model("chat-500-error-text+chat-text-basic", base_url=servers[0] + "/v1", api_key=KEY)

    async def run() -> list[am.StreamEvent]:
        config = am.RequestConfig(max_retry_delay=0.01)
        return [event async for event in am.stream(model, am.Context(messages=[am.UserMessage("hi")]), config)]

    events = asyncio.run(run())
    assert [event.event_type for event in events if event.event_type != "delta"] == ["start", "stop"]
    assert text_of(events, TextDelta) == "Hello there!"
