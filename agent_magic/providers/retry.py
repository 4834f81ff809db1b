"""When a failed request is sent again, and after how long."""

from __future__ import annotations

import random

from ..config import RequestConfig
from ..errors import ProviderError
from ..models import Model

FIRST_DELAY = 0.5
LONGEST_DELAY = 8.0


_WHY = {
    "rate_limit": "the server limits the rate of requests",
    "connection": "no connection could be made",
    "stream_interrupted": "the answer broke off before it began",
}


def waiting_note(error: ProviderError, delay: float, failures: int, model: Model, config: RequestConfig) -> str:
    """What to tell the user who waits until the request is sent again."""
    why = _WHY.get(error.kind, "the server failed")
    status = f" (status {error.status})" if error.status is not None else ""
    return (
        f"{model.label}: {why}{status}; waiting {delay:.0f} s for attempt {failures + 1} of {config.max_retries + 1}."
    )


def retry_delay(error: ProviderError, failures: int, config: RequestConfig) -> float | None:
    """Seconds to wait after the request failed for the `failures`-th time, or None when it must not be repeated.

    The server's own waiting time counts; one longer than `max_retry_delay` is not waited for.
    Otherwise the wait doubles from half a second to eight, less up to a quarter so that clients spread.
    """
    if not error.retryable or failures > config.max_retries:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= config.max_retry_delay else None
    delay: float = min(FIRST_DELAY * 2.0 ** (failures - 1), LONGEST_DELAY)
    return min(delay * (1 - random.random() / 4), config.max_retry_delay)
