"""Asks the user before a tool runs, by an `input()` line; where nobody can answer, the call is denied."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from ..agent.policy import ApprovalAnswer, ApprovalRequest
from ..errors import AbortedError
from .main_thread import Interruption, main_thread_is_free, on_main
from .wording import visible

if TYPE_CHECKING:
    from .kernel import NotebookKernel

NOBODY = (
    "Nobody could be asked for approval here, so the call was denied. A policy that allows this tool would let it run."
)


class InputApprover:
    """The `Approver` of a kernel. The question also stands in the record of the run, with what became of it."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        view = self._kernel.view
        if view is None:
            return await self._answer(request)
        recorder, item = (
            view.recorder,
            view.recorder.add_item(
                "approval", "pending", name=request.tool.name, reason=request.reason, arguments=dict(request.arguments)
            ),
        )
        # What was streamed must stand above the question, and the loop may stand still until it is answered.
        view.changed()
        view.flush()
        try:
            answer = await self._answer(request)
        except BaseException:
            recorder.change_item(item, state="aborted")
            raise
        recorder.change_item(item, state="done" if answer.decision == "allow" else "denied")
        if answer.decision != "allow":
            recorder.mark_denied(request.call.id, answer.reason)
        view.changed()
        return answer

    async def _answer(self, request: ApprovalRequest) -> ApprovalAnswer:
        if not main_thread_is_free():
            return request.deny(NOBODY)
        interruption = Interruption()
        return await on_main(lambda: self._ask(request, interruption), interruption)

    def _ask(self, request: ApprovalRequest, interruption: Interruption) -> ApprovalAnswer:
        asked = question(request)
        try:
            while True:
                said = interruption.guard(functools.partial(input, asked), None, AbortedError)
                word, _, reason = said.strip().partition(" ")
                if word.lower() in ("y", "yes"):
                    return request.allow()
                if word.lower() in ("a", "always"):
                    return request.allow("always")
                if word.lower() in ("n", "no"):
                    return request.deny(reason.strip() or "The user said no.")
                asked = "Please answer y, a or n: "
        except KeyboardInterrupt:
            self._kernel.stop()
            raise
        except (EOFError, RuntimeError):
            # StdinNotImplementedError, which IPython raises where no front end takes input, is a RuntimeError.
            return request.deny(NOBODY)


def question(request: ApprovalRequest) -> str:
    """The whole question: the tool, what it may do, every argument uncut, and the possible answers."""
    tool = request.tool
    lines = [f"The model asks to run {visible(tool.name)} ({_EFFECTS.get(tool.effect, tool.effect)})."]
    if request.reason:
        lines.append(visible(request.reason))
    for name, value in request.arguments.items():
        text = visible(_shown(value))
        lines.append(f"  {visible(name)} = {text}" if "\n" not in text else _block(visible(name), text))
    if not request.arguments:
        lines.append("  without arguments")
    lines.append("Run it? y = once, a = always in this session, n = no (a word to the model may follow): ")
    return "\n".join(lines)


_EFFECTS = {
    "read": "reads only",
    "write": "may change files or data",
    "execute": "runs code",
    "network": "reaches beyond this machine",
}


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" in value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, default=repr)


def _block(name: str, text: str) -> str:
    return "\n".join([f"  {name}:", *("    | " + line for line in text.split("\n"))])
