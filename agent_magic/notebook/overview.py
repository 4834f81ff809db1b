"""`%agent`, `%agent tools` and `%agent history`: what the agent is, what it can call, what was said."""

from __future__ import annotations

from IPython.core.error import UsageError

from .command import Answer, Words, columns
from .flags import near
from .kernel import NotebookKernel
from .wording import count, money, one_line


def state(kernel: NotebookKernel, words: Words) -> Answer:
    agent, known = kernel.agent, kernel.known_tools()
    on = [name for name in known if kernel.tools.allows(name)]
    off = [name for name in known if not kernel.tools.allows(name)]
    hint = "" if any(tool.origin == "user" for tool in known.values()) else "; write @tool above a function of yours"
    messages = len(agent.messages)
    cost = agent.cost
    rows = [
        ("model", model_line(kernel)),
        ("tools", (", ".join(on) or "none") + (f" (off: {', '.join(off)})" if off else "") + hint),
        ("history", count(messages, "message") if messages else "empty"),
        ("session", kernel.conversation.id[:8] if kernel.conversation.id else "kept nowhere"),
        (
            "used",
            f"{agent.usage.total_tokens:,} tokens, {money(None if cost is None else float(cost))}"
            if messages
            else "nothing yet",
        ),
        ("help", "%agent help"),
    ]
    return "\n".join(f"{left:<8} {right}" for left, right in rows)


def model_line(kernel: NotebookKernel) -> str:
    model = kernel.agent.model
    if model.api == "demo":
        return "demo: built in, offline, no real model. %agent model ID chooses one"
    return model.label


def tools(kernel: NotebookKernel, words: Words) -> Answer:
    known = kernel.known_tools()
    if not words:
        return _tool_list(kernel) if known else "There are no tools yet. Write @tool above a function of the notebook."
    if len(words) != 2 or words[0] not in ("on", "off"):
        return None
    switch, name = words
    switch_tool(kernel, name, switch == "on")
    return f"The tool {name} is {switch}."


def switch_tool(kernel: NotebookKernel, name: str, on: bool) -> None:
    """Switch a tool on or off, from the next turn on. Raises `UsageError` for an unknown one."""
    known = list(kernel.known_tools())
    if name not in known:
        raise UsageError(f"There is no tool {name}.{near(name, known) or _there_are(known)}")
    (kernel.tools.off.discard if on else kernel.tools.off.add)(name)


def _tool_list(kernel: NotebookKernel) -> str:
    rows = []
    for name, tool in kernel.known_tools().items():
        first = next((line for line in tool.description.splitlines() if line.strip()), "")
        rows.append(
            (f"{'on ' if kernel.tools.allows(name) else 'off'} {name}", f"{tool.effect:<8} {one_line(first, 90)}")
        )
    return "\n".join(columns(rows))


def _there_are(names: list[str]) -> str:
    return f" There are {', '.join(names)}." if names else " There are none yet."


def history(kernel: NotebookKernel, words: Words) -> Answer:
    messages = kernel.agent.messages
    if words:
        return None
    if not messages:
        return "The conversation is empty."
    return "\n".join(f"{number:>3} {_who(message):<9} {_said(message)}" for number, message in enumerate(messages, 1))


def _who(message: object) -> str:
    role = str(getattr(message, "role", type(message).__name__))
    return {"assistant": "model", "user": "you", "toolResult": "tool"}.get(role, role)


def _said(message: object) -> str:
    text = str(getattr(message, "text", "") or getattr(message, "summary", "") or getattr(message, "command", ""))
    calls = [call.name for call in getattr(message, "all_tool_calls", ())]
    name = getattr(message, "tool_name", "")
    failed = " failed" if getattr(message, "is_error", False) else ""
    error = getattr(message, "error_message", None)
    parts = [
        f"{name}{failed}:" if name else "",
        text,
        f"[calls {', '.join(calls)}]" if calls else "",
        f"[failed: {error}]" if error else "",
    ]
    return one_line(" ".join(part for part in parts if part), 100)
