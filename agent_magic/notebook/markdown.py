"""A record as Markdown, written anew from parsed tokens: no raw HTML, no remote image, web links only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .html import arguments_text, without_prompt
from .limits import FALLBACK_LIMIT, with_note
from .plain import output_text
from .prose import image_words, is_safe_math, is_web_link, parsed
from .tables import TABLE_TYPE, is_table, rows_that_fit, table_title
from .wording import approval_words, footer, one_line, state_line, thinking_line, visible

if TYPE_CHECKING:
    from markdown_it.token import Token

# What begins markup anywhere; an exclamation mark where a link may follow; and what begins a block.
_SPECIAL = re.compile(r"[\\`*_\[\]~|$]|!(?=\[|$)|^\s*[#>+=-]|(?<=\d)[.)](?=\s|$)", re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_RUNS_OF_TICKS = re.compile(r"`+")
_EMPHASIS = {"em": "*", "strong": "**", "s": "~~"}


def record_markdown(record: Mapping[str, Any], with_prompt: bool = False) -> str:
    items = record["items"] if with_prompt else without_prompt(record["items"])
    parts = [part for part in map(item_markdown, items) if part]
    if record.get("omitted"):
        parts.append(escaped("Left out of this record: " + "; ".join(map(one_line, record["omitted"])) + "."))
    parts.append(" · ".join(map(escaped, footer(record))))
    return "\n\n".join(parts) + "\n"


def item_markdown(item: Mapping[str, Any]) -> str:
    """One item; nothing for a kind that is not known here."""
    kind = item.get("kind")
    text = str(item.get("text") or "")
    if kind == "text":
        return prose_markdown(text)
    if kind == "user":
        return f"**You:**\n\n{fenced(text)}"
    if kind == "note":
        return escaped(one_line(text, FALLBACK_LIMIT))
    if kind == "error":
        return f"**✕ {escaped(one_line(text, FALLBACK_LIMIT))}**"
    if kind == "thinking":
        return f"*{escaped(thinking_line(item))}*" + (f"\n\n{fenced(text)}" if text.strip() else "")
    if kind == "context":
        return f"*{escaped(one_line(item.get('title') or 'What the model saw'))}*\n\n{fenced(text)}"
    if kind == "media":
        return escaped(one_line(output_text(item), FALLBACK_LIMIT))
    if kind == "approval":
        return f"**{escaped(one_line(item.get('name', '')))}**: {escaped(approval_words(item))}"
    if kind == "tool":
        return "\n\n".join(_call(item))
    return ""


def _call(item: Mapping[str, Any]) -> Iterator[str]:
    name, summary = one_line(item.get("name", "")), one_line(item.get("summary", ""))
    line = [f"**{escaped(name)}**", code(summary) if summary else "", escaped(state_line(item))]
    yield " ".join(part for part in line if part)
    if item.get("arguments"):
        yield fenced(arguments_text(item["arguments"]))
    tables = [bundle[TABLE_TYPE] for bundle in item.get("outputs") or () if is_table(bundle.get(TABLE_TYPE))]
    if tables:
        yield from map(_table, tables)
    elif body := output_text(item) or str(item.get("result") or ""):
        yield fenced(body)


def _table(table: Mapping[str, Any]) -> str:
    rows, index = table.get("rows") or [], table.get("index")
    shown = rows_that_fit(rows)
    names = [*([""] if index else []), *table.get("columns", ())]
    lines = [_row(names), "|" + " --- |" * len(names)]
    lines += [_row([*([index[number]] if index else []), *row]) for number, row in enumerate(rows[:shown])]
    return escaped(table_title(table, shown)) + "\n\n" + "\n".join(lines)


def _row(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(escaped(one_line(str(cell))) for cell in cells) + " |"


# Pieces ---------------------------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """`text` on a line of Markdown, none of it markup."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(lambda found: f"{found.group()[:-1]}\\{found.group()[-1]}", text)


