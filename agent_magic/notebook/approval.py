"""Asks the user before a tool runs, by an `input()` line; where nobody can answer, the call is denied."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..agent.policy import ApprovalAnswer, ApprovalRequest
from ..errors import AbortedError, AgentMagicError
from ..messages import ToolCall
from .main_thread import Interruption, main_thread_is_free, on_main
from .wording import visible

if TYPE_CHECKING:
    from .kernel import NotebookKernel

NOBODY = (
    "Nobody could be asked for approval here, so the call was denied. A policy that allows this tool would let it run."
)


ANSWERS = "y = once, a = always in this session, n = no (a word to the model may follow), e = edit: "


class InputApprover:
    """The `Approver` of a kernel. The question also stands in the record of the run, with what became of it.

    Several agents may share it; their questions come one after the other.
    """

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._one_at_a_time: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

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
        if answer.arguments is not None:
            recorder.change_item(item, arguments=dict(answer.arguments))
        if answer.decision != "allow":
            recorder.mark_denied(request.call.id, answer.reason)
        view.changed()
        return answer

    async def _answer(self, request: ApprovalRequest) -> ApprovalAnswer:
        if not main_thread_is_free():
            return request.deny(NOBODY)
        loop = asyncio.get_running_loop()
        async with self._one_at_a_time.setdefault(loop, asyncio.Lock()):
            interruption = Interruption()
            return await on_main(lambda: self._ask(request, interruption), interruption)

    def _ask(self, request: ApprovalRequest, interruption: Interruption) -> ApprovalAnswer:
        try:
            return interruption.guard(functools.partial(asked, request, input), None, AbortedError)
        except KeyboardInterrupt:
            self._kernel.stop()
            raise
        except (EOFError, RuntimeError):
            # StdinNotImplementedError, which IPython raises where no front end takes input, is a RuntimeError.
            return request.deny(NOBODY)


def asked(request: ApprovalRequest, read: Callable[[str], str]) -> ApprovalAnswer:
    """Ask by `read(prompt)` until there is an answer. Edited arguments are shown again before they are approved."""
    edited: dict[str, Any] | None = None
    prompt = question(request)
    while True:
        word, _, rest = read(prompt).strip().partition(" ")
        word = word.lower()
        if word in ("y", "yes"):
            return request.allow("once", edited)
        if word in ("a", "always"):
            return request.allow("always", edited)
        if word in ("n", "no"):
            return request.deny(rest.strip() or "The user said no.")
        if word not in ("e", "edit"):
            prompt = ANSWERS
            continue
        arguments = dict(request.arguments if edited is None else edited)
        name = rest.strip() or (next(iter(arguments)) if len(arguments) == 1 else "")
        if not name:
            prompt = f"Which one? e and one of {', '.join(map(visible, arguments))}: "
            continue
        arguments[name] = _value_of(_lines(name, read), arguments.get(name))
        problem = _problem_with(request, arguments)
        if problem:
            prompt = f"{visible(problem)}\n{ANSWERS}"
            continue
        edited = arguments
        prompt = question(replace(request, arguments=edited))


def _lines(name: str, read: Callable[[str], str]) -> str:
    lines = [read(f"New {visible(name)}; a line that is only a dot ends it: ")]
    while lines[-1] != ".":
        lines.append(read("... "))
    return "\n".join(lines[:-1])


def _value_of(text: str, before: Any) -> Any:
    """What was typed: a text where there was one, else JSON."""
    if isinstance(before, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _problem_with(request: ApprovalRequest, arguments: Mapping[str, Any]) -> str:
    """What the tool would say to these arguments; empty where they fit."""
    from ..tools.validation import validate_tool_arguments

    try:
        validate_tool_arguments(request.tool, ToolCall(request.call.id, request.call.name, dict(arguments)))
    except AgentMagicError as error:
        return str(error)
    return ""


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
    lines.append(f"Run it? {ANSWERS}")
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
