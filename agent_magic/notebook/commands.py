"""The subcommands of `%agent`: one table, and the grammar that tells a subcommand from a message."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from IPython.core.error import UsageError

from .flags import FLAGS, near
from .kernel import NotebookKernel
from .settings import save_model
from .wording import count, money, one_line

Words = Sequence[str]


@dataclass(frozen=True)
class Command:
    """One row of the table: `run(kernel, words)` returns the text to show, or None if `words` do not fit `usage`."""

    name: str
    usage: str
    help: str
    run: Callable[[NotebookKernel, Words], str | None]

    def __call__(self, kernel: NotebookKernel, words: Words) -> str:
        shown = self.run(kernel, words)
        if shown is None:
            usage = f"%agent {self.name} {self.usage}".rstrip()
            raise UsageError(f"Usage: {usage}. {_as_message(' '.join((self.name, *words)))}")
        return shown


def _as_message(line: str) -> str:
    return f"To send the line as a message: %agent -- {line}"


def command_of(line: str) -> tuple[Command, Words] | None:
    """The subcommand that `line` calls, and its words; None when the line is a message.

    Raises `UsageError` for a line of one or two words whose first is one edit away from a subcommand.
    """
    words = line.split()
    if not words:
        return COMMANDS[""], ()
    command = COMMANDS.get(words[0])
    if command is not None:
        try:
            return command, shlex.split(line)[1:]
        except ValueError:
            return command, words[1:]
    if len(words) <= 2:
        for name in COMMANDS:
            if name and one_edit_apart(words[0].lower(), name):
                raise UsageError(f"There is no %agent {words[0]}. Did you mean %agent {name}? {_as_message(line)}")
    return None


def one_edit_apart(one: str, other: str) -> bool:
    """Whether one inserted, missing or other character, or two that swapped places, make the difference."""
    if one == other:
        return True
    if len(one) > len(other):
        one, other = other, one
    start = next((place for place, letter in enumerate(one) if letter != other[place]), len(one))
    if len(one) < len(other):
        return one[start:] == other[start + 1 :]
    swapped = one[start : start + 2] == other[start : start + 2][::-1] and one[start + 2 :] == other[start + 2 :]
    return len(one) == len(other) and (one[start + 1 :] == other[start + 1 :] or swapped)


def help_text() -> str:
    """What `%agent help`, `%agent?` and `%%agent?` show."""
    flags = [(flag.usage, flag.help) for flag in FLAGS]
    commands = [(f"%agent {each.name} {each.usage}".strip(), each.help) for each in COMMANDS.values()]
    commands.append(("%agent TEXT", "send a message; %agent -- TEXT if it begins like a subcommand"))
    return "\n".join(
        [
            "Ask the agent of this notebook. It answers in the cell and may call the functions marked with @tool.",
            "",
            "    %%agent [flags] [text]",
            "    the rest of the cell is the message, exactly as it is written",
            "",
            "With neither text nor body the last run is continued. The value of the cell is the reply.",
            "",
            "Flags, before the text:",
            *_table(flags),
            "",
            "Lines:",
            *_table(commands),
            "",
            'Defaults: %config AgentMagic shows them, and %config AgentMagic.model = "..." sets one.',
        ]
    )


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(left) for left, _ in rows)
    return [f"    {left:<{width}}  {right}" for left, right in rows]


# Subcommands ----------------------------------------------------------------------------------------------------------


def _state(kernel: NotebookKernel, words: Words) -> str | None:
    agent, tools = kernel.agent, kernel.known_tools()
    on = [name for name in tools if kernel.tools.allows(name)]
    off = [name for name in tools if not kernel.tools.allows(name)]
    messages = len(agent.messages)
    cost = agent.cost
    rows = [
        ("model", _model_line(kernel)),
        (
            "tools",
            (", ".join(on) or "none; write @tool above a function") + (f" (off: {', '.join(off)})" if off else ""),
        ),
        ("history", count(messages, "message") if messages else "empty"),
        (
            "used",
            f"{agent.usage.total_tokens:,} tokens, {money(None if cost is None else float(cost))}"
            if messages
            else "nothing yet",
        ),
        ("help", "%agent help"),
    ]
    return "\n".join(f"{left:<8} {right}" for left, right in rows)


def _model_line(kernel: NotebookKernel) -> str:
    model = kernel.agent.model
    if model.api == "demo":
        return "demo: built in, offline, no real model. %agent model ID chooses one"
    return model.label


def _model(kernel: NotebookKernel, words: Words) -> str | None:
    names = [word for word in words if word != "--save"]
    if len(names) > 1 or len(words) - len(names) > 1 or any(name.startswith("-") for name in names):
        return None
    if names:
        kernel.choose_model(names[0])
    shown = f"model    {_model_line(kernel)}"
    if len(words) > len(names):
        shown += f"\nsaved    in {save_model(kernel.shell, kernel.settings.model)}"
    return shown


def _tools(kernel: NotebookKernel, words: Words) -> str | None:
    tools = kernel.known_tools()
    if not words:
        return _tool_list(kernel) if tools else "There are no tools yet. Write @tool above a function of the notebook."
    if len(words) != 2 or words[0] not in ("on", "off"):
        return None
    switch, name = words
    if name not in tools:
        raise UsageError(f"There is no tool {name}.{near(name, list(tools)) or _there_are(list(tools))}")
    (kernel.tools.off.discard if switch == "on" else kernel.tools.off.add)(name)
    return f"The tool {name} is {switch}."


def _tool_list(kernel: NotebookKernel) -> str:
    rows = []
    for name, tool in kernel.known_tools().items():
        first = next((line for line in tool.description.splitlines() if line.strip()), "")
        rows.append(
            (f"{'on ' if kernel.tools.allows(name) else 'off'} {name}", f"{tool.effect:<8} {one_line(first, 90)}")
        )
    return "\n".join(line[4:] for line in _table(rows))


def _there_are(names: list[str]) -> str:
    return f" There are {', '.join(names)}." if names else " There are none yet."


def _history(kernel: NotebookKernel, words: Words) -> str | None:
    messages = kernel.agent.messages
    if words:
        return None
    if not messages:
        return "The conversation is empty."
    return "\n".join(f"{number:>3} {_who(message):<9} {_said(message)}" for number, message in enumerate(messages, 1))


def _who(message: object) -> str:
    role = str(getattr(message, "role", type(message).__name__))
    return {"assistant": "model", "user": "you", "toolResult": "tool"}.get(role, role)


def _said(message: object) -> str:
    text = str(getattr(message, "text", "") or getattr(message, "summary", "") or getattr(message, "command", ""))
    calls = [call.name for call in getattr(message, "all_tool_calls", ())]
    name = getattr(message, "tool_name", "")
    failed = " failed" if getattr(message, "is_error", False) else ""
    parts = [f"{name}{failed}:" if name else "", text, f"[calls {', '.join(calls)}]" if calls else ""]
    return one_line(" ".join(part for part in parts if part), 100)


def _new(kernel: NotebookKernel, words: Words) -> str | None:
    if words:
        return None
    kernel.forget()
    return "The conversation is empty; tools and settings stay."


def _help(kernel: NotebookKernel, words: Words) -> str | None:
    return None if words else help_text()


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("", "", "show the state", _state),
        Command("model", "[ID] [--save]", "show or choose the model; --save keeps it for this profile", _model),
        Command("tools", "[on|off NAME]", "list the tools, or switch one", _tools),
        Command("history", "", "list the messages of the conversation", _history),
        Command("new", "", "forget the conversation", _new),
        Command("help", "", "this text", _help),
    )
}
