"""The adapter of the OpenAI Chat Completions API and of the many servers that speak it, each in its own way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from ..abort import AbortSignal
from ..config import RequestConfig
from ..errors import StreamInterruptedError
from ..events import StreamEvent, delta_event, stop_event
from ..messages import Context
from ..models import Model
from . import embedding_request, openai_chat_request as request, openai_embeddings as embeddings
from .http import post
from .openai_chat_answer import ChatAnswer
from .openai_server import address, key_headers
from .quirks import quirks_of


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncGenerator[list[StreamEvent], None]:
    """Ask the model and give its answer as it comes; raises `ProviderError`."""
    if embedding_request.wanted(model, config):
        async for batch in embeddings.stream(model, context, config, signal):
            yield batch
        return
    url = address(model, "/chat/completions")
    body = request.request_body(model, context, config, quirks_of(model))
    answer = ChatAnswer(model, url)
    broken: StreamInterruptedError | None = None
    try:
        async with aclosing(post(model, url, key_headers(model, url), body, config)) as reads:
            async for payloads in reads:
                items = answer.read(payloads)
                if items:
                    yield [delta_event(*items)]
                if answer.failure is not None:
                    break
    except StreamInterruptedError as error:
        # Once the server has said why it finished, a connection that breaks off loses nothing.
        broken = None if answer.is_complete else error
    items = answer.end(broken)
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
