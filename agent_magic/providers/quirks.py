"""What servers that speak the OpenAI APIs want differently when asked. Reading is tolerant anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
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
    # Whether roles must alternate: neighbours of one role are joined, and a word stands between results and the user.
    roles_alternate: bool = False
    # The form of the ids of calls that another model made, as a regular expression.
    call_id_form: str = r"\S{1,64}"
    # Whether calls that another model made need the word that stands for a signature, as Gemini 3 wants it.
    signed_calls: bool = False
    # How a thinking level is asked for: `effort` (reasoning_effort), `openrouter` (reasoning.effort), `thinking`
    # (thinking.type), `enable` (enable_thinking), `enabled` (reasoning.enabled), `template`
    # (chat_template_kwargs.enable_thinking), or empty where it cannot be.
    thinking_form: str = "effort"
    # What `off` is called by servers that take reasoning_effort; empty where reasoning cannot be switched off.
    effort_off: str = "none"
    # The thinking levels that the server knows at all; empty where they differ from model to model.
    efforts: tuple[str, ...] = ()
    # What tool_choice may be; a list of names counts as `required`.
    tool_choices: tuple[str, ...] = ("auto", "none", "required")
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
    # Whether the server silently leaves out the beginning of a prompt that is too long.
    cuts_prompts: bool = False
    # What stands in every request of the Chat Completions API besides.
    also_send: Mapping[str, Any] = field(default_factory=dict)
    # Whether the Responses API can be told which of the tools may be called, by `allowed_tools`.
    allowed_tools: bool = True
    # Whether the Responses API has the tool that makes images.
    image_tool: bool = False
    # Whether a model may be given a temperature while it reasons, in the Responses API.
    reasoning_temperature: bool = True
    # The header that holds the key, and what stands before it.
    key_header: str = "authorization"
    key_prefix: str = "Bearer "


_OPENAI_IDS = r"\S{1,40}"
_LOCAL: dict[str, Any] = {"plain_string_content": True, "roles_alternate": True, "allowed_tools": False}

# By the model's provider, else by the host of its base_url.
_BY_PROVIDER: dict[str, dict[str, Any]] = {
    "openai": {
        "max_tokens_field": "max_completion_tokens",
        "call_id_form": _OPENAI_IDS,
        "cache_retention": "24h",
        "image_tool": True,
        "reasoning_temperature": False,
    },
    "azure": {
        "max_tokens_field": "max_completion_tokens",
        "call_id_form": _OPENAI_IDS,
        "image_tool": True,
        "reasoning_temperature": False,
        "key_header": "api-key",
        "key_prefix": "",
    },
    "openrouter": {"thinking_form": "openrouter", "image_output": True, "allowed_tools": False},
    "deepseek": {
        "plain_string_content": True,
        "thinking_form": "thinking",
        "response_format": "",
        "allowed_tools": False,
    },
    "groq": {
        "max_tokens_field": "max_completion_tokens",
        "efforts": ("off", "low", "medium", "high"),
        "reasoning_back": "never",
    },
    "mistral": {
        "stream_usage": False,
        "roles_alternate": True,
        "call_id_form": "[A-Za-z0-9]{9}",
        "thinking_form": "",
    },
    "together": {"thinking_form": "enabled", "allowed_tools": False},
    "fireworks": {"efforts": ("off", "low", "medium", "high"), "allowed_tools": False},
    "xai": {"effort_off": ""},
    "cerebras": {
        "max_tokens_field": "max_completion_tokens",
        "plain_string_content": True,
        "effort_off": "",
        "efforts": ("low", "medium", "high"),
    },
    "dashscope": {
        "thinking_form": "enable",
        "tool_choices": ("auto", "none"),
        "response_format": "",
        "allowed_tools": False,
    },
    "moonshot": {
        "thinking_form": "thinking",
        "tool_choices": ("auto", "none"),
        "response_format": "",
        "allowed_tools": False,
    },
    "zai": {
        # Usage comes without being asked for, and arguments in fragments only when asked for.
        "stream_usage": False,
        "also_send": {"tool_stream": True},
        "plain_string_content": True,
        "thinking_form": "thinking",
        "tool_choices": ("auto",),
        "response_format": "",
        "allowed_tools": False,
    },
    "minimax": {
        # Else reasoning comes in tags amid the text.
        "also_send": {"reasoning_split": True},
        "plain_string_content": True,
        "thinking_form": "",
        "tool_choices": ("auto", "none"),
        "response_format": "",
        "allowed_tools": False,
    },
    # Gemini by the vendor's own imitation of the API.
    "google": {"signed_calls": True, "efforts": ("off", "minimal", "low", "medium", "high")},
    # A proxy: it takes what OpenAI takes and passes on what the model behind it takes.
    "litellm": {"allowed_tools": False},
    "vllm": {**_LOCAL, "thinking_form": "template"},
    "llamacpp": {**_LOCAL, "thinking_form": "template"},
    "lmstudio": {**_LOCAL, "efforts": ("off", "low", "medium", "high")},
    "ollama": {**_LOCAL, "efforts": ("off", "low", "medium", "high"), "cuts_prompts": True},
}
# A host, or a part of one from a dot on.
_BY_HOST = {
    "api.openai.com": "openai",
    ".openai.azure.com": "azure",
    ".services.ai.azure.com": "azure",
    "openrouter.ai": "openrouter",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "mistral.ai": "mistral",
    "together.ai": "together",
    "together.xyz": "together",
    "fireworks.ai": "fireworks",
    "api.x.ai": "xai",
    "cerebras.ai": "cerebras",
    "dashscope.aliyuncs.com": "dashscope",
    "dashscope-intl.aliyuncs.com": "dashscope",
    "dashscope-us.aliyuncs.com": "dashscope",
    "moonshot.ai": "moonshot",
    "moonshot.cn": "moonshot",
    "z.ai": "zai",
    "bigmodel.cn": "zai",
    "minimax.io": "minimax",
    "minimaxi.com": "minimax",
    "generativelanguage.googleapis.com": "google",
}
# Other names under which people know a server.
_OTHER_NAMES = {
    "qwen": "dashscope",
    "alibaba": "dashscope",
    "kimi": "moonshot",
    "glm": "zai",
    "zhipu": "zai",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "gemini": "google",
}
_NAMES = frozenset(each.name for each in fields(Quirks))


def quirks_of(model: Model) -> Quirks:
    """The quirks of the model's server: the host decides before the provider, `compat` before both."""
    quirks = _quirks_at(model.base_url, model.provider)
    own = {name: value for name, value in model.compat.items() if name in _NAMES}
    return replace(quirks, **own) if own else quirks


@lru_cache
def _quirks_at(base_url: str, provider: str) -> Quirks:
    host = f".{host_of(base_url)}"
    place = next((name for part, name in _BY_HOST.items() if host.endswith(f".{part.lstrip('.')}")), provider)
    return Quirks(**_BY_PROVIDER.get(_OTHER_NAMES.get(place, place), {}))
