"""What servers that speak the OpenAI APIs want differently when asked. Reading is tolerant anyway."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from ..models import Model
from .keys import host_of


@dataclass(frozen=True)
class Quirks:
    """Each field can be set by name in `Model.compat`."""

    # The field that limits the answer: `max_tokens` or `max_completion_tokens`.
    max_tokens_field: str = "max_tokens"
    # Whether `stream_options.include_usage` may be asked for.
    stream_usage: bool = True
    # Whether content must be one text, since the server refuses lists of blocks.
    plain_string_content: bool = False
    # How a thinking level is asked for: `effort` (reasoning_effort), `openrouter` (reasoning.effort), `thinking`
    # (thinking.type), `template` (chat_template_kwargs.enable_thinking), or empty where it cannot be.
    thinking_form: str = "effort"
    # What `off` is called by servers that take reasoning_effort; empty where reasoning cannot be switched off.
    effort_off: str = "none"
    # The form of response_format: `json_schema`, `json_object` (the schema is not enforced), or empty.
    response_format: str = "json_schema"
    # Whether reasoning goes back to the server that made it: `calls` (with messages that hold calls) or `never`.
    reasoning_back: str = "calls"
    # What `prompt_caching="enhance"` sends as prompt_cache_retention; empty where the API has no such thing.
    cache_retention: str = ""
    # The role of the system prompt.
    system_role: str = "system"
    # Whether an `image_config` may be sent, as OpenRouter takes it.
    image_output: bool = False
    # Whether the Responses API can be told which of the tools may be called, by `allowed_tools`.
    allowed_tools: bool = True
    # Whether the Responses API has the tool that makes images.
    image_tool: bool = False
    # Whether a model may be given a temperature while it reasons, in the Responses API.
    reasoning_temperature: bool = True
    # The header that holds the key, and what stands before it.
    key_header: str = "authorization"
    key_prefix: str = "Bearer "


# By the model's provider, else by the host of its base_url (a part of it is enough).
_BY_PROVIDER: dict[str, dict[str, Any]] = {
    "openai": {
        "max_tokens_field": "max_completion_tokens",
        "cache_retention": "24h",
        "image_tool": True,
        "reasoning_temperature": False,
    },
    "azure": {
        "max_tokens_field": "max_completion_tokens",
        "image_tool": True,
        "reasoning_temperature": False,
        "key_header": "api-key",
        "key_prefix": "",
    },
    "openrouter": {"thinking_form": "openrouter", "image_output": True, "allowed_tools": False},
    "deepseek": {"thinking_form": "thinking", "response_format": "", "allowed_tools": False},
    "groq": {"max_tokens_field": "max_completion_tokens"},
    "mistral": {"thinking_form": "", "stream_usage": False},
    "xai": {"effort_off": ""},
    "cerebras": {"max_tokens_field": "max_completion_tokens", "effort_off": ""},
    "zai": {"thinking_form": "thinking", "response_format": ""},
    "moonshot": {"thinking_form": "thinking"},
    "vllm": {"thinking_form": "template", "allowed_tools": False},
    "llamacpp": {"thinking_form": "template", "allowed_tools": False},
    "ollama": {"allowed_tools": False},
    "lmstudio": {"allowed_tools": False},
}
_BY_HOST = {
    "api.openai.com": "openai",
    ".openai.azure.com": "azure",
    ".services.ai.azure.com": "azure",
    "openrouter.ai": "openrouter",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "mistral.ai": "mistral",
    "api.x.ai": "xai",
    "cerebras.ai": "cerebras",
    "z.ai": "zai",
    "bigmodel.cn": "zai",
    "moonshot.ai": "moonshot",
    "moonshot.cn": "moonshot",
}
_NAMES = frozenset(each.name for each in fields(Quirks))


def quirks_of(model: Model) -> Quirks:
    """The quirks of the model's server: the host decides before the provider, `compat` before both."""
    host = f".{host_of(model.base_url)}"
    place = next((name for part, name in _BY_HOST.items() if host.endswith(f".{part.lstrip('.')}")), model.provider)
    own = {name: value for name, value in model.compat.items() if name in _NAMES}
    return replace(Quirks(), **{**_BY_PROVIDER.get(place, {}), **own})
