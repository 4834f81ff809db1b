"""What is shared by all who read arguments from a piece of a sentence: its tokens, and what is filled so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .demo_profile import Parameter, ToolProfile
from .demo_values import Token
from .demo_words import stem


@dataclass
class Filling:
    """The arguments found so far. `weak` are those that were only guessed from leftover words."""

    values: dict[str, Any] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    weak: set[str] = field(default_factory=set)
    used: set[int] = field(default_factory=set)

    def put(self, parameter: Parameter, value: Any, where: Iterable[int], weak: bool = False) -> None:
        where = list(where)
        self.values[parameter.name] = value
        self.positions[parameter.name] = where[0]
        self.used.update(where)
        if weak:
            self.weak.add(parameter.name)


class Reading:
    """A piece of a sentence as one tool sees it. `found` grows while arguments are read from it."""

    def __init__(self, profile: ToolProfile, tokens: Sequence[Token]) -> None:
        self.profile = profile
        self.tokens = tokens
        self.found = Filling()

    def is_free(self, position: int) -> bool:
        return position not in self.found.used

    def before(self, position: int) -> str:
        """The nearest word before `position` that is no article."""
        for token in reversed(self.tokens[:position]):
            if token.lower not in ("the", "a", "an", "=", ":"):
                return token.lower
        return ""

    def named(self, position: int, parameter: Parameter, last: int | None = None) -> bool:
        """Whether the parameter's own name stands right beside the tokens `position` to `last`."""
        names = set(parameter.name_stems)
        around = [self.before(position)]
        following = (position if last is None else last) + 1
        if following < len(self.tokens):
            around.append(self.tokens[following].lower)
        return any(stem(word) in names for word in around if word)

    def evidence(self, token: Token) -> bool:
        return any(self.profile.weights.get(each, 0.0) >= 0.5 for each in token.stems)
