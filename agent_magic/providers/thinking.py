"""Thinking levels: what a model offers of what is asked, for every API alike."""

from __future__ import annotations

from ..config import ThinkingLevel
from ..models import Model
from . import gemini_family
from .quirks import quirks_of

_LEVELS = tuple(ThinkingLevel)


def offered_levels(model: Model) -> tuple[ThinkingLevel, ...]:
    """The levels that the model is known to offer, in rising order; empty where nothing is known."""
    known = model.compat.get("thinking_levels", ())
    if not known and model.api == "gemini":
        known = gemini_family.thinking_levels(model)
    if not known and model.api == "openai-chat":
        known = quirks_of(model).efforts
    offered = {ThinkingLevel.of(each) for each in known}
    return tuple(level for level in _LEVELS if level in offered)


def offered_level(level: ThinkingLevel, model: Model) -> ThinkingLevel:
    """The level nearest to `level` that the model offers, a higher one before a lower one."""
    offered = offered_levels(model)
    if not offered or level in offered:
        return level
    rank = _LEVELS.index
    return next((each for each in offered if rank(each) > rank(level)), offered[-1])


def clamping_note(level: ThinkingLevel | None, model: Model) -> str:
    """What to tell the user where the model gets another level than was asked for; empty where it does not."""
    if level is None or not model.reasoning:
        return ""
    given = offered_level(level, model)
    return "" if given is level else f"{model.label} does not offer the thinking level {level}; {given} was used."
