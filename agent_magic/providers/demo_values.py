"""Reads a sentence: its words, and the numbers, dates, quotations and names in it."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .demo_words import MONTHS, NUMBERS, ORDINALS, WEEKDAYS, is_empty, stem

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ENDINGS = "csv|tsv|jsonl?|txt|md|py|ipynb|xlsx?|parquet|png|jpe?g|svg|pdf|html?|xml|ya?ml|toml|db|zip"
_TOKEN = re.compile(
    rf"""
    (?P<quoted> "[^"]+" | “[^”]+” | „[^“”]+[“”] | «[^»]+» | `[^`]+` | ‘[^’]+’(?!\w)
      | (?<!\w)'[^'\n]+(?:'(?=\w)[^'\n]+)*'(?!\w) )
  | (?P<link> https?://\S*[\w/] | [\w.+-]+@[\w-]+\.[\w.]*\w )
  | (?P<date> \d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}(?!\d)
      | \d{{1,2}}\.\s?\d{{1,2}}\.\s?\d{{4}} | \d{{1,2}}/\d{{1,2}}/\d{{4}}
      | \b\d{{1,2}}(?:st|nd|rd|th)?\.?(?:\s+of)?\s+(?:{_MONTH})\b\.?(?:,?\s+\d{{4}})?
      | \b(?:{_MONTH})\b\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?
      | \b(?:today|tomorrow|yesterday)\b | \b(?:on\s+|next\s+|this\s+)?(?:{"|".join(WEEKDAYS)})\b )
  | (?P<time> \b\d{{1,2}}:\d{{2}}(?::\d{{2}})?\s*(?:am|pm)?\b | \b\d{{1,2}}\s*(?:am|pm)\b )
  | (?P<file> (?:[\w~.-]+/)*[\w-]+\.(?:{_ENDINGS})\b
      | (?:~|\.{{1,2}})?(?:/[\w.-]+)+/? )
  | (?P<ordinal> \b\d+(?:st|nd|rd|th)\b )
  | (?P<number> (?<![\w.])[-−+]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?|(?<![\w.])[-−+]?\.\d+ )
  | (?P<word> [^\W\d_][\w]*(?:['’&.+-]\w+)*(?:\+\+|\#)? | _\w+ | [°€$£¥%=&] )
  | (?P<mark> [,;:.?!()\n—–] )
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """One piece of a sentence. `value` is what it says: a number, a date, a quotation without its marks."""

    kind: str
    text: str
    start: int
    end: int
    value: Any = None

    @cached_property
    def stem(self) -> str:
        return stem(self.text)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stem, and those of the parts of a word such as `bar-chart`."""
        parts = re.split(r"[-_]", self.text) if self.kind == "word" else []
        return (self.stem, *(stem(part) for part in parts)) if len(parts) > 1 else (self.stem,)

    @cached_property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def is_content(self) -> bool:
        return self.kind != "mark" and not (self.kind == "word" and is_empty(self.text))

    @property
    def is_capitalised(self) -> bool:
        return self.kind == "word" and self.text[0].isupper()

    @property
    def is_code(self) -> bool:
        """All capitals, such as EU or AAPL; with digits, such as LH400."""
        return self.kind == "word" and len(self.text) > 1 and self.text.isupper() and not is_empty(self.text)

    @property
    def is_identifier(self) -> bool:
        return self.kind == "word" and bool(re.search(r"_|[a-z][A-Z]|[A-Za-z]\d", self.text))


def tokens_of(text: str, today: datetime.date | None = None) -> list[Token]:
    """The pieces of `text`. Words for days are read from `today`, by default the present one."""
    today = today or datetime.date.today()
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, raw = match.lastgroup or "mark", match[0]
        value: Any = None
        if kind == "quoted":
            value = raw[1:-1].strip()
        elif kind == "date":
            value = _date(raw, today)
        elif kind == "time":
            value = _time(raw)
        elif kind == "ordinal":
            value = int(re.sub(r"\D", "", raw))
        elif kind == "number":
            value = _number(raw)
        elif kind == "word":
            value = _spelled_number(raw)
        found.append(Token(kind, raw, match.start(), match.end(), value))
    return found


def _number(raw: str) -> int | float:
    plain = raw.replace(",", "").replace("−", "-")
    try:
        return int(plain)
    except ValueError:
        return float(plain)


def _spelled_number(word: str) -> int | None:
    """`seven`, `twenty-five`; None for any other word."""
    parts = [NUMBERS.get(part) for part in word.lower().split("-")]
    return sum(part for part in parts if part is not None) if all(part is not None for part in parts) else None


def _date(raw: str, today: datetime.date) -> datetime.date | None:
    """The date, or None where day and month could be either. A day without a year is the next such day."""
    text = raw.lower()
    if text in ("today", "tomorrow", "yesterday"):
        return today + datetime.timedelta({"today": 0, "tomorrow": 1, "yesterday": -1}[text])
    weekday = next((number for name, number in WEEKDAYS.items() if name in text), None)
    if weekday is not None:
        return today + datetime.timedelta((weekday - today.weekday() - 1) % 7 + 1)
    numbers = [int(each) for each in re.findall(r"\d+", text)]
    month = next((MONTHS[word] for word in re.findall(r"[a-z]+", text) if word in MONTHS), None)
    try:
        if month is not None:
            year = numbers[1] if len(numbers) > 1 else today.year
            date = datetime.date(year, month, numbers[0])
            return date if len(numbers) > 1 or date >= today else date.replace(year=year + 1)
        if numbers[0] > 31:
            return datetime.date(*numbers)
        day, month, year = numbers
        if "/" in text:
            if day <= 12 and month <= 12 and day != month:
                return None
            day, month = (day, month) if month <= 12 else (month, day)
        return datetime.date(year, month, day)
    except ValueError:
        return None


def _time(raw: str) -> datetime.time | None:
    hour, *rest = (int(each) for each in re.findall(r"\d+", raw))
    minute = rest[0] if rest else 0
    lower = raw.lower()
    if lower.endswith("pm") and hour < 12:
        hour += 12
    elif lower.endswith("am") and hour == 12:
        hour = 0
    try:
        return datetime.time(hour, minute)
    except ValueError:
        return None


def ordinal_of(token: Token) -> int | None:
    """2 for `second` and `2nd`, 3 for `Q3`; else None."""
    if token.kind == "ordinal":
        return int(token.value)
    if token.kind == "word" and re.fullmatch(r"[qQ][1-4]", token.text):
        return int(token.text[1])
    return ORDINALS.get(token.lower)
