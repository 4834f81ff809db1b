"""Fills the arguments of one tool from one piece of a sentence."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any

from .demo_profile import Parameter, ToolProfile
from .demo_reading import Filling, Reading
from .demo_texts import TextFinder
from .demo_values import Token, ordinal_of
from .demo_words import listed, same_thing, stem

_NEGATIONS = frozenset(listed("no not without don't dont doesn't never skip exclude excluding isn't except"))
_TO_WORDS = frozenset(listed("to into in as"))
_SINGLE_LETTERS = frozenset(listed("m c f k g l h"))
_SWITCHES = frozenset(map(stem, listed("include with is use has enable show want needs allow add should do only")))


def fill(profile: ToolProfile, tokens: Sequence[Token], continues: Filling | None = None) -> Filling:
    """What `tokens` say about the arguments of the tool.

    `continues` is what an earlier piece of the same sentence filled: then only clear values count, or a piece that
    is nothing but one value.
    """
    filler = _Filler(profile, tokens, continues)
    filler.fill_choices()
    filler.fill_days_and_times()
    filler.fill_numbers()
    filler.fill_switches()
    filler.fill_texts()
    return filler.found


class _Filler(Reading):
    def __init__(self, profile: ToolProfile, tokens: Sequence[Token], continues: Filling | None) -> None:
        super().__init__(profile, tokens)
        self.texts = TextFinder(self)
        self.continues = continues
        filled = continues.values if continues is not None else {}
        self.parameters = sorted(profile.parameters, key=lambda each: (each.name in filled, not each.required))

    # Choices ---------------------------------------------------------------------------------------------------------

    def fill_choices(self) -> None:
        groups: dict[tuple[Any, ...], list[Parameter]] = {}
        for parameter in self.parameters:
            if parameter.kind == "choice":
                groups.setdefault(parameter.choices, []).append(parameter)
        for choices, parameters in groups.items():
            self._assign(parameters, self._occurrences(choices, parameters[0]))

    def _occurrences(self, choices: tuple[Any, ...], parameter: Parameter) -> list[tuple[list[int], Any]]:
        found: list[tuple[list[int], Any]] = []
        taken: set[int] = set()
        for choice in sorted(choices, key=lambda each: -len(str(each))):
            for where in self._places_of(choice, parameter):
                if not taken & set(where) and all(map(self.is_free, where)):
                    taken.update(where)
                    found.append((where, choice))
        return sorted(found, key=lambda each: each[0])

    def _places_of(self, choice: Any, parameter: Parameter) -> list[list[int]]:
        if isinstance(choice, (int, float)) and not isinstance(choice, bool):
            return self._places_of_number(choice, parameter)
        words = [stem(word) for word in re.split(r"[\s_-]+", str(choice)) if word]
        found: list[list[int]] = []
        for start in range(len(self.tokens) - len(words) + 1):
            run = range(start, start + len(words))
            if all(self._is_choice_word(position, word) for position, word in zip(run, words, strict=True)):
                found.append(list(run))
        if not found and len(words) > 1:
            whole = stem("".join(words))
            found = [
                [place] for place, token in enumerate(self.tokens) if stem(re.sub(r"[-_]", "", token.text)) == whole
            ]
        return found

    def _is_choice_word(self, position: int, word: str) -> bool:
        token = self.tokens[position]
        if token.kind not in ("word", "quoted"):
            return False
        if token.lower in _SINGLE_LETTERS and word != token.lower:
            beside = self.tokens[position - 1] if position else None
            if beside is None or not (beside.kind == "number" or beside.text == "°" or beside.lower in _TO_WORDS):
                return False
        spoken = (stem(token.value),) if token.kind == "quoted" else token.stems
        return any(same_thing(word, each) for each in spoken)

    def _places_of_number(self, choice: float, parameter: Parameter) -> list[list[int]]:
        found = []
        for position, token in enumerate(self.tokens):
            if token.kind == "number" or (token.kind == "word" and token.value is not None):
                if token.value == choice and self.named(position, parameter):
                    found.append([position])
            elif ordinal_of(token) == choice:
                letter = token.lower[0] if re.fullmatch(r"[a-z]\d", token.lower) else ""
                if letter == parameter.name[:1].lower() or self.named(position, parameter):
                    found.append([position])
        return found

    def _assign(self, parameters: list[Parameter], occurrences: list[tuple[list[int], Any]]) -> None:
        left = list(parameters)
        if len(parameters) > 1:
            for occurrence in list(occurrences):
                direction = self._direction_at(occurrence[0][0])
                match = next((each for each in left if direction and each.direction == direction), None)
                if match is not None:
                    self.found.put(match, occurrence[1], occurrence[0])
                    left.remove(match)
                    occurrences.remove(occurrence)
            if self.continues is not None:
                # Parallel structure: a value without a word of its own stands for the one named last.
                left.sort(key=lambda each: (self._position_before(each) >= 0, -self._position_before(each)))
        for parameter, (where, value) in zip(left, occurrences, strict=False):
            if not parameter.required and self._is_negated(where[0]):
                continue
            self.found.put(parameter, value, where)

    def _position_before(self, parameter: Parameter) -> int:
        return self.continues.positions.get(parameter.name, -1) if self.continues is not None else -1

    def _direction_at(self, position: int) -> str:
        before = self.before(position)
        if before in ("many", "much"):
            return "to"
        if (
            before == "from"
            or (position and self.tokens[position - 1].value is not None)
            or before in ("a", "per", "one")
        ):
            return "from"
        if before in _TO_WORDS:
            return "to"
        following = self.tokens[position + 1].lower if position + 1 < len(self.tokens) else ""
        return "from" if following in ("to", "into", "in") else ""

    def _is_negated(self, position: int) -> bool:
        return any(token.lower in _NEGATIONS for token in self.tokens[max(0, position - 3) : position])

    # Days, numbers, switches ---------------------------------------------------------------------------------------

    def fill_days_and_times(self) -> None:
        days = [place for place, token in enumerate(self.tokens) if token.kind == "date" and token.value is not None]
        times = [place for place, token in enumerate(self.tokens) if token.kind == "time" and token.value is not None]
        for parameter in self.parameters:
            if parameter.kind == "date" and days:
                place = days.pop(0)
                self.found.put(parameter, self.tokens[place].value.isoformat(), [place])
            elif parameter.kind == "time" and times:
                place = times.pop(0)
                text = self.tokens[place].value.isoformat()
                self.found.put(parameter, text if "format" in parameter.description else text[:5], [place])
            elif parameter.kind == "date-time" and days:
                place, *rest = [days.pop(0), *times[:1]]
                time = self.tokens[times.pop(0)].value if times else datetime.time()
                both = datetime.datetime.combine(self.tokens[place].value, time)
                self.found.put(parameter, both.isoformat(), [place, *rest])

    def fill_numbers(self) -> None:
        wanted = [each for each in self.parameters if each.kind in ("number", "integer")]
        # The clearest come first: a number beside the parameter's name, a year, then what is left in order.
        for rule in (self._is_named_number, self._is_year, self._is_described_number, self._is_plain_number):
            for parameter in wanted:
                if parameter.name in self.found.values:
                    continue
                for position, token in enumerate(self.tokens):
                    if self.is_free(position) and self._suits(token, parameter) and rule(position, parameter):
                        self.found.put(parameter, token.value, [position])
                        break

    def _suits(self, token: Token, parameter: Parameter) -> bool:
        if token.kind not in ("number", "word") or not isinstance(token.value, (int, float)):
            return False
        value = token.value
        if parameter.kind == "integer" and not isinstance(value, int):
            return False
        return (parameter.minimum is None or value >= parameter.minimum) and (
            parameter.maximum is None or value <= parameter.maximum
        )

    def _is_named_number(self, position: int, parameter: Parameter) -> bool:
        return self.named(position, parameter)

    def _is_year(self, position: int, parameter: Parameter) -> bool:
        return parameter.is_year and _looks_like_a_year(self.tokens[position])

    def _is_described_number(self, position: int, parameter: Parameter) -> bool:
        token = self.tokens[position]
        following = self.tokens[position + 1].stem if position + 1 < len(self.tokens) else ""
        return token.kind == "number" and not parameter.is_year and following in parameter.stems

    def _is_plain_number(self, position: int, parameter: Parameter) -> bool:
        token = self.tokens[position]
        if parameter.is_year or not (parameter.required or self._is_named_number(position, parameter)):
            return False
        has_year = any(each.is_year for each in self.parameters)
        if has_year and _looks_like_a_year(token):
            return False
        following = self.tokens[position + 1] if position + 1 < len(self.tokens) else None
        # "one" and "two" in running text are seldom an argument, unless a unit follows.
        return token.kind == "number" or (following is not None and following.kind == "word")

    def fill_switches(self) -> None:
        for parameter in self.parameters:
            if parameter.kind != "boolean":
                continue
            names = [each for each in parameter.name_stems if each not in _SWITCHES]
            for position, token in enumerate(self.tokens):
                if names and token.kind == "word" and _any_same(token.stems, names):
                    self.found.put(parameter, not self._is_negated(position), [position])
                    break

    # Texts ---------------------------------------------------------------------------------------------------------

    def fill_texts(self) -> None:
        for parameter in self.parameters:
            if parameter.name in self.found.values:
                continue
            if parameter.kind == "text":
                self._fill_text(parameter)
            elif parameter.kind == "list" and parameter.item is not None:
                self._fill_list(parameter, parameter.item)

    def _fill_text(self, parameter: Parameter) -> None:
        least = (2.0 if self.continues is not None else 1.0) if parameter.required else 4.0
        best = max(self.texts.candidates(parameter), key=lambda each: each[0], default=None)
        if best is not None and best[0] >= least:
            score, where, value = best
            self.found.put(parameter, value, where, weak=score < 2.0)

    def _fill_list(self, parameter: Parameter, item: Parameter) -> None:
        values: list[Any] = []
        places: list[int] = []
        if item.kind == "choice":
            for where, value in self._occurrences(item.choices, item):
                values.append(value)
                places += where
        elif item.kind in ("number", "integer"):
            for place, token in enumerate(self.tokens):
                if self.is_free(place) and token.kind == "number" and self._suits(token, item):
                    values.append(token.value)
                    places.append(place)
        elif item.kind == "text":
            found = sorted(self.texts.candidates(item), key=lambda each: -each[0])
            if found and found[0][0] >= (2.0 if self.continues is not None else 1.0):
                same = [each for each in found if each[0] == found[0][0]] if found[0][0] > 4.5 else found[:1]
                for _, where, value in sorted(same, key=lambda each: each[1]):
                    values.append(value)
                    places += where
        if values and (parameter.required or item.kind != "text" or len(places) == len(self.tokens)):
            self.found.put(parameter, values, places)


def _looks_like_a_year(token: Token) -> bool:
    return token.kind == "number" and isinstance(token.value, int) and 1900 <= token.value <= 2100


def _any_same(stems: Iterable[str], names: Sequence[str]) -> bool:
    return any(each == name or (len(name) > 4 and each.startswith(name)) for each in stems for name in names)
