"""What a chat shows around its conversation: the model, the tools, how full the window is, what waits to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..messages import UserMessage, joined_text
from ..session.tokens import context_tokens
from .kernel import NotebookKernel
from .mentions import split_content
from .session_command import title_of
from .wording import one_line

# Characters of a description that a page shows beside a tool.
_DESCRIPTION = 200


def state_of(kernel: NotebookKernel, run: str | None, history: int) -> dict[str, Any]:
    """The state as a `state` event has it.

    `run` is the id of the run that goes on; `questions` are those of its items that wait for an answer. `history` is a
    number that changes when the earlier runs are others than before, so that a page asks for them again.
    """
    agent, conversation = kernel.agent, kernel.conversation
    level = agent.thinking_level
    notebook = conversation.notebook
    cost = agent.cost
    return {
        "busy": kernel.busy,
        "run": run,
        "questions": [] if kernel.view is None else list(kernel.view.questions),
        "model": {"id": agent.model.label, "thinking": "" if level is None else str(level.value)},
        "tools": _tools(kernel),
        "context": _context(kernel),
        "cost": None if cost is None else float(cost),
        "session": {"id": conversation.session.id, "title": title_of(kernel)},
        "queue": queued_texts(kernel),
        "notebook": None if notebook is None else str(notebook),
        "problems": [conversation.session.problem] if conversation.session.problem else [],
        "history": history,
    }


def queued_texts(kernel: NotebookKernel) -> list[str]:
    """What the messages say that no run has taken up: those that steer, then those for its end, the oldest first."""
    return [_said(message) for waiting in kernel.agent.queued_messages for message in waiting]


def _tools(kernel: NotebookKernel) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "on": kernel.tools.allows(name),
            "origin": str(tool.origin),
            "effect": str(tool.effect),
            "description": one_line(tool.description, _DESCRIPTION),
        }
        for name, tool in kernel.known_tools().items()
    ]


def _context(kernel: NotebookKernel) -> dict[str, Any] | None:
    agent = kernel.agent
    messages: Sequence[Any] = list(agent.messages)
    if not messages:
        return None
    offered = {name: tool for name, tool in kernel.known_tools().items() if kernel.tools.allows(name)}
    used, window = context_tokens(messages, agent.system_prompt, offered), agent.model_in_use.context_window
    return {"used": used, "window": window, "fraction": round(used / window, 4) if window else None}


def _said(message: Any) -> str:
    """What the user wrote in a message that waits, without what it attaches."""
    if isinstance(message, UserMessage):
        return joined_text(split_content(message.content)[0])
    return str(getattr(message, "text", message))
