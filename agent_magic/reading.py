"""Single values out of data from outside: tolerant of spelling, strict about kind.

Every function takes the object that holds the value and the keys it may stand under, and refuses a value of the
wrong kind with an `InvalidDataError` whose path is the key that was found.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from .errors import InvalidDataError, preview
from .messages import now

T = TypeVar("T")

# Seconds since 1970 stay below this until the year 5138, milliseconds have been above it since 1973.
_SECONDS_LIMIT = 1e11
_FRACTION = re.compile(r"\.(\d+)")


def at(place: str, convert: Callable[[Any], T], value: Any) -> T:
    """`convert(value)`; the path of a fault in it begins with `place`."""
    try:
        return convert(value)
    except InvalidDataError as error:
        raise error.inside(place) from None


def first(data: Mapping[str, Any], *keys: str) -> Any:
    """The value under the first of these keys that is there and not null, else None."""
    for key in keys:
        value = data.get(key)
        if value is not None:
            return value
    return None


def wrong(expected: str, data: Mapping[str, Any], *keys: str) -> InvalidDataError:
    """The error for a value that is missing or of the wrong kind."""
    key = next((key for key in keys if data.get(key) is not None), None)
    if key is None:
        return InvalidDataError(f"is missing; it must be {expected}", keys[0])
    return InvalidDataError(f"must be {expected}, not {type(data[key]).__name__}", key)


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidDataError(f"must be {what}, not {type(value).__name__}")
    return value


def items(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise InvalidDataError(f"must be a list of {what}, not {type(value).__name__}")
    return value


def text(data: Mapping[str, Any], *keys: str) -> str:
    value = data.get(keys[0])
    if value is None:
        value = first(data, *keys)
    if not isinstance(value, str):
        raise wrong("a text", data, *keys)
    return value


def optional_text(data: Mapping[str, Any], *keys: str) -> str | None:
    value = first(data, *keys)
    if value is not None and not isinstance(value, str):
        raise wrong("a text", data, *keys)
    return value


def flag(data: Mapping[str, Any], *keys: str, default: bool = False) -> bool:
    value = first(data, *keys)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise wrong("true or false", data, *keys)
    return value


def optional_integer(data: Mapping[str, Any], *keys: str) -> int | None:
    value = first(data, *keys)
    if value is None or type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise wrong("a whole number", data, *keys)


def integer(data: Mapping[str, Any], *keys: str) -> int:
    """A whole number; 0 where there is none."""
    return optional_integer(data, *keys) or 0


def numbers(data: Mapping[str, Any], key: str) -> tuple[float, ...]:
    """A vector of numbers."""
    vector = at(key, lambda each: items(each, "numbers"), data.get(key))
    for position, each in enumerate(vector):
        if not isinstance(each, (int, float)) or isinstance(each, bool):
            raise InvalidDataError(f"must be a number, not {type(each).__name__}", f"{key}[{position}]")
    return tuple(vector)


def fidelity(data: Mapping[str, Any], *keys: str) -> dict[str, Any] | None:
    value = first(data, *keys or ("fidelity",))
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise wrong("an object", data, *keys or ("fidelity",))
    return dict(value)


def timestamp(data: Mapping[str, Any], *keys: str) -> int:
    """Unix milliseconds from an integer of them, a float of seconds or an ISO text; the present where there is none.

    An ISO text without a time zone is taken as UTC.
    """
    value = first(data, *keys)
    if value is None:
        return now()
    if type(value) is int:
        return value
    if isinstance(value, float) and abs(value) < 1e16:
        return round(value * 1000 if abs(value) < _SECONDS_LIMIT else value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(_iso(value))
        except ValueError:
            raise InvalidDataError(f"{preview(value)!r} is no time such as 2026-09-11T08:28:49Z", keys[0]) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return round(moment.timestamp() * 1000)
    raise wrong("a time in Unix milliseconds", data, *keys)


def _iso(moment: str) -> str:
    """The text in the narrower form that Python 3.10 reads."""
    moment = moment.strip()
    moment = f"{moment[:-1]}+00:00" if moment[-1:] in ("Z", "z") else moment
    return _FRACTION.sub(lambda found: f".{found[1][:6]:0<6}", moment, count=1)


def binary(data: Mapping[str, Any], *keys: str) -> str:
    """Base64 text from base64 text, bytes, or the form in which Node.js writes a Buffer."""
    value = first(data, *keys)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping) and value.get("type") == "Buffer":
        try:
            return base64.b64encode(bytes(value["data"])).decode("ascii")
        except (KeyError, TypeError, ValueError):
            raise wrong("bytes in base64", data, *keys) from None
    if not isinstance(value, str):
        raise wrong("bytes in base64", data, *keys)
    try:
        base64.b64decode(value, validate=True)
    except ValueError:
        raise InvalidDataError("is no valid base64", next(key for key in keys if data.get(key) is value)) from None
    return value


def data_uri(uri: str) -> tuple[str, str] | None:
    """Base64 text and MIME type of a `data:` URI; None for any other URL."""
    if uri[:5].lower() != "data:":
        return None
    head, comma, body = uri[5:].partition(",")
    mime_type, *parameters = head.split(";")
    if not comma:
        raise InvalidDataError(f"is no valid data URI: {preview(uri)}", "url")
    if "base64" in parameters:
        return binary({"url": body}, "url"), mime_type or "text/plain"
    return base64.b64encode(unquote_to_bytes(body)).decode("ascii"), mime_type or "text/plain"


def arguments(value: Any) -> tuple[dict[str, Any], str | None]:
    """The arguments of a call from an object or its JSON text, and what was wrong with the text, or None."""
    if value is None:
        return {}, None
    if isinstance(value, Mapping):
        return dict(value), None
    if not isinstance(value, str):
        raise InvalidDataError(f"must be an object, not {type(value).__name__}", "arguments")
    if value.strip() in ("", "null"):
        return {}, None
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        return parsed, None
    return {}, f"The arguments are not a JSON object: {preview(value)}"


def number(amount: Decimal) -> int | float | str:
    """A decimal as a JSON number; as text only where no float has exactly its value."""
    if amount == amount.to_integral_value() and abs(amount) < 2**53:
        return int(amount)
    nearest = float(amount)
    return nearest if Decimal(repr(nearest)) == amount else str(amount)


def json_safe(value: Any) -> Any:
    """`value` in the kinds that JSON knows: bytes become base64, numbers that are none null, all else its text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else _text_of(key): json_safe(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_safe(each) for each in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Decimal):
        return number(value) if value.is_finite() else None
    return _text_of(value)


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # An object of the user's own may fail even at this.
        return type(value).__name__
