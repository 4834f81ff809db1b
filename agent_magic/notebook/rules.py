"""`%agent approve`: what the policy says about each tool, and what was allowed for good."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError

from ..agent.policy import Policy
from .command import Answer, Words, columns
from .flags import near
from .kernel import NotebookKernel

_WORDS = {"allow": "allowed", "ask": "asked about", "deny": "denied"}


def approve(kernel: NotebookKernel, words: Words) -> Answer:
    """The rules; `TOOL` allows it for good, `forget` takes back what was allowed so."""
    policy = kernel.agent.policy
    if policy is None:
        return "There is no policy: every call is allowed."
    if len(words) > 1:
        return None
    if not words:
        return _rules(kernel, policy)
    name = words[0]
    tools = kernel.known_tools()
    if name in tools:
        policy.allow_always(name)
        if policy.rule(tools[name]) == "deny":
            return f"The policy denies {name}, and an answer cannot change that."
        return f"{name} runs without a question until %agent new, or until %agent approve forget."
    if name == "forget":
        policy.forget()
        return "Nothing is allowed for good any more."
    advice = near(name, [*tools, "forget"]) or f" There are {', '.join(tools) or 'none'}."
    raise UsageError(f"There is no tool {name}.{advice}")


def _rules(kernel: NotebookKernel, policy: Policy) -> str:
    rows = [(name, f"{tool.origin}, {tool.effect}", _standing(policy, tool)) for name, tool in _tools(kernel)]
    if not rows:
        return "There are no tools yet."
    width = max(len(kind) for _, kind, _ in rows)
    return "\n".join(columns([(name, f"{kind:<{width}}  {standing}") for name, kind, standing in rows]))


def _tools(kernel: NotebookKernel) -> list[tuple[str, Any]]:
    return list(kernel.known_tools().items())


def _standing(policy: Policy, tool: Any) -> str:
    decision = policy.rule(tool)
    if decision == "ask" and tool.name in policy.always:
        if policy.is_always_allowed(tool):
            return "allowed for good"
        return "asked about again, since text from outside has come in"
    return _WORDS[decision]
