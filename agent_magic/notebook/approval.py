"""Asks the user before a tool runs: in the pages that show the run, else by an `input()` line; else denies the call."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..agent.policy import ApprovalAnswer, ApprovalRequest
from ..errors import AbortedError
from .main_thread import Interruption, main_thread_is_free, on_main
from .question import SAID_NO, Question, problem_with
from .wording import visible

if TYPE_CHECKING:
    from .kernel import NotebookKernel
    from .view import View

NOBODY = (
    "Nobody could be asked for approval here, so the call was denied. A policy that allows this tool would let it run."
)


ANSWERS = "y = once, a = always in this session, n = no (a word to the model may follow), e = edit: "


# Seconds that a page has to show a question before it is asked otherwise, and where there is no other way.
PATIENCE = 1.5
LONG_PATIENCE = 15.0


class NotebookApprover:
    """The `Approver` of a kernel: asks in every page that shows the run, else by `input()`, else denies.

    The question also stands in the record of the run, with what became of it. Several agents may share this; their
    lines of `input()` come one after the other.
    """

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._one_at_a_time: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        view = self._kernel.view
        if view is None:
            return await self._by_input(Question("", request))
        item = view.recorder.add_question(
            worded(request),
            request.arguments,
            call_id=request.call.id,
            name=request.tool.name,
            reason=request.reason,
            effect=request.tool.effect,
            hash=request.arguments_hash,
        )
        pending = Question(item, request)
        # A page may answer only what it shows whole.
        if view.recorder.holds_question(item, request.arguments):
            view.questions[item] = pending
        # What was streamed must stand above the question, and the loop may stand still until it is answered.
        view.changed()
        view.flush()
        self._kernel.tell_pages()
        state, arguments = "aborted", request.arguments
        try:
            answer = await self._first_answer(view, pending)
            state, arguments = "done" if answer.decision == "allow" else "denied", answer.arguments or arguments
        finally:
            view.questions.pop(item, None)
            pending.close()
            view.recorder.close_question(item, state, arguments)
            view.changed()
            self._kernel.tell_pages()
        if answer.decision == "allow" and answer.arguments is not None:
            view.recorder.mark_edited(request.call.id, answer.arguments)
            view.changed()
        if answer.decision != "allow":
            view.recorder.mark_denied(request.call.id, answer.reason)
        return answer

    async def _first_answer(self, view: View, pending: Question) -> ApprovalAnswer:
        request = pending.request
        if pending.item in view.questions and view.may_be_followed:
            await pending.by_page(PATIENCE if view.in_cell else LONG_PATIENCE, look=view.in_cell)
        if pending.answered:
            return pending.answer
        return await self._by_input(pending) if view.in_cell else request.deny(NOBODY, by_user=False)

    async def _by_input(self, pending: Question) -> ApprovalAnswer:
        if not main_thread_is_free():
            return pending.request.deny(NOBODY, by_user=False)
        loop = asyncio.get_running_loop()
        async with self._one_at_a_time.setdefault(loop, asyncio.Lock()):
            interruption = Interruption()
            pending.on_answered(lambda: interruption.send(_AnsweredByPageError()))
            return await on_main(lambda: self._ask(pending, interruption), interruption)

    def _ask(self, pending: Question, interruption: Interruption) -> ApprovalAnswer:
        request = pending.request
        try:
            answer = interruption.guard(functools.partial(asked, request, input), None, AbortedError)
        except _AnsweredByPageError:
            return pending.answer
        except KeyboardInterrupt:
            self._kernel.stop()
            raise
        except (EOFError, RuntimeError):
            # StdinNotImplementedError, which IPython raises where no front end takes input, is a RuntimeError.
            return request.deny(NOBODY, by_user=False)
        return answer if pending.settle(answer) else pending.answer


class _AnsweredByPageError(Exception):
    """A page has answered what `input()` asks."""


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
            return request.deny(rest.strip() or SAID_NO)
        if word not in ("e", "edit"):
            prompt = ANSWERS
            continue
        arguments = dict(request.arguments if edited is None else edited)
        name = rest.strip() or (next(iter(arguments)) if len(arguments) == 1 else "")
        if not name:
            prompt = f"Which one? e and one of {', '.join(map(visible, arguments))}: "
            continue
        arguments[name] = _value_of(_lines(name, read), arguments.get(name))
        problem = problem_with(request, arguments)
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


def question(request: ApprovalRequest) -> str:
    """The whole question, and the possible answers."""
    return f"{worded(request)}\nRun it? {ANSWERS}"


def worded(request: ApprovalRequest) -> str:
    """The question in words: the tool, what it may do, and every argument uncut."""
    tool = request.tool
    lines = [f"The model asks to run {visible(tool.name)} ({_EFFECTS.get(tool.effect, tool.effect)})."]
    if request.reason:
        lines.append(visible(request.reason))
    for name, value in request.arguments.items():
        text = visible(_shown(value))
        lines.append(f"  {visible(name)} = {text}" if "\n" not in text else _block(visible(name), text))
    if not request.arguments:
        lines.append("  without arguments")
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
