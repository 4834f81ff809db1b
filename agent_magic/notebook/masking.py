"""Hides keys in text that is about to be sent or shown: those known in this process, and what looks like one."""

from __future__ import annotations

import re

from ..providers.keys import known_keys

MASK = "[key hidden]"
# A shorter one might be an ordinary word.
_SHORTEST = 8

_SHAPES = re.compile(
    r"""
      \b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{20,}
    | \bgh[pousr]_[A-Za-z0-9]{30,} | \bgithub_pat_[A-Za-z0-9_]{30,} | \bglpat-[A-Za-z0-9_-]{20,}
    | \bAKIA[0-9A-Z]{16}\b | \bAIza[0-9A-Za-z_-]{35} | \bxox[abprs]-[A-Za-z0-9-]{10,}
    | \b(?:hf|gsk)_[A-Za-z0-9]{30,} | \bxai-[A-Za-z0-9]{30,}
    | -----BEGIN[ A-Z]*PRIVATE[ ]KEY-----.*?(?:-----END[ A-Z]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
# The text given to a name such as `password` or `api_key`, and the one between a user and a host.
_NAMED = re.compile(r"""(?i)((?:api_?key|token|secret|passw(?:or)?d)\w*["']?\s*[=:]\s*)(["'])([^\s"']{6,})\2""")
_IN_URL = re.compile(r"(://[^/\s:@]{1,100}:)[^/\s@]{1,200}@")


def without_known_keys(text: str) -> str:
    """`text` with the keys that this process holds replaced by `[key hidden]`; what only looks like one stays."""
    for key in known_keys():
        if len(key.reveal()) >= _SHORTEST:
            text = text.replace(key.reveal(), MASK)
    return text


def first_key(text: str) -> str | None:
    """The first key in `text`, known or by its look; None where there is none."""
    known = [key.reveal() for key in known_keys() if len(key.reveal()) >= _SHORTEST and key.reveal() in text]
    found = _SHAPES.search(text)
    return min(known, key=text.index) if known else found.group() if found else None


def masked(text: str) -> str:
    """`text` with every key replaced by `[key hidden]`."""
    text = _SHAPES.sub(MASK, without_known_keys(text))
    text = _NAMED.sub(lambda found: f"{found.group(1)}{found.group(2)}{MASK}{found.group(2)}", text)
    return _IN_URL.sub(lambda found: f"{found.group(1)}{MASK}@", text)
