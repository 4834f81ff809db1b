"""Chooses tools for a sentence: which are meant, with which arguments, and what is missing. No language model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from .demo_filling import fill
from .demo_profile import Parameter, ToolProfile, profile_of
from .demo_reading import Filling
from .demo_talk import is_no_request, speaks_about_tools
from .demo_values import Token, tokens_of
from .demo_words import GENERIC, JOINING, listed
from .offered_tools import OfferedTool

# How much must speak for a tool before it is called, or before the user is asked for what is missing.
_ENOUGH = 2.0
_ENOUGH_WHEN_FILLED = 1.2
_ENOUGH_BY_VALUES = 1.8
_VERB_ALONE = 0.4
_COVERED = 0.5
_COVERED_BY_VALUES = 0.7
_COVERED_BY_NAME = 0.34

# A request is short; of a longer text only the beginning is read.
_LONGEST = 1000


@dataclass(frozen=True)
class Choice:
    """One tool that the sentence asks for. It can be called when nothing is `missing`."""

    tool: OfferedTool
    arguments: Mapping[str, Any]
    missing: tuple[Parameter, ...] = ()


@dataclass
class _Request:
    """A tool with the pieces of the sentence that belong to it."""

    profile: ToolProfile
    pieces: list[list[Token]]
    evidence: float
    calls: list[dict[str, Any]] = field(default_factory=list)
    covered: float = 0.0

    @property
    def missing(self) -> list[Parameter]:
        return [each for each in self.profile.required if any(each.name not in call for call in self.calls)]


def choose(text: str, tools: Iterable[OfferedTool]) -> list[Choice]:
    """The calls that `text` asks for, in its order; an empty list when it is not clear that it asks for any."""
    profiles = _rarity_weighted([profile_of(tool) for tool in tools])
    if not profiles:
        return []
    text = _colon_quoted(text[:_LONGEST].strip(), profiles)
    requests = _requests(_pieces(tokens_of(text)), profiles)
    for request in requests:
        _fill_calls(request)
    requests = [each for each in requests if not _only_repeats(each, requests)]
    _share(requests)
    kept = [request for request in requests if _is_meant(request)]
    choices = [_choice(request.profile, call) for request in kept for call in request.calls]
    unique: list[Choice] = []
    for choice in choices:
        if choice not in unique:
            unique.append(choice)
    return unique


def _only_repeats(request: _Request, requests: Sequence[_Request]) -> bool:
    """Whether a part such as `Show sales` adds nothing to another part that asks for the same tool."""
    same = [each for each in requests if each.profile.name == request.profile.name]
    return not any(request.calls) and any(any(each.calls) for each in same)


def _choice(profile: ToolProfile, call: Mapping[str, Any]) -> Choice:
    arguments = {each.name: call[each.name] for each in profile.parameters if each.name in call}
    return Choice(profile.tool, arguments, tuple(each for each in profile.required if each.name not in call))


def _rarity_weighted(profiles: list[ToolProfile]) -> list[ToolProfile]:
    """A word that speaks for many of the tools speaks less for each."""
    counts = Counter(word for profile in profiles for word, weight in profile.weights.items() if weight >= 0.7)
    scale = math.log(len(profiles) + 1)

    def weight(word: str, plain: float) -> float:
        return plain * (1 - math.log(max(counts[word], 1)) / scale)

    return [
        ToolProfile(each.tool, each.parameters, {word: weight(word, plain) for word, plain in each.weights.items()})
        for each in profiles
    ]


def _colon_quoted(text: str, profiles: Sequence[ToolProfile]) -> str:
    """`Translate to German: good morning` with the rest in quotation marks, where a tool takes written text."""
    match = re.match(r"([^:\"“'`\n]{3,}?):\s+([^\"“”`]+)$", text)
    if match is None:
        return text
    best = _best(tokens_of(match[1]), profiles)
    if best is not None and any(each.is_writing and each.required for each in best[0].parameters):
        return f'{match[1]} "{match[2].strip()}"'
    return text


# From the sentence to requests --------------------------------------------------------------------------------------


def _pieces(tokens: list[Token]) -> list[list[Token]]:
    """The sentence cut at its joints. The joint stays at the end of the piece before it."""
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        pieces[-1].append(token)
        if token.kind == "mark" or token.lower in JOINING:
            pieces.append([])
    return _without_bare_joints(pieces)


def _without_bare_joints(pieces: list[list[Token]]) -> list[list[Token]]:
    """Pieces that say something; a joint alone, as in `, and`, is added to the piece before it."""
    found: list[list[Token]] = []
    for piece in pieces:
        if any(token.kind != "mark" and token.lower not in JOINING for token in piece):
            found.append(piece)
        elif found:
            found[-1] = found[-1] + piece
    return found


def _requests(pieces: list[list[Token]], profiles: Sequence[ToolProfile]) -> list[_Request]:
    requests: list[_Request] = []
    waiting: list[list[Token]] = []
    for number, piece in enumerate(pieces):
        best = None if is_no_request(piece, pieces[number:]) else _best(piece, profiles)
        if best is None:
            if speaks_about_tools(piece):
                waiting = []
            elif requests:
                requests[-1].pieces.append(piece)
            else:
                waiting.append(piece)
            continue
        profile, evidence = best
        if requests and _continues(requests[-1], profile, piece):
            requests[-1].pieces.append(piece)
        else:
            requests.append(_Request(profile, [piece], evidence))
    if requests:
        requests[0].pieces += waiting
        return requests
    whole = [token for piece in pieces for token in piece]
    if any(is_no_request(piece, pieces[number:]) for number, piece in enumerate(pieces)):
        return []
    best = _best(whole, profiles, allow_values=True)
    return [_Request(best[0], pieces, best[1])] if best is not None else []


def _best(
    piece: Sequence[Token], profiles: Sequence[ToolProfile], allow_values: bool = False
) -> tuple[ToolProfile, float] | None:
    """The tool that the words of `piece` speak for most, or None where they speak for none or for two alike."""
    scored = sorted(((*_scores(piece, each), each) for each in profiles), key=lambda each: -each[1])
    evidence, total, profile = scored[0]
    if len(scored) > 1 and scored[1][1] > total - 0.05:
        return None
    if _asks_for_an_argument(piece, profile):
        return None
    names_tool = evidence >= _ENOUGH_WHEN_FILLED
    if names_tool or (total >= _ENOUGH_BY_VALUES and (allow_values or evidence >= _VERB_ALONE)):
        return profile, evidence
    return None


def _asks_for_an_argument(piece: Sequence[Token], profile: ToolProfile) -> bool:
    """Whether the piece asks for what one would have to give: `which city has the best weather`."""
    words = [token for token in piece if token.kind == "word"][:3]
    names = {name for parameter in profile.required for name in parameter.name_stems}
    return any(one.lower in ("which", "what") and other.stem in names for one, other in pairwise(words))


def _scores(piece: Sequence[Token], profile: ToolProfile) -> tuple[float, float]:
    """What the words say for the tool, and that together with how well its arguments can be filled."""
    seen: set[str] = set()
    evidence = 0.0
    filling = fill(profile, piece)
    for position, token in enumerate(piece):
        if token.kind != "word" or (position in filling.used and _is_name(token, position)):
            continue
        word = max(token.stems, key=lambda each: profile.weights.get(each, 0.0))
        if word not in seen:
            evidence += profile.weights.get(word, 0.0)
            seen.add(word)
    total = evidence
    for parameter in profile.parameters:
        if parameter.name in filling.values:
            total += _worth(parameter, filling)
        elif parameter.required:
            total -= 0.7
    return evidence, total


def _is_name(token: Token, position: int) -> bool:
    return token.is_code or token.is_identifier or (token.is_capitalised and position > 0)


def _worth(parameter: Parameter, filling: Filling) -> float:
    if parameter.name in filling.weak:
        return 0.2
    if parameter.is_writing:
        return 0.8
    if parameter.is_file:
        return 1.3
    kind = parameter.item.kind if parameter.item is not None else parameter.kind
    return {"choice": 1.2, "date": 1.0, "time": 1.0, "date-time": 1.0, "text": 0.5, "boolean": 1.0}.get(kind, 0.7)


def _continues(request: _Request, profile: ToolProfile, piece: Sequence[Token]) -> bool:
    """Whether a piece that could ask for a tool of its own rather names one more value for the request before it."""
    content = [token for token in piece if token.is_content and token.lower not in JOINING]
    starts_anew = bool(content) and (content[0].lower in GENERIC or _opens_a_request(piece))
    if starts_anew:
        return False
    if profile.name == request.profile.name:
        return not any(name in fill(profile, piece).values for name in fill(profile, request.pieces[0]).values)
    filling = fill(profile, piece)
    fillable = all(each.name in filling.values and each.name not in filling.weak for each in profile.required)
    verb = bool(content) and max(profile.weights.get(each, 0.0) for each in content[0].stems) >= 1.5
    return not fillable and (not verb or len(content) == 1)


def _opens_a_request(piece: Sequence[Token]) -> bool:
    words = [token.lower for token in piece if token.kind == "word" and token.lower not in JOINING]
    openers = listed(
        "what what's which how is are can could would will please show give tell let i i'd does do who where"
    )
    return bool(words) and words[0] in openers


# From requests to calls ---------------------------------------------------------------------------------------------


def _fill_calls(request: _Request) -> None:
    profile = request.profile
    first = fill(profile, request.pieces[0])
    lists = {each.name for each in profile.parameters if each.kind == "list"}
    fillings = [first]
    so_far = Filling(dict(first.values), dict(first.positions))
    calls = [dict(first.values)]
    joined_by_and = any(token.lower in ("and", "&", "or", "plus") for piece in request.pieces for token in piece[-2:])
    for number, piece in enumerate(request.pieces[1:], 1):
        filling = fill(profile, piece, so_far)
        if not filling.values:
            filling = _lone_value(profile, piece, calls[-1]) or filling
        fillings.append(filling)
        so_far.values.update(filling.values)
        so_far.positions.update({name: number * 1000 + place for name, place in filling.positions.items()})
        values = dict(filling.values)
        for name in lists & values.keys() & calls[-1].keys():
            calls[-1][name] = [*calls[-1][name], *values.pop(name)]
        if not (values.keys() & calls[-1].keys()):
            for call in calls:
                for name, value in values.items():
                    call.setdefault(name, value)
        elif _is_another(values, calls[-1], joined_by_and):
            calls.append({**calls[-1], **values})
            _give_back(profile, calls, set(values), number)
    request.calls = calls
    request.covered = _coverage(request, fillings)


def _is_another(values: Mapping[str, Any], call: Mapping[str, Any], joined_by_and: bool) -> bool:
    """Whether the values make a second call. A comma alone may only explain, as in `Paris, France`."""
    changed = [name for name, value in values.items() if name in call and call[name] != value]
    return len(changed) >= (1 if joined_by_and else 2)


def _give_back(profile: ToolProfile, calls: list[dict[str, Any]], new: set[str], number: int) -> None:
    """What only the last of several values was followed by holds for those before it: `EU and US in 2024`."""
    required = {each.name for each in profile.required}
    for call in calls[:-1]:
        complete = required <= call.keys() and len(call.keys() - new) > 0
        for name in new:
            if name not in call and (name in required or not complete):
                call[name] = calls[-1][name]


def _lone_value(profile: ToolProfile, piece: Sequence[Token], call: Mapping[str, Any]) -> Filling | None:
    """A piece of a single word, such as `height` after `describe age and`, is one more value."""
    content = [token for token in piece if token.is_content and token.lower not in JOINING]
    if len(content) != 1 or content[0].kind != "word" or content[0].lower in GENERIC:
        return None
    position = next(place for place, token in enumerate(piece) if token is content[0])
    for parameter in profile.parameters:
        taken = parameter.name in call or parameter.required
        if taken and parameter.kind in ("text", "list") and not parameter.is_writing:
            item = parameter.item or parameter
            if item.kind == "text":
                text = content[0].text
                filling = Filling()
                filling.put(parameter, [text] if parameter.kind == "list" else text, [position])
                return filling
    return None


def _coverage(request: _Request, fillings: Sequence[Filling]) -> float:
    """The share of the words with content that the tool and its arguments explain."""
    explained = total = 0
    for piece, filling in zip(request.pieces, fillings, strict=True):
        weak = {filling.positions[name] for name in filling.weak}
        for position, token in enumerate(piece):
            if not token.is_content or token.lower in JOINING or token.lower in GENERIC:
                continue
            total += 1
            known = max(request.profile.weights.get(each, 0.0) for each in token.stems) >= 0.2
            explained += known or (position in filling.used and position not in weak)
    return explained / total if total else 0.0


def _share(requests: Sequence[_Request]) -> None:
    """A value that one tool lacks and the other has under the same name: `plot and describe the revenue column`."""
    for request in requests:
        for parameter in request.missing:
            for other in requests:
                if other is request or not other.calls:
                    continue
                match = next(
                    (each for each in other.profile.parameters if each.name_stems == parameter.name_stems), None
                )
                value = other.calls[0].get(match.name) if match is not None else None
                if value is None:
                    continue
                if isinstance(value, list) and parameter.kind != "list":
                    value = value[0]
                elif parameter.kind == "list" and not isinstance(value, list):
                    value = [value]
                for call in request.calls:
                    call.setdefault(parameter.name, value)


def _is_meant(request: _Request) -> bool:
    if request.missing:
        return request.evidence >= _ENOUGH and request.covered >= _COVERED_BY_NAME
    if not any(request.calls):
        return request.evidence >= _ENOUGH and request.covered >= _COVERED_BY_NAME
    if request.evidence < _ENOUGH_WHEN_FILLED:
        return request.covered >= _COVERED_BY_VALUES
    return request.covered >= (_COVERED_BY_NAME if request.evidence >= _ENOUGH else _COVERED)
