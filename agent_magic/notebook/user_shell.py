"""`%agent !COMMAND`: a command of the user's, shown to the model with the next message."""

from __future__ import annotations

from ..errors import AgentBusyError
from .command import Answer, Words
from .interrupt import sigint_raises
from .kernel import NotebookKernel
from .masking import masked


def run_for_user(kernel: NotebookKernel, line: str) -> str:
    """Run what follows `!`, or `!!`, which the model is not shown. Returns what to print.

    Raises `AgentBusyError` during a run, where it might come between a call and its result.
    """
    from ..agent.agent import BUSY
    from .shell import user_command

    agent = kernel.agent
    if agent.loop is not None:
        raise AgentBusyError(BUSY)
    hidden = line.startswith("!!")
    with sigint_raises():
        message = user_command(line.lstrip("!").strip(), kernel.home, hidden)
    agent.messages = [*agent.messages, message]
    if message.cancelled:
        end = "The command was stopped."
    else:
        end = f"Command exited with code {message.exit_code}" if message.exit_code else ""
    where = f"[Output truncated. Full output: {message.full_output_path}]" if message.truncated else ""
    return masked("\n".join(part for part in (message.output, where, end) if part) or "(no output)")


def shell_command(kernel: NotebookKernel, words: Words) -> Answer:
    return run_for_user(kernel, words[0]) if words else None
