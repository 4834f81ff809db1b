"""What is recorded is played again to the letter, without a network or a key; what was not recorded is told apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers import http
from agent_magic.providers.transport import HTTPRequest, HTTPResponse
from agent_magic.session.recording import Recording
from agent_magic.session.replay import Player, Recorder

MODEL = am.Model("m", base_url="http://127.0.0.1:9/v1")
KEY = "sk-a-key-of-the-test-0123456789"


def event(data: Any) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def answer(*texts: str) -> list[bytes]:
    pieces = [event({"choices": [{"index": 0, "delta": {"content": text}}]}) for text in texts]
    return [*pieces, event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), b"data: [DONE]\n\n"]


class Server:
    """Stands in the place of the network: `answers` are asked with each request for (status, pieces of the body)."""

    def __init__(self, answers: Callable[[dict[str, Any]], tuple[int, list[bytes]]]) -> None:
        self.answers = answers
        self.asked = 0

    @asynccontextmanager
    async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
        self.asked += 1
        status, pieces = self.answers(json.loads(request.body))

        async def body() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece
                await asyncio.sleep(0)

        yield HTTPResponse(status, {}, body())


def numbered() -> Server:
    """Answers `first`, `second`, ..."""
    words = iter(["first", "second", "third"])
    return Server(lambda body: (200, answer(next(words))))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notebook.agent-replay.json"


@contextmanager
def recording(path: Path, server: Server, mask: Callable[[str], str] = str) -> Iterator[Recorder]:
    recorder = Recorder(Recording(path), mask, server.transport)
    end = recorder.install()
    try:
        yield recorder
    finally:
        end()


@contextmanager
def playing(path: Path, mask: Callable[[str], str] = str) -> Iterator[Player]:
    player = Player(Recording(path), mask)
    end = player.install()
    try:
        yield player
    finally:
        end()


def ask(text: str, model: am.Model = MODEL, **config: Any) -> str:
    return asyncio.run(am.complete(model, am.Context(messages=[am.UserMessage(text)]), am.RequestConfig(**config))).text


def body_of(path: Path, number: int = 0) -> Any:
    return json.loads(path.read_bytes())["exchanges"][number]["request"]["body"]


def test_an_answer_comes_again_without_a_network(path: Path) -> None:
    server = numbered()
    with recording(path, server):
        assert ask("Hi") == "first"
    with playing(path):
        assert ask("Hi") == "first"
    assert server.asked == 1


def test_a_streamed_answer_streams_again(path: Path) -> None:
    async def deltas() -> list[list[str]]:
        context = am.Context(messages=[am.UserMessage("Hi")])
        return [
            [item.text for item in each.items if isinstance(item, am.TextDelta)]
            async for each in am.stream(MODEL, context)
            if each.items
        ]

    with recording(path, Server(lambda body: (200, answer("Grüß", " Gott", " 🦊")))):
        first = asyncio.run(deltas())
    with playing(path):
        assert asyncio.run(deltas()) == first == [["Grüß"], [" Gott"], [" 🦊"]]


def test_no_key_is_needed_to_replay_a_vendor(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = am.Model("gpt", provider="openai", base_url="https://api.openai.com/v1")
    with recording(path, numbered()):
        ask("Hi", model)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(am.AuthenticationError):
        ask("Hi", model)
    with playing(path):
        assert ask("Hi", model) == "first"
    with pytest.raises(am.AuthenticationError):
        ask("Hi", model)


def test_keys_are_nowhere_in_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-known-in-this-process-0123")
    model = MODEL.replace(
        base_url=f"{MODEL.base_url}/{KEY}",
        api_key=KEY,
        headers={"X-Proxy-Auth": "Basic abcdefghijkl", "x-team": "research"},
    )
    pieces = answer(f"Your key is {KEY} and sk-known-in-this-process-0123 abcdefghijkl")
    whole = b"".join(pieces)
    # Cut through the middle of the key.
    middle = whole.index(KEY.encode()) + 8
    with recording(path, Server(lambda body: (200, [whole[:middle], whole[middle:]]))):
        ask(f"My key is {KEY}, or sk-known-in-this-process-0123", model)
    text = path.read_text(encoding="utf-8")
    assert KEY not in text
    assert "sk-known" not in text
    assert "abcdefghijkl" not in text
    assert "headers" not in text
    assert "127.0.0.1" not in text
    with playing(path):
        said = ask(f"My key is {KEY}, or sk-known-in-this-process-0123", model)
        assert said == "Your key is [key hidden] and [key hidden] [key hidden]"


def test_the_order_of_fields_and_what_is_only_for_book_keeping_do_not_matter(path: Path) -> None:
    def model(extra: dict[str, Any]) -> am.Model:
        return MODEL.replace(compat={"extra_body": extra})

    with recording(path, numbered()):
        ask(
            "Hi",
            model({"a": 1, "b": {"c": 2, "d": 3}, "user": "me", "metadata": {"run": "1"}, "prompt_cache_key": "x"}),
        )
    with playing(path):
        assert ask("Hi", model({"b": {"d": 3, "c": 2}, "a": 1, "user": "you"})) == "first"


def test_ids_that_this_package_makes_up_and_addresses_of_objects_do_not_matter(path: Path) -> None:
    def messages(call_id: str, address: str) -> list[Any]:
        call = am.ToolCall(call_id, "look", {})
        result = am.ToolResultMessage(call_id, "look", f"<Thing at {address}>")
        return [am.UserMessage("Hi"), am.AssistantMessage([call]), result]

    async def go(call_id: str, address: str) -> str:
        return (await am.complete(MODEL, am.Context(messages=messages(call_id, address)))).text

    with recording(path, numbered()):
        asyncio.run(go("call_0123456789abcdef", "0x7f00aa00bb00"))
    with playing(path):
        assert asyncio.run(go("call_fedcba9876543210", "0x7f11cc11dd11")) == "first"


def test_pictures_are_kept_as_digests_and_still_told_apart(path: Path) -> None:
    async def show(data: bytes) -> str:
        message = am.UserMessage([am.ImageContent(data, "image/png")])
        return (await am.complete(MODEL, am.Context(messages=[message]))).text

    with recording(path, numbered()):
        asyncio.run(show(b"\x89PNG" + bytes(60_000)))
    assert path.stat().st_size < 5_000
    with playing(path):
        assert asyncio.run(show(b"\x89PNG" + bytes(60_000))) == "first"
        with pytest.raises(am.ReplayError, match="sha256"):
            asyncio.run(show(b"\x89PNG" + bytes(59_999) + b"1"))


def test_equal_requests_are_answered_in_the_order_of_the_recording_and_the_last_one_stays(path: Path) -> None:
    with recording(path, numbered()):
        ask("Hi"), ask("Hi")
    with playing(path):
        assert [ask("Hi") for _ in range(3)] == ["first", "second", "second"]


def test_parallel_requests_find_their_own_answers_in_any_order(path: Path) -> None:
    async def all_of(*texts: str) -> list[str]:
        contexts = [am.Context(messages=[am.UserMessage(text)]) for text in texts]
        return [each.text for each in await asyncio.gather(*(am.complete(MODEL, each) for each in contexts))]

    server = Server(lambda body: (200, answer(f"to {json.dumps(body['messages'])[-8:]}")))
    with recording(path, server):
        first = asyncio.run(all_of("a", "b", "c", "d"))
    assert len(set(first)) == 4
    with playing(path):
        assert asyncio.run(all_of("d", "b", "a", "c")) == [first[3], first[1], first[0], first[2]]


def test_a_request_that_was_not_recorded_shows_what_is_other_than_in_the_nearest(path: Path) -> None:
    with recording(path, numbered()):
        ask("Something else entirely", max_tokens=7)
        ask("Sales for EU in 2024", temperature=0.5)
    with playing(path), pytest.raises(am.ReplayError) as caught:
        ask("Sales for US in 2024", temperature=0.7)
    words = str(caught.value)
    assert "temperature: recorded 0.5, now 0.7" in words
    assert "Sales for EU in 2024" in words
    assert "Sales for US in 2024" in words
    assert "max_tokens" not in words
    assert "--record" in words
    assert path.name in words


def test_a_difference_is_shown_where_it_is_also_in_a_long_text(path: Path) -> None:
    with recording(path, numbered()):
        ask("x" * 5000 + "old end")
    with playing(path), pytest.raises(am.ReplayError) as caught:
        ask("x" * 5000 + "new end")
    assert "old end" in str(caught.value)
    assert "new end" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_replaying_without_a_recording_says_so(path: Path) -> None:
    with playing(path), pytest.raises(am.ReplayError, match=r"does not exist.*--record"):
        ask("Hi")


def test_a_refusal_comes_again_and_one_that_was_only_for_a_while_does_not(path: Path) -> None:
    answers = iter([(429, [b'{"error": {"message": "slow down"}}']), (200, answer("then"))])
    with recording(path, Server(lambda body: next(answers))):
        assert ask("Hi", max_retry_delay=0.01) == "then"
    refusal = (400, [b'{"error": {"message": "no such thing"}}'])
    with recording(path, Server(lambda body: refusal)), pytest.raises(am.BadRequestError):
        ask("Ho")
    assert [each["response"]["status"] for each in json.loads(path.read_bytes())["exchanges"]] == [200, 400]
    with playing(path):
        assert ask("Hi") == "then"
        with pytest.raises(am.BadRequestError, match="no such thing"):
            ask("Ho")


def test_what_broke_off_is_not_kept(path: Path) -> None:
    class Broken(Server):
        @asynccontextmanager
        async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
            async def body() -> AsyncIterator[bytes]:
                yield answer("half")[0]
                raise am.StreamInterruptedError("gone")

            yield HTTPResponse(200, {}, body())

    with recording(path, Broken(lambda body: (200, []))), pytest.raises(am.StreamInterruptedError):
        ask("Hi")
    assert not path.exists()


def test_an_answer_whose_connection_stays_open_is_kept_whole(path: Path) -> None:
    class Open(Server):
        @asynccontextmanager
        async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
            async def body() -> AsyncIterator[bytes]:
                for piece in answer("all"):
                    yield piece
                await asyncio.sleep(30)

            yield HTTPResponse(200, {}, body())

    with recording(path, Open(lambda body: (200, []))):
        assert ask("Hi") == "all"
    with playing(path):
        assert ask("Hi") == "all"


def test_what_a_cell_records_again_replaces_what_it_had_recorded(path: Path) -> None:
    for text, cell, words in (("Hi", "one", "a"), ("Ho", "two", "b"), ("Hi, better", "one", "c")):
        with recording(path, Server(lambda body, words=words: (200, answer(words)))) as recorder:
            recorder.cell = cell
            recorder.recording.begin(cell)
            ask(text)
    assert len(json.loads(path.read_bytes())["exchanges"]) == 2
    with playing(path):
        assert (ask("Ho"), ask("Hi, better")) == ("b", "c")
        with pytest.raises(am.ReplayError):
            ask("Hi")


def test_where_nobody_knows_the_cell_a_new_recording_replaces_the_same_request(path: Path) -> None:
    for words in ("old", "new"):
        with recording(path, Server(lambda body, words=words: (200, answer(words)))):
            ask("Hi")
    assert len(json.loads(path.read_bytes())["exchanges"]) == 1
    with playing(path):
        assert ask("Hi") == "new"


def test_a_cell_gets_its_own_answers_first_and_all_of_them_again_when_it_runs_again(path: Path) -> None:
    with recording(path, numbered()) as recorder:
        for cell in ("one", "two"):
            recorder.cell = cell
            recorder.recording.begin(cell)
            ask("Hi")
    with playing(path) as player:
        for cell, said in (("two", "second"), ("one", "first"), ("two", "second")):
            player.cell = cell
            player.recording.begin(cell)
            assert ask("Hi") == said


def test_a_recording_never_yields_anything_but_a_file_that_is_whole(path: Path, tmp_path: Path) -> None:
    with recording(path, numbered()):
        ask("Hi"), ask("Ho")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_text(encoding="utf-8").startswith('{\n "format": "agent_magic replay",\n "version": 1')


def test_bytes_that_are_no_text_come_again_as_they_were(path: Path) -> None:
    pieces = [b'{"choices": [{"message": {"content": "\xff\xfe ok"}, "finish_reason": "stop"}]}']
    said = []
    for way in (recording(path, Server(lambda body: (200, pieces))), playing(path)):
        with way:
            try:
                said.append(ask("Hi", max_retries=0))
            except am.AgentMagicError as error:
                said.append(str(error))
    assert said[0] == said[1]
    assert "base64" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no recording"),
        ("[]", "is no recording"),
        ('{"format": "agent_magic replay", "version": 2, "exchanges": []}', "version 2"),
        ('{"format": "agent_magic replay", "version": 1, "exchanges": [{}]}', "damaged"),
        ('{"format": "agent_magic replay", "version": 1}', "damaged"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_and_left_alone(path: Path, content: str, words: str) -> None:
    path.write_text(content)
    for way in (recording(path, numbered()), playing(path)):
        with way, pytest.raises(am.ReplayError, match=words):
            ask("Hi")
    assert path.read_text() == content


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with recording(tmp_path / "file" / "x.json", numbered()), pytest.raises(am.ReplayError):
        ask("Hi")


def test_a_model_of_this_machine_is_asked_anew(path: Path) -> None:
    server = numbered()
    model = MODEL.replace(provider="local")
    with recording(path, server):
        assert ask("Hi", model) == "first"
    assert not path.exists()


def test_what_is_asked_of_a_server_and_not_of_a_model_is_neither_kept_nor_played(path: Path) -> None:
    def look() -> Any:
        return asyncio.run(http.get_json(MODEL, "http://127.0.0.1:9/v1/models", {}, 1.0))

    class Listing(Server):
        @asynccontextmanager
        async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
            async def body() -> AsyncIterator[bytes]:
                yield b'{"data": []}'

            yield HTTPResponse(200, {}, body())

    with recording(path, Listing(lambda body: (200, []))):
        assert look() == {"data": []}
    assert not path.exists()
    with playing(path), pytest.raises(am.ServerConnectionError):
        look()


def test_models_without_a_server_need_no_recording(path: Path) -> None:
    with playing(path):
        assert ask("Hi", am.scripted("Hello")) == "Hello"


def test_replaying_grants_nothing(path: Path) -> None:
    """A call that the recorder's policy allowed is denied where the one who replays does not allow it."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "wipe", "arguments": "{}"}}
    turns = [
        [event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})],
        answer("Done."),
    ]
    ran = []

    @am.tool(effect="execute")
    def wipe() -> str:
        """Wipe."""
        ran.append(1)
        return "wiped"

    with recording(path, Server(lambda body: (200, [*turns[len(body["messages"]) > 1], b"data: [DONE]\n\n"]))):
        am.Agent(MODEL, [wipe]).run("Go")
    assert ran == [1]
    with playing(path), pytest.raises(am.ReplayError, match="wiped"):
        am.Agent(MODEL, [wipe], policy=am.Policy.for_kernel()).run("Go")
    assert ran == [1]


def test_taking_a_transport_back_leaves_the_one_before(path: Path) -> None:
    server = numbered()
    end = http.use_transport(server.transport)
    try:
        with playing(path):
            pass
        assert ask("Hi") == "first"
    finally:
        end()
