"""The command line of `%%agent`: one table of flags, read by one small parser.

Flags come first; everything from the first other word on is prompt text and is passed on exactly as it was typed.
"""

from __future__ import annotations

import difflib
import keyword
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from typing import Any

from IPython.core.error import UsageError

# What looks like a flag: `-m`, `--model`, `--model=x`. A dash before a digit or a space begins a text.
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_SPACE = re.compile(r"\s*")

# What `--approve` takes.
APPROVALS = ("ask", "auto", "deny")


@dataclass(frozen=True)
class CellOptions:
    """What the first line of a cell asks for. None stands for the setting of the kernel; `text` is prompt text."""

    text: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    no_tools: bool = False
    output: str | None = None
    output_type: str | None = None
    images: tuple[str, ...] = ()
    new: bool = False
    thinking: str | None = None
    max_turns: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    budget: Decimal | None = None
    token_budget: int | None = None
    approve: str | None = None
    quiet: bool = False
    replay: bool = False
    record: bool = False


@dataclass(frozen=True)
class Flag:
    """One row of the table: `field` of `CellOptions` gets `read(value)`, or True where the flag takes no value.

    A `repeatable` flag adds to its field each time, of any other the last one holds.
    """

    names: tuple[str, ...]
    field: str
    help: str
    value: str = ""
    read: Callable[[str], Any] = str
    repeatable: bool = False

    @property
    def usage(self) -> str:
        return ", ".join(self.names) + (f" {self.value}" if self.value else "")


def _names(value: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip() for part in value.split(",")) if name)


def _identifier(value: str) -> str:
    if not value.isidentifier() or keyword.iskeyword(value):
        raise ValueError("a name that a variable can have")
    return value


def _count(value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) == 0:
        raise ValueError("a whole number of at least 1")
    return int(value)


def _temperature(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("a number that is not negative")
    return number


def _dollars(value: str) -> Decimal:
    try:
        amount = Decimal(value.removeprefix("$"))
    except ArithmeticError:
        amount = Decimal(-1)
    if not amount.is_finite() or amount <= 0:
        raise ValueError("an amount of US dollars, such as 0.50")
    return amount


def _approval(value: str) -> str:
    if value not in APPROVALS:
        raise ValueError(f"{', '.join(APPROVALS[:-1])} or {APPROVALS[-1]}")
    return value


def thinking_level(value: str) -> str:
    from ..config import ThinkingLevel
    from ..errors import InvalidDataError

    try:
        return ThinkingLevel.of(value).value
    except InvalidDataError:
        raise ValueError("one of " + ", ".join(level.value for level in ThinkingLevel)) from None


FLAGS: tuple[Flag, ...] = (
    Flag(("-m", "--model"), "model", "the model that answers this cell", "ID"),
    Flag(("-t", "--tools"), "tools", "the only tools that it may call", "a,b", _names),
    Flag(("--no-tools",), "no_tools", "no tools at all"),
    Flag(("-o", "--output"), "output", "bind the reply to a variable", "NAME", _identifier),
    Flag(("--as",), "output_type", "a value of this type as the answer: reply.value", "TYPE"),
    Flag(
        ("-i", "--image"),
        "images",
        "attach a figure, PIL image, array or file; may be repeated",
        "NAME",
        str,
        repeatable=True,
    ),
    Flag(("--new",), "new", "forget the conversation first"),
    Flag(
        ("--thinking",),
        "thinking",
        "how much the model reasons: off, minimal, low, medium, high ...",
        "LEVEL",
        thinking_level,
    ),
    Flag(("--max-turns",), "max_turns", "the most requests that this cell may make", "N", _count),
    Flag(("--max-tokens",), "max_tokens", "the most tokens of each answer", "N", _count),
    Flag(("--temperature",), "temperature", "0 for steady answers, more for varied ones", "X", _temperature),
    Flag(("--budget",), "budget", "the most that this cell may cost, checked before each request", "USD", _dollars),
    Flag(("--token-budget",), "token_budget", "the most tokens, of prompts and answers together", "N", _count),
    Flag(
        ("--approve",),
        "approve",
        "ask about every call, allow all (auto), or deny what would be asked about",
        "ask|auto|deny",
        _approval,
    ),
    Flag(("--quiet",), "quiet", "show nothing; the reply is the value of the cell"),
    Flag(("--replay",), "replay", "answer from what was recorded beside the notebook; no key, no network"),
    Flag(("--record",), "record", "keep what is asked and answered in a file beside the notebook"),
)
_BY_NAME = {name: flag for flag in FLAGS for name in flag.names}


def parse(line: str) -> CellOptions:
    """Read the text that follows `%%agent`. A fault is a `UsageError` that says what to type instead."""
    given: dict[str, Any] = {}
    rest = line.strip()
    while match := _FLAG.match(rest):
        flag = _flag(match.group())
        rest = rest[match.end() :]
        if rest and not rest[0].isspace() and rest[0] != "=":
            raise UsageError(f"Put a space between {match.group()} and what follows it.")
        if not flag.value:
            if rest.startswith("="):
                raise UsageError(f"{match.group()} takes no value.")
            value: Any = True
        else:
            word, rest = _word(rest[1:] if rest.startswith("=") else rest, flag)
            value = _read(flag, word)
        given[flag.field] = (*given.get(flag.field, ()), value) if flag.repeatable else value
        rest = rest[_space(rest) :]
    for one, other in (("tools", "no_tools"), ("replay", "record")):
        if given.get(one) and given.get(other):
            names = f"--{one} and --{other}".replace("_", "-")
            raise UsageError(f"{names} exclude each other; leave one out.")
    if rest == "--" or re.match(r"--\s", rest):
        rest = rest[2:].lstrip()
    return CellOptions(text=rest, **given)


def near(word: str, names: list[str]) -> str:
    """` Did you mean a or b?` for names that look like `word`, else nothing."""
    matches = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(matches)}?" if matches else ""


def _flag(name: str) -> Flag:
    flag = _BY_NAME.get(name)
    if flag is None:
        advice = near(name, list(_BY_NAME)) or f" There are {', '.join(_BY_NAME)}."
        raise UsageError(f"There is no flag {name}.{advice} To send it as text, put -- before the text.")
    return flag


def _space(text: str) -> int:
    match = _SPACE.match(text)
    return match.end() if match else 0


def _word(text: str, flag: Flag) -> tuple[str, str]:
    """The next word of `text`, without its quotes, and what follows it. A backslash is a plain character."""
    stream = StringIO(text)
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    try:
        word = lexer.get_token()
    except ValueError:
        raise UsageError(f"A quote after {flag.usage} is not closed.") from None
    if word is None:
        raise UsageError(f"{flag.names[-1]} needs a value: {flag.usage}.")
    return word, text[stream.tell() :]


def _read(flag: Flag, word: str) -> Any:
    try:
        return flag.read(word)
    except ValueError as error:
        raise UsageError(f"{flag.names[-1]} takes {error}, not {word!r}.") from None
