"""What any page may request about the conversation, and about what it is held with: the model, tools and variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import AgentBusyError, AgentMagicError
from .bundle import mimebundle
from .connection import Method, Request
from .exchanges import NOTHING_SAID
from .model_list import described, found_models
from .namespace_tools import MAX_NAMES, words_of
from .overview import switch_tool
from .session_command import arrived, found_sessions

if TYPE_CHECKING:
    from .history_records import History
    from .kernel import NotebookKernel

MODELS = 50
SESSIONS = 200

BUSY = (
    "The agent is at work. Stop it first, or wait for it; what you send meanwhile is taken up by the run that goes on."
)


def check_idle(kernel: NotebookKernel) -> None:
    """Raises `AgentBusyError` during a run, when nothing may move the conversation."""
    if kernel.busy:
        raise AgentBusyError(BUSY)


def conversation_methods(
    kernel: NotebookKernel, history: History, changed: Callable[[], object]
) -> Mapping[str, Method]:
    """The methods that look at the conversation or the choices, and those that move or make them.

    `changed` is called after what pages show may have changed.
    """

    def undo(request: Request) -> None:
        """Take back the run that the page shows as the last, and not the one before it where that is gone already."""
        check_idle(kernel)
        run, runs = request.text("run", ""), history.names()
        if run and runs and run not in runs:
            raise AgentMagicError("That message is not in the conversation any more, so nothing was taken back.")
        if run and runs and run != runs[-1]:
            raise AgentMagicError("There are later messages than that one; take those back first.")
        if kernel.conversation.take_back() is None:
            raise AgentMagicError(NOTHING_SAID)
        changed()

    def new(request: Request) -> None:
        check_idle(kernel)
        kernel.forget()
        changed()

    def sessions(request: Request) -> dict[str, Any]:
        conversation = kernel.conversation
        return {
            "sessions": [
                {
                    "id": each.id,
                    "title": each.title,
                    "messages": each.messages,
                    "modified": each.modified,
                    "notebook": each.notebook,
                    "current": each.id == conversation.id,
                }
                for each in found_sessions(kernel, request.text("filter", ""))[:SESSIONS]
            ]
        }

    def resume(request: Request) -> dict[str, Any]:
        check_idle(kernel)
        lacks = kernel.conversation.resume(request.text("session"))
        changed()
        return {"note": arrived(kernel, "Resumed", lacks)}

    def fork(request: Request) -> dict[str, Any]:
        check_idle(kernel)
        session = request.text("session", "")
        own = session == kernel.conversation.session.id
        lacks = kernel.conversation.fork("" if own else session)
        changed()
        return {"note": arrived(kernel, "The conversation goes on in a copy", lacks)}

    def bundle(request: Request) -> dict[str, Any]:
        record = history.record(request.text("run"))
        said = next((item["text"] for item in record["items"] if item["kind"] == "user"), "")
        return {"bundle": mimebundle(record), "source": f"%%agent\n{said}"}

    def models(request: Request) -> dict[str, Any]:
        found = found_models(request.text("filter", ""))[:MODELS]
        return {"models": [described(model) for model in found], "current": kernel.agent.model.label}

    def set_model(request: Request) -> None:
        kernel.choose_model(request.text("model"))
        changed()

    def set_tool(request: Request) -> None:
        switch_tool(kernel, request.text("name"), request.flag("on"))
        changed()

    def variables(request: Request) -> dict[str, Any]:
        namespace = kernel.namespace
        return {
            "variables": [
                {"name": name, "type": type(namespace.value(name)).__name__, "summary": words_of(namespace.value(name))}
                for name in list(namespace.names())[:MAX_NAMES]
            ]
        }

    return {
        "undo": Method(undo),
        "new": Method(new),
        "sessions": Method(sessions),
        "resume": Method(resume),
        "fork": Method(fork),
        "bundle": Method(bundle),
        "models": Method(models),
        "set_model": Method(set_model),
        "set_tool": Method(set_tool),
        "variables": Method(variables),
    }
