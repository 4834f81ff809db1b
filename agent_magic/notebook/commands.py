"""The subcommands of `%agent`: one table, and the grammar that tells a subcommand from a message."""

from __future__ import annotations

import importlib
import shlex

from IPython.core.error import UsageError

from .command import Answer, Command, Run, Words, as_message, columns
from .flags import FLAGS
from .kernel import NotebookKernel


def command_of(line: str) -> tuple[Command, Words] | None:
    """The subcommand that `line` calls, and its words; None when the line is a message.

    Raises `UsageError` for a line of one or two words whose first is one edit away from a subcommand.
    """
    words = line.split()
    if not words:
        return COMMANDS[""], ()
    if words[0].startswith("!"):
        return SHELL, (line.strip(),)
    command = COMMANDS.get(words[0])
    if command is not None:
        try:
            return command, shlex.split(line)[1:]
        except ValueError:
            return command, words[1:]
    if len(words) <= 2:
        for name in COMMANDS:
            if name and one_edit_apart(words[0].lower(), name):
                raise UsageError(f"There is no %agent {words[0]}. Did you mean %agent {name}? {as_message(line)}")
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
    lines = [(f"%agent {each.name} {each.usage}".strip(), each.help) for each in (*COMMANDS.values(), SHELL)]
    lines.append(("%agent TEXT", "send a message; %agent -- TEXT if it begins like a subcommand"))
    return "\n".join(
        [
            "Ask the agent of this notebook. It answers in the cell and may call the functions marked with @tool.",
            "",
            "    %%agent [flags] [text]",
            "    the rest of the cell is the message, exactly as it is written",
            "",
            "With neither text nor body the last run goes on. The value of the cell is the reply: _.text, _.usage ...",
            "",
            "    %%agent -m openai/gpt-5-mini -i fig",
            "    What does this figure say about @sales?",
            "",
            "Flags, before the text:",
            *columns(flags, 4),
            "",
            "Lines:",
            *columns(lines, 4),
            "",
            "Defaults are settings: %agent config lists them.",
        ]
    )


def helped(kernel: NotebookKernel, words: Words) -> Answer:
    return None if words else help_text()


def later(name: str) -> Run:
    """The function `name`, MODULE.FUNCTION beside this module, imported when it is called: loading stays quick."""
    module, _, function = name.partition(".")

    def run(kernel: NotebookKernel, words: Words) -> Answer:
        answer: Answer = getattr(importlib.import_module(f".{module}", __package__), function)(kernel, words)
        return answer

    return run


SHELL = Command(
    "!COMMAND",
    "",
    "run a command and show it to the model; !!COMMAND without showing it",
    later("user_shell.shell_command"),
)
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("", "", "show the state", later("overview.state")),
        Command(
            "model",
            "[ID] [--save]",
            "show or choose the model; --save keeps it for this profile",
            later("profile.model"),
        ),
        Command(
            "models",
            "[FILTER|local|at URL]",
            "models to choose: known, of this machine, or of a server",
            later("model_list.models"),
        ),
        Command("tools", "[on|off NAME]", "list the tools, or switch one", later("overview.tools")),
        Command(
            "login",
            "[PROVIDER] [--keyring|--forget]",
            "give a key, unseen; alone: where keys are",
            later("login.login"),
        ),
        Command("history", "", "list the messages of the conversation", later("overview.history")),
        Command("show", "[N]", "draw the last run again, or run N of this kernel, in full", later("exchanges.show")),
        Command("context", "", "what fills the model's window", later("spending.context")),
        Command("cost", "", "what each model and tool took", later("spending.cost")),
        Command("undo", "", "take back the last message and its answer", later("exchanges.undo")),
        Command("retry", "[FLAGS]", "take back the last answer and ask again", later("exchanges.retry")),
        Command("edit", "", "take back the last message and put it into the next cell", later("session_command.edit")),
        Command(
            "sessions",
            "[FILTER]",
            "the conversations that are kept, the last one first",
            later("session_command.sessions"),
        ),
        Command(
            "resume",
            "[ID|TITLE]",
            "go on with a conversation that is kept; alone: with the last one",
            later("session_command.resume"),
        ),
        Command(
            "fork", "[ID|TITLE]", "go on in a copy of this conversation, or of another", later("session_command.fork")
        ),
        Command(
            "compact",
            "[FOCUS]",
            "put a summary in the place of the older part of the conversation",
            later("session_command.compact"),
        ),
        Command(
            "export", "[PATH]", "write the conversation to a file: .md, .html, .json or .jsonl", later("export.export")
        ),
        Command("fix", "[FLAGS]", "have the last error explained, and its cell corrected", later("fix.fix")),
        Command(
            "approve",
            "[TOOL|forget]",
            "the rules about tools; allow one for good, or forget that",
            later("rules.approve"),
        ),
        Command(
            "mcp",
            "[list|add|remove|start|allow ...]",
            "MCP servers: how they are; add NAME COMMAND ... or NAME URL",
            later("mcp_command.mcp"),
        ),
        Command(
            "trace",
            "[on|off|PATH] [--texts]",
            "write down requests, usage, tools and errors; where",
            later("tracing.trace"),
        ),
        Command("panel", "", "open the panel, the chat beside the notebook", later("panel_command.panel")),
        Command("new", "", "forget the conversation", later("exchanges.new")),
        Command("config", "[NAME]", "all settings, their values and what they do", later("profile.config")),
        Command("autoload", "[on|off]", "load agent_magic in every kernel of this profile", later("profile.autoload")),
        Command("help", "", "this text", helped),
    )
}
