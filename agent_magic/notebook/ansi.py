"""Text for a terminal: a model's Markdown with colours, and how many rows a text takes on the screen."""

from __future__ import annotations

import importlib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .prose import image_words, is_web_link, parsed
from .wording import visible, without_ansi

if TYPE_CHECKING:
    from markdown_it.token import Token

BOLD, DIM, ITALIC, UNDERLINED, STRUCK = "1", "2", "3", "4", "9"
RED, GREEN, YELLOW, BLUE, CYAN = "31", "32", "33", "34", "36"
_STYLES = {"strong": BOLD, "em": ITALIC, "s": STRUCK}


def colours_for(stream: Any, shell: Any) -> bool:
    """Whether to send colours: to a terminal that has some, unless NO_COLOR or IPython's own setting forbids them."""
    chosen = str(getattr(shell, "colors", "")).lower()
    return (
        bool(getattr(stream, "isatty", lambda: False)())
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
        and chosen != "nocolor"
    )


def styled(text: str, *styles: str) -> str:
    """`text` in these styles; a style that begins inside it ends there alone."""
    start = f"\x1b[{';'.join(styles)}m"
    return f"{start}{text.replace(_END, _END + start)}{_END}" if text and styles else text


_END = "\x1b[0m"


def width_of(text: str) -> int:
    """The columns that a line takes on the screen."""
    plain = without_ansi(text)
    if plain.isascii():
        return len(plain)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in plain
    )


def rows_of(text: str, columns: int) -> int:
    """The rows that `text` takes on a screen of so many columns."""
    return sum(max(1, -(-width_of(line) // columns)) for line in text.split("\n"))


def markdown_ansi(text: str) -> str:
    """`text` as lines for a terminal, with no control character but those of its styles."""
    return "\n".join(_blocks(parsed(text)))


def _blocks(tokens: Sequence[Token], tight: bool = False) -> list[str]:
    lines: list[str] = []
    for block in _split(tokens):
        written = list(_block(block))
        if lines and written and not tight:
            lines.append("")
        lines += written
    return lines


def _split(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The blocks among `tokens`, each from its opening token to its closing one."""
    start = depth = 0
    for place, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : place + 1]
            start = place + 1


def _block(tokens: Sequence[Token]) -> Iterator[str]:
    first, inside = tokens[0], tokens[1:-1]
    if first.type == "paragraph_open":
        yield from _lines_of(inside)
    elif first.type == "heading_open":
        for line in _lines_of(inside):
            yield styled(line, BOLD, UNDERLINED) if first.tag == "h1" else styled(line, BOLD)
    elif first.type in ("fence", "code_block"):
        yield from (f"    {line}" for line in _code(first).split("\n"))
    elif first.type in ("bullet_list_open", "ordered_list_open"):
        yield from _list(first, inside)
    elif first.type == "blockquote_open":
        yield from (f"{styled('│', DIM)} {line}" for line in _blocks(inside))
    elif first.type == "table_open":
        yield from _table(inside)
    elif first.type == "hr":
        yield styled("─" * 40, DIM)
    elif first.type == "inline":
        yield from _lines_of(tokens)
    elif first.content:
        yield from visible(first.content).rstrip("\n").split("\n")


def _lines_of(tokens: Sequence[Token]) -> list[str]:
    return "".join(_inline(each.children or ()) for each in tokens).split("\n")


def _list(first: Token, tokens: Sequence[Token]) -> Iterator[str]:
    number = int(first.attrs.get("start", 1) or 1)
    for item in _split(tokens):
        marker = f"{number}." if first.type == "ordered_list_open" else "•"
        number += 1
        tight = any(each.type == "paragraph_open" and each.hidden for each in item)
        lines = _blocks(item[1:-1], tight) or [""]
        yield f"{styled(marker, CYAN)} {lines[0]}"
        yield from (f"{' ' * (len(marker) + 1)}{line}" if line else "" for line in lines[1:])


def _code(token: Token) -> str:
    """The code, coloured by Pygments, which IPython brings along, where it knows the language."""
    code = visible(token.content).rstrip("\n")
    language = token.info.strip().partition(" ")[0]
    if not language:
        return styled_lines(code, CYAN)
    try:
        pygments: Any = importlib.import_module("pygments")
        lexer = importlib.import_module("pygments.lexers").get_lexer_by_name(language, stripnl=False)
        formatter = importlib.import_module("pygments.formatters").TerminalFormatter()
        return str(pygments.highlight(code, lexer, formatter)).rstrip("\n")
    except Exception:
        return styled_lines(code, CYAN)


def styled_lines(text: str, *styles: str) -> str:
    return "\n".join(styled(line, *styles) for line in text.split("\n"))


def _table(tokens: Sequence[Token]) -> Iterator[str]:
    rows: list[list[str]] = []
    aligned: list[str] = []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(" ".join(_lines_of(tokens[place + 1 : place + 2])))
            if len(rows) == 1:
                aligned.append(str(token.attrs.get("style", "")))
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=False)]
    for number, row in enumerate(rows):
        cells = [_padded(*each) for each in zip(row, widths, aligned, strict=False)]
        line = "  ".join(cells).rstrip()
        yield styled(line, BOLD) if number == 0 else line
        if number == 0:
            yield styled("  ".join("─" * width for width in widths), DIM)


def _padded(cell: str, width: int, style: str) -> str:
    blank = " " * (width - width_of(cell))
    return blank + cell if style.endswith("right") else cell + blank


def _inline(tokens: Sequence[Token]) -> str:
    """Styled text. A stack holds what is open: the style, or the address of a link, and where its text begins."""
    pieces: list[str] = []
    opened: list[tuple[str, int]] = []
    for token in tokens:
        kind, _, side = token.type.rpartition("_")
        if token.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
        elif token.type == "code_inline":
            pieces.append(styled(visible(token.content), CYAN))
        elif token.type == "image":
            words, url = image_words(token)
            pieces.append(visible(f"[{words}]" + (f" ({url})" if url else "")))
        elif side == "open" and (kind in _STYLES or kind == "link"):
            opened.append((_STYLES.get(kind) or str(token.attrs.get("href", "")), len(pieces)))
        elif side == "close" and opened:
            what, start = opened.pop()
            inside = "".join(pieces[start:])
            pieces[start:] = [_link(inside, what) if kind == "link" else styled(inside, what)]
        else:
            pieces.append(visible(token.content))
    return "".join(pieces)


def _link(text: str, url: str) -> str:
    if not is_web_link(url):
        return text
    shown = styled(text, UNDERLINED, BLUE)
    return shown if without_ansi(text) in (url, url.removeprefix("mailto:")) else f"{shown} ({visible(url)})"
