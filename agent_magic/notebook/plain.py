"""A record as plain text, for terminals, logs and whatever shows nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .html import arguments_text, without_prompt
from .limits import FALLBACK_LIMIT, with_note
from .wording import STOP_HINT, approval_words, footer, one_line, state_line, thinking_line, visible


def record_plain(record: Mapping[str, Any], live: bool = False, with_prompt: bool = False) -> str:
    """`record` as readable text without control characters."""
    items = record["items"] if with_prompt else without_prompt(record["items"])
    parts = [part for part in map(item_plain, items) if part]
    if record.get("omitted"):
        parts.append("Left out of this record: " + "; ".join(map(one_line, record["omitted"])) + ".")
    parts.append(" · ".join([*footer(record), *([STOP_HINT] if live else [])]))
    return "\n\n".join(parts)


def whole_record(record: Mapping[str, Any]) -> str:
    """All that `record` holds as readable text: every argument, and results as far as it has them."""
    parts = []
    for item in record["items"]:
        if item.get("kind") == "tool":
            arguments = item.get("arguments") or {}
            body = output_text(item) or str(item.get("result") or "")
            texts = [arguments_text(arguments) if arguments else "", body]
            lines = [f"{one_line(item.get('name', ''))}  {state_line(item)}"]
            parts.append("\n".join([*lines, *(_indented(visible(text)) for text in texts if text.strip())]))
        elif item.get("kind") in ("thinking", "context"):
            parts.append(f"{item_plain(item)}\n{_indented(visible(str(item.get('text') or '')))}")
        else:
            parts.append(item_plain(item))
    if record.get("omitted"):
        parts.append("Left out of this record: " + "; ".join(map(one_line, record["omitted"])) + ".")
    return "\n\n".join([*filter(None, parts), " · ".join(footer(record))])


def item_plain(item: Mapping[str, Any]) -> str:
    """One item; nothing for a kind that is not known here."""
    kind = item.get("kind")
    text = visible(str(item.get("text") or "")).strip("\n")
    if kind in ("text", "note"):
        return text
    if kind == "user":
        return f"You: {text}"
    if kind == "error":
        return f"✕ {text}"
    if kind == "thinking":
        return thinking_line(item)
    if kind == "context":
        return one_line(item.get("title") or "What the model saw")
    if kind == "media":
        return output_text(item)
    if kind == "approval":
        line = f"{one_line(item.get('name', ''))}: {approval_words(item)}"
        asked = item.get("state") in ("pending", "running")
        return f"{line}\n{_indented(visible(arguments_text(item.get('arguments') or {})))}" if asked else line
    if kind == "tool":
        line = f"{one_line(item.get('name', ''))}({one_line(item.get('summary', ''))})  {state_line(item)}"
        body = output_text(item) or str(item.get("result") or "")
        # A failure of one line stands in the first line already.
        body = "" if one_line(body) == item.get("error") else body
        return f"{line}\n{_indented(visible(with_note(body, FALLBACK_LIMIT)))}" if body.strip() else line
    return ""


def output_text(item: Mapping[str, Any]) -> str:
    """The texts of an item's outputs; a picture without one is named."""
    texts = []
    for bundle in item.get("outputs") or ():
        picture = next((kind for kind in bundle if kind.startswith("image/")), None)
        texts.append(str(bundle.get("text/plain") or (f"[{picture}]" if picture else "")))
    return "\n".join(text for text in texts if text)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.rstrip("\n").split("\n"))
