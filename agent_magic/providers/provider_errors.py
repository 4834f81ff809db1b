"""From what a server says about a failure to one of our errors, for every API alike.

Servers agree neither on the status nor on the shape of the body, so both the codes and the words count.
"""

from __future__ import annotations

import contextlib
import email.utils
import html
import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timezone
from typing import Any
from urllib.parse import urlsplit

from ..errors import ERROR_CLASSES, BadRequestError, ProviderError, ServerConnectionError, StreamInterruptedError
from ..models import Model
from ..secret import shown_url
from .handoff import clean_text
from .keys import host_of, key_advice
from .sse import SSEDecoder

_LONGEST_WORDS = 600

_OVERFLOW = re.compile(
    r"context.?length.?exceeded|model_context_window_exceeded|context_window_exceeded|request_too_large"
    r"|maximum context length|context length of only|(exceed\w*|larger than|greater than|longer than|beyond).{0,60}"
    r"(context (length|window|size|limit)|available context|input length|prompt length|model token limit)"
    r"|context (window|length|size|limit).{0,30}(exceed|overflow)"
    r"|(content|text|prompt|input)'?: string too long"
    r"|(prompt|input|request|messages?).{0,30} (is |are )?(?<!string )(?<!array )too (long|large)"
    r"|prompt exceeds max length|inputs?\W.{0,40}must (be <=|have less than)"
    r"|input token count.{0,40}exceeds|maximum prompt length|reduce the length of|reduce your (message|prompt|input)"
    r"|too large for model|input is too long|too many (input |prompt )?tokens|token limit exceeded|max_prompt_tokens"
    r"|range of input length should be|configured context size|increasing the context size",
    re.IGNORECASE | re.DOTALL,
)
_THROTTLED = re.compile(
    r"rate.?limit|too many requests|throttl|please wait|slow down|(tokens|requests) per (min|day|hour)", re.IGNORECASE
)
_UNAVAILABLE = re.compile(r"\s*service unavailable", re.IGNORECASE)
_PER_MINUTE = re.compile(r"(tokens|requests) per (sec|min)|\b[TR]PM\b", re.IGNORECASE)
_OUT_OF_QUOTA = re.compile(
    r"quota|billing|credit|insufficient.{0,12}(balance|fund)|out of budget|usage limit|spend(ing)? limit|payment",
    re.IGNORECASE,
)
_NEVER_PASSES = re.compile(
    r"insufficient_quota|insufficient.{0,12}(balance|fund)|billing_hard_limit|credit balance|payment required"
    r"|request too large for .{0,200}per (min|day)",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"(invalid|incorrect|missing|expired|wrong|no).{0,12}(api|access|auth\w*|subscription).{0,4}(key|token)"
    r"|api.?key.{0,20}(not valid|invalid|expired|missing|required|not found)|authentication|unauthori[sz]ed"
    r"|permission.?(denied|error)|user not found",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content.?filter|content.?(management )?policy|responsibleai|safety system|data_inspection_failed|moderation",
    re.IGNORECASE,
)
_OVERLOADED = re.compile(
    r"overload|unavailable|internal|server.?(had an )?error|capacity|try again later|timed? ?out|bad gateway"
    r"|disconnect",
    re.IGNORECASE,
)
_BAD_REQUEST = re.compile(
    r"invalid.?(request|argument|param|value|type|prompt)|bad.?request|not.?found|unsupported|does not (exist|support)"
    r"|missing required|validation",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"(?:try again|retry|wait)\D{0,20}?"
    r"((?:\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?)(?![a-z])[\s,]*)+)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|milli|s|m|h)", re.IGNORECASE)
# Where servers put the error in an answer, and the words for people in the error.
_HOLDERS = ("error", "errors", "base_resp")
_WORDS = (
    *("message", "error_message", "msg", "error_msg", "status_msg", "Message"),
    *("detail", "details", "description", "title", "reason"),
)
_SECONDS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Complaint:
    """What a server said: `words` for people, `codes` all its code-like words, and the status it named, if any."""

    words: str
    codes: str = ""
    status: int | None = None
    retry_after: float | None = None

    @property
    def everything(self) -> str:
        return f"{self.codes} {self.words}"


def where(model: Model, url: str) -> str:
    """The model, the host, and the port where the address has one, as messages name them."""
    host = host_of(url)
    try:
        port = urlsplit(url).port
    except ValueError:
        port = None
    name = f"[{host}]" if ":" in host else host
    return f"{model.label} at {(f'{name}:{port}' if port else name) if host else shown_url(url)}"


# Reading ------------------------------------------------------------------------------------------------------------


