"""The adapter of models in files of this machine: a server in this process, spoken to as any other of its API.

`find_models()` lists the files in the usual places, `unload()` frees the memory of what was loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

from ..abort import AbortSignal
from ..config import RequestConfig
from ..events import StreamEvent
from ..messages import Context
from ..models import Model
from . import openai_chat
from .http import get_json
from .local_files import find_models
from .local_server import LocalServer, server_for, unload
from .local_tools import WrittenCalls, in_writing
from .openai_server import key_headers

__all__ = ["find_models", "stream", "unload", "unsupported"]


async def stream(
    model: Model, context: Context, config: RequestConfig, signal: AbortSignal | None
) -> AsyncIterator[list[StreamEvent]]:
    """Ask the model, loading its file first where need be; raises `ProviderError`, or `AgentMagicError` without it."""
    server = await asyncio.to_thread(server_for, model)
    asked = _chat(model, f"{server.address}/v1", api_key=server.key)
    # A slow machine is no fault of the server, which cannot be out of reach either.
    config = config.replace(timeout=None)
    calls: WrittenCalls | None = None
    if _must_be_held(config) or not await _takes_tools(server, asked):
        written, calls = in_writing(context, config), WrittenCalls()
        asked, context, config = written.model(asked), written.context, written.config
    async with aclosing(openai_chat.stream(asked, context, config, signal)) as batches:
        async for batch in batches:
            events = batch if calls is None else calls.read(batch)
            if events:
                yield events
    if calls is not None and calls.failure is not None:
        raise calls.failure


def unsupported(model: Model, config: RequestConfig) -> Mapping[str, str]:
    """What of `config` this API does not offer: the field's name and the reason."""
    found = dict(openai_chat.unsupported(_chat(model), config.replace(embedding_config=None)))
    if config.embedding_config is not None:
        found["embedding_config"] = "models in this machine make no embeddings"
    return found


def _must_be_held(config: RequestConfig) -> bool:
    """Whether only a grammar makes sure that the answer is what was asked for.

    The server's own reading of calls lets a model say anything before the first one, so `required` forces nothing;
    its own schemas let a small model write blanks for ever.
    """
    return config.tool_choice not in (None, "auto", "none") or config.response_schema is not None


def _chat(model: Model, base_url: str = "http://127.0.0.1", **changes: object) -> Model:
    """The model as the adapter of the server's API sees it."""
    # Small models call again and again where they may call more than once at a time.
    extra = {"parallel_tool_calls": False, **model.compat.get("extra_body", {})}
    compat = {"thinking_form": "template", "plain_string_content": True, **model.compat, "extra_body": extra}
    return model.replace(api="openai-chat", base_url=base_url, compat=compat, **changes)


async def _takes_tools(server: LocalServer, asked: Model) -> bool:
    """Whether the template of the model's conversations has a place for tools; the server drops them without a word."""
    if server.takes_tools is None:
        url = f"{server.address}/props"
        properties = await get_json(asked, url, key_headers(asked, url), timeout=60.0)
        able = properties.get("chat_template_caps") if isinstance(properties, dict) else None
        server.takes_tools = isinstance(able, dict) and able.get("supports_tools") is True
    return server.takes_tools
