"""Damaged answers: whatever a server sends, an answer or one of our errors comes of it, and nothing else.

Each case is cut, merged with others, put out of order and falsified, twenty times; `make soak` does it more often.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import json
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import settings

import agent_magic as am
from agent_magic.events import PartialToolCall, TextDelta, ThinkingDelta, ToolCallItem
from agent_magic.providers import http
from agent_magic.providers.transport import HTTPRequest, HTTPResponse

from . import replay_server

# Seconds that one answer may take to read, on a busy machine.
LONGEST = 10
SOUP = [b"\xff\xfe", b"\x00", b"null", b"[]", b"{}", b"\r", b"\n\n", b'"', b"\\ud83d", b"1e999", b"NaN", b"[" * 3000]
FIELDS = (
    b"content delta index choices tool_calls function arguments usage id name message error finish_reason "
    b"type content_block text thinking signature partial_json input stop_reason output_tokens "
    b"candidates parts functionCall args thought thoughtSignature finishReason usageMetadata promptTokenCount "
    b"delta item output_index item_id call_id response status summary output sequence_number encrypted_content"
).split()
VALUES = [b"null", b"1", b"[]", b"{}", b'"s"', b"[[1]]", b"[null]", b"true", b"1.5", b'{"type":1}', b"-1", b'"\\udc00"']
APIS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}


def body_of(case: dict[str, Any]) -> bytes:
    body = b"".join(replay_server.body_pieces(case))
    return gzip.decompress(body) if "content-encoding" in case["response"]["headers"] else body


# Where no answer came at all, an empty one stands here.
BODIES = {
    name: (case["api"], case["response"]["status"] or 200, body_of(case))
    for name, case in replay_server.load_cases().items()
}


def damaged(body: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """`body` cut, merged with another, its events in another order, or with some bytes or values replaced."""
    if chance.random() < 0.3:
        body += chance.choice(others)
    if chance.random() < 0.2:
        events = body.split(b"\n\n")
        first, second = chance.randrange(len(events)), chance.randrange(len(events))
        events[first], events[second] = events[second], events[first]
        body = b"\n\n".join(events)
    found = bytearray(body[:20_000])
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(found) + 1)
        stop = start + chance.randint(1, 60)
        kind = chance.randrange(6)
        if kind == 0:
            del found[start:stop]
        elif kind == 1:
            found[start:start] = found[stop : stop + chance.randint(1, 80)]
        elif kind == 2:
            found[start:start] = chance.choice(SOUP)
        elif kind == 3:
            del found[start:]
        elif kind == 4:
            found[start : start + 1] = bytes([chance.randrange(256)])
        else:
            field = b'"' + chance.choice(FIELDS) + b'":'
            place = found.find(field)
            if place >= 0:
                found[place + len(field) : place + len(field)] = chance.choice(VALUES) + b',"was":'
    return bytes(found)


async def read(api: str, status: int, pieces: list[bytes]) -> list[am.StreamEvent] | am.ProviderError:
    @contextlib.asynccontextmanager
    async def transport(request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
        async def body() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        yield HTTPResponse(status, {}, body())

    model = am.Model("m", api=api, base_url="http://127.0.0.1:9" + APIS[api], api_key="sk-none")
    context = am.Context(messages=[am.UserMessage("hi")])
    restore = http.use_transport(transport)
    try:
        return [event async for event in am.stream(model, context, am.RequestConfig(max_retries=0))]
    except am.ProviderError as error:
        return error
    finally:
        restore()


def meaning(outcome: list[am.StreamEvent] | am.ProviderError) -> Any:
    """What a user gets of an answer, whichever pieces it came in; generated ids are left out."""
    if isinstance(outcome, am.ProviderError):
        partial = outcome.partial
        kept = None if partial is None else (partial.text, partial.thinking, partial.usage, calls_of(partial))
        return outcome.kind, str(outcome), outcome.retryable, kept
    items = [item for event in outcome for item in event.items]
    text = "".join(item.text for item in items if isinstance(item, TextDelta))
    thinking = "".join(item.text for item in items if isinstance(item, ThinkingDelta))
    calls = [(item.name, item.arguments) for item in items if isinstance(item, ToolCallItem)]
    return text, thinking, repr(calls), outcome[-1].finish_reason, outcome[-1].usage


def calls_of(message: am.AssistantMessage) -> str:
    return repr([(call.name, call.arguments) for call in message.all_tool_calls])


def check_calls(events: list[am.StreamEvent]) -> None:
    """Every call is announced, its fragments follow, and what is called is what they say."""
    names: dict[int, str] = {}
    texts: dict[int, str] = defaultdict(str)
    done: set[int] = set()
    for item in (item for event in events for item in event.items):
        if isinstance(item, PartialToolCall) and item.name:
            assert item.tool_call_id
            assert not item.arguments
            assert item.index not in names
            names[item.index] = item.name
        elif isinstance(item, PartialToolCall):
            assert item.index in names
            assert item.index not in done
            texts[item.index] += item.arguments
        elif isinstance(item, ToolCallItem):
            done.add(item.index)
            assert names[item.index] == item.name
            assert type(item.arguments) is dict
            said = json.loads(texts[item.index] or "{}") or {}
            assert repr(said) == repr(item.arguments)


@pytest.mark.parametrize("name", BODIES)
def test_nothing_but_an_answer_or_our_own_error_comes_of_damaged_bytes(name: str) -> None:
    api, status, body = BODIES[name]
    others = [each for other_api, _, each in BODIES.values() if other_api == api]

    async def rounds() -> None:
        for number in range(settings().max_examples // 5):
            chance = random.Random(f"{name} {number}")
            whole = damaged(body, others, chance)
            size = chance.choice([1, 3, 17, 100])
            begun = time.monotonic()
            outcome = await read(api, status, [whole])
            again = await read(api, status, [whole[at : at + size] for at in range(0, len(whole), size)])
            assert time.monotonic() - begun < LONGEST
            assert meaning(again) == meaning(outcome), f"round {number}, pieces of {size}"
            if isinstance(outcome, am.ProviderError):
                assert "adapter of the API" not in str(outcome), f"round {number}: {outcome.__cause__!r}"
                str(outcome).encode()
                assert outcome.partial is None or outcome.partial.text.encode() is not None
            else:
                kinds = [event.event_type for event in outcome]
                assert (kinds[0], kinds[-1], kinds.count("stop")) == ("start", "stop", 1), f"round {number}"
                check_calls(outcome)
                repr([item for event in outcome for item in event.items]).encode()

    asyncio.run(rounds())


@pytest.mark.parametrize("start", [b"data: ", b"{", b": "])
def test_data_without_end_or_event_is_given_up(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_LONGEST_EVENT", 10_000)
    outcome = asyncio.run(read("openai-chat", 200, [start, *itertools.repeat(b"x" * 1000, 20)]))
    assert isinstance(outcome, am.BadRequestError)
    assert "without end" in str(outcome)


def test_many_short_events_are_no_data_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_LONGEST_EVENT", 1_000)
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "word "}}]}\n\n'
    outcome = asyncio.run(read("openai-chat", 200, [event] * 100 + [b"data: [DONE]\n\n"]))
    assert meaning(outcome)[0] == "word " * 100
