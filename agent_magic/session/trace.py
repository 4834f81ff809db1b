"""A file that tells what was asked of models, what came of it and which tools ran: one line of JSON for each event.

    {"time": "2026-01-31T09:30:00.000Z", "trace": "my-run", "event": "answer", "request": 1, "stopReason": "stop", ...}

Events are `request`, `retry`, `answer`, `error`, `aborted`, `tool_start` and `tool_end`. A request is traced when it
carries a `trace_id`, which is a value in these lines and nothing else. Texts of the conversation are left out unless
asked for, and known keys always.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..config import RequestConfig
from ..errors import AgentMagicError, ProviderError
from ..events import AgentEvent, ToolExecutionEndEvent, ToolExecutionStartEvent
from ..messages import AssistantMessage, Context, now
from ..models import Model
from ..providers.keys import host_of, known_keys
from ..stored import message_to_json, messages_to_json
from ..stored_models import usage_to_json
from .entries import iso
from .location import data_folder
from .request_form import mapped, without_keys

log = logging.getLogger(__name__)

# Of the config, what is a plain number, word or switch.
_PLAIN = (int, float, str, bool)
_SHORTEST_KEY = 8
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
_numbers = itertools.count(1)


@dataclass
class _Target:
    """Where lines go; `path` None stands for the file of the day in the user's data folder."""

    path: Path | None = None
    texts: bool = False
    told: set[Path] = field(default_factory=set)


_target = _Target()


def trace_to(path: str | os.PathLike[str] | None = None, texts: bool = False) -> Path:
    """From now on write traces to the file `path`, None meaning the usual one; returns its path.

    `texts` also writes prompts, answers, arguments and results.
    """
    _target.path = None if path is None else Path(path).expanduser().absolute()
    _target.texts = texts
    return trace_file()


def trace_file() -> Path:
    """The file that traces go to now. It need not exist."""
    return _target.path or data_folder() / "traces" / f"{iso(now())[:10]}.jsonl"


class Trace:
    """Writes down one request, or, by `handle`, the tools of one run. What cannot be written is left out."""

    def __init__(self, trace_id: str) -> None:
        self._id = trace_id
        self._keys = [key.reveal() for key in known_keys()]
        self._number = 0
        self._began = 0.0
        self._running: dict[str, float] = {}

    # A request --------------------------------------------------------------------------------------------------------

    def asked(self, model: Model, context: Context, config: RequestConfig) -> None:
        self._number, self._began = next(_numbers), time.monotonic()
        if model.secret is not None:
            self._keys.append(model.secret.reveal())
        given = {
            name: value for name, value in config.given().items() if name != "trace_id" and isinstance(value, _PLAIN)
        }
        self._write(
            "request",
            {
                "model": model.id,
                "provider": model.provider,
                "api": model.api,
                "host": host_of(model.base_url),
                "messages": len(context.messages),
                "tools": list(context.tools or ()),
                "config": given,
            },
            lambda: {"systemPrompt": context.system_prompt, "content": messages_to_json(context.messages)},
        )

    def repeated(self, error: AgentMagicError) -> None:
        self._write("retry", _about(error), lambda: {"words": str(error)})

    def answered(self, answer: AssistantMessage) -> None:
        self._write(
            "answer",
            {
                "stopReason": answer.stop_reason.value if answer.stop_reason else None,
                "usage": usage_to_json(answer.usage),
                "toolCalls": [call.name for call in answer.all_tool_calls],
                "milliseconds": _since(self._began),
            },
            lambda: {"content": message_to_json(answer)},
        )

    def failed(self, error: AgentMagicError | None) -> None:
        took = {"milliseconds": _since(self._began)}
        if error is None:
            self._write("aborted", took)
        else:
            self._write("error", {**_about(error), **took}, lambda: {"words": str(error)})

    # The tools of a run -----------------------------------------------------------------------------------------------

    def handle(self, event: AgentEvent) -> None:
        """Take an event of an agent; those of tools are written down."""
        if isinstance(event, ToolExecutionStartEvent):
            self._running[event.tool_call_id] = time.monotonic()
            called = {"tool": event.tool_name, "call": event.tool_call_id}
            self._write("tool_start", called, lambda: {"arguments": dict(event.args)})
        elif isinstance(event, ToolExecutionEndEvent):
            began = self._running.pop(event.tool_call_id, None)
            about = {
                "tool": event.tool_name,
                "call": event.tool_call_id,
                "failed": event.is_error,
                "milliseconds": None if began is None else _since(began),
            }
            self._write("tool_end", about, lambda: {"result": getattr(event.result, "text", "")})

    def _write(self, event: str, about: dict[str, Any], texts: Any = dict) -> None:
        line = {"time": iso(now()), "trace": self._id, "event": event}
        numbered = {"request": self._number} if self._number else {}
        try:
            told = texts() if _target.texts else {}
        except Exception as error:  # A history may hold what has no stored form, and must not end the request.
            told = {"textsLeftOut": f"{type(error).__name__}: {error}"}
        keys = sorted((key for key in self._keys if len(key) >= _SHORTEST_KEY), key=len, reverse=True)
        hidden = mapped({**line, **numbered, **about, **told}, lambda text: without_keys(text, keys))
        _append(json.dumps(hidden, default=str))


def _about(error: AgentMagicError) -> dict[str, Any]:
    found: dict[str, Any] = {"error": type(error).__name__}
    if isinstance(error, ProviderError):
        found |= {"kind": error.kind, "status": error.status}
    return found


def _since(began: float) -> int:
    return round(1000 * (time.monotonic() - began))


def _append(line: str) -> None:
    """One write for the whole line, so that lines of several threads and processes never mix."""
    path = trace_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, _APPEND, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        if path not in _target.told:
            _target.told.add(path)
            log.warning("Traces cannot be written to %s: %s. Requests go on without.", path, error.strerror or error)
