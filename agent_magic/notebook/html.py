"""A record as HTML for pages that know nothing of it: `<details>` cards, no script, nothing that needs a style."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .limits import DETAIL_LIMIT, FALLBACK_LIMIT, head, left_out
from .outputs import IMAGE_TYPES
from .prose import CELL_STYLE, LINE, PRE_STYLE, TABLE_STYLE, GrowingProse, escaped, prose_html
from .tables import TABLE_TYPE, is_table, rows_that_fit, table_title
from .wording import STOP_HINT, approval_words, argument_summary, footer, one_line, state_line, thinking_line, visible

Item = Mapping[str, Any]

_CARD = f"border:{LINE};border-radius:6px;margin:6px 0;overflow:hidden"
_QUIET_CARD = "border:1px dashed rgba(128,128,128,0.35);border-radius:6px;margin:6px 0;overflow:hidden"
# Hiding overflow keeps the floating state inside, where it needs a line of its own.
_SUMMARY = "padding:5px 10px;cursor:pointer;overflow:hidden;overflow-wrap:break-word"
_BODY = f"border-top:{LINE};padding:6px 12px 8px"
_STATE = "float:right;padding-left:12px;opacity:0.75"
_FAILED = "float:right;padding-left:12px;color:#d93636"
_QUIET = "opacity:0.7"
_IMAGE = "max-width:100%;height:auto"

_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


class HtmlWriter:
    """Writes the records of one run; what has not changed since the last time is not written again."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[Item, str]] = {}
        self._growing: dict[str, GrowingProse] = {}

    def write(self, record: Mapping[str, Any], live: bool = False, with_prompt: bool = False) -> str:
        """`record` as HTML. `live`: it still runs, the last line says how to stop it. `with_prompt`: with the message
        that began it, which in a notebook already stands in the cell."""
        items = record["items"]
        shown = items if with_prompt else without_prompt(items)
        parts = [self._item(item, live) for item in shown]
        if record.get("omitted"):
            parts.append(_small("Left out of this record: " + "; ".join(map(str, record["omitted"])) + "."))
        parts.append(_footer(record, live))
        return "<div>\n" + "\n".join(part for part in parts if part) + "\n</div>"

    def _item(self, item: Item, live: bool) -> str:
        if item.get("state") == "running":
            if live and item.get("kind") == "text":
                return self._growing.setdefault(item["id"], GrowingProse()).html(item.get("text", ""))
            return item_html(item)
        known = self._written.get(item["id"])
        if known is None or known[0] is not item:
            known = self._written[item["id"]] = (item, item_html(item))
        return known[1]


def without_prompt(items: Sequence[Item]) -> Sequence[Item]:
    """The items without the message that began the run. What is to be known about it stands before it, and stays."""
    notes = _count("note", items)
    return [*items[:notes], *items[notes + _count("user", items[notes:]) :]]


def _count(kind: str, items: Sequence[Item]) -> int:
    """How many items of that kind there are before any other."""
    return next((place for place, item in enumerate(items) if item.get("kind") != kind), len(items))


def record_html(record: Mapping[str, Any], live: bool = False, with_prompt: bool = False) -> str:
    return HtmlWriter().write(record, live, with_prompt)


def item_html(item: Item) -> str:
    """One item; nothing for a kind that is not known here."""
    draw = _KINDS.get(str(item.get("kind")))
    return draw(item) if draw else ""


def _text(item: Item) -> str:
    return prose_html(item.get("text", ""))


def _user(item: Item) -> str:
    return f"<blockquote><p><b>You:</b></p>\n{_pre(item.get('text', ''))}{_outputs(item)}</blockquote>"


def _thinking(item: Item) -> str:
    line = f'<span style="{_QUIET}">{escaped(thinking_line(item))}</span>'
    text = item.get("text", "")
    if not text.strip():
        return f'<div style="{_QUIET_CARD}"><div style="{_SUMMARY}">{line}</div></div>'
    return _card(line, _pre(text), _QUIET_CARD)


def _tool(item: Item) -> str:
    state = item.get("state")
    line = (
        f"<code><b>{html.escape(one_line(item.get('name', '')))}</b></code> "
        f'<code style="{_QUIET}">{html.escape(one_line(item.get("summary", "")))}</code> '
        f'<span style="{_FAILED if state == "failed" else _STATE}">{escaped(state_line(item))}</span>'
    )
    # Pictures are for all to see, also where nobody opens the card.
    return _card(line, _tool_body(item)) + _outputs(item, pictures=True)


