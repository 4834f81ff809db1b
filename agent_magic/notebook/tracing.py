"""`%agent trace`: write down what the agent of this kernel asks, is answered and runs."""

from __future__ import annotations

import secrets

from ..session.trace import trace_file, trace_to
from .command import Answer, Words
from .kernel import NotebookKernel

TEXTS = "--texts"


def trace(kernel: NotebookKernel, words: Words) -> Answer:
    texts = TEXTS in words
    rest = [word for word in words if word != TEXTS]
    if len(rest) > 1 or (texts and rest in ([], ["off"])):
        return None
    if rest == ["off"]:
        kernel.agent.config = kernel.agent.config.replace(trace_id=None)
        trace_to(None)
        return "Tracing is off."
    if not rest:
        trace_id = kernel.agent.config.trace_id
        return "Tracing is off." if trace_id is None else f"Tracing is on, as {trace_id}, to {trace_file()}"
    path = trace_to(None if rest == ["on"] else rest[0], texts)
    trace_id = kernel.agent.config.trace_id or f"notebook-{secrets.token_hex(4)}"
    kernel.agent.config = kernel.agent.config.replace(trace_id=trace_id)
    what = "with prompts, answers, arguments and results" if texts else "without texts of the conversation"
    return f"Requests and tools are written to {path} from now on, as {trace_id}, {what}."
