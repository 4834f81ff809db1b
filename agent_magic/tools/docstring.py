"""What a docstring says about a function and its parameters, in Google, NumPy or reST style."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# A style is recognised by its marks before its parser is loaded: most docstrings have none, and guessing by trying
# every parser takes twice the time.
_MARKS = {
    "numpydoc": re.compile(r"^[ \t]*(Parameters|Other Parameters|Returns|Yields|Raises)[ \t]*\n[ \t]*-{3,}", re.M),
    "google": re.compile(
        r"^[ \t]*(Args|Arguments|Parameters|Params|Keyword (Args|Arguments)|Returns?|Yields?|Raises|Examples?):[ \t]*$",
        re.M,
    ),
    "rest": re.compile(r"^[ \t]*:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?)\b", re.M),
}


@dataclass(frozen=True)
class Documentation:
    """`description` is the text without its sections, then what is returned; `parameters` has texts by name."""

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Documentation:
    """Read a docstring; one that its style's parser cannot read is all description."""
    if not text or text.isspace():
        return Documentation()
    style = next((name for name, mark in _MARKS.items() if mark.search(text)), None)
    if style is None:
        return Documentation(inspect.cleandoc(text))
    from docstring_parser import ParseError

    try:
        parsed = _parser(style)(text)
    except ParseError:
        return Documentation(inspect.cleandoc(text))
    returns = parsed.returns.description if parsed.returns else None
    parts = (parsed.short_description, parsed.long_description, f"Returns: {returns}" if returns else None)
    return Documentation(
        "\n\n".join(part for part in parts if part),
        {each.arg_name.lstrip("*"): each.description for each in parsed.params if each.description},
    )


@functools.cache
def _parser(style: str) -> Callable[[str], Any]:
    """The parser of a style. The library would make a new one for every docstring."""
    from docstring_parser.google import GoogleParser
    from docstring_parser.numpydoc import NumpydocParser
    from docstring_parser.rest import parse

    if style == "rest":
        return parse
    return GoogleParser().parse if style == "google" else NumpydocParser().parse
