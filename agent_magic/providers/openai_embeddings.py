"""Embeddings of the OpenAI API, which both of its other APIs lead to: one vector for each message."""

from __future__ import annotations

import base64
import struct
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from ..abort import AbortSignal
from ..config import RequestConfig, StopReason
from ..errors import InvalidDataError, ProviderError, ServerError
from ..events import EmbeddingItem, StreamEvent, delta_event, stop_event
from ..messages import Context, TextContent, UserMessage
from ..models import Model
from .embedding_request import numbers_of, whole_answer
from .json_text import to_json_bytes
from .openai_chat_usage import UsageCount
from .openai_server import address, key_headers
from .provider_errors import stream_error, where


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncGenerator[list[StreamEvent], None]:
    """Give one `EmbeddingItem` for each user message, in their order; raises `ProviderError`."""
    url = address(model, "/embeddings")
    texts = input_texts(context)
    body = to_json_bytes(request_body(model, texts, config))
    answer = await whole_answer(model, url, key_headers(model, url), body, config)
    vectors = _vectors(answer)
    if vectors is None or len(vectors) != len(texts):
        raise _error(model, url, answer, len(texts))
    usage = UsageCount()
    usage.add(answer.get("usage"))
    yield [delta_event(*(EmbeddingItem(index, vector) for index, vector in enumerate(vectors)))]
    yield [stop_event(StopReason.STOP, usage.usage())]


def input_texts(context: Context) -> list[str]:
    """The text of each user message; the API refuses an empty one, so that becomes a space."""
    texts: list[str] = []
    for position, message in enumerate(context.messages):
        if isinstance(message, UserMessage):
            other = next((block for block in message.content if not isinstance(block, TextContent)), None)
            if other is not None:
                raise InvalidDataError(
                    f"holds {other.type}, and only text has embeddings here", f"messages[{position}]"
                )
            texts.append(message.text or " ")
    if not texts:
        raise InvalidDataError("holds no user message, so there is nothing to embed", "messages")
    return texts


def request_body(model: Model, texts: list[str], config: RequestConfig) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model.id, "input": texts, "encoding_format": "float"}
    if config.embedding_config is not None and config.embedding_config.dimensions is not None:
        body["dimensions"] = config.embedding_config.dimensions
    return body | dict(model.compat.get("extra_body", {}))


def _vectors(answer: Any) -> list[tuple[float, ...]] | None:
    """The vectors in the order of the texts, or None where the answer has another form."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        return None
    if all(isinstance(each.get("index"), int) for each in data):
        data = sorted(data, key=lambda each: each["index"])
    vectors = [_vector(each.get("embedding")) for each in data]
    return [vector for vector in vectors if vector is not None]


def _vector(value: Any) -> tuple[float, ...] | None:
    """Numbers, or 32-bit floats in base64, which some servers send unasked."""
    if isinstance(value, str):
        try:
            data = base64.b64decode(value, validate=True)
            return struct.unpack(f"<{len(data) // 4}f", data) if data else None
        except (ValueError, struct.error):
            return None
    return numbers_of(value)


def _error(model: Model, url: str, answer: Any, wanted_count: int) -> ProviderError:
    if isinstance(answer, Mapping) and (answer.get("error") or "data" not in answer):
        return stream_error(model, url, answer)
    return ServerError(
        f"{where(model, url)}: The server did not give one vector for each of {wanted_count} messages. "
        "Check that the model makes embeddings."
    )
