"""How a thinking level becomes settings of the Messages API: an effort word, or for older models a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..config import RequestConfig, ThinkingLevel
from ..messages import AssistantMessage, Message, ThinkingContent, ToolCall
from ..models import Model
from .anthropic_quirks import MessagesQuirks
from .thinking import offered_level, offered_levels

OFF = ThinkingLevel.OFF
_BUDGETS = {
    ThinkingLevel.MINIMAL: 1024,
    ThinkingLevel.LOW: 2048,
    ThinkingLevel.MEDIUM: 8192,
    ThinkingLevel.HIGH: 16_384,
    ThinkingLevel.XHIGH: 32_768,
    ThinkingLevel.MAX: 49_152,
}
# The least budget that the API takes, and what is kept for the answer beside a budget.
_LEAST = 1024
# What the answer may be long where neither the request nor the model says it.
_USUAL_ANSWER = 8192


def requires_call(config: RequestConfig) -> bool:
    """Whether `tool_choice` makes the model call a tool."""
    return config.tool_choice == "required" or (isinstance(config.tool_choice, tuple) and len(config.tool_choice) > 0)


def thinks(model: Model, config: RequestConfig, quirks: MessagesQuirks) -> bool:
    """Whether the model will think, as far as can be known."""
    level = _level(model, config, quirks)
    if level is None and quirks.adaptive_thinking and model.reasoning:
        offered = offered_levels(model)
        return config.thinking_summary is not None or (bool(offered) and OFF not in offered)
    return level not in (None, OFF)


def length_and_thinking(
    model: Model, config: RequestConfig, quirks: MessagesQuirks, messages: Sequence[Message]
) -> dict[str, Any]:
    """`max_tokens`, `thinking` and the effort word in `output_config`.

    `max_tokens` of the API counts the thinking too, so a budget comes on top of the answer, up to the model's limit.
    """
    answer = config.max_tokens or model.max_tokens or _usual_answer(model)
    level = _level(model, config, quirks)
    summary = config.thinking_summary
    display = {} if summary is None else {"display": "summarized" if summary else "omitted"}
    if level is OFF:
        return {"max_tokens": answer, "thinking": {"type": "disabled"}}
    if quirks.adaptive_thinking and model.reasoning and (level is not None or display):
        effort = ThinkingLevel.LOW if level is ThinkingLevel.MINIMAL else level
        asked = {"output_config": {"effort": str(effort)}} if effort is not None else {}
        return {"max_tokens": answer, "thinking": {"type": "adaptive", **display}, **asked}
    if level is None or _calls_without_thinking(messages):
        return {"max_tokens": answer}
    budget = _BUDGETS[level]
    total = answer + budget
    if model.max_tokens is not None:
        total = max(min(total, model.max_tokens), _LEAST + 1)
    budget = max(min(budget, total - min(answer, _LEAST)), _LEAST)
    return {"max_tokens": total, "thinking": {"type": "enabled", "budget_tokens": budget, **display}}


def _level(model: Model, config: RequestConfig, quirks: MessagesQuirks) -> ThinkingLevel | None:
    """The level to ask for, None for the server's own default."""
    if not model.reasoning:
        return None
    if config.thinking_level is not None:
        return offered_level(config.thinking_level, model)
    # Some models think unless told otherwise, and then refuse that a call is required.
    if quirks.adaptive_thinking and requires_call(config) and OFF in offered_levels(model):
        return None if quirks.required_call_while_thinking else OFF
    return None


def _usual_answer(model: Model) -> int:
    return _USUAL_ANSWER if model.context_window is None else max(1, min(_USUAL_ANSWER, model.context_window // 2))


def _calls_without_thinking(messages: Sequence[Message]) -> bool:
    """Whether the last calls were made without thinking, such as by another model.

    With a budget the API wants them to begin with thinking, so none can be asked for until the user's next turn.
    """
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            calls = any(isinstance(block, ToolCall) for block in message.content)
            first = message.content[0] if message.content else None
            return calls and not (isinstance(first, ThinkingContent) and bool(first.fidelity))
    return False
