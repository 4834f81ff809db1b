"""The vendors and local servers that `get_model` knows: where they are, what they speak, where their keys are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Vendor:
    """`key_variables` are the environment variables that may hold the key, the usual one first.

    `more_hosts` are the vendor's own besides that of `base_url`; one that begins with a dot stands for every host
    below it. `open_ended` vendors serve models that no catalogue lists; so do `local` servers, which run on the
    user's own machine and cost nothing.
    """

    name: str
    base_url: str
    key_variables: tuple[str, ...] = ()
    api: str = "openai-chat"
    more_hosts: tuple[str, ...] = ()
    open_ended: bool = False
    local: bool = False

    def owns(self, url: str) -> bool:
        """Whether `url` leads to the vendor itself, encrypted: only there may a key from the environment go."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        hosts = (urlsplit(self.base_url).hostname or "", *self.more_hosts)
        own = any(host.endswith(each) if each.startswith(".") else host == each for each in hosts)
        return bool(host) and own and parts.scheme == "https"

    def key_variable(self, environment: Mapping[str, str] | None = None) -> str | None:
        """The name of the first variable that is set, or None; never its value."""
        environment = os.environ if environment is None else environment
        return next((name for name in self.key_variables if environment.get(name, "").strip()), None)


_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")

_TABLE = (
    Vendor("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    Vendor("anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), api="anthropic"),
    Vendor("google", "https://generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), api="gemini"),
    Vendor("openrouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), open_ended=True),
    Vendor("deepseek", "https://api.deepseek.com", ("DEEPSEEK_API_KEY",)),
    Vendor("groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    Vendor("mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    Vendor("xai", "https://api.x.ai/v1", ("XAI_API_KEY",)),
    Vendor("together", "https://api.together.ai/v1", ("TOGETHER_API_KEY",), more_hosts=("api.together.xyz",)),
    Vendor("fireworks", "https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    Vendor("cerebras", "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",)),
    Vendor(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        ("DASHSCOPE_API_KEY",),
        more_hosts=("dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"),
        open_ended=True,
    ),
    Vendor(
        "moonshot",
        "https://api.moonshot.ai/v1",
        ("MOONSHOT_API_KEY",),
        more_hosts=("api.moonshot.cn",),
        open_ended=True,
    ),
    Vendor(
        "zai",
        "https://api.z.ai/api/paas/v4",
        ("ZAI_API_KEY",),
        more_hosts=("open.bigmodel.cn",),
        open_ended=True,
    ),
    Vendor(
        "minimax",
        "https://api.minimax.io/v1",
        ("MINIMAX_API_KEY",),
        more_hosts=("api.minimaxi.com",),
        open_ended=True,
    ),
    Vendor("azure", "", ("AZURE_OPENAI_API_KEY",), more_hosts=_AZURE_HOSTS, open_ended=True),
    Vendor("ollama", "http://127.0.0.1:11434/v1", ("OLLAMA_API_KEY",), more_hosts=("ollama.com",), local=True),
    Vendor("lmstudio", "http://127.0.0.1:1234/v1", local=True),
    Vendor("vllm", "http://127.0.0.1:8000/v1", local=True),
    Vendor("llamacpp", "http://127.0.0.1:8080/v1", local=True),
)
_OTHER_NAMES = {
    "gemini": "google",
    "x-ai": "xai",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "lm-studio": "lmstudio",
    "lm_studio": "lmstudio",
    "kimi": "moonshot",
    "glm": "zai",
    "llama.cpp": "llamacpp",
    "llama-cpp": "llamacpp",
}

VENDORS: Mapping[str, Vendor] = {vendor.name: vendor for vendor in _TABLE}


def vendor_named(name: str) -> Vendor | None:
    """The vendor of this name in any case, or of another usual name such as `gemini`; None when there is none."""
    name = name.lower()
    return VENDORS.get(_OTHER_NAMES.get(name, name))


def base_url_of(vendor: Vendor, environment: Mapping[str, str] | None = None) -> str:
    """The vendor's root, as the environment says for OpenAI, Ollama and Azure; empty where only the user knows it."""
    environment = os.environ if environment is None else environment
    if vendor.name == "openai":
        return environment.get("OPENAI_BASE_URL", "").strip() or vendor.base_url
    if vendor.name == "ollama":
        return _ollama_url(environment.get("OLLAMA_HOST", "").strip()) or vendor.base_url
    if vendor.name == "azure":
        endpoint = environment.get("AZURE_OPENAI_ENDPOINT", "").strip().rstrip("/")
        return endpoint if not endpoint or endpoint.endswith("/v1") else f"{endpoint}/openai/v1"
    return vendor.base_url


def _ollama_url(address: str) -> str:
    """OLLAMA_HOST names where the server listens: any of host, :port, host:port, or a URL."""
    if not address:
        return ""
    scheme, _, rest = address.rpartition("://")
    authority, _, path = rest.partition("/")
    try:
        parts = urlsplit(f"//{authority}")
        host, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError:
        return ""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    port = port or {"http": 80, "https": 443}.get(scheme, 11434)
    host = f"[{host}]" if ":" in host else host
    path = f"/{path}".rstrip("/")
    return f"{scheme or 'http'}://{host}:{port}{path}" + ("" if path.endswith("/v1") else "/v1")


def keys_present(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Which vendors have a key in the environment: the variable's name by the vendor's name, never a key."""
    found = {vendor.name: vendor.key_variable(environment) for vendor in _TABLE}
    return {name: variable for name, variable in found.items() if variable}