def read_complaint(value: Any) -> Complaint:
    """What an error means, be it a text, an object, a list of them, or nested ones."""
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, (dict, str))), "")
    if isinstance(value, str):
        return Complaint(_shortened(value))
    if not isinstance(value, dict):
        return Complaint("" if value is None else _shortened(str(value)))
    inner = next((value[name] for name in _HOLDERS if value.get(name)), None)
    if isinstance(inner, str) and inner.lstrip().startswith("{"):
        # A gateway that gives the whole error of the server behind it as a text.
        inner = _value_of(inner)
    if isinstance(inner, (dict, list)) and inner:
        below = read_complaint(inner)
        codes = f"{below.codes} {_codes_of(value)}"
        return Complaint(below.words or _words_of(value), codes, below.status or _status_of(value), below.retry_after)
    words = _words_of(value)
    if isinstance(inner, str) and inner and inner != words:
        words = f"{inner}: {words}" if words else inner
    return Complaint(_shortened(words), _codes_of(value), _status_of(value), _delay_in_details(value))


def tells_error(value: Mapping[str, Any]) -> bool:
    """Whether an object that holds nothing of an answer tells of a failure, in any of the forms of servers."""
    base = value.get("base_resp")
    return (
        any(value.get(name) for name in ("error", "errors", "error_message", "detail"))
        or any(isinstance(value.get(name), str) and value[name] for name in ("message", "msg", "error_msg", "Message"))
        or "error" in (value.get("object"), value.get("type"))
        or (isinstance(base, dict) and bool(base.get("status_code")))
    )


def _complaint_in(text: str) -> Complaint:
    """What a body means, be it JSON, an event of a stream, a web page or plain words."""
    return read_complaint(_value_of(text))


def _value_of(text: str) -> Any:
    """The JSON value that a text is, or that the first event in it holds; else the text itself."""
    events = SSEDecoder()
    data = text.encode("utf-8", "replace")
    for each in (data, *events.feed(data), *events.finish()):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(each)
    return text


def _words_of(value: Mapping[str, Any]) -> str:
    """The message for people. A gateway's own is often empty words, with the true ones under `metadata.raw`."""
    found: list[str] = []
    for name in _WORDS:
        each = value.get(name)
        if isinstance(each, str) and each.strip():
            found.append(each.strip())
            break
        if isinstance(each, (list, dict)) and each and name in ("message", "detail"):
            found.append(read_complaint(each).words or json.dumps(each, ensure_ascii=False, default=str))
            break
    metadata = value.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(raw, str) and raw.strip():
        inner = _complaint_in(raw).words
        found += [inner] if inner not in found else []
    return " ".join(found)


def _codes_of(value: Mapping[str, Any]) -> str:
    return " ".join(_plain_codes(value))


def _plain_codes(value: Mapping[str, Any]) -> Iterator[str]:
    for name in ("code", "type", "status", "error_type", "reason", "param", "error_code", "status_code"):
        each = value.get(name)
        if isinstance(each, (str, int)) and not isinstance(each, bool):
            yield str(each)
    for name in ("metadata", "innererror"):
        if isinstance(value.get(name), dict):
            yield from _plain_codes(value[name])
    details = value.get("details")
    for each in details if isinstance(details, list) else ():
        if isinstance(each, dict):
            yield from _plain_codes(each)


def _status_of(value: Mapping[str, Any]) -> int | None:
    for name in ("code", "status", "status_code", "http_code"):
        each = value.get(name)
        if isinstance(each, str) and each.isascii() and each.isdigit() and len(each) == 3:
            each = int(each)
        if isinstance(each, int) and not isinstance(each, bool) and 400 <= each < 600:
            return each
    return None


def _delay_in_details(value: Mapping[str, Any]) -> float | None:
    details = value.get("details")
    for each in details if isinstance(details, list) else ():
        delay = each.get("retryDelay") if isinstance(each, dict) else None
        if isinstance(delay, str):
            return _span(delay)
    return None


