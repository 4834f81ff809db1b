"""A page of the chat in this process, and what it plays against a kernel there."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import agent_magic as am
from agent_magic.notebook.connection import Connection

Event = dict[str, Any]


class Page:
    """A page in this process: it is its own transport, and keeps what it is told."""

    def __init__(self, kernel: Any, name: str = "page") -> None:
        self.kernel = kernel
        self.name = name
        self.events: list[Event] = []
        self.state: Event = {}
        self.connection: Connection = kernel.chat.connect(self)
        self._number = 0

    def send(self, message: Any) -> None:
        self.events.append(dict(message))
        if message["type"] == "state":
            self.state = message["state"]

    async def answer(self, method: str, **params: Any) -> Event:
        self._number += 1
        name = f"{self.name}:{self._number}"
        self.connection.receive({"type": "request", "id": name, "method": method, "params": params})
        return await self.until(lambda: next((each for each in self.events if each.get("id") == name), None))

    async def ask(self, method: str, **params: Any) -> Any:
        response = await self.answer(method, **params)
        assert "error" not in response, response
        return response["result"]

    async def refusal(self, method: str, **params: Any) -> str:
        return str((await self.answer(method, **params))["error"])

    async def attach(self, **more: Any) -> Event:
        params = {"page": self.name, "protocol": 1, "kind": "panel", "notebook": "a.ipynb", **more}
        result = dict(await self.ask("attach", **params))
        self.state = result["state"]
        return result

    async def until(self, found: Callable[[], Any]) -> Any:
        for _ in range(1000):
            if value := found():
                return value
            await asyncio.sleep(0.01)
        raise AssertionError(f"did not come; last: {self.events[-3:]}")

    async def say(self, text: str, *attachments: Event) -> Event:
        """Send a text and wait for the end of its run; the record."""
        seen = {event["run"] for event in self.runs}
        assert (await self.ask("send", text=text, attachments=list(attachments), when="now"))["as"] == "run"
        return await self.until(lambda: self.ended(seen))

    @property
    def runs(self) -> list[Event]:
        return [event for event in self.events if event["type"] == "run"]

    def ended(self, seen: set[str]) -> Event | None:
        if self.kernel.busy:
            return None
        done = [event for event in self.runs if event["run"] not in seen and event["record"]["state"] != "running"]
        return done[-1]["record"] if done else None


def played(shell: Any, play: Callable[[Page], Awaitable[None]], *answers: Any) -> None:
    """Let a page that has attached play, on the loop of what seems to be a kernel."""

    async def work() -> None:
        shell.kernel = SimpleNamespace(io_loop=SimpleNamespace(asyncio_loop=asyncio.get_running_loop()))
        kernel = shell.agent_magic.kernel
        if answers:
            kernel.agent.model = am.scripted(*answers)
        try:
            page = Page(kernel)
            await page.attach()
            await play(page)
            await kernel.agent.wait_for_idle()
            await asyncio.sleep(0.05)
        finally:
            kernel.chat.close()
            kernel._chat = None
            del shell.kernel

    asyncio.run(work())


def said(record: Event) -> list[tuple[str, str]]:
    return [(item["kind"], item["text"]) for item in record["items"] if "text" in item]


def history(page: Page) -> list[str]:
    return [message.text for message in page.kernel.agent.messages]


def png() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "PNG")
    return buffer.getvalue()
