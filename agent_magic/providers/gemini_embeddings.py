"""Embeddings of the Gemini API: one vector for each message."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from ..config import RequestConfig, StopReason
from ..errors import InvalidDataError, ServerError
from ..events import EmbeddingItem, StreamEvent, delta_event, stop_event
from ..messages import Context, UserMessage
from ..models import Model
from ..usage import total_usage
from .embedding_request import numbers_of, whole_answer
from .gemini_contents import user_part
from .gemini_fields import field
from .gemini_server import address, key_headers, resource
from .gemini_usage import GeminiUsage
from .json_text import to_json_bytes
from .provider_errors import stream_error, where

# The most that the API takes at once.
_BATCH = 100

Wire = dict[str, Any]


async def stream(model: Model, context: Context, config: RequestConfig) -> AsyncGenerator[list[StreamEvent], None]:
    """Give one `EmbeddingItem` for each user message, in their order; raises `ProviderError`."""
    inputs = [message for message in context.messages if isinstance(message, UserMessage)]
    if not inputs:
        raise InvalidDataError("holds no user message, so there is nothing to embed", "messages")
    usages = []
    for start in range(0, len(inputs), _BATCH):
        batch = inputs[start : start + _BATCH]
        answer = await _ask(model, batch, config)
        vectors = _vectors(model, answer, len(batch))
        usage = GeminiUsage()
        usage.add(field(answer, "usageMetadata"))
        usages.append(usage.usage())
        yield [delta_event(*(EmbeddingItem(start + place, vector) for place, vector in enumerate(vectors)))]
    known = [usage for usage in usages if usage is not None]
    yield [stop_event(StopReason.STOP, total_usage(known))]


async def _ask(model: Model, inputs: Sequence[UserMessage], config: RequestConfig) -> Wire:
    url = address(model, "batchEmbedContents")
    body = to_json_bytes({"requests": [_request(model, each, config) for each in inputs]})
    answer = await whole_answer(model, url, key_headers(model, url), body, config)
    if isinstance(answer, dict) and isinstance(answer.get("embeddings"), list):
        return answer
    raise stream_error(model, url, answer)


def _request(model: Model, message: UserMessage, config: RequestConfig) -> Wire:
    """The API refuses an empty text, so that becomes a space."""
    parts = [user_part(block) for block in message.content] or [{"text": " "}]
    request: Wire = {"model": resource(model), "content": {"parts": parts}}
    if config.embedding_config is not None and config.embedding_config.dimensions is not None:
        request["outputDimensionality"] = config.embedding_config.dimensions
    return request | dict(model.compat.get("extra_body", {}))


def _vectors(model: Model, answer: Wire, count: int) -> list[tuple[float, ...]]:
    found = (numbers_of(each.get("values")) for each in answer["embeddings"] if isinstance(each, dict))
    vectors = [vector for vector in found if vector is not None]
    if len(vectors) != count:
        raise ServerError(
            f"{where(model, address(model, ''))}: The server did not give one vector for each of {count} messages. "
            "Check that the model makes embeddings."
        )
    return vectors
