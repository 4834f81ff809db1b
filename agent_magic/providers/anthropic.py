"""The adapter of the Anthropic Messages API and of the servers that speak it too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

from ..abort import AbortSignal
from ..config import RequestConfig
from ..errors import StreamInterruptedError
from ..events import StreamEvent, delta_event, stop_event
from ..messages import Context
from ..models import Model
from ..secret import Secret
from . import anthropic_request as request
from .anthropic_answer import MessagesAnswer
from .anthropic_quirks import messages_quirks_of
from .http import post
from .keys import key_for


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncIterator[list[StreamEvent]]:
    """Ask the model and give its answer as it comes; raises `ProviderError`."""
    quirks = messages_quirks_of(model)
    url = request.request_url(model)
    headers: dict[str, str | Secret] = {"anthropic-version": request.VERSION}
    key = key_for(model, url)
    if key is not None:
        headers[quirks.key_header] = Secret(quirks.key_prefix + key.reveal())
    body = request.request_body(model, context, config, quirks)
    answer = MessagesAnswer(model, url)
    broken: StreamInterruptedError | None = None
    try:
        async with aclosing(post(model, url, headers, body, config)) as reads:
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
    """What of `config` this API, or this model, does not offer: the field's name and the reason."""
    return request.unsupported(model, config, messages_quirks_of(model))
