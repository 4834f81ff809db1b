"""What a conversation speaks of and a new kernel does not have: names of the notebook, and tools."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidDataError
from ..messages import AssistantMessage, ToolCall, UserMessage
from ..session.entries import Entry, MessageEntry
from .kinds import MISSING
from .mentions import name_of_block
from .namespace import Namespace

# The type of the message that tells of it.
RESTART = "agent_magic.restart"
_NEW = (
    "This conversation goes on in a new kernel: nothing that ran before is in its memory, unless the user has run it "
    "again."
)
# So many of each are named at most, the last ones.
_MOST = 60


@dataclass(frozen=True)
class Lacks:
    """Names and tools that are missing, in the order in which the conversation came to them."""

    names: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the model is told."""
        parts = [_NEW]
        if self.names:
            parts.append(f"Not defined here: {_listed(self.names)}.")
        if self.tools:
            parts.append(f"Tools that are not here: {_listed(self.tools)}.")
        if not self.names and not self.tools:
            parts.append("All names and tools that were spoken of are here.")
        return " ".join(parts)

    @property
    def note(self) -> str:
        """What the user is told; empty where nothing is missing."""
        found = [("names", self.names), ("tools", self.tools)]
        missing = [f"the {kind} {_listed(names)}" for kind, names in found if names]
        return f"The model was told that this kernel lacks {' and '.join(missing)}." if missing else ""


def lacks(branch: Iterable[Entry], namespace: Namespace, tools: Container[str]) -> Lacks:
    """What of this branch is missing here."""
    names: dict[str, None] = {}
    called: dict[str, None] = {}
    for message in _messages(branch):
        if isinstance(message, UserMessage):
            mentions = filter(None, map(name_of_block, message.content))
            names.update((name, None) for name in map(_first_name, mentions) if name)
        elif isinstance(message, AssistantMessage):
            for call in message.all_tool_calls:
                called[call.name] = None
                names.update(dict.fromkeys(_names_of_call(call)))
    return Lacks(
        tuple(name for name in names if namespace.value(name) is MISSING)[-_MOST:],
        tuple(name for name in called if name not in tools)[-_MOST:],
    )


def _messages(branch: Iterable[Entry]) -> Iterator[Any]:
    for entry in branch:
        if isinstance(entry, MessageEntry) and entry.role in ("user", "assistant"):
            try:
                yield entry.message
            except InvalidDataError:
                continue


def _first_name(mention: str) -> str:
    """`df` of `@df.price`; nothing for `@In[3]`, `@error` and `@file:x`."""
    name = mention.removeprefix("@").split(".")[0]
    return name if name.isidentifier() and name != "error" else ""


def _names_of_call(call: ToolCall) -> Iterator[str]:
    """The names that a call looked at, or that its code bound."""
    if call.name == "inspect":
        name = str(call.arguments.get("name", "")).split(".")[0]
        if name.isidentifier():
            yield name
    elif call.name == "run_python":
        yield from _bound(str(call.arguments.get("code", "")))


def _bound(code: str) -> Iterator[str]:
    """The names that `code` binds in the notebook."""
    try:
        waiting: list[ast.AST] = list(ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError):
        return
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((each.asname or each.name).split(".")[0] for each in node.names if each.name != "*")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            waiting[:0] = list(ast.iter_child_nodes(node))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
