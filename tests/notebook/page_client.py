"""A page as the kernel sees it: it takes up the widget of a run, attaches, follows, and answers."""

from __future__ import annotations

import json
import queue
import time
import uuid
from collections.abc import Callable
from typing import Any

from .kernel_client import Kernel, Message
from .record_script import replayed

Record = dict[str, Any]


def subshell_of(kernel: Kernel) -> str | None:
    """A new subshell, None where the kernel has none."""
    client = kernel.client
    message = client.session.msg("create_subshell_request", {})
    client.control_channel.send(message)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        try:
            reply = client.get_control_msg(timeout=0.5)
        except queue.Empty:
            continue
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            subshell: str | None = reply["content"].get("subshell_id")
            return subshell
    return None


def open_widgets(kernel: Kernel) -> dict[str, Any]:
    """The widgets that are open in an idle kernel."""
    reply = kernel.client.comm_info("jupyter.widget", reply=True, timeout=10)
    return dict(reply["content"]["comms"])


class Page:
    """Give it to `Kernel.run_all` as `on_message` and its `wait` as `on_silence`.

    It follows the last widget of agent_magic that was opened. `subshell` names the one that its messages go to.
    `attaches` is how many seconds after that it attaches, None for a page that shows no widgets. `on_run` is called
    with the page at every change of the run, `loses` tells which messages of the kernel it does not get.
    """

    def __init__(
        self,
        kernel: Kernel,
        subshell: str | None = None,
        attaches: float | None = 0.0,
        on_run: Callable[[Page], object] = lambda page: None,
        loses: Callable[[Message], bool] = lambda message: False,
        protocol: int = 1,
    ) -> None:
        self._kernel = kernel
        self._subshell = subshell
        self._attaches = attaches
        self._on_run = on_run
        self._loses = loses
        self._protocol = protocol
        self.name = uuid.uuid4().hex[:16]
        self.comm: str | None = None
        self.closed = False
        self.attached: Record | None = None
        self.run: Record | None = None
        # Every message of the kernel to this page, with the time it came.
        self.messages: list[tuple[float, Message]] = []
        self.bytes = 0
        self.responses: dict[str, Message] = {}
        self._requests = 0
        self._attach = ""
        self._attach_at = 0.0
        self._snapshot: str | None = None

    def request(self, method: str, **params: Any) -> str:
        """Send a request; returns its id."""
        self._requests += 1
        name = f"{self.name}:{self._requests}"
        self._send({"type": "request", "id": name, "method": method, "params": params})
        return name

    def wait(self) -> None:
        """Attach, and again every 200 ms until there is a response."""
        if self.comm is None or self.closed or self._attaches is None or self._attach in self.responses:
            return
        if time.monotonic() >= self._attach_at:
            self._attach_at = time.monotonic() + 0.2
            self._attach = self.request("attach", page=self.name, protocol=self._protocol, kind="cell")

    def __call__(self, message: Message) -> None:
        content = message["content"]
        kind = message["msg_type"]
        if kind == "comm_open" and "_anywidget_id" in content["data"].get("state", {}):
            self.comm, self.closed, self._attach = content["comm_id"], False, ""
            self.bytes += size_of(message)
            self._attach_at = time.monotonic() + (self._attaches or 0.0)
            self.wait()
        elif kind == "comm_close" and content["comm_id"] == self.comm:
            self.closed = True
        elif kind == "comm_msg" and content["comm_id"] == self.comm and content["data"].get("method") == "custom":
            self.bytes += size_of(message)
            self._take(content["data"]["content"], message["_time"])

    @property
    def record(self) -> Record:
        assert self.run is not None, "the page never attached"
        return dict(self.run["record"])

    def events(self, *types: str) -> list[Message]:
        return [message for _, message in self.messages if message["type"] in types]

    @property
    def question(self) -> Record | None:
        """The question that waits for an answer, if there is one."""
        items = self.record["items"] if self.run is not None else []
        return next((item for item in items if item["kind"] == "approval" and item["state"] == "pending"), None)

    def answer(self, item: Record, decision: str = "once", **more: Any) -> str:
        more = {"reason": "", "arguments": None, "hash": item["hash"], **more}
        return self.request("answer", run=self.record["run"], approval=item["id"], decision=decision, **more)

    def show(self, item: Record) -> str:
        return self.request("shown", run=self.record["run"], approval=item["id"])

    def _take(self, message: Message, when: float) -> None:
        if self._loses(message):
            return
        self.messages.append((when, message))
        if message["type"] == "response":
            self.responses[message["id"]] = message
            result = message.get("result", {})
            if message["id"] == self._attach and "run" in result:
                self.attached = result
                self._become(result["run"])
            elif "record" in result:
                self._become(result)
        elif message["type"] == "run":
            self._become(message)
        elif message["type"] == "deltas":
            # The first may come before the response that says how the run stood.
            known = self.run if self.run is not None and self.run["run"] == message["run"] else None
            fresh = [delta for delta in message["deltas"] if known is None or delta["seq"] > known["seq"]]
            if known is not None and fresh and fresh[0]["seq"] == known["seq"] + 1:
                self._become({**known, "seq": fresh[-1]["seq"], "record": replayed(known["record"], fresh)})
            elif fresh and (self._snapshot is None or self._snapshot in self.responses):
                self._snapshot = self.request("snapshot", run=message["run"])

    def _become(self, run: Record) -> None:
        if self.run is None or self.run["run"] != run["run"] or run["seq"] >= self.run["seq"]:
            self.run = {name: run[name] for name in ("run", "seq", "record")}
            self._on_run(self)

    def _send(self, data: Message) -> None:
        client = self._kernel.client
        message = client.session.msg("comm_msg", {"comm_id": self.comm, "data": {"method": "custom", "content": data}})
        if self._subshell is not None:
            message["header"]["subshell_id"] = self._subshell
        client.shell_channel.send(message)


def size_of(message: Message) -> int:
    """About the bytes of a message between server and page."""
    parts = {name: message[name] for name in ("header", "parent_header", "metadata", "content")}
    return len(json.dumps(parts, default=str, ensure_ascii=False).encode())
