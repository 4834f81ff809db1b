"""Tells talk, which the demo model leaves alone, from requests: questions about a subject, and statements."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .demo_values import Token
from .demo_words import JOINING, REQUESTING, listed

_ABOUT_TOOLS = re.compile(
    r"""\bwhy\b | \bhow\s+come\b | \bdifference\s+between\b
      | \bhow\s+(?:do|can|should|would|could)\s+(?:i|we|one)\s+(?!say|write|express)
      | \bhow\s+(?:do|does|did)\b.*\bwork\b
      | \bwhat\s+(?:do|does|did)\b.*\b(?:mean|do|show|stand\s+for)\b
      | \b(?:best|right|good|better|easiest|fastest|usual|proper)\s+way\b | \bis\s+there\s+an?\b
      | \bwhat\s+(?:can|could)\s+(?:you|i)\b
      | \bwhen\s+(?:do|does|did|would|should|to)\b
      | \bwould\s+you\s+(?:rather|prefer|pick|choose|use|recommend|suggest)\b
      | \bwhat(?:'s|\s+is|\s+are|\s+was)\s+an?\b
      | ^(?:please\s+|can\s+you\s+|could\s+you\s+)*
        (?:explain|define|who|teach|imagine|recommend|suggest|write|compose|discuss
          |tell\s+(?:me|us)\s+(?:a|an|about|more|how\s+to|why)|thanks|thank\s+you|hello|hi|good\s+morning)\b
        (?!\s*[,!.:;]\s*\w)
      | ^(?:please\s+)?(?:don'?t|do\s+not|never|stop)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FINITE = frozenset(
    listed("""is was are were has have had will went came looks seems seemed isn't wasn't aren't belongs contains makes
    made fell rose costs works worked needs needed always never""")
)
_SUBJECTS = frozenset(
    listed("""he she it they this that these those there my our his her its their the a an yesterday last some
    everybody everyone nobody somebody someone""")
)


def is_no_request(piece: Sequence[Token], onwards: Sequence[Sequence[Token]]) -> bool:
    """Whether the piece, which the pieces `onwards` begin with, asks for nothing that a tool does."""
    return speaks_about_tools(piece) or _is_statement(piece, onwards)


def speaks_about_tools(piece: Sequence[Token]) -> bool:
    """Whether the piece asks about the subject of a tool, such as how one would do it, or says not to."""
    return bool(_ABOUT_TOOLS.search(" ".join(token.text for token in piece if token.lower not in JOINING)))


def _is_statement(piece: Sequence[Token], onwards: Sequence[Sequence[Token]]) -> bool:
    """Whether the piece tells something instead of asking for something."""
    words = [token.lower for token in piece if token.kind == "word" and token.lower not in JOINING]
    ends_as_question = next((token.text == "?" for each in onwards for token in each if token.text in ".?!"), False)
    if not words or ends_as_question:
        return False
    if words[0] in ("i", "we"):
        following = [word for word in words[1:4] if word not in ("really", "just", "also", "only", "still")]
        return not any(word in REQUESTING or word in ("can", "could", "should") for word in following[:2])
    if words[0] in ("i'm", "we're", "i've", "we've"):
        return not any(word in ("looking", "interested", "trying", "curious") for word in words[1:3])
    return words[0] in _SUBJECTS and any(word in _FINITE for word in words[1:8])
