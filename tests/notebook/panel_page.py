"""A page of the panel over a real kernel's comm, driven by raw protocol."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .kernel_client import Cell, Kernel, Message
from .record_script import replayed

Event = dict[str, Any]

# Run in a kernel that has the extension, so that its agent can be told what to answer.
SETUP = """
import asyncio, sys, threading, time
import agent_magic as am
from agent_magic import tool
agent = am.get_agent()
def answers(*given):
    agent.model = am.scripted(*given)
def call(name, **arguments):
    return am.AssistantMessage([am.ToolCall("c1", name, arguments)])
"""


class PanelPage:
    """Attaches to the comm of `kernel`, and keeps what it is told: `state`, `runs` by id, `events`.

    `strays` are outputs that belong to no cell, of which there must never be any. `kind` is panel, or widget for the
    page of a chat widget; `subshell` names the one that its messages go to.
    """

    def __init__(
        self,
        kernel: Kernel,
        name: str = "page",
        notebook: str = "work/sales.ipynb",
        kind: str = "panel",
        subshell: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.name = name
        self.notebook = notebook
        self.kind = kind
        self.subshell = subshell
        self.comm = ""
        self.events: list[Event] = []
        self.strays: list[Message] = []
        self.runs: dict[str, Event] = {}
        self.state: Event = {}
        self.on_ask: Callable[[str, Event], Any] | None = None
        self._number = 0

    def load(self) -> Cell:
        """Load the extension, and take up the comm that it opens."""
        (cell,) = self.kernel.run_all("%load_ext agent_magic", on_message=self.take)
        return cell

    def beside(self, name: str, notebook: str | None = None) -> PanelPage:
        """Another page at the same comm."""
        page = PanelPage(self.kernel, name, notebook or self.notebook)
        page.comm = self.comm
        return page

    def find(self) -> PanelPage:
        """Ask the kernel for the comm, as a page does that was loaded anew."""
        client = self.kernel.client
        asked = client.comm_info(target_name="agent_magic")
        while True:
            reply = client.get_shell_msg(timeout=20)
            if reply["parent_header"].get("msg_id") == asked:
                self.comm = next(iter(reply["content"]["comms"]), "")
                return self

    def attach(self) -> Event:
        result = self.ask("attach", page=self.name, protocol=1, kind=self.kind, notebook=self.notebook)
        self.state, self.runs = result["state"], {}
        return result

    def post(self, method: str, **params: Any) -> str:
        """Send a request and wait for nothing."""
        self._number += 1
        name = f"{self.name}:{self._number}"
        data: Event = {"type": "request", "id": name, "method": method, "params": params}
        if self.kind == "widget":
            data = {"method": "custom", "content": data}
        client = self.kernel.client
        message = client.session.msg("comm_msg", {"comm_id": self.comm, "data": data})
        if self.subshell is not None:
            message["header"]["subshell_id"] = self.subshell
        client.shell_channel.send(message)
        return name

    def answer_to(self, name: str, timeout: float = 20) -> Event:
        self.until(lambda: self._response(name) is not None, timeout)
        response = self._response(name)
        assert response is not None
        return response

    def _response(self, name: str) -> Event | None:
        return next((each for each in self.events if each["type"] == "response" and each["id"] == name), None)

    def ask(self, method: str, **params: Any) -> Event:
        """The result of a request, which must not be refused."""
        response = self.answer_to(self.post(method, **params))
        assert "error" not in response, response
        return dict(response["result"])

    def refusal(self, method: str, **params: Any) -> str:
        """The words with which a request is refused."""
        return str(self.answer_to(self.post(method, **params))["error"])

    def send(self, text: str, when: str = "now", attachments: tuple[Event, ...] = ()) -> str:
        return str(self.ask("send", text=text, attachments=list(attachments), when=when)["as"])

    def sending_at(self, kind: str, text: str, sent: list[str]) -> Callable[[Message], None]:
        """For `Kernel.run_all`: sends `text` once the run has an item of this kind; the request goes to `sent`."""

        def take(message: Message) -> None:
            self.take(message)
            if not sent and self.runs and self.items(kind):
                sent.append(self.post("send", text=text, attachments=[], when="now"))

        return take

    def say(self, text: str, timeout: float = 20, **more: Any) -> Event:
        """Send a text to an idle kernel; the record of its run when that has ended."""
        seen = set(self.runs)
        assert self.send(text, **more) == "run"
        self.until(lambda: any(run not in seen for run in self.runs))
        run = next(run for run in self.runs if run not in seen)
        return self.ended(run, timeout)

    def ended(self, run: str, timeout: float = 20) -> Event:
        self.until(lambda: self.runs[run]["state"] != "running", timeout)
        return self.runs[run]

    @property
    def run(self) -> Event:
        """The latest run."""
        return self.runs[next(reversed(self.runs))]

    def items(self, kind: str) -> list[Event]:
        return [item for item in self.run["items"] if item["kind"] == kind]

    def until(self, true: Callable[[], Any], timeout: float = 20) -> None:
        end = time.monotonic() + timeout
        while not true():
            assert time.monotonic() < end, f"did not come within {timeout} s; last: {self.events[-3:]}"
            message = self.kernel._read()
            if message is not None:
                self.take(message)

    def settle(self, seconds: float = 0.5) -> None:
        """Read what comes within some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.kernel._read()
            if message is not None:
                self.take(message)

    def take(self, message: Message) -> None:
        """Take in a message of the kernel; also to be given to `Kernel.run_all`."""
        kind, content = message["msg_type"], message["content"]
        if kind == "comm_open" and self.kind == "widget" and "_anywidget_id" in content["data"].get("state", {}):
            self.comm = content["comm_id"]
        elif kind == "comm_open" and self.kind == "panel" and content["target_name"] == "agent_magic":
            self.comm = content["comm_id"]
            self.events.append({**content["data"]})
        elif kind == "comm_close" and content["comm_id"] == self.comm:
            self.comm = ""
        elif kind == "comm_msg" and content["comm_id"] == self.comm:
            data = content["data"]
            if self.kind == "panel":
                self._take(data)
            elif data.get("method") == "custom":
                self._take(data["content"])
        elif kind in ("stream", "display_data", "error") and message["parent_header"].get("msg_type") != (
            "execute_request"
        ):
            self.strays.append(message)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if event["type"] == "state":
            self.state = event["state"]
        elif event["type"] == "run":
            self.runs[event["run"]] = event["record"]
        elif event["type"] == "deltas" and event["run"] in self.runs:
            self.runs[event["run"]] = replayed(self.runs[event["run"]], event["deltas"])
        elif event["type"] == "ask" and event["page"] == self.name and self.on_ask is not None:
            try:
                answer = {"result": self.on_ask(event["method"], event["params"])}
            except Exception as error:
                answer = {"error": str(error)}
            self.post("answer_ask", ask=event["id"], **answer)


def running(page: PanelPage) -> bool:
    return bool(page.runs) and page.run["state"] == "running"
