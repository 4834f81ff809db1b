"""The words that every readable form of a record shares: states, durations, the footer, visible characters."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from .limits import whole_characters

SYMBOLS = {"pending": "○", "running": "●", "done": "✓", "failed": "✕", "denied": "⊘", "aborted": "■"}
WORDS = {
    "pending": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "denied": "denied",
    "aborted": "stopped",
}
# Causes that a reader should know about; the others are the ordinary end of a run.
CAUSES = {
    "length": "cut at the output limit",
    "max_turns": "stopped at the turn limit",
    "hook": "stopped by a hook",
    "budget_exceeded": "budget reached",
    "aborted": "stopped",
    "error": "failed",
}
STOP_HINT = "■ Stop: interrupt the kernel"

_LINE_LIMIT = 160
_SUMMARY_LIMIT = 100
_VALUE_LIMIT = 60

_CSI = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_ANSI = re.compile(_CSI + r"|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_])")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def without_ansi(text: str) -> str:
    """`text` without the control sequences that terminals act on."""
    return _ANSI.sub("", text) if "\x1b" in text or "\x9b" in text else text


def visible(text: str) -> str:
    """`text` with control, bidirectional and invisible characters written as escapes; lines and tabs stay."""
    return _HIDDEN.sub(lambda found: _escape(found.group()), without_ansi(text).replace("\r\n", "\n"))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int = _LINE_LIMIT) -> str:
    """`text` as one visible line of at most `limit` characters."""
    line = visible(" ".join(whole_characters(text[: limit * 4]).split()))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def argument_summary(arguments: Mapping[str, Any]) -> str:
    """Arguments in one line, such as `region="EU", year=2025`."""
    parts: list[str] = []
    room = _SUMMARY_LIMIT
    for name, value in arguments.items():
        shown = value[: _VALUE_LIMIT * 4] if isinstance(value, str) else value
        text = json.dumps(shown, ensure_ascii=False, default=str)
        parts.append(one_line(f"{name}={text}", len(name) + 1 + _VALUE_LIMIT))
        room -= len(parts[-1]) + 2
        if room < 0:
            break
    return one_line(", ".join(parts), _SUMMARY_LIMIT)


def duration(seconds: float) -> str:
    if seconds < 0.0995:
        return f"{max(1, round(seconds * 1000))} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def elapsed(started: int | None) -> str:
    """Whole seconds since `started` (Unix milliseconds)."""
    if started is None:
        return ""
    seconds = max(0, int(time.time() - started / 1000))
    return f"{seconds} s" if seconds < 60 else duration(seconds)


def money(cost: float | None) -> str:
    """US dollars; an unknown price is a question mark and never nothing."""
    if cost is None:
        return "cost ?"
    if cost == 0:
        return "$0.00"
    if cost < 0.0001:
        return "under $0.0001"
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def state_line(item: Mapping[str, Any]) -> str:
    """Symbol, word and time of a step, such as `✓ done · 0.2 s`; a failed one names its error."""
    state = str(item.get("state", ""))
    start = f"{SYMBOLS.get(state, '·')} {WORDS.get(state, one_line(state))}"
    if state in ("failed", "denied"):
        error = one_line(str(item.get("error") or ""))
        return f"{start}: {error}" if error else start
    if state == "running":
        parts = (start, one_line(str(item.get("progress") or "")), elapsed(item.get("started")))
        return " · ".join(part for part in parts if part)
    seconds = item.get("seconds")
    return start if seconds is None or state == "pending" else f"{start} · {duration(seconds)}"


def approval_words(item: Mapping[str, Any]) -> str:
    state = str(item.get("state"))
    if state in ("pending", "running"):
        return "waiting for you"
    return {"done": "✓ allowed", "denied": "⊘ denied"}.get(state, state_line(item))


def thinking_line(item: Mapping[str, Any]) -> str:
    if item.get("state") == "running":
        return f"Thinking… {elapsed(item.get('started'))}".rstrip()
    seconds = item.get("seconds")
    return "Thought" if seconds is None or seconds < 0.5 else f"Thought for {duration(seconds)}"


def footer(record: Mapping[str, Any]) -> list[str]:
    """The parts of the last line: model, turns and calls, tokens, cost, time, context, and an unusual end."""
    running = record.get("state") == "running"
    parts = [one_line(str(record.get("model") or ""))]
    turns, calls = record.get("turns") or 0, record.get("calls") or 0
    if calls:
        parts.append(f"{count(turns, 'turn')} · {count(calls, 'call')}")
    usage = record.get("usage")
    if usage:
        read = usage["input"] + usage["cache_read"] + usage["cache_write"]
        parts.append(f"{count(read, 'token')} in · {usage['output']:,} out")
    if usage or not running:
        parts.append(money(record.get("cost")))
    seconds = record.get("seconds")
    parts.append(elapsed(record.get("started")) if seconds is None else duration(seconds))
    fraction = (record.get("context") or {}).get("fraction")
    if fraction is not None:
        parts.append(f"{fraction:.0%}".replace("%", " %") + " of context")
    parts.append(CAUSES.get(str(record.get("stop_cause")), ""))
    return [part for part in parts if part]
