"""The little English that the demo model knows: words that say nothing, words that mean the same, words for numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


def listed(text: str) -> list[str]:
    """The words of a list that is written as a text."""
    return text.split()


def _words(text: str) -> frozenset[str]:
    return frozenset(listed(text))


# Words that name neither a tool nor a value.
EMPTY = _words(
    """
    a an the this that these those such some any all both each every other another same own
    i me my mine we us our you your he him his she her it its they them their one ones something anything everything
    am is are was were be been being do does did done doing has have had having will would shall should can could may
    might must let lets
    what which who whom whose when where why how
    of in on at to for from by with into onto as about over under up out off via per than between through during
    without within against around
    and or but nor so yet if then else also too plus not no yes only just even well
    please kindly thanks thank hello hi hey dear ok okay
    here there now again still already soon right away once today's outside like
    need want wish love know tell give show get got see look looks looking take make made use using put go going come
    help try ask say says said mean means think
    much many more most less least few lot lots
    nice good great quick quickly simple simply beautiful pretty short new full complete detailed whole entire latest
    current currently recent interesting different several certain following next possible available
    i'd i'm i've i'll what's that's it's where's how's let's who's there's we're we'd we've you're don't doesn't didn't
    isn't aren't wasn't can't won't couldn't wouldn't shouldn't
    """
)

# Verbs that many tools share: they show that something is asked for, hardly what.
GENERIC = _words(
    """
    get fetch show display give look find list compute calculate make create run do read return tell see retrieve
    want need print check provide want know
    """
)

# Words that begin an order; at the start of a sentence their capital makes no name of them.
ORDERING = GENERIC | _words(
    """
    compare check analyse analyze explain report pull start stop open close add remove set change update evaluate
    measure estimate determine examine name pick choose select filter sort order test
    """
)

REQUESTING = _words(
    """
    need want would like wish must wonder require prefer hope plan am're looking
    """
)

# Words and signs that join two requests, or two values of one.
JOINING = _words("and then also plus & or")

_SAME_MEANING = (
    "plot chart graph draw visualise visualize diagram sketch",
    "book reserve reservation booking",
    "describe summarise summarize summary statistic stats mean average median deviation std",
    "convert conversion transform change",
    "translate translation say express",
    "weather forecast temperature rain rainy raining sunny sun cloudy snow wind windy warm cold hot umbrella",
    "sale sales sell sold revenue turnover",
    "delete remove erase drop",
    "search find query lookup",
    "send mail email",
    "price cost quote worth",
    "stock share ticker",
    "alarm reminder remind wake",
    "file document",
    "dataset data-set",
    "add sum plus total",
    "multiply product times",
    "subtract minus",
    "divide ratio",
    "first head top",
    "train fit",
    "flight fly",
    "list show which enumerate",
    "create make new",
    "open load read",
    "store save write",
    "count number",
)

# Different names of one unit, currency or language. The first letters of units count only beside a number.
_ALIASES = (
    "km kilometre kilometer",
    "m metre meter",
    "cm centimetre centimeter",
    "mm millimetre millimeter",
    "mile mi",
    "foot feet ft",
    "inch inches",
    "yard yd",
    "celsius c centigrade",
    "fahrenheit f",
    "kelvin k",
    "kg kilogram kilogramme kilo",
    "g gram gramme",
    "pound lb lbs",
    "ounce oz",
    "litre liter l",
    "gallon gal",
    "hour h hr",
    "minute min",
    "second sec s",
    "euro eur €",
    "dollar usd $",
    "yen jpy ¥",
    "sterling gbp £",
    "franc chf",
    "histogram hist",
    "ascending asc",
    "descending desc",
)

NUMBERS = {
    word: value
    for value, word in enumerate(
        listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        )
    )
} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
    "thousand": 1000,
    "dozen": 12,
}
ORDINALS = {word: place for place, word in enumerate(listed("first second third fourth fifth sixth seventh eighth"), 1)}
MONTHS = {
    name[:length]: number
    for number, name in enumerate(
        listed("january february march april may june july august september october november december"), 1
    )
    for length in (3, 4, len(name))
}
WEEKDAYS = {
    name: number for number, name in enumerate(listed("monday tuesday wednesday thursday friday saturday sunday"))
}

_IRREGULAR = {
    "meaning": "meaning",
    "feet": "foot",
    "said": "say",
    "sold": "sell",
    "drawn": "draw",
    "data": "data",
    "series": "series",
}


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """`word` without case and the commonest endings, so that `plotting`, `plots` and `plot` are equal."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ion"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    word = word[:-2] + "iz" if word.endswith(("ise", "ize")) else word
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _groups(lines: Iterable[str]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in lines:
        group = frozenset(stem(word) for word in line.split())
        for each in group:
            found[each] = found.get(each, frozenset()) | group
    return found


_MEANINGS = _groups(_SAME_MEANING)
_NAMES = _groups(_ALIASES)


def related(word_stem: str) -> frozenset[str]:
    """Stems of words that mean nearly the same, without `word_stem` itself."""
    return _MEANINGS.get(word_stem, frozenset()) - {word_stem}


def same_thing(one: str, other: str) -> bool:
    """Whether two stems name the same unit, currency or value."""
    return one == other or other in _NAMES.get(one, ())


def name_words(name: str) -> list[str]:
    """The words of an identifier: `getWeather`, `get_weather` and `get-weather` are get and weather."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)


def is_empty(word: str) -> bool:
    """Whether `word` says nothing. In capitals, US and IT are codes."""
    return not (len(word) == 2 and word.isupper() and word != "OK") and word.lower().replace("’", "'") in EMPTY
