"""Finds what a prompt mentions: `@df`, `@df.price`, `@In[3]`, `@Out[3]`, `@error`, `@file:data/x.csv`.

E-mail addresses, decorators and everything in code stay text. Nothing is looked up here. What a mention adds to a
message is a block of its own, which is told from the user's own text by its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..messages import Content, TextContent

Kind = Literal["name", "In", "Out", "file"]


@dataclass(frozen=True)
class Mention:
    """`text` as it stands in the prompt; `name` is the dotted name, the number of the cell, or the path."""

    kind: Kind
    name: str
    text: str


# Fences and spans of code, in which an @ is code. A fence may be left open.
_CODE = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|(`+)(?!`)[^\n]*?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE
)
_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+def|def|class)\b")
_DECORATOR = re.compile(r"[ \t]*@[\w.]+[ \t]*(?:\(.*)?\Z")
_MENTION = re.compile(
    r"""
    (?<![\w@.+/\\-]) @ (?:
        file: (?: "(?P<double>[^"\n]+)" | '(?P<single>[^'\n]+)' | (?P<bare>[^\s"'`]+) )
      | (?P<cell>In|Out)\[ (?P<number>-?\d{1,9}) \]
      | (?P<name>[^\W\d]\w* (?:\.[^\W\d]\w*)*) (?![\w@])
    )
    """,
    re.VERBOSE,
)
# What ends a sentence rather than a path.
_PUNCTUATION = ".,;:!?)]}>"


def find_mentions(prompt: str) -> list[Mention]:
    """The mentions of `prompt` in order, each once."""
    if "@" not in prompt:
        return []
    text = _CODE.sub(_blank, prompt)
    return list(dict.fromkeys(_mentions(_without_decorators(text))))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())


def _without_decorators(text: str) -> str:
    """`text` without the lines that stand above a definition and can be its decorators."""
    kept: list[str] = []
    decorates = False
    for line in reversed(text.split("\n")):
        decorates = bool(_DEFINITION.match(line) or (decorates and _DECORATOR.match(line)))
        kept.append("" if decorates else line)
    return "\n".join(reversed(kept))


def _mentions(text: str) -> Iterator[Mention]:
    for found in _MENTION.finditer(text):
        path = found["double"] or found["single"] or (found["bare"] or "").rstrip(_PUNCTUATION)
        if path:
            quoted = found["double"] or found["single"]
            yield Mention("file", path, found.group() if quoted else f"@file:{path}")
        elif found["cell"]:
            yield Mention("In" if found["cell"] == "In" else "Out", found["number"], found.group())
        elif found["name"]:
            yield Mention("name", found["name"], found.group())


# Blocks of a message ------------------------------------------------------------------------------------------------

_BLOCK = re.compile(r"\n\n(?P<fence>`{3,})(?P<name>@[^\n]+)\n.*\n(?P=fence)\n", re.DOTALL)


def mention_block(fenced: str) -> TextContent:
    """The block for a text in a fence whose opening names what was mentioned."""
    return TextContent(f"\n\n{fenced}\n")


def name_of_block(block: Content) -> str | None:
    """The name in a block that `mention_block` made; None for any other block."""
    found = _BLOCK.fullmatch(block.text) if isinstance(block, TextContent) else None
    return None if found is None else found["name"]


def split_content(content: Sequence[Content]) -> tuple[Sequence[Content], Sequence[Content]]:
    """What the user said, and the blocks that mentions added behind it. The first block is always the user's."""
    for place in range(1, len(content)):
        if name_of_block(content[place]) is not None:
            return content[:place], content[place:]
    return content, ()
