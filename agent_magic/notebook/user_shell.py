"""`%agent !COMMAND`: a command of the user's, shown to the model with the next message."""

from __future__ import annotations

from dataclasses import replace

from IPython.core.error import UsageError

from .command import Answer, Words
from .interrupt import sigint_raises
from .kernel import NotebookKernel
from .masking import masked, without_known_keys


def run_for_user(kernel: NotebookKernel, line: str) -> str:
    """Run what follows `!`, or `!!`, which the model is not shown. Returns what to print.

    Raises `AgentBusyError` during a run, where it might come between a call and its result.
    """
    from .shell import user_command

    kernel.agent.check_idle()
    hidden, command = line.startswith("!!"), line.lstrip("!").strip()
    if not command:
        raise UsageError("Write a command behind the !, as in %agent !ls.")
    with sigint_raises():
        message = user_command(command, kernel.home, hidden)
    kernel.conversation.append(replace(message, output=without_known_keys(message.output)))
    if message.cancelled:
        end = "The command was stopped."
    else:
        end = f"Command exited with code {message.exit_code}" if message.exit_code else ""
    where = f"[Output truncated. Full output: {message.full_output_path}]" if message.truncated else ""
    return masked("\n".join(part for part in (message.output, where, end) if part) or "(no output)")


def shell_command(kernel: NotebookKernel, words: Words) -> Answer:
    return run_for_user(kernel, words[0]) if words else None
