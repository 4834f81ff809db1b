"""How a thinking level becomes the `thinkingConfig` of the Gemini API: a budget of tokens, or a word."""

from __future__ import annotations

from typing import Any

from ..config import RequestConfig, ThinkingLevel
from ..models import Model
from .gemini_family import has_thinking_budget
from .thinking import offered_level

_BUDGETS = {
    ThinkingLevel.OFF: 0,
    ThinkingLevel.MINIMAL: 512,
    ThinkingLevel.LOW: 2048,
    ThinkingLevel.MEDIUM: 8192,
    ThinkingLevel.HIGH: 24_576,
    ThinkingLevel.XHIGH: 24_576,
    ThinkingLevel.MAX: 24_576,
}
# Words that the API does not have, and the nearest that it has.
_WORDS = {ThinkingLevel.OFF: "MINIMAL", ThinkingLevel.MAX: "XHIGH"}


def thinking_config(model: Model, config: RequestConfig) -> dict[str, Any]:
    """The settings for thinking; empty where the server decides."""
    if not model.reasoning:
        return {}
    settings: dict[str, Any] = {}
    if config.thinking_summary is not None:
        settings["includeThoughts"] = config.thinking_summary
    if config.thinking_level is not None:
        level = offered_level(config.thinking_level, model)
        if has_thinking_budget(model):
            settings["thinkingBudget"] = _BUDGETS[level]
        else:
            settings["thinkingLevel"] = _WORDS.get(level, level.value.upper())
    return settings
