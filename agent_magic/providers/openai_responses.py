"""The adapter of the OpenAI Responses API, at OpenAI, Azure and the servers that speak it too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

from ..abort import AbortSignal
from ..config import RequestConfig
from ..events import StreamEvent, delta_event, stop_event
from ..messages import Context
from ..models import Model
from . import embedding_request, openai_embeddings as embeddings, openai_responses_request as request
from .http import post
from .openai_responses_answer import ResponsesAnswer
from .openai_server import address, key_headers
from .quirks import quirks_of


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncIterator[list[StreamEvent]]:
    """Ask the model and give its answer as it comes; raises `ProviderError`."""
    if embedding_request.wanted(model, config):
        async for batch in embeddings.stream(model, context, config, signal):
            yield batch
        return
    url = address(model, "/responses")
    body = request.request_body(model, context, config, quirks_of(model))
    answer = ResponsesAnswer(model, url)
    reading = post(model, url, key_headers(model, url), body, config, lambda: answer.is_complete)
    async with aclosing(reading) as reads:
        async for payloads in reads:
            items = answer.read(payloads)
            if items:
                yield [delta_event(*items)]
            if answer.failure is not None:
                break
    items = answer.end()
    if items:
        yield [delta_event(*items)]
    yield [stop_event(answer.stop_reason, answer.usage())]
    if answer.failure is not None:
        raise answer.failure


def unsupported(model: Model, config: RequestConfig) -> Mapping[str, str]:
    """What of `config` this API does not offer: the field's name and the reason."""
    if embedding_request.wanted(model, config):
        return embedding_request.unsupported(model, config)
    return request.unsupported(model, config, quirks_of(model))
