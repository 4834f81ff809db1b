"""Tab in cells of `%%agent` and lines of `%agent`: flags, subcommands, models, tools, and `@names` with their kind.

Everywhere else it answers with nothing before it has looked at anything.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from IPython.core import completer as ipython

from .commands import COMMANDS
from .flags import FLAGS, Flag
from .kinds import kind_of
from .namespace import Namespace
from .settings import AgentMagic

# So many are offered at most; front ends take long with more.
LIMIT = 200

_CELL = re.compile(r"\s*%%agent(?=[ \t\n]|\Z)")
_LINE = re.compile(r"[ \t]*%agent[ \t]+")
_MENTION = re.compile(r"""(?<![\w@.+/\\-])@(?P<name>[\w.]*|file:(?P<quote>["']?)(?P<path>[^"'\s]*))\Z""")
# What a usage offers to choose from; words in capitals stand for a value.
_CHOICES = re.compile(r"(?<![\w-])(?:--)?[a-z]{2,}(?![\w-])")


@dataclass(frozen=True)
class Offer:
    """One completion: the text that replaces what was typed, and what it is."""

    text: str
    kind: str


@dataclass(frozen=True)
class Offers:
    """The completions for `fragment`, the text before the cursor that they replace."""

    fragment: str = ""
    offers: tuple[Offer, ...] = ()


def add_completion(shell: Any, completion: AgentCompletion) -> Callable[[], None]:
    """Let the completer of `shell` ask `completion` too. Returns how to end it."""
    matchers = shell.Completer.custom_matchers
    matcher = _matcher(completion, shell.Completer)
    matchers.append(matcher)

    def remove() -> None:
        if matcher in matchers:
            matchers.remove(matcher)

    return remove


def _matcher(completion: AgentCompletion, completer: Any) -> Callable[[Any], Any]:
    """The function that IPython calls. Before 8.6 it tells a matcher the line alone, so that bodies are not seen."""
    if not hasattr(ipython, "context_matcher"):

        def agent_matcher(token: str) -> list[str]:
            line = completer.text_until_cursor
            found = _quietly(completion, line, line)
            # The token is what IPython will replace.
            before = found.fragment[: len(found.fragment) - len(token)] if found.fragment.endswith(token) else ""
            return [offer.text[len(before) :] for offer in found.offers if offer.text.startswith(before)]

        return agent_matcher

    def agent_context_matcher(context: Any) -> Any:
        if "%agent" not in context.full_text:
            return {"completions": [], "suppress": False}
        found = _quietly(completion, context.full_text, context.text_until_cursor, context.cursor_line)
        return {
            "completions": [ipython.SimpleCompletion(offer.text, type=offer.kind) for offer in found.offers],
            "matched_fragment": found.fragment,
            "suppress": bool(found.offers),
            "ordered": True,
        }

    matcher: Callable[[Any], Any] = ipython.context_matcher(identifier="agent_magic", priority=1_000)(
        agent_context_matcher
    )
    return matcher


def _quietly(completion: AgentCompletion, text: str, line: str, number: int = 0) -> Offers:
    try:
        return completion.offers(text, line, number)
    except Exception:
        # IPython would print a traceback over what the user is typing.
        return Offers()


class AgentCompletion:
    """Knows what can be typed at each place of a cell that speaks to the agent.

    `tools` gives the names of tools, `sessions` the ids of the conversations that are kept.
    """

    def __init__(
        self, namespace: Namespace, tools: Callable[[], Iterable[str]], sessions: Callable[[], Iterable[str]] = tuple
    ) -> None:
        self._namespace = namespace
        self._tools = tools
        self._sessions = sessions

    def offers(self, text: str, line: str, number: int = 0) -> Offers:
        """What can follow `line`, the line numbered `number` of the cell `text` up to the cursor."""
        cell = _CELL.match(text)
        if cell is not None:
            first = text[: cell.end()].count("\n")
            if number > first:
                return self._mentions(line)
            return self._flags(line[len(cell.group().lstrip("\n")) :]) if number == first else Offers()
        begin = _LINE.match(line)
        return Offers() if begin is None else self._after_percent(line[begin.end() :])

    def _after_percent(self, rest: str) -> Offers:
        words, fragment = _words(rest)
        if not words and not fragment.startswith(("-", "@")):
            return _starting(fragment, [Offer(name, "subcommand") for name in COMMANDS if name])
        command = COMMANDS.get(words[0]) if words else None
        if command is None or "FLAGS" in command.usage:
            return self._flags(rest)
        return _starting(fragment, [*self._arguments(command.name), *_choices(command.usage)])

    def _arguments(self, command: str) -> list[Offer]:
        if command == "model":
            return [*self._own_models(), *_models()]
        if command in ("tools", "approve"):
            return self._tool_names()
        if command in ("resume", "fork"):
            return [Offer(name, "session") for name in self._sessions()]
        if command == "login":
            from ..providers.vendors import VENDORS

            return [Offer(name, "provider") for name, vendor in VENDORS.items() if vendor.key_variables]
        return (
            [Offer(name, "setting") for name in AgentMagic.class_trait_names(config=True)]
            if command == "config"
            else []
        )

    def _flags(self, rest: str) -> Offers:
        if rest[:1] not in ("", " ", "\t") and not rest.startswith(("-", "@")):
            rest = f" {rest}"
        words, fragment = _words(rest)
        flag, value = _flag_before(words, fragment)
        if flag is not None:
            return self._values(flag, value)
        if fragment.startswith("-"):
            return _starting(fragment, [Offer(name, "flag") for flag in FLAGS for name in flag.names])
        return self._mentions(rest)

    def _values(self, flag: Flag, value: str) -> Offers:
        if flag.field == "model":
            return _starting(value, [*self._own_models(), *_models()])
        if flag.field == "tools":
            return _starting(value.rpartition(",")[2], self._tool_names())
        if flag.field == "thinking":
            from ..config import ThinkingLevel

            return _starting(value, [Offer(level.value, "level") for level in ThinkingLevel])
        if flag.field == "output_type":
            return _starting(value, self._types())
        if flag.field == "images":
            return _starting(value, self._names(value, ""))
        return _starting(value, _choices(flag.value))

    def _mentions(self, line: str) -> Offers:
        found = _MENTION.search(line)
        if found is None:
            return Offers()
        if found["path"] is not None:
            return _starting(found["path"], _paths(found["path"]))
        offers = list(self._names(found["name"], "@"))
        offers += [Offer(text, "mention") for text in ("@error", "@file:", "@In[", "@Out[")]
        return _starting(found.group(), offers)

    # What there is to choose from -------------------------------------------------------------------------------------

    def _names(self, start: str, sign: str) -> Iterator[Offer]:
        namespace = self._namespace
        dotted, dot, last = start.rpartition(".")
        if dot:
            reached, value = namespace.lookup(dotted)
            columns = getattr(value, "columns", ()) if reached == dotted and "Frame" in type(value).__name__ else ()
            names = [str(name) for name in list(columns)[:1_000] if str(name).isidentifier()]
            yield from (Offer(f"{sign}{dotted}.{name}", "column") for name in names if name.startswith(last))
            return
        for number, name in enumerate(namespace.names(start)):
            if number == LIMIT:
                return
            yield Offer(f"{sign}{name}", kind_of(namespace.value(name)))

    def _tool_names(self) -> list[Offer]:
        return [Offer(name, "tool") for name in self._tools()]

    def _own_models(self) -> list[Offer]:
        from ..models import Model

        names = self._namespace.names()
        return [Offer(name, "model") for name in names if issubclass(type(self._namespace.value(name)), Model)]

    def _types(self) -> list[Offer]:
        return [
            Offer(name, "type")
            for name in self._namespace.names()
            if issubclass(type(self._namespace.value(name)), type)
        ]


def _choices(usage: str) -> list[Offer]:
    return [Offer(word, "choice") for word in _CHOICES.findall(usage)]


def _words(rest: str) -> tuple[list[str], str]:
    """The words of a line, and the one that the cursor stands at the end of."""
    words = rest.split()
    return (words, "") if not words or rest[-1].isspace() else (words[:-1], words[-1])


def _flag_before(words: list[str], fragment: str) -> tuple[Flag | None, str]:
    """The flag whose value is being typed, and what there is of the value."""
    name, equals, value = fragment.partition("=")
    if not equals:
        name, value = words[-1] if words else "", fragment
    flag = next((flag for flag in FLAGS if flag.value and name in flag.names), None)
    return flag, value


def _starting(fragment: str, offers: Iterable[Offer]) -> Offers:
    """Those of `offers` that begin with `fragment`; where none does, those that hold it."""
    known = list(offers)
    low = fragment.lower()
    found = [offer for offer in known if offer.text.startswith(fragment)]
    found = found or [offer for offer in known if offer.text.lower().startswith(low)]
    if not found and len(fragment) > 1 and not fragment.startswith(("-", "@")):
        found = [offer for offer in known if low in offer.text.lower()]
    return Offers(fragment, tuple(dict.fromkeys(found[:LIMIT])))


@functools.lru_cache(maxsize=1)
def _models() -> tuple[Offer, ...]:
    from ..providers.catalogue import list_models

    return tuple(Offer(model.label, "model") for model in list_models())


def _paths(path: str) -> list[Offer]:
    folder, _, start = path.rpartition("/")
    before = f"{folder}/" if folder else ""
    with os.scandir(folder or ".") as entries:
        found = sorted(
            f"{before}{entry.name}{'/' if entry.is_dir() else ''}"
            for entry in entries
            if entry.name.startswith(start) and not entry.name.startswith(".") and " " not in entry.name
        )
    return [Offer(name, "folder" if name.endswith("/") else "file") for name in found]