def _shortened(text: str) -> str:
    """`text`, or of a web page its title, kept to a length that can be shown."""
    if re.match(r"\s*<(!doctype|html|head|body|\?xml)", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title", text, re.IGNORECASE | re.DOTALL)
        text = title[1] if title else re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.S | re.I)
        text = html.unescape(text)
    text = clean_text(" ".join(text.split()))
    return text if len(text) <= _LONGEST_WORDS else f"{text[:_LONGEST_WORDS]} …"


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """The seconds that the headers ask for: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        number = re.fullmatch(r"(\d{1,12}(?:\.\d*)?) ?(?:s|secs?|seconds?)?(?:,.*)?", text)
        if number is not None:
            return float(number[1]) * unit
        if text and name == "retry-after":
            try:
                date = email.utils.parsedate_to_datetime(text)
                if date.tzinfo is None:  # So it is given for `-0000`, which means UTC all the same.
                    date = date.replace(tzinfo=timezone.utc)
                return max(0.0, date.timestamp() - time.time())
            except (ValueError, TypeError, OverflowError):
                continue
    return None


def _span(text: str) -> float | None:
    parts = _SPAN.findall(text)
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts) if parts else None


# Judging ------------------------------------------------------------------------------------------------------------


def kind_of(status: int | None, complaint: Complaint) -> str:
    """Which kind of error it is. Status 429 is never an overflow, whatever the words."""
    said = complaint.everything
    throttled = _THROTTLED.search(said) is not None
    if status == 429 or status == 402:
        return "rate_limit"
    if not throttled and (status == 413 or (_OVERFLOW.search(said) and not _UNAVAILABLE.match(complaint.words))):
        return "context_overflow"
    if status in (401, 403, 407):
        return "content_filter" if _FILTERED.search(said) else "auth"
    if status is None or status in (400, 413):
        if _AUTH.search(said):
            return "auth"
        if _FILTERED.search(complaint.codes if status is None else said):
            return "content_filter"
        if throttled or _NEVER_PASSES.search(said):
            return "rate_limit"
    if status is None:
        return "server" if _OVERLOADED.search(said) or not _BAD_REQUEST.search(said) else "bad_request"
    return "server" if status >= 500 or status in (408, 409, 425) else "bad_request"


def _is_retryable(kind: str, complaint: Complaint, retry_after: float | None) -> bool:
    if kind == "rate_limit":
        if _NEVER_PASSES.search(complaint.everything):
            return False
        said = complaint.everything
        return retry_after is not None or _PER_MINUTE.search(said) is not None or not _OUT_OF_QUOTA.search(said)
    return kind in ("server", "connection", "stream_interrupted")


def _advice(kind: str, status: int | None, retryable: bool, retry_after: float | None, model: Model, url: str) -> str:
    if kind == "rate_limit" and not retryable:
        return "Add credit or raise the limit at the provider, or choose another model."
    if kind == "rate_limit" and retry_after is not None and retry_after >= 1:
        return f"Wait {math.ceil(retry_after):,} seconds and send it again."
    if status in (404, 405):
        return "Check the name of the model and its base_url."
    return {
        "auth": key_advice(model, url),
        "rate_limit": "Wait a little and send it again.",
        "context_overflow": "Shorten the conversation or start a new one, or choose a model with a larger window.",
        "bad_request": "Change the request as the message says.",
        "content_filter": "Word the request differently.",
        "server": "Send it again later, or choose another model.",
    }.get(kind, "Send it again.")


def http_error(model: Model, url: str, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error of an answer whose status says that it is none."""
    complaint = _complaint_in(body.decode("utf-8", "replace"))
    if 300 <= status < 400:
        target = host_of(headers.get("location", "")) or "another address"
        complaint = Complaint(f"The server redirects to {target}; redirects are not followed, so set base_url to it.")
    retry_after = retry_after_of(headers)
    error = _error(model, url, complaint, status, retry_after)
    if headers.get("x-should-retry") in ("true", "false") and error.kind in ("server", "rate_limit"):
        error.retryable = headers["x-should-retry"] == "true" and (error.retryable or error.kind == "server")
    return error


def stream_error(model: Model, url: str, value: Any) -> ProviderError:
    """The error that a server reports inside an answer: the value of `error`, or the whole object without one."""
    complaint = read_complaint(value)
    return _error(model, url, complaint, complaint.status, None)


def _error(
    model: Model, url: str, complaint: Complaint, status: int | None, retry_after: float | None
) -> ProviderError:
    kind = kind_of(status, complaint)
    if retry_after is None:
        retry_after = complaint.retry_after
    if retry_after is None and kind in ("rate_limit", "server"):
        named = _WAIT.search(complaint.words)
        retry_after = _span(named[1]) if named else None
    retryable = status != 402 and _is_retryable(kind, complaint, retry_after)
    with_status = f" (status {status})" if status is not None else ""
    words = complaint.words or clean_text(complaint.codes.strip()) or "the server gave no reason"
    ending = "" if words.endswith((".", "!", "?", "…")) else "."
    message = (
        f"{where(model, url)}{with_status}: {words}{ending} {_advice(kind, status, retryable, retry_after, model, url)}"
    )
    return ERROR_CLASSES[kind](message, status=status, retryable=retryable, retry_after=retry_after)


def web_page(model: Model, url: str, page: bytes) -> ProviderError:
    """A web page came where an answer should be: the address is wrong, or something stands before the server."""
    title = _shortened(page.decode("utf-8", "replace"))
    words = f"{where(model, url)}: A web page came instead of an answer: {title}. Check base_url, and any proxy."
    return BadRequestError(words)


def endless(model: Model, url: str) -> ProviderError:
    """Data comes and comes, and no event of it ends."""
    words = f"{where(model, url)}: The server sends data without end, and no answer in it. Check base_url."
    return BadRequestError(words)


def connection_error(model: Model, url: str, what: str, retryable: bool = True) -> ProviderError:
    """No answer came. `what` says why in plain words."""
    advice = "Check that the server runs, that base_url is right, and your connection."
    return ServerConnectionError(f"{where(model, url)}: {what} {advice}", retryable=retryable)


def ended_early(model: Model, url: str, words: str) -> ProviderError:
    """The answer has no end. `words` are what came that was none of it, such as those of a proxy that gave up."""
    said = f" Among it came: {_shortened(words).rstrip('.')}." if words.strip() else ""
    return interrupted(model, url, f"The answer ended before it was finished.{said}")


def interrupted(model: Model, url: str, what: str) -> ProviderError:
    """The answer began and then broke off."""
    return StreamInterruptedError(f"{where(model, url)}: {what} Send the message again.", retryable=True)
