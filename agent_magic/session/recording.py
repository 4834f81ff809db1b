"""The file of recorded exchanges: what a notebook asked its models and what they answered, to be read and played again.

    {"format": "agent_magic replay", "version": 1, "exchanges": [
        {"cell": "1f0c2a9b",
         "request": {"method": "POST", "path": "/v1/chat/completions", "body": {...}},
         "response": {"status": 200, "chunks": ["data: {...}\n\n", ...]}}]}

Headers, hosts and keys are not in it. An answer that is no UTF-8 has `base64` in place of `chunks`.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ReplayError
from .request_form import RequestForm

SUFFIX = ".agent-replay.json"
FORMAT = "agent_magic replay"
VERSION = 1
# The end of an event of a stream.
_EVENT_END = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")


@dataclass(frozen=True)
class Exchange:
    """A request and its whole answer. `cell` tells which cell asked, as a digest; empty where nobody knows."""

    request: RequestForm
    status: int
    body: bytes
    cell: str = ""

    @property
    def chunks(self) -> list[bytes]:
        """The body as it streamed: an event of the stream each."""
        return [chunk for chunk in _EVENT_END.split(self.body) if chunk]


class Recording:
    """The exchanges of one file, in the order of their requests. The file is read when first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._exchanges: dict[int, Exchange] | None = None
        # What was there when the file was read has a number below this one.
        self._loaded = 0
        self._next = 0
        self._begun: dict[str, int] = {}
        self._played: set[int] = set()

    @property
    def exchanges(self) -> list[Exchange]:
        """All of them. Raises `ReplayError` when the file cannot be read or is no recording."""
        return [exchange for _, exchange in sorted(self._all().items())]

    def begin(self, cell: str) -> None:
        """A cell runs, perhaps again: what it records replaces what it had recorded, what it plays starts anew."""
        self._begun[cell] = self.number()
        self._played -= {number for number, each in self._all().items() if cell and each.cell == cell}

    def number(self) -> int:
        """The place of the exchange whose request is sent now."""
        self._all()
        self._next += 1
        return self._next

    def keep(self, number: int, exchange: Exchange) -> None:
        """Add an exchange at the place `number` and write the file.

        It takes the place of what the cell had recorded before, and of the same request in an earlier kernel.
        """
        begun = self._begun.get(exchange.cell, 0) if exchange.cell else 0
        kept = {
            other: each
            for other, each in self._all().items()
            if not (each.cell == exchange.cell and other < begun) and not self._outdated(other, each, exchange)
        }
        self._exchanges = {**kept, number: exchange}
        self._write()

    def answer_to(self, request: RequestForm, cell: str) -> Exchange | None:
        """The next recorded answer to this request, that of the cell first, the last one again when all were given."""
        found = [number for number, each in sorted(self._all().items()) if each.request.key == request.key]
        if not found:
            return None
        waiting = [number for number in found if number not in self._played]
        own = [number for number in waiting if cell and self._all()[number].cell == cell]
        chosen = (own or waiting or found[-1:])[0]
        self._played.add(chosen)
        return self._all()[chosen]

    def _outdated(self, number: int, old: Exchange, new: Exchange) -> bool:
        other_cell = bool(old.cell and new.cell and old.cell != new.cell)
        return number <= self._loaded and old.request.key == new.request.key and not other_cell

    def _all(self) -> dict[int, Exchange]:
        if self._exchanges is None:
            self._exchanges = dict(enumerate(_read(self.path), 1))
            self._loaded = self._next = len(self._exchanges)
        return self._exchanges

    def _write(self) -> None:
        data = {"format": FORMAT, "version": VERSION, "exchanges": [_to_json(each) for each in self.exchanges]}
        text = json.dumps(data, ensure_ascii=False, indent=1)
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(f"{text}\n".encode("utf-8", "backslashreplace"))
            draft.replace(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink()
            what = error.strerror or error
            raise ReplayError(f"The exchange could not be recorded in {self.path}: {what}.") from None


def _read(path: Path) -> list[Exchange]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ReplayError(f"The recording {path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ReplayError(f"{path} is no recording. It was left as it is; move it away, or name another file.")
    if data.get("version") != VERSION:
        raise ReplayError(
            f"{path} was written in version {data.get('version')} of its format and this package reads version "
            f"{VERSION}. Update agent_magic, or record again into another file."
        )
    try:
        return [_from_json(each) for each in data["exchanges"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReplayError(f"The recording {path} is damaged ({error!r}). Move it away and record again.") from None


def _to_json(exchange: Exchange) -> dict[str, Any]:
    asked, response = exchange.request, {"status": exchange.status, **_body_to_json(exchange)}
    request = {"method": asked.method, "path": asked.path, "body": asked.body}
    return {**({"cell": exchange.cell} if exchange.cell else {}), "request": request, "response": response}


def _body_to_json(exchange: Exchange) -> dict[str, Any]:
    try:
        return {"chunks": [chunk.decode() for chunk in exchange.chunks]}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(exchange.body).decode()}


def _from_json(data: Mapping[str, Any]) -> Exchange:
    request, response = data["request"], data["response"]
    form = RequestForm(str(request["method"]), str(request["path"]), request["body"])
    packed = response.get("base64")
    body = "".join(response["chunks"]).encode() if packed is None else base64.b64decode(packed)
    return Exchange(form, int(response["status"]), body, str(data.get("cell", "")))
