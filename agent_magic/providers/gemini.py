"""The adapter of the Gemini API: answers, images, speech and embeddings."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from ..abort import AbortSignal
from ..config import RequestConfig
from ..events import StreamEvent
from ..messages import Context
from ..models import Model
from . import embedding_request, gemini_embeddings, gemini_request as request
from .answering import events_of
from .gemini_answer import GeminiAnswer
from .gemini_server import address, key_headers
from .http import post


def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncGenerator[list[StreamEvent], None]:
    """Ask the model and give its answer as it comes; raises `ProviderError`."""
    if embedding_request.wanted(model, config):
        return gemini_embeddings.stream(model, context, config)
    url = address(model, "streamGenerateContent", "alt=sse")
    body = request.request_body(model, context, config)
    answer = GeminiAnswer(model, url)
    return events_of(answer, post(model, url, key_headers(model, url), body, config))


def unsupported(model: Model, config: RequestConfig) -> Mapping[str, str]:
    """What of `config` this API does not offer: the field's name and the reason."""
    if embedding_request.wanted(model, config):
        return embedding_request.unsupported(model, config)
    return request.unsupported(model, config)
