"""What requests for embeddings have in common, whatever the API."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from ..config import RequestConfig
from ..models import Model
from ..secret import Secret
from .http import post
from .json_text import NotJSONError, parse_json
from .provider_errors import interrupted

_TAKEN = {"embedding_config", "trace_id", "max_retries", "max_retry_delay", "timeout"}


def wanted(model: Model, config: RequestConfig) -> bool:
    """Whether a request asks for vectors: by its config, or by the kind of its model."""
    return config.embedding_config is not None or bool(model.compat.get("embedding"))


def unsupported(model: Model, config: RequestConfig) -> dict[str, str]:
    """What of `config` means nothing for embeddings: the field's name and the reason."""
    return {name: "a request for embeddings has no such setting" for name in config.given() if name not in _TAKEN}


async def whole_answer(
    model: Model, url: str, headers: Mapping[str, str | Secret], body: bytes, config: RequestConfig
) -> Any:
    """The JSON value that the server answers with; raises `ProviderError`."""
    payloads: list[bytes] = []
    async with aclosing(post(model, url, headers, body, config)) as reads:
        async for read in reads:
            payloads += read
    try:
        return parse_json(payloads[0] if payloads else b"")
    except NotJSONError:
        raise interrupted(model, url, "The server sent something that is not JSON.") from None


def numbers_of(value: Any) -> tuple[float, ...] | None:
    """A vector from a list of numbers; None for anything else."""
    if isinstance(value, list) and value and all(isinstance(each, (int, float)) for each in value):
        return tuple(map(float, value))
    return None
