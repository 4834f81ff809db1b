"""The adapter of the OpenAI Responses API, at OpenAI, Azure and the servers that speak it too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from ..abort import AbortSignal
from ..config import RequestConfig
from ..events import StreamEvent
from ..messages import Context
from ..models import Model
from . import embedding_request, openai_embeddings as embeddings, openai_responses_request as request
from .answering import events_of
from .http import post
from .openai_responses_answer import ResponsesAnswer
from .openai_server import address, key_headers
from .quirks import quirks_of


def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncGenerator[list[StreamEvent], None]:
    """Ask the model and give its answer as it comes; raises `ProviderError`."""
    if embedding_request.wanted(model, config):
        return embeddings.stream(model, context, config, signal)
    url = address(model, "/responses")
    body = request.request_body(model, context, config, quirks_of(model))
    answer = ResponsesAnswer(model, url)
    return events_of(answer, post(model, url, key_headers(model, url), body, config, lambda: answer.is_complete))


def unsupported(model: Model, config: RequestConfig) -> Mapping[str, str]:
    """What of `config` this API does not offer: the field's name and the reason."""
    if embedding_request.wanted(model, config):
        return embedding_request.unsupported(model, config)
    return request.unsupported(model, config, quirks_of(model))
