"""Finds the words of a sentence that may be a free text: quotations, names, codes, identifiers, leftover words."""

from __future__ import annotations

import re
from typing import Any

from .demo_profile import Parameter
from .demo_reading import Reading
from .demo_words import GENERIC, ORDERING, listed, stem

_PREPOSITIONS = frozenset(
    listed("in for of at on about named called by from to into with as near around against between")
)
_OF_PLACES = frozenset(listed("in for of at near around from to"))
_OF_THINGS = frozenset(listed("of for from on about by named called to between"))
_ARTICLES = frozenset(listed("the a an all me of"))
_QUESTIONING = frozenset(
    listed("what which who when where how is are was were do does did would should will can could what's who's how's")
)

# A possible value: how good it is, from 6 for a quotation down to 1, where it stands, and what it says.
Candidate = tuple[float, list[int], Any]


class TextFinder:
    """Looks for texts in one piece of a sentence."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._tokens = reading.tokens

    def candidates(self, parameter: Parameter) -> list[Candidate]:
        """Possible values with a score: from 5 for a quotation down to 1 for a word that nothing else explains."""
        found: list[Candidate] = []
        position = 0
        while position < len(self._tokens):
            token = self._tokens[position]
            run = self._run_at(position)
            if self._reading.is_free(position) and token.kind not in ("mark", "date", "time", "number", "ordinal"):
                score = self._score(parameter, run)
                if score:
                    found.append((score, run, self._text_of(parameter, run)))
            position = run[-1] + 1
        if parameter.is_writing:
            found += self._written(parameter)
        return found

    def _run_at(self, position: int) -> list[int]:
        """The capitalised words that begin here, such as New York or Rio de Janeiro, else this token alone."""
        run = [position]
        if not self._tokens[position].is_capitalised or self._reading.evidence(self._tokens[position]):
            return run
        while run[-1] + 1 < len(self._tokens):
            following = self._tokens[run[-1] + 1]
            after = self._tokens[run[-1] + 2] if run[-1] + 2 < len(self._tokens) else None
            if following.is_capitalised and self._reading.is_free(run[-1] + 1):
                run.append(run[-1] + 1)
            elif (
                following.lower in ("de", "la", "of", "am", "del", "the") and after is not None and after.is_capitalised
            ):
                run += [run[-1] + 1, run[-1] + 2]
            else:
                break
        return run if position or self._starts_with_a_name(run) else [position]

    def _starts_with_a_name(self, run: list[int]) -> bool:
        first = self._tokens[run[0]]
        return first.is_content and first.lower not in ORDERING and not self._reading.evidence(first)

    def _text_of(self, parameter: Parameter, run: list[int]) -> str:
        tokens = [self._tokens[place] for place in run]
        if len(run) == 1 and tokens[0].kind == "quoted":
            return str(tokens[0].value)
        text = " ".join(token.text for token in tokens)
        return parameter.examples.get(text.lower(), text)

    def _score(self, parameter: Parameter, run: list[int]) -> float:
        position, token = run[0], self._tokens[run[0]]
        if token.kind == "quoted":
            return 6.0 if parameter.is_writing else 5.0
        if token.kind in ("file", "link"):
            return 5.5 if parameter.is_file or token.kind == "link" else 2.5
        if not any(self._tokens[place].is_content for place in run) or not token.text[0].isalpha():
            return 0.0
        if self._text_of(parameter, run).lower() in parameter.examples:
            return 4.2
        if len(run) == 1 and (token.stem in parameter.name_stems or token.lower in _PREPOSITIONS):
            return 0.0
        if self._reading.named(position, parameter, run[-1]) and not self._is_tool_word(run):
            return 4.5
        if token.is_identifier:
            return 4.0
        if parameter.is_writing:
            return 0.0
        score = self._score_of_case(parameter, run)
        before = self._reading.before(position)
        suitable = _OF_PLACES if parameter.is_place else _OF_THINGS
        if before in suitable and not self._is_tool_word(run):
            score = max(score + 0.2, 2.0)
        elif not (score or parameter.is_file or self._is_tool_word(run)) and self._is_beside_a_tool_word(position):
            score = 1.0
        return score

    def _score_of_case(self, parameter: Parameter, run: list[int]) -> float:
        token = self._tokens[run[0]]
        if token.is_code:
            return 3.7 if parameter.is_code else 3.2
        if not token.is_capitalised:
            return 0.0
        if run[0] == 0:
            return 0.0 if not self._starts_with_a_name(run) else 1.5 + 0.5 * (parameter.is_place or len(run) > 1)
        return 3.0 + 0.4 * parameter.is_place

    def _is_beside_a_tool_word(self, position: int) -> bool:
        """As `revenue` is in `plot the revenue` and `a revenue chart`; `pick` in `pick a chart` is not.

        In a question such as `what kind of chart suits` the word beside it may as well be a verb.
        """
        words = [token.lower for token in self._tokens[:2]]
        if words and words[0] in _QUESTIONING and "you" not in words:
            return False
        before = next((each for each in reversed(self._tokens[:position]) if each.lower not in _ARTICLES), None)
        after = self._tokens[position + 1] if position + 1 < len(self._tokens) else None
        return (before is not None and (self._reading.evidence(before) or before.lower in GENERIC)) or (
            after is not None and self._reading.evidence(after)
        )

    def _is_tool_word(self, run: list[int]) -> bool:
        return len(run) == 1 and self._reading.evidence(self._tokens[run[0]])

    def _written(self, parameter: Parameter) -> list[Candidate]:
        """Text without quotation marks: what stands between the tool's verb and the other arguments."""
        verb = next((place for place, token in enumerate(self._tokens) if self._reading.evidence(token)), None)
        if verb is None:
            return []
        start, end = verb + 1, len(self._tokens)
        later = [place for place in self._reading.found.used if place > verb]
        if later:
            end = min(later)
            while end > start and self._tokens[end - 1].lower in _PREPOSITIONS | {"the"}:
                end -= 1
        known = parameter.stems | {stem(word) for word in ("following", "word", "the", "this", "that")}
        while start < end and self._tokens[start].stem in known:
            start += 1
        run = [place for place in range(start, end) if self._reading.is_free(place)]
        if not run or all(self._reading.evidence(self._tokens[place]) for place in run):
            return []
        if not any(self._tokens[place].is_content for place in run) and len(run) < 2:
            return []
        text = " ".join(self._tokens[place].text for place in run)
        return [(2.5, run, re.sub(r"\s+([,.;:?!])", r"\1", text).strip(" ,.;:"))]
