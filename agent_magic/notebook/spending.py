"""`%agent context` and `%agent cost`: what fills the model's window, and what was spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..session.tokens import context_tokens, message_tokens, text_tokens
from .command import Answer, Words
from .kernel import NotebookKernel
from .ledger import Entry
from .wording import count, duration, money, one_line

_BAR = 30
_PARTS = (("user", "your messages"), ("assistant", "answers"), ("toolResult", "tool results"))


def context(kernel: NotebookKernel, words: Words) -> Answer:
    if words:
        return None
    agent = kernel.agent
    offered = {name: tool for name, tool in kernel.known_tools().items() if kernel.tools.allows(name)}
    system, declared = text_tokens(agent.system_prompt), context_tokens([], "", offered)
    rows = [("system prompt", "", system), ("tools", count(len(offered), "tool") if offered else "none", declared)]
    by_role: dict[str, list[int]] = {}
    for message in agent.messages:
        role = getattr(message, "role", "")
        by_role.setdefault(role if role in dict(_PARTS) else "other", []).append(message_tokens(message))
    for role, name in (*_PARTS, ("other", "summaries and notes")):
        if role in by_role:
            rows.append((name, str(len(by_role[role])), sum(by_role[role])))
    total = context_tokens(agent.messages, agent.system_prompt, offered)
    lines = [f"{name:<20} {amount:<10} {tokens:>9,} tokens" for name, amount, tokens in rows]
    return "\n".join([*lines, "", _window(total, agent.model.context_window)])


def _window(tokens: int, window: int | None) -> str:
    if not window:
        return f"About {tokens:,} tokens in all; how many the model takes is not known."
    part = min(1.0, tokens / window)
    bar = "█" * round(part * _BAR)
    return f"{bar:░<{_BAR}} {tokens / window:.1%} of {window:,} tokens, about {tokens:,} in all".replace("%", " %")


def cost(kernel: NotebookKernel, words: Words) -> Answer:
    if words:
        return None
    ledger = kernel.ledger
    if not ledger.models and not ledger.tools:
        return "Nothing was spent in this conversation yet."
    lines = [*_models(ledger.models), *_tools(ledger.tools)]
    total = ledger.total
    amount = None if total.cost is None else float(total.cost.total)
    return "\n".join([*lines, "", f"in all: {total.total_tokens:,} tokens, {money(amount)}"])


def _models(entries: Mapping[str, Entry]) -> list[str]:
    rows: list[Sequence[str]] = [("model", "requests", "in", "out", "from cache", "cost")]
    for name, entry in entries.items():
        usage = entry.usage
        price = money(None if usage.cost is None else float(usage.cost.total))
        numbers = (usage.input + usage.cache_write + usage.cache_read, usage.output, usage.cache_read)
        rows.append((one_line(name, 50), f"{entry.calls:,}", *(f"{number:,}" for number in numbers), price))
    return _aligned(rows)


def _tools(entries: Mapping[str, Entry]) -> list[str]:
    if not entries:
        return []
    rows: list[Sequence[str]] = [("tool", "calls", "failed", "time")]
    for name, entry in entries.items():
        rows.append((one_line(name, 50), f"{entry.calls:,}", f"{entry.failed:,}", duration(entry.seconds)))
    return ["", *_aligned(rows)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:>{width}}" if place else f"{cell:<{width}}" for place, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]
