"""What the demo model reads from a sentence."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from agent_magic.providers.demo_values import tokens_of
from agent_magic.providers.demo_words import name_words, stem

TODAY = datetime.date(2026, 3, 2)  # a Monday


def values(text: str, kind: str) -> list[Any]:
    return [token.value for token in tokens_of(text, TODAY) if token.kind == kind]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("on 3 March 2026", (2026, 3, 3)),
        ("the 3rd of March 2026", (2026, 3, 3)),
        ("March 3, 2026", (2026, 3, 3)),
        ("2026-03-03", (2026, 3, 3)),
        ("2026/03/03", (2026, 3, 3)),
        ("03.03.2026", (2026, 3, 3)),
        ("24/12/2026", (2026, 12, 24)),
        ("12/24/2026", (2026, 12, 24)),
        ("5 Sept 2027", (2027, 9, 5)),
        ("1 March", (2027, 3, 1)),
        ("4 March", (2026, 3, 4)),
        ("tomorrow", (2026, 3, 3)),
        ("on Friday", (2026, 3, 6)),
    ],
)
def test_dates_are_read_in_the_usual_forms(text: str, date: tuple[int, int, int]) -> None:
    assert values(text, "date") == [datetime.date(*date)]
    assert values(text, "number") == []


@pytest.mark.parametrize("text", ["04/05/2026", "31 February 2026", "2026-13-01"])
def test_a_date_that_is_unclear_or_impossible_has_no_value(text: str) -> None:
    assert values(text, "date") == [None]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3", [3]),
        ("-2.5", [-2.5]),
        ("1,500 metres", [1500]),
        ("1e6", [1e6]),
        ("5 and 7", [5, 7]),
    ],
)
def test_numbers_are_read(text: str, numbers: list[float]) -> None:
    assert values(text, "number") == numbers


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('say "a, b and c"', ["a, b and c"]),
        ("say 'I don't know'", ["I don't know"]),
        ("say “hello”", ["hello"]),
        ("the `df` and the user's", ["df"]),
        ("don't and can't", []),
    ],
)
def test_quotations_lose_their_marks_and_apostrophes_are_none(text: str, quoted: list[str]) -> None:
    assert values(text, "quoted") == quoted


@pytest.mark.parametrize(("text", "time"), [("7:30", (7, 30)), ("6 am", (6, 0)), ("11 pm", (23, 0)), ("12 am", (0, 0))])
def test_times_are_read(text: str, time: tuple[int, int]) -> None:
    assert values(text, "time") == [datetime.time(*time)]


@pytest.mark.parametrize(
    "words",
    [
        ("plot", "plots", "plotting", "plotted"),
        ("convert", "converting", "converts"),
        ("city", "cities"),
        ("box", "boxes"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize("name", ["get_weather", "getWeather", "get-weather", "GetWeather"])
def test_identifiers_fall_into_words(name: str) -> None:
    assert [word.lower() for word in name_words(name)] == ["get", "weather"]
