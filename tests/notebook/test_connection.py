import asyncio
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from agent_magic.errors import AgentMagicError
from agent_magic.notebook.connection import PROTOCOL, Connection, Method, Request


class Pages:
    """A transport that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(dict(message))

    def response(self, name: str) -> dict[str, Any]:
        (found,) = [each for each in self.sent if each.get("id") == name and each["type"] == "response"]
        return found


class Broken:
    def send(self, message: Mapping[str, Any]) -> None:
        raise OSError("no page")


def request(method: Any, name: Any = "p:1", **params: Any) -> dict[str, Any]:
    return {"type": "request", "id": name, "method": method, "params": params}


def attach(connection: Connection, page: str = "p", **more: Any) -> None:
    connection.receive(request("attach", f"{page}:0", **{"page": page, "protocol": PROTOCOL, "kind": "cell", **more}))


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def connected(methods: Mapping[str, Method] | None = None) -> tuple[Connection, Pages]:
    """To be called where a loop runs."""
    pages, loop = Pages(), asyncio.get_running_loop()
    return Connection(pages, methods or {}, lambda: loop), pages


def test_a_request_is_answered_by_its_method_on_the_loop() -> None:
    threads: list[threading.Thread] = []

    def double(request: Request) -> dict[str, Any]:
        threads.append(threading.current_thread())
        return {"doubled": request.params["number"] * 2, "page": request.page}

    async def main() -> dict[str, Any]:
        connection, pages = connected({"double": Method(double)})
        await asyncio.to_thread(connection.receive, request("double", "a:b:7", number=4))
        await settled()
        return pages.response("a:b:7")

    assert asyncio.run(main()) == {"type": "response", "id": "a:b:7", "result": {"doubled": 8, "page": "a:b"}}
    assert threads == [threading.current_thread()]


def test_a_coroutine_answers_when_it_is_done_and_nothing_is_an_empty_object() -> None:
    async def later(request: Request) -> None:
        await asyncio.sleep(0.01)

    async def main() -> list[dict[str, Any]]:
        connection, pages = connected({"later": Method(later)})
        connection.receive(request("later"))
        await settled()
        assert pages.sent == []
        await asyncio.sleep(0.05)
        return pages.sent

    assert asyncio.run(main()) == [{"type": "response", "id": "p:1", "result": {}}]


def test_a_method_that_is_at_once_is_answered_while_the_loop_stands_still() -> None:
    async def main() -> float:
        connection, pages = connected({"stop": Method(lambda request: None, at_once=True), "wait": Method(dict)})
        threading.Timer(0.05, connection.receive, [request("stop")]).start()
        threading.Timer(0.05, connection.receive, [request("wait", "p:2")]).start()
        time.sleep(0.3)
        assert [each["id"] for each in pages.sent] == ["p:1"]
        await settled()
        return len(pages.sent)

    assert asyncio.run(main()) == 2


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (request("nothing_like_it"), "knows no method 'nothing_like_it'"),
        (request(["stop"]), "knows no method"),
        (request(None), "knows no method"),
        ({**request("text", text="x"), "params": [1]}, "params: must be an object"),
        (request("text"), "text: must be a text"),
        (request("text", text=3), "text: must be a text"),
        (request("flag", on="yes"), "on: must be true or false"),
        (request("choice", which="c"), "which: must be one of a, b, not 'c'"),
        (request("fields", fields=[1]), "fields: must be an object"),
        (request("objects", objects=[1]), "objects: must be a list of objects"),
        (request("objects", objects={}), "objects: must be a list of objects"),
        (request("fails"), "ZeroDivisionError"),
        (request("refuses"), "Not now."),
        (request("fails_later"), "ZeroDivisionError"),
        (request("answer_ask", ask="k99", result=1), "not awaited any more"),
        (request("answer_ask", ask=5), "ask: must be a text"),
        (request("attach", protocol=PROTOCOL, kind="tv"), "kind: must be one of cell, panel, widget"),
        (request("attach", protocol=PROTOCOL), "kind: must be a text"),
        (request("attach", protocol=PROTOCOL + 1, kind="cell"), "Update agent_magic where the kernel runs"),
        (request("attach", protocol=0, kind="cell"), "Update agent_magic where JupyterLab runs"),
        (request("attach", kind="cell"), "Update agent_magic where JupyterLab runs"),
    ],
)
def test_what_is_wrong_is_told_to_the_page(message: dict[str, Any], words: str) -> None:
    def refuse(request: Request) -> None:
        raise AgentMagicError("Not now.")

    async def fail_later(request: Request) -> None:
        raise ZeroDivisionError

    methods = {
        "text": Method(lambda request: {"text": request.text("text")}),
        "flag": Method(lambda request: {"on": request.flag("on")}),
        "choice": Method(lambda request: {"which": request.choice("which", ("a", "b"))}),
        "fields": Method(lambda request: {"fields": request.fields("fields")}),
        "objects": Method(lambda request: {"objects": request.objects("objects")}),
        "fails": Method(lambda request: {"one": 1 / 0}),
        "refuses": Method(refuse),
        "fails_later": Method(fail_later),
    }

    async def main() -> list[dict[str, Any]]:
        connection, pages = connected(methods)
        connection.receive(message)
        await settled()
        return pages.sent

    (response,) = asyncio.run(main())
    assert response["id"] == "p:1"
    assert "result" not in response
    assert words in response["error"]


@pytest.mark.parametrize(
    "message",
    [None, 3, "stop", [], {}, {"type": "event"}, {"type": "request"}, {"type": "request", "id": 7, "method": "stop"}],
)
def test_what_cannot_be_answered_is_left_alone(message: Any) -> None:
    async def main() -> list[dict[str, Any]]:
        connection, pages = connected()
        connection.receive(message)
        await settled()
        return pages.sent

    assert asyncio.run(main()) == []


def test_attaching_greets_and_gives_what_the_owner_adds() -> None:
    async def main() -> tuple[Any, Any]:
        connection, pages = connected({"attach": Method(lambda request: {"state": "idle"})})
        attach(connection, "one", kind="panel", notebook="a.ipynb")
        await settled()
        return pages.response("one:0")["result"], connection.pages

    result, (page,) = asyncio.run(main())
    assert (result["protocol"], result["state"], "version" in result) == (PROTOCOL, "idle", True)
    assert (page.id, page.kind, page.notebook) == ("one", "panel", "a.ipynb")


def test_a_page_that_is_asked_answers() -> None:
    async def main() -> Any:
        connection, pages = connected()
        attach(connection)
        await settled()
        asking = asyncio.ensure_future(connection.ask("p", "read_cells", {"from": 1}))
        await settled()
        asked = pages.sent[-1]
        assert asked == {"type": "ask", "id": asked["id"], "page": "p", "method": "read_cells", "params": {"from": 1}}
        # Another page at the same comm cannot answer for it.
        connection.receive(request("answer_ask", "q:1", ask=asked["id"], result="wrong"))
        await asyncio.to_thread(connection.receive, request("answer_ask", "p:1", ask=asked["id"], result=["cell"]))
        return await asyncio.wait_for(asking, 5)

    assert asyncio.run(main()) == ["cell"]


@pytest.mark.parametrize("how", ["error", "left", "closed", "never there", "late"])
def test_a_page_that_cannot_do_it_says_so(how: str) -> None:
    async def main() -> None:
        connection, pages = connected()
        if how != "never there":
            attach(connection)
        await settled()
        asking = asyncio.ensure_future(connection.ask("p", "run_cell", {}, 0.05 if how == "late" else None))
        await settled()
        if how == "error":
            connection.receive(request("answer_ask", ask=pages.sent[-1]["id"], error="No such cell."))
        elif how == "left":
            connection.receive(request("detach"))
        elif how == "closed":
            connection.close()
        await asyncio.wait_for(asking, 5)

    words = {"error": "No such cell.", "late": "did not answer run_cell within 0.05 s"}.get(how, "is gone")
    with pytest.raises(AgentMagicError, match=words):
        asyncio.run(main())


@pytest.mark.parametrize(("answers", "there"), [("error", True), ("result", True), (None, False), ("left", False)])
def test_a_page_is_there_if_it_answers_anything(answers: str | None, there: bool) -> None:
    async def main() -> bool:
        connection, pages = connected()
        attach(connection)
        await settled()
        looking = asyncio.ensure_future(connection.is_there("p", 0.2))
        await settled()
        if answers == "left":
            connection.receive(request("detach"))
        elif answers is not None:
            connection.receive(request("answer_ask", ask=pages.sent[-1]["id"], **{answers: "I cannot do that."}))
        return await asyncio.wait_for(looking, 5)

    assert asyncio.run(main()) is there


def test_whoever_wants_to_know_learns_that_a_page_left() -> None:
    async def main() -> list[str]:
        connection, _ = connected()
        left: list[str] = []
        attach(connection, "one")
        attach(connection, "two")
        await settled()
        connection.on_left(left.append)
        forget = connection.on_left(lambda page: left.append(f"never {page}"))
        forget()
        connection.receive(request("detach", "one:5"))
        connection.receive(request("detach", "one:6"))
        connection.close()
        return left

    assert asyncio.run(main()) == ["one", "two"]


def test_a_transport_that_fails_and_a_loop_that_ended_raise_nothing() -> None:
    async def main() -> Connection:
        connection = Connection(Broken(), {}, asyncio.get_running_loop)
        connection.send({"type": "run"})
        connection.receive(request("nothing"))
        attach(connection)
        await settled()
        return connection

    connection = asyncio.run(main())
    assert len(connection.pages) == 1
    pages = Pages()
    loop = asyncio.new_event_loop()
    loop.close()
    Connection(pages, {"wait": Method(dict)}, lambda: loop).receive(request("wait"))
    assert "cannot answer now" in pages.response("p:1")["error"]


def test_a_page_looks_until_it_says_otherwise_and_a_repeated_attach_takes_nothing_back() -> None:
    async def main() -> None:
        connection, _ = connected()
        connection.look("p", False)
        assert not connection.looks
        attach(connection)
        attach(connection, "q", looks=False)
        await settled()
        assert {page.id: page.looks for page in connection.pages} == {"p": True, "q": False}
        assert connection.looks
        connection.look("p", False)
        assert not connection.looks
        connection.look("q", True)
        # Sent before the first one was answered.
        attach(connection)
        attach(connection, "q", looks=False)
        await settled()
        assert {page.id: page.looks for page in connection.pages} == {"p": False, "q": True}
        connection.receive(request("detach", "q:1"))
        assert not connection.looks

    asyncio.run(main())
