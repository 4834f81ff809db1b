"""A server that stands in the place of the network: it keeps what was sent and gives what it was told to give."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_magic.providers import http
from agent_magic.providers.transport import HTTPRequest, HTTPResponse

HELLO = [
    {"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]


@dataclass
class StandIn:
    """`answers` are given one after the other, the last one for ever: (status, headers, pieces of the body)."""

    answers: list[tuple[int, dict[str, str], list[bytes]]] = field(default_factory=list)
    requests: list[HTTPRequest] = field(default_factory=list)

    def refuses(self, status: int, error: Any = "no", **headers: str) -> StandIn:
        body = json.dumps({"error": error}).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, [body]))
        return self

    def streams(self, *chunks: Any) -> StandIn:
        pieces = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks or HELLO]
        self.answers.append((200, {}, [*pieces, b"data: [DONE]\n\n"]))
        return self

    def gives(self, *pieces: bytes) -> StandIn:
        self.answers.append((200, {}, list(pieces)))
        return self

    @property
    def body(self) -> dict[str, Any]:
        """The last request's body."""
        found: dict[str, Any] = json.loads(self.requests[-1].body)
        return found

    @asynccontextmanager
    async def transport(self, request: HTTPRequest) -> AsyncIterator[HTTPResponse]:
        self.requests.append(request)
        status, headers, pieces = self.answers[min(len(self.requests), len(self.answers)) - 1]

        async def body() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        yield HTTPResponse(status, headers, body())


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    restore = http.use_transport(server.transport)
    yield server
    restore()
