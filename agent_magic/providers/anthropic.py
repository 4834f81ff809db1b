"""The adapter of the Anthropic Messages API and of the servers that speak it too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from ..abort import AbortSignal
from ..config import RequestConfig
from ..events import StreamEvent
from ..messages import Context
from ..models import Model
from ..secret import Secret
from . import anthropic_request as request
from .answering import events_of
from .anthropic_answer import MessagesAnswer
from .anthropic_quirks import messages_quirks_of
from .http import post
from .keys import key_for


def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncGenerator[list[StreamEvent], None]:
    """Ask the model and give its answer as it comes; raises `ProviderError`."""
    quirks = messages_quirks_of(model)
    url = request.request_url(model)
    headers: dict[str, str | Secret] = {"anthropic-version": request.VERSION}
    key = key_for(model, url)
    if key is not None:
        headers[quirks.key_header] = Secret(quirks.key_prefix + key.reveal())
    body = request.request_body(model, context, config, quirks)
    answer = MessagesAnswer(model, url)
    return events_of(answer, post(model, url, headers, body, config))


def unsupported(model: Model, config: RequestConfig) -> Mapping[str, str]:
    """What of `config` this API, or this model, does not offer: the field's name and the reason."""
    return request.unsupported(model, config, messages_quirks_of(model))