def _tool_body(item: Item) -> str:
    parts: list[str] = []
    if item.get("arguments"):
        parts.append(_small("Arguments") + _pre(arguments_text(item["arguments"])))
    if item.get("progress") and item.get("state") == "running":
        parts.append(_small("Progress") + _pre(item["progress"]))
    outputs = _outputs(item, pictures=False)
    if outputs:
        parts.append(outputs)
    elif item.get("result") and not item.get("outputs"):
        parts.append(_small("Error" if item.get("state") == "failed" else "Result") + _pre(item["result"]))
    return "".join(parts) or _small("The picture stands below." if item.get("outputs") else "Nothing to show yet.")


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments for reading: long or multi-line texts unquoted under their names, else JSON."""
    if any(isinstance(value, str) and "\n" in value for value in arguments.values()):
        return "\n".join(
            f"{name}:\n{value}" if isinstance(value, str) and "\n" in value else argument_summary({name: value})
            for name, value in arguments.items()
        )
    return json.dumps(arguments, ensure_ascii=False, indent=2 if len(arguments) > 3 else None)


def _media(item: Item) -> str:
    return _outputs(item)


def _context(item: Item) -> str:
    title = item.get("title") or "What the model saw"
    line = f'<span style="{_QUIET}">{escaped(one_line(title))}</span>'
    return _card(line, _pre(item.get("text", "").strip("\n"), DETAIL_LIMIT) + _outputs(item), _QUIET_CARD)


def _approval(item: Item) -> str:
    name, reason = one_line(item.get("name", "")), one_line(item.get("reason") or "")
    if item.get("state") not in ("pending", "running"):
        # The call has a card of its own by now.
        return _small(f"{name}: {approval_words(item)}")
    line = (
        f"<code><b>{html.escape(name)}</b></code> {escaped(reason)} "
        f'<span style="{_STATE}"><b>{escaped(approval_words(item))}</b></span>'
    )
    return _card(line, _pre(arguments_text(item.get("arguments") or {}), limit=None), is_open=True)


def _error(item: Item) -> str:
    lines = visible(item.get("text", "")).strip().splitlines() or ["failed"]
    rest = _pre("\n".join(lines[1:])) if len(lines) > 1 else ""
    return f'<p style="color:#d93636"><b>✕ {escaped(lines[0])}</b></p>{rest}'


def _note(item: Item) -> str:
    return _small(item.get("text", ""))


_KINDS: dict[str, Callable[[Item], str]] = {
    "user": _user,
    "text": _text,
    "thinking": _thinking,
    "tool": _tool,
    "media": _media,
    "context": _context,
    "approval": _approval,
    "error": _error,
    "note": _note,
}


def _card(line: str, body: str, style: str = _CARD, is_open: bool = False) -> str:
    return (
        f'<details style="{style}"{" open" if is_open else ""}><summary style="{_SUMMARY}">{line}</summary>\n'
        f'<div style="{_BODY}">{body}</div></details>'
    )


def _small(text: str) -> str:
    return f'<div style="{_QUIET}"><small>{escaped(visible(text))}</small></div>\n'


def _pre(text: str, limit: int | None = FALLBACK_LIMIT) -> str:
    text = visible(text).rstrip("\n")
    kept = text if limit is None else head(text, limit)
    note = "" if len(kept) == len(text) else _small(left_out(text, len(kept)))
    # A line break first, because readers of HTML drop one there.
    return f'<pre style="{PRE_STYLE}">\n{html.escape(kept)}</pre>{note}\n'


def _outputs(item: Item, pictures: bool | None = None) -> str:
    """All outputs; or only those that are pictures, or only those that are none."""
    bundles = item.get("outputs") or ()
    return "".join(_output(each) for each in bundles if pictures is None or pictures is _is_picture(each))


def _is_picture(bundle: Mapping[str, Any]) -> bool:
    return any(isinstance(bundle.get(kind), str) and _BASE64.fullmatch(bundle[kind]) for kind in IMAGE_TYPES)


def _output(bundle: Mapping[str, Any]) -> str:
    """The best form of a bundle that needs no script: a picture, a table, or its text."""
    for kind in IMAGE_TYPES:
        data = bundle.get(kind)
        if isinstance(data, str) and _BASE64.fullmatch(data):
            words = html.escape(one_line(str(bundle.get("text/plain") or "picture")))
            return f'<p><img src="data:{kind};base64,{"".join(data.split())}" alt="{words}" style="{_IMAGE}"></p>\n'
    table = bundle.get(TABLE_TYPE)
    if is_table(table):
        return _table(table)
    text = bundle.get("text/plain")
    return _pre(str(text)) if text else ""


def _table(table: Mapping[str, Any]) -> str:
    rows, index = table.get("rows") or [], table.get("index")
    shown = rows_that_fit(rows)
    numeric = set(table.get("numeric") or ())
    columns = [_cell("th", name, place in numeric) for place, name in enumerate(table.get("columns", ()))]
    heads = " ".join([_cell("th", "", True), *columns] if index else columns)
    lines = []
    for number, row in enumerate(rows[:shown]):
        cells = [_cell("td", each, place in numeric) for place, each in enumerate(row)]
        lines.append(f"<tr>{' '.join([_cell('th', index[number], True), *cells] if index else cells)}</tr>")
    return (
        _small(table_title(table, shown))
        + f'<div style="overflow-x:auto"><table style="{TABLE_STYLE}">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>\n"
    )


def _cell(tag: str, value: Any, to_the_right: bool) -> str:
    align = "right" if to_the_right else "left"
    return f'<{tag} style="text-align:{align};{CELL_STYLE}">{escaped(one_line(str(value)))}</{tag}>'


def _footer(record: Mapping[str, Any], live: bool) -> str:
    # Each part stands alone, so that a dollar sign cannot pair with another one.
    parts = [f"<span>{escaped(part)}</span>" for part in footer(record)]
    if live:
        parts.append(f"<b>{escaped(STOP_HINT)}</b>")
    return f'<div style="{_QUIET};margin-top:8px"><small>{" · ".join(parts)}</small></div>'
