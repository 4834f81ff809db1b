"""A request as it is kept and compared: without headers and keys, and without what changes from run to run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any
from urllib.parse import urlsplit

from ..providers.json_text import NotJSONError, parse_json
from ..providers.keys import known_keys
from ..providers.transport import HTTPRequest
from ..secret import Secret

HIDDEN = "[key hidden]"
# A shorter key might be an ordinary word.
_SHORTEST_KEY = 8
_KEY_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)

# What servers are told for their own book-keeping; no answer depends on it.
_VOLATILE = frozenset({"prompt_cache_key", "metadata", "user", "safety_identifier"})
# Ids that this package makes up where a server gave none.
_OWN_ID = re.compile(r"call_[0-9a-f]{16,24}")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_MEDIA = re.compile(r"(data:[\w.+-]+/[\w.+-]+;base64,)?([A-Za-z0-9+/_=-]{512,})")

_SHOWN_DIFFERENCES = 5
_SHOWN_LENGTH = 60
_ABSENT = object()


@dataclass(frozen=True)
class RequestForm:
    """Method and path of a request, and its JSON body; two requests are the same when these are."""

    method: str
    path: str
    body: Any

    @cached_property
    def key(self) -> str:
        """Equal for equal requests, whatever the order of the fields."""
        text = json.dumps([self.method, self.path, self.body], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def form_of(request: HTTPRequest, mask: Callable[[str], str]) -> RequestForm:
    """The form of `request`, with `mask` applied to every text of its body and the keys of its headers hidden."""
    keys = keys_of(request)
    ids: dict[str, str] = {}

    def text(value: str) -> str:
        media = _MEDIA.fullmatch(value)
        if media is not None:
            return f"{media[1] or ''}{len(media[2])} characters, sha256 {hashlib.sha256(media[2].encode()).hexdigest()}"
        if _OWN_ID.fullmatch(value):
            return ids.setdefault(value, f"call_{len(ids) + 1}")
        return _ADDRESS.sub("0x…", mask(without_keys(value, keys)))

    try:
        body = parse_json(request.body) if request.body else None
    except NotJSONError:
        body = request.body.decode("utf-8", "replace")
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in _VOLATILE}
    return RequestForm(request.method, without_keys(urlsplit(request.url).path, keys), mapped(body, text))


def keys_of(request: HTTPRequest) -> list[str]:
    """The keys that go with `request` or are known in this process, the longest first."""
    found = {key.reveal() for key in known_keys()}
    for name, value in request.headers.items():
        if isinstance(value, Secret) or _KEY_HEADER.search(name):
            text = value.reveal() if isinstance(value, Secret) else value
            found |= {text, text.rpartition(" ")[2]}
    return sorted((key for key in found if len(key) >= _SHORTEST_KEY), key=len, reverse=True)


def without_keys(text: str, keys: list[str]) -> str:
    for key in keys:
        text = text.replace(key, HIDDEN)
    return text


def nearest(form: RequestForm, others: list[RequestForm]) -> RequestForm | None:
    """The one of `others` that differs from `form` in the fewest places; None where there are none."""

    def distance(other: RequestForm) -> int:
        return sum(1 for _ in _differences((other.method, other.path, other.body), (form.method, form.path, form.body)))

    # Of equals the latest: what was recorded last is what the user last saw.
    return min(reversed(others), key=distance, default=None)


def difference(recorded: RequestForm, form: RequestForm) -> str:
    """What `form` has other than `recorded`, one line for each of the first few places."""
    lines = [
        f"{name}: recorded {_shown(old)}, now {_shown(new)}"
        for name, old, new in (("method", recorded.method, form.method), ("path", recorded.path, form.path))
        if old != new
    ]
    for place, old, new in _differences(recorded.body, form.body):
        if isinstance(old, str) and isinstance(new, str):
            old, new = _around_difference(old, new)
        lines.append(f"{place or 'body'}: recorded {_shown(old)}, now {_shown(new)}")
    more = len(lines) - _SHOWN_DIFFERENCES
    shown = lines[:_SHOWN_DIFFERENCES] + ([f"and {more} more"] if more > 0 else [])
    return "\n".join(f"  {line}" for line in shown)


def mapped(value: Any, text: Callable[[str], str]) -> Any:
    """JSON data with `text` applied to each of its texts, names of fields included."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(name): mapped(each, text) for name, each in value.items()}
    if isinstance(value, list):
        return [mapped(each, text) for each in value]
    return value


def _differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            inner = f"{place}.{name}" if place else str(name)
            yield from _differences(old.get(name, _ABSENT), new.get(name, _ABSENT), inner)
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        for number, (one, other) in enumerate(zip_longest(old, new, fillvalue=_ABSENT)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif type(old) is not type(new) or old != new:
        yield place, old, new


def _around_difference(old: str, new: str) -> tuple[str, str]:
    """The parts of two texts from a little before the first character in which they differ."""
    same = 0
    while old[same : same + 1] == new[same : same + 1] != "":
        same += 1
    start = max(0, same - _SHOWN_LENGTH // 3)
    mark = "…" if start else ""
    return mark + old[start:], mark + new[start:]


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    # A whole message has its words behind its role and type.
    limit = 3 * _SHOWN_LENGTH if isinstance(value, (dict, list)) else _SHOWN_LENGTH
    return text if len(text) <= limit else f"{text[:limit]}…"