def fenced(text: str, limit: int = FALLBACK_LIMIT, language: str = "text") -> str:
    """`text` in a fence that nothing inside it can close."""
    text = visible(with_note(text, limit)).rstrip("\n")
    longest = max((len(run) for run in _RUNS_OF_TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _language(info: str) -> str:
    """The language of a fence, but none that pages draw instead of showing."""
    found = _LANGUAGE.fullmatch(info.strip())
    return "text" if found is None or found.group().lower() in ("mermaid", "math") else found.group()


def code(text: str) -> str:
    """`text` as a code span, on one line."""
    text = " ".join(text.split("\n"))
    ticks = "`" * (max((len(run) for run in _RUNS_OF_TICKS.findall(text)), default=0) + 1)
    padding = " " if text.startswith("`") or text.endswith("`") or len(ticks) > 1 else ""
    return f"{ticks}{padding}{text}{padding}{ticks}"


# Prose ----------------------------------------------------------------------------------------------------------------


def prose_markdown(text: str) -> str:
    """A model's Markdown, written anew."""
    return "\n\n".join(_blocks(parsed(text), 0)[0])


def _blocks(tokens: Sequence[Token], start: int) -> tuple[list[str], int]:
    """The blocks from `start` to the end of the container, and the place after it."""
    blocks: list[str] = []
    at = start
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.nesting == -1:
            break
        if token.type in ("fence", "code_block"):
            blocks.append(fenced(token.content, len(token.content) * 4, _language(token.info)))
        elif token.type == "math_block":
            blocks.append(
                token.content if is_safe_math(token.content) and "<" not in token.content else fenced(token.content)
            )
        elif token.type == "hr":
            blocks.append("---")
        elif token.type == "inline":
            blocks.append(_line(token))
        elif token.type == "table_open":
            table, at = _prose_table(tokens, at)
            blocks.append(table)
        elif token.nesting == 1:
            inner, at = _blocks(tokens, at)
            blocks.append(_container(token, inner))
        else:
            blocks.append(escaped(token.content))
    return blocks, at


def _container(token: Token, inner: list[str]) -> str:
    if token.type == "heading_open":
        return "#" * min(6, int(token.tag[1]) + 2) + " " + " ".join(inner)
    if token.type == "blockquote_open":
        return _prefixed("\n\n".join(inner), "> ", "> ")
    if token.type == "bullet_list_open":
        return "\n".join(_prefixed(each, "- ", "  ") for each in inner)
    if token.type == "ordered_list_open":
        first = int(token.attrs.get("start", 1))
        return "\n".join(
            _prefixed(each, f"{first + number}. ", " " * (len(str(first + number)) + 2))
            for number, each in enumerate(inner)
        )
    return "\n\n".join(inner)


def _prefixed(text: str, first: str, other: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *(other + line if line else other.rstrip() for line in lines[1:])])


def _prose_table(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    lines: list[str] = []
    cells: list[str] = []
    while tokens[at].type != "table_close":
        token = tokens[at]
        at += 1
        if token.type == "tr_open":
            cells = []
        elif token.type == "inline":
            cells.append(" ".join(_line(token).split("\n")))
        elif token.type == "tr_close":
            lines.append("| " + " | ".join(cells) + " |")
            if len(lines) == 1:
                lines.append("|" + " --- |" * len(cells))
    return "\n".join(lines), at + 1


def _line(token: Token) -> str:
    return "".join(_inline(token.children or ()))


def _inline(tokens: Sequence[Token]) -> Iterator[str]:
    linked: list[str] = []
    for token in tokens:
        kind = token.type.rpartition("_")[0]
        if token.type == "code_inline":
            # Inside a table a bar would end the cell; nobody reads it as code then.
            yield code(token.content) if "|" not in token.content else escaped(token.content)
        elif token.type == "math":
            unsafe = not is_safe_math(token.content) or "<" in token.content
            yield code(token.content) if unsafe else token.content
        elif token.type == "softbreak":
            yield "\n"
        elif token.type == "hardbreak":
            yield "\\\n"
        elif token.type == "image":
            words, url = image_words(token)
            yield _link(f"[{words}]", url) if url and not any(linked) else escaped(f"[{words}]")
        elif token.type == "link_open":
            url = str(token.attrs.get("href", ""))
            linked.append(url if is_web_link(url) else "")
            yield "[" if linked[-1] else ""
        elif token.type == "link_close":
            url = linked.pop()
            yield f"](<{_address(url)}>)" if url else ""
        elif kind in _EMPHASIS:
            yield _EMPHASIS[kind]
        else:
            yield escaped(token.content)


def _link(words: str, url: str) -> str:
    return f"[{escaped(words)}](<{_address(url)}>)"


def _address(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C").replace("&", "&amp;")
