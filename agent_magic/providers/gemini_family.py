"""What a Gemini model can do, as far as its name tells; `compat` of the model says it better where it says it."""

from __future__ import annotations

import re

from ..models import Model

_VERSION = re.compile(r"gemini-(?:robotics-er-)?(\d+)(?:\.(\d+))?")
# Models whose names tell no version, such as gemini-flash-latest, are the newest ones.
_NEWEST = (1000, 0)
# Models with levels cannot stop thinking at all, and neither can gemini-2.5-pro.
_BUDGET_LEVELS = ("off", "minimal", "low", "medium", "high")
_LEVELS = ("minimal", "low", "medium", "high")
_WORDS_FOR_OUTPUT = {"image": ("image", "banana"), "audio": ("tts",)}


def generation(model: Model) -> tuple[int, int]:
    """The version in the model's name, such as (2, 5)."""
    found = _VERSION.search(model.id.lower())
    return (int(found[1]), int(found[2] or 0)) if found else _NEWEST


def is_signed(model: Model) -> bool:
    """Whether the model insists on a signature at its calls and images."""
    return generation(model) >= (3, 0) and "gemma" not in model.id.lower()


def reads_media_in_results(model: Model) -> bool:
    """Whether the result of a tool may hold images and documents."""
    return is_signed(model)


def holds_answers_beside_tools(model: Model) -> bool:
    """Whether the answer can be held to a schema while there are tools."""
    return generation(model) >= (3, 0)


def makes(model: Model, kind: str) -> bool:
    """Whether the model makes `image` or `audio`."""
    output = model.compat.get("output")
    if output is not None:
        return kind in output
    return any(word in model.id.lower() for word in _WORDS_FOR_OUTPUT[kind])


def has_thinking_budget(model: Model) -> bool:
    """Whether thinking is limited by a number of tokens, as it was before Gemini 3, and not by a level."""
    return generation(model) < (3, 0)


def thinking_levels(model: Model) -> tuple[str, ...]:
    """The levels that the model offers."""
    name = model.id.lower()
    if has_thinking_budget(model):
        return _BUDGET_LEVELS[1:] if "pro" in name else _BUDGET_LEVELS
    if "gemma" in name or (makes(model, "image") and "pro" not in name):
        return ("minimal", "high")
    if "gemini-3-pro" in name:
        return ("low", "high")
    without_minimal = "pro" in name or (3, 7) <= generation(model) < _NEWEST
    return _LEVELS[1:] if without_minimal else _LEVELS
