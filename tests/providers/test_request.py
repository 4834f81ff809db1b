"""Repeating, breaking off and failing of one request."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socket
import ssl
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers import http
from agent_magic.providers.request import ResponseStream, without_unsupported
from agent_magic.providers.retry import retry_delay
from agent_magic.providers.transport import HTTPEvent

from ..loopback import listening_socket

KEY = "sk-very-secret-0123456789"
CONTEXT = am.Context(messages=[am.UserMessage("hi")])
HELLO = [{"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]}]
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'


def model(url: str = "http://127.0.0.1:9/v1", **fields: Any) -> am.Model:
    return am.Model("m", base_url=url, api_key=KEY, **fields)


async def events_of(stream: AsyncIterator[am.StreamEvent]) -> list[am.StreamEvent]:
    return [event async for event in stream]


def complete(config: am.RequestConfig | None = None, **fields: Any) -> am.AssistantMessage:
    return asyncio.run(am.complete(model(**fields), CONTEXT, config))


# Repeating ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_repeated_before_the_first_delta(stand_in: Any, status: int) -> None:
    stand_in.refuses(status, retry_after_ms="1").streams()
    assert complete().text == "Hello"
    assert len(stand_in.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 402])
def test_a_failure_that_stays_is_not_repeated(stand_in: Any, status: int) -> None:
    stand_in.refuses(status).streams()
    with pytest.raises(am.ProviderError):
        complete()
    assert len(stand_in.requests) == 1


def test_the_last_of_the_allowed_repeats_raises(stand_in: Any) -> None:
    stand_in.refuses(500, "down", retry_after_ms="1")
    with pytest.raises(am.ServerError, match="down"):
        complete(am.RequestConfig(max_retries=2))
    assert len(stand_in.requests) == 3


def test_nothing_is_repeated_after_the_first_delta(stand_in: Any) -> None:
    stand_in.gives(EVENT).streams()
    with pytest.raises(am.StreamInterruptedError) as caught:
        complete()
    assert len(stand_in.requests) == 1
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Hello"


def test_a_failure_inside_an_answer_that_has_not_begun_is_repeated(stand_in: Any) -> None:
    stand_in.streams({"error": {"message": "overloaded", "type": "overloaded_error"}}).streams()
    config = am.RequestConfig(max_retry_delay=0.01)
    events = asyncio.run(events_of(am.stream(model(), CONTEXT, config)))
    assert [event.event_type for event in events] == ["start", "delta", "stop"]


def test_a_wait_longer_than_allowed_fails_at_once_and_tells_it(stand_in: Any) -> None:
    stand_in.refuses(429, retry_after="61")
    with pytest.raises(am.RateLimitError) as caught:
        complete()
    assert len(stand_in.requests) == 1
    assert caught.value.retry_after == 61
    assert "Wait 61 seconds" in str(caught.value)


def test_a_wait_that_a_user_wonders_about_is_told_while_it_lasts_and_in_the_reply(stand_in: Any) -> None:
    stand_in.refuses(429, retry_after="1").refuses(500, retry_after_ms="10").streams()

    async def run() -> tuple[am.Reply, list[tuple[str, float]]]:
        agent = am.Agent(model=model())
        told: list[tuple[str, float]] = []
        agent.subscribe(lambda event: told.append((event.type, time.monotonic())))
        return await agent.prompt("hi"), told

    reply, told = asyncio.run(run())
    note = "m: the server limits the rate of requests (status 429); waiting 1 s for attempt 2 of 4."
    assert reply.notes == (note,)
    when = {kind: moment for kind, moment in told if kind in ("note", "message_start")}
    assert [kind for kind, _ in told].count("note") == 1
    assert when["message_start"] - when["note"] > 0.9


@pytest.mark.parametrize(
    ("provider", "text", "read", "is_told"),
    [
        ("ollama", "word " * 6000, 4096, True),
        ("ollama", "word " * 6000, 6100, False),
        ("vllm", "word " * 6000, 4096, False),
    ],
)
def test_a_prompt_that_the_server_has_cut_is_told(
    stand_in: Any, provider: str, text: str, read: int, is_told: bool
) -> None:
    """Complaint 50 about other tools: the small default context of Ollama cut the system prompt in silence."""
    usage = {"prompt_tokens": read, "completion_tokens": 1, "total_tokens": read + 1}
    stand_in.streams(*HELLO, {"choices": [], "usage": usage})
    reply = asyncio.run(am.Agent(model=model(provider=provider)).prompt(text))
    assert (["num_ctx" in note for note in reply.notes] == [True]) is is_told
    assert not is_told or "read only 4,096 tokens" in reply.notes[0]


def test_the_servers_waiting_time_counts_else_the_wait_doubles_up_to_eight_seconds() -> None:
    config = am.RequestConfig(max_retries=9)
    told = am.RateLimitError("x", retryable=True, retry_after=7)
    assert retry_delay(told, 1, config) == 7
    silent = am.ServerError("x", retryable=True)
    waits = [retry_delay(silent, failures, config) or 0 for failures in range(1, 8)]
    for wait, most in zip(waits, [0.5, 1, 2, 4, 8, 8, 8], strict=True):
        assert 0.75 * most <= wait <= most
    assert retry_delay(am.ServerError("x"), 1, config) is None


def test_a_wait_before_a_repeat_is_broken_off_by_an_abort(stand_in: Any) -> None:
    stand_in.refuses(500, retry_after="30")
    signal = am.AbortSignal()
    threading.Timer(0.1, signal.abort, ["enough"]).start()
    begun = time.monotonic()
    with pytest.raises(am.AbortedError, match="enough"):
        asyncio.run(am.complete(model(), CONTEXT, signal=signal))
    assert time.monotonic() - begun < 5


# A real connection --------------------------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@asynccontextmanager
async def serving(answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]) -> AsyncIterator[str]:
    writers: list[asyncio.StreamWriter] = []

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            await reader.readuntil(b"\r\n\r\n")
            await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(client, sock=listening_socket())
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        # From Python 3.12 on a server that closes waits for its connections, and the client keeps them open.
        for writer in writers:
            writer.transport.abort()


def test_an_abort_closes_the_connection_at_once_and_keeps_what_had_come() -> None:
    async def run() -> tuple[am.AbortedError, float]:
        closed = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + chunk(EVENT))
            while await reader.read(1000):
                pass
            closed.set()

        async with serving(answer) as url:
            signal = am.AbortSignal()
            stream = am.stream(model(url), CONTEXT, signal=signal)
            assert [(await anext(stream)).event_type for _ in range(2)] == ["start", "delta"]
            begun = time.monotonic()
            threading.Thread(target=signal.abort, args=["stop it"]).start()
            with pytest.raises(am.AbortedError) as caught:
                await anext(stream)
            took = time.monotonic() - begun
            await asyncio.wait_for(closed.wait(), 5)
            return caught.value, took

    error, took = min((asyncio.run(run()) for _ in range(5)), key=lambda each: each[1])
    assert took < 0.3
    assert error.reason == "stop it"
    assert error.partial is not None
    assert error.partial.text == "Hello"
    assert error.partial.stop_reason is am.StopReason.ABORTED


@pytest.mark.parametrize("leave", ["break", "cancel"])
def test_leaving_early_closes_the_connection(leave: str) -> None:
    async def run() -> None:
        closed = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + chunk(EVENT))
            while await reader.read(1000):
                pass
            closed.set()

        async with serving(answer) as url:
            response = ResponseStream(model(url), CONTEXT)
            await anext(response)
            if leave == "break":
                await response.aclose()
            else:
                waiting = asyncio.ensure_future(anext(response))
                await asyncio.sleep(0.05)
                waiting.cancel()
            await asyncio.wait_for(closed.wait(), 5)

    asyncio.run(run())


def test_a_signal_given_before_sends_nothing(stand_in: Any) -> None:
    signal = am.AbortSignal()
    signal.abort("never mind")
    with pytest.raises(am.AbortedError, match="never mind"):
        asyncio.run(am.complete(model(), CONTEXT, signal=signal))
    assert stand_in.requests == []


def test_the_first_delta_is_passed_on_before_the_second_comes() -> None:
    async def run() -> None:
        seen = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + chunk(EVENT))
            await asyncio.wait_for(seen.wait(), 5)
            end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
            writer.write(chunk(end) + chunk(b""))

        async with serving(answer) as url:
            async for event in am.stream(model(url), CONTEXT):
                if event.items:
                    seen.set()

    asyncio.run(run())


def test_the_end_marker_ends_the_answer_though_the_server_keeps_the_connection_open() -> None:
    async def run() -> am.AssistantMessage:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + chunk(EVENT) + chunk(b"data: [DONE]\n\n"))
            await reader.read(1)

        async with serving(answer) as url:
            return await asyncio.wait_for(am.complete(model(url), CONTEXT), 5)

    assert asyncio.run(run()).text == "Hello"


def test_one_connection_serves_several_requests_of_a_loop() -> None:
    async def run() -> int:
        connections = 0

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            while True:
                writer.write(HEAD + chunk(EVENT) + chunk(b"data: [DONE]\n\n") + chunk(b""))
                await reader.readuntil(b"\r\n\r\n")

        async with serving(answer) as url:
            for _ in range(3):
                await am.complete(model(url), CONTEXT)
            return connections

    assert asyncio.run(run()) == 1


def test_a_silent_server_is_given_up_after_the_timeout() -> None:
    async def run(head: bytes) -> am.ProviderError:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(head)
            await reader.read(100_000)
            await reader.read(1)

        async with serving(answer) as url:
            with pytest.raises(am.ProviderError, match="silent") as caught:
                await am.complete(model(url), CONTEXT, am.RequestConfig(timeout=0.2, max_retries=0))
            return caught.value

    assert asyncio.run(run(b"")).kind == "connection"
    assert asyncio.run(run(HEAD + chunk(EVENT))).kind == "stream_interrupted"


@pytest.mark.parametrize("end", ["closes", "is silent"])
def test_a_refusal_whose_words_break_off_keeps_its_status(end: str) -> None:
    async def run() -> am.ProviderError:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 429 X\r\nretry-after: 90\r\ncontent-length: 500\r\n\r\nslow down")
            await writer.drain()
            if end == "is silent":
                await reader.read(100_000)
                await reader.read(1)

        async with serving(answer) as url:
            with pytest.raises(am.ProviderError) as caught:
                await am.complete(model(url), CONTEXT, am.RequestConfig(timeout=0.3))
            return caught.value

    error = asyncio.run(run())
    assert (error.kind, error.status, error.retry_after) == ("rate_limit", 429, 90)
    assert "slow down" in str(error)


def test_an_answer_that_is_compressed_unasked_is_read_by_either_name() -> None:
    body = gzip.compress(EVENT + b"data: [DONE]\n\n")

    async def run(name: str) -> str:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-encoding: {name}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
            writer.write(body)
            await reader.read(1)

        async with serving(answer) as url:
            return (await am.complete(model(url), CONTEXT, am.RequestConfig(max_retries=0))).text

    assert [asyncio.run(run(name)) for name in ("gzip", "x-gzip", "GZIP")] == ["Hello"] * 3


@pytest.mark.parametrize("sent", [b"\x15\x03\x01\x00\x02\x02\x16", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_a_server_that_speaks_something_else_is_told_from_one_that_is_silent(sent: bytes) -> None:
    async def run() -> am.ProviderError:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(sent)
            await reader.read(100_000)

        async with serving(answer) as url:
            with pytest.raises(am.ServerConnectionError) as caught:
                await am.complete(model(url), CONTEXT, am.RequestConfig(max_retries=0))
            return caught.value

    assert "no answer of HTTP; one that is encrypted has a base_url with https://." in str(asyncio.run(run()))


def test_a_loop_that_was_blocked_reads_what_has_come_before_it_gives_up() -> None:
    async def run() -> str:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + chunk(EVENT))
            await writer.drain()
            time.sleep(0.6)  # The loop of client and server is blocked for longer than the timeout.
            writer.write(chunk(b"data: [DONE]\n\n") + chunk(b""))

        async with serving(answer) as url:
            return (await am.complete(model(url), CONTEXT, am.RequestConfig(timeout=0.4, max_retries=0))).text

    assert asyncio.run(run()) == "Hello"


# Failures -----------------------------------------------------------------------------------------------------------


def refused_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


def test_an_unreachable_server_is_a_connection_error_worth_a_repeat() -> None:
    with pytest.raises(am.ServerConnectionError) as caught:
        complete(am.RequestConfig(max_retries=0), url=f"http://127.0.0.1:{refused_port()}/v1")
    assert caught.value.retryable
    assert "127.0.0.1" in str(caught.value)
    assert "base_url" in str(caught.value)


def test_a_broken_encryption_is_not_repeated() -> None:
    async def run() -> tuple[am.ProviderError, int]:
        connections = 0

        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            writer.write(b"this is no TLS\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(plain, sock=listening_socket())
        async with server:
            url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            with pytest.raises(am.ServerConnectionError) as caught:
                await am.complete(model(url), CONTEXT)
            return caught.value, connections

    error, connections = asyncio.run(run())
    assert connections == 1
    assert not error.retryable
    assert "encrypted" in str(error)


def test_no_ssl_context_is_made_for_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    http._ssl_context.cache_clear()
    monkeypatch.setattr(ssl, "create_default_context", None)
    with pytest.raises(am.ServerConnectionError):
        complete(am.RequestConfig(max_retries=0), url=f"http://127.0.0.1:{refused_port()}/v1")
    assert http._ssl_context.cache_info().misses == 0


@pytest.mark.parametrize("url", ["ftp://h/v1", "h/v1", "http://", "http://[/v1", "http://h:port/v1"])
def test_a_base_url_that_is_none_is_our_error(url: str) -> None:
    with pytest.raises(am.AgentMagicError):
        complete(am.RequestConfig(max_retries=0), url=url)


@pytest.mark.parametrize("key", ["sk-ümlaut", "sk-new\nline", "sk-“quoted”"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    used = am.Model("m", base_url=f"http://127.0.0.1:{refused_port()}/v1", api_key=key)
    with pytest.raises(am.AuthenticationError) as caught:
        asyncio.run(am.complete(used, CONTEXT, am.RequestConfig(max_retries=0)))
    assert key not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["x-a\r\nx-b", "x a", "x:a", ""])
def test_a_header_of_a_name_that_none_can_have_is_refused(name: str) -> None:
    used = am.Model("m", base_url=f"http://127.0.0.1:{refused_port()}/v1", api_key=KEY, headers={name: "v"})
    with pytest.raises(am.AuthenticationError, match="no header can hold"):
        asyncio.run(am.complete(used, CONTEXT, am.RequestConfig(max_retries=0)))


def test_a_key_that_the_server_repeats_is_blanked(stand_in: Any) -> None:
    stand_in.refuses(401, f"the key {KEY} is wrong")
    with pytest.raises(am.AuthenticationError, match="is wrong") as caught:
        complete(headers={"x-own": "another-secret"})
    assert KEY not in str(caught.value)
    frames = [
        frame.f_locals
        for frame, _ in traceback.walk_tb(caught.value.__traceback__)
        if frame.f_globals["__name__"].startswith("agent_magic")
    ]
    assert KEY not in repr(frames)


@pytest.mark.parametrize("words", ["data: {}\n\n", "{}"])
def test_a_key_that_the_server_repeats_inside_an_answer_is_blanked(stand_in: Any, words: str) -> None:
    error = json.dumps({"error": {"message": f"the keys {KEY} and another-secret are wrong"}})
    stand_in.gives(EVENT, words.replace("{}", error).encode())
    with pytest.raises(am.ProviderError, match="are wrong") as caught:
        complete(headers={"x-own": "Basic another-secret"})
    shown = f"{caught.value} {caught.value!r} {caught.value.message} {caught.value.partial}"
    assert "the keys … and … are wrong" in shown
    assert KEY not in shown
    assert "another-secret" not in shown


def test_observers_see_the_traffic_without_keys(stand_in: Any) -> None:
    stand_in.streams()
    seen: list[HTTPEvent] = []
    forget = http.observe(seen.append)
    complete(headers={"x-own": "another-secret"}, url="https://me:hunter22@gateway.example/v1?token=a-third-secret")
    forget()
    complete()
    assert [event.kind for event in seen] == ["request", "response", "data", "data", "data", "end"]
    assert not [secret for secret in (KEY, "another-secret", "hunter22", "a-third-secret") if secret in repr(seen)]


def test_a_bug_of_an_adapter_is_our_error_and_names_the_api() -> None:
    async def adapter(*_: Any) -> AsyncIterator[list[am.StreamEvent]]:
        raise KeyError("oops")
        yield []

    am.register_api("buggy", adapter)
    with pytest.raises(am.ServerError, match="buggy"):
        asyncio.run(am.complete(am.Model("m", api="buggy"), CONTEXT))


def test_an_answer_without_text_or_call_is_empty_and_keeps_its_reasoning_and_usage(stand_in: Any) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    stand_in.streams(
        {"choices": [{"delta": {"reasoning": "hm"}}]}, {"choices": [{"finish_reason": "stop"}], "usage": usage}
    )
    with pytest.raises(am.EmptyResponseError) as caught:
        complete(cost=am.ModelCost(1, 1))
    assert caught.value.client == "openai-chat"
    assert caught.value.finish_reason == "stop"
    partial = caught.value.partial
    assert partial is not None
    assert partial.thinking == "hm"
    assert partial.usage is not None
    assert partial.usage.cost is not None


def test_bad_arguments_keep_the_whole_calls(stand_in: Any) -> None:
    calls = [
        {"index": 0, "id": "a", "function": {"name": "good", "arguments": '{"x":1}'}},
        {"index": 1, "id": "b", "function": {"name": "bad", "arguments": '{"x":'}},
    ]
    stand_in.streams({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
    with pytest.raises(am.ToolCallArgumentParseError) as caught:
        complete()
    error = caught.value
    assert (error.tool_name, error.tool_call_id, error.raw_arguments_length) == ("bad", "b", 5)
    assert error.partial is not None
    assert [call.name for call in error.partial.tool_calls] == ["good"]
    assert [call.name for call in error.partial.all_tool_calls] == ["good", "bad"]
    assert error.partial.stop_reason is am.StopReason.TOOL_CALL


def test_a_cut_answer_keeps_its_whole_calls_and_raises_nothing(stand_in: Any) -> None:
    calls = [
        {"index": 0, "id": "a", "function": {"name": "good", "arguments": '{"x":1}'}},
        {"index": 1, "id": "b", "function": {"name": "cut", "arguments": '{"x":'}},
    ]
    stand_in.streams({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "length"}]})
    message = complete()
    assert message.stop_reason is am.StopReason.LENGTH
    assert [call.name for call in message.tool_calls] == ["good"]
    assert [(call.name, call.arguments) for call in message.all_tool_calls] == [("good", {"x": 1}), ("cut", {})]


def test_usage_is_priced_and_unknown_prices_are_unknown(stand_in: Any) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    stand_in.streams({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}], "usage": usage})
    priced = complete(cost=am.ModelCost(2, 4)).usage
    assert priced is not None
    assert priced.cost is not None
    assert priced.cost.total == 2
    unknown = complete().usage
    assert unknown is not None
    assert unknown.cost is None


def test_defaults_that_a_model_does_not_offer_are_left_out_by_name() -> None:
    config = am.RequestConfig(thinking_level="high", max_tokens=7)
    kept, left_out = without_unsupported(model(), config)
    assert left_out == ("thinking_level",)
    assert (kept.thinking_level, kept.max_tokens) == (None, 7)


def test_a_loop_that_ends_leaves_no_connection_behind(recwarn: pytest.WarningsRecorder) -> None:
    async def run() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + chunk(EVENT) + chunk(b"data: [DONE]\n\n") + chunk(b""))
            await reader.read(100_000)
            await reader.read(1)

        async with serving(answer) as url:
            await am.complete(model(url), CONTEXT)

    # What the tests before this one left is none of its business.
    gc.collect()
    recwarn.clear()
    asyncio.run(run())
    gc.collect()
    assert [str(each.message) for each in recwarn if "unclosed" in str(each.message)] == []
