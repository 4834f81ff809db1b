"""A model's Markdown: parsed without raw HTML, then written as HTML by rules of our own, for known tokens only.

LaTeX between `$`, `$$`, `\\(`, `\\[` or `\\begin` stays as it is, so that the page's renderer can set it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_WEB = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f]+", re.IGNORECASE)
_INLINE_MATH = re.compile(
    r"\$\$(?=[^\s$])[^$]+?\$\$"
    r"|\$(?=[^\s$])(?:[^$\\\n]|\\.)*?(?<=[^\s\\])\$(?!\d)"
    r"|\\\((?:[^\\\n]|\\[^)])+?\\\)"
    r"|\\\[(?:[^\\]|\\[^\]])+?\\\]",
)
_BLOCK_MATH = re.compile(r"\$\$|\\\[|\\begin\{([a-z]+\*?)\}")
# Commands by which LaTeX could link, style, name elements, load packages or build the names of those commands.
_UNSAFE_LATEX = re.compile(
    r"\\(?:href|url|class|cssId|style|data|require|csname|html\w*|mmlToken|unicode|includegraphics|input)(?![a-zA-Z])"
)

_TAGS = {
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "list_item": "li",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "em": "em",
    "strong": "strong",
    "s": "s",
}
_ON_NEW_LINE = frozenset({"blockquote", "bullet_list", "list_item", "thead", "tbody", "tr"})
# Letters of Hebrew, Arabic, Syriac, Thaana and N'Ko, and their other forms.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# Half-transparent grey and the page's own colours: what reads well on white reads well on black.
LINE = "1px solid rgba(128,128,128,0.35)"
TABLE_STYLE = "border-collapse:collapse;margin:6px 0"
CELL_STYLE = f"padding:2px 10px;border-bottom:{LINE}"
# Pages give inline code a ground and a padding of its own, which would stripe a block.
_BARE = "background:none;padding:0"
PRE_STYLE = (
    "margin:2px 0 6px;padding:6px 8px;white-space:pre-wrap;overflow-wrap:break-word;"
    "background-color:rgba(128,128,128,0.1);border-radius:4px"
)


def is_web_link(url: str) -> bool:
    """Whether `url` may be a link: http, https or mailto, and nothing else."""
    return _WEB.fullmatch(url) is not None


def _is_readable_link(url: str) -> bool:
    # An image of data is read as an image, so that its data is not printed; it is shown as its words only.
    return is_web_link(url) or url.startswith("data:image/")


def _math(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = _INLINE_MATH.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("math", "", 0).content = found.group()
    state.pos = found.end()
    return True


def _math_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    start = state.bMarks[first] + state.tShift[first]
    opened = _BLOCK_MATH.match(state.src, start)
    if opened is None:
        return False
    end = {"$": "$$", "[": "\\]"}.get(state.src[start + 1], f"\\end{{{opened.group(1)}}}")
    for line in range(first, last):
        text = state.src[state.bMarks[line] : state.eMarks[line]].rstrip()
        if line > first and not text:
            return False
        offset = opened.end() - state.bMarks[first] if line == first else 0
        if text.endswith(end) and len(text) - len(end) >= offset:
            if not silent:
                token = state.push("math_block", "", 0)
                token.content = state.getLines(first, line + 1, state.blkIndent, False).strip()
                token.map = [first, line + 1]
                state.line = line + 1
            return True
    return False


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "math", _math)
    parser.block.ruler.before("fence", "math_block", _math_block, {"alt": ["paragraph"]})
    # The parser's documented way to choose links: any other one stays the text that it was written as.
    parser.validateLink = _is_readable_link  # type: ignore[method-assign]
    return parser


@lru_cache(maxsize=4)
def parsed(text: str) -> tuple[Token, ...]:
    """The tokens of `text`, not to be changed. A half-written text is read as far as it goes."""
    return tuple(_parser().parse(text.replace("\0", "\ufffd")))


def is_safe_math(latex: str) -> bool:
    return _UNSAFE_LATEX.search(latex) is None


def escaped(text: str) -> str:
    """`text` for HTML, in a form that no renderer of LaTeX takes for a formula."""
    safe = html.escape(text)
    if "$" in safe or "\\" in safe:
        # Renderers look for formulas within one run of text, so an element around a delimiter hides it.
        safe = safe.replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")
    return safe


def link(url: str, content: str) -> str:
    return f'<a href="{html.escape(url)}" target="_blank" rel="noopener noreferrer">{content}</a>'


def image_words(token: Token) -> tuple[str, str]:
    """The alternative text of an image, and its address if that may be a link."""
    words = "".join(each.content for each in token.children or ())
    url = str(token.attrs.get("src", ""))
    return words or "image", url if is_web_link(url) else ""


def prose_html(text: str) -> str:
    """`text` as HTML of known elements, everything else escaped."""
    return "".join(_blocks(parsed(text)))


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    directions = _directions(tokens)
    for place, token in enumerate(tokens):
        direction = directions.get(place, "")
        kind, _, side = token.type.rpartition("_")
        if token.type == "inline":
            yield from _inline(token.children or ())
        elif kind == "paragraph":
            yield "\n" if token.hidden else f"<p{direction}>" if side == "open" else "</p>\n"
        elif kind == "heading":
            # An answer's first heading stands below those of the notebook.
            level = min(6, int(token.tag[1]) + 2)
            yield f"<h{level}{direction}>" if side == "open" else f"</h{level}>\n"
        elif token.type in ("fence", "code_block"):
            yield f'<pre style="{PRE_STYLE}"><code style="{_BARE}">{html.escape(token.content)}</code></pre>\n'
        elif token.type == "math_block":
            yield f"<p>{_math_html(token.content)}</p>\n"
        elif token.type == "hr":
            yield "<hr>\n"
        elif kind == "table":
            start = f'<div style="overflow-x:auto"><table{direction} style="{TABLE_STYLE}">\n'
            yield start if side == "open" else "</table></div>\n"
        elif kind == "ordered_list":
            yield _ordered(token, direction) if side == "open" else "</ol>\n"
        elif kind in _TAGS:
            yield _tag(token, kind, side, direction)
        else:
            yield escaped(token.content)


def _directions(tokens: Sequence[Token]) -> dict[int, str]:
    """By its place, what lets each outer block with words from right to left stand as their readers write them."""
    found: dict[int, str] = {}
    start = 0
    for place, token in enumerate(tokens):
        if token.level == 0 and token.nesting == 1:
            start = place
        elif token.type == "inline" and _RIGHT_TO_LEFT.search(token.content):
            found[start] = ' dir="auto"'
    return found


def _ordered(token: Token, direction: str) -> str:
    start = token.attrs.get("start", 1)
    return f"<ol{direction}>\n" if start == 1 else f'<ol{direction} start="{int(start)}">\n'


def _tag(token: Token, kind: str, side: str, direction: str = "") -> str:
    tag = _TAGS[kind]
    if side == "close":
        return f"</{tag}>\n" if kind in _ON_NEW_LINE else f"</{tag}>"
    if kind in ("th", "td"):
        align = str(token.attrs.get("style", "")).removeprefix("text-align:")
        align = align if align in ("center", "right") else "left"
        return f'<{tag} style="text-align:{align};{CELL_STYLE}">'
    return f"<{tag}{direction}>"


def _inline(tokens: Sequence[Token]) -> Iterator[str]:
    linked: list[bool] = []
    for token in tokens:
        kind, _, side = token.type.rpartition("_")
        if token.type == "text":
            yield escaped(token.content)
        elif token.type == "code_inline":
            yield f"<code>{html.escape(token.content)}</code>"
        elif token.type == "math":
            yield _math_html(token.content)
        elif token.type == "softbreak":
            yield "\n"
        elif token.type == "hardbreak":
            yield "<br>\n"
        elif token.type == "image":
            words, url = image_words(token)
            yield escaped(f"[{words}]") if not url or any(linked) else link(url, escaped(f"[{words}]"))
        elif token.type == "link_open":
            url = str(token.attrs.get("href", ""))
            linked.append(is_web_link(url))
            if linked[-1]:
                yield link(url, "").removesuffix("</a>")
        elif token.type == "link_close":
            if linked.pop():
                yield "</a>"
        elif kind in _TAGS:
            yield _tag(token, kind, side)
        else:
            yield escaped(token.content)


def _math_html(latex: str) -> str:
    return html.escape(latex) if is_safe_math(latex) else f"<code>{html.escape(latex)}</code>"


class GrowingProse:
    """HTML of a text that only grows: blocks that are complete are written once."""

    def __init__(self) -> None:
        self._source = ""
        self._done = 0
        self._written: list[str] = []

    def html(self, text: str) -> str:
        if not text.startswith(self._source):
            self._done, self._written = 0, []
        self._source = text
        boundary = last_boundary(text, self._done)
        if boundary > self._done:
            self._written.append(prose_html(text[self._done : boundary]))
            self._done = boundary
        return "".join([*self._written, prose_html(text[self._done :])])


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A line that can only begin a block of its own; what comes before it is complete.
_FRESH_LINE = re.compile(r"(?![-+*>|=:$\\]|\d+[.)])\S")


def last_boundary(text: str, start: int) -> int:
    """Where the last paragraph begins that continues nothing before it; `start` if there is none."""
    boundary, position, fence, blank = start, start, "", False
    for line in text[start:].splitlines(keepends=True):
        found = _FENCE.match(line)
        if fence:
            if found and found.group(1).startswith(fence) and not line[found.end() :].strip():
                fence = ""
            blank = False
        else:
            if blank and line.endswith("\n") and _FRESH_LINE.match(line):
                boundary = position
            if found:
                fence = found.group(1)
            blank = not line.strip()
        position += len(line)
    return boundary
