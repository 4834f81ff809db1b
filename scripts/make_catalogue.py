"""Make agent_magic/providers/catalogue.json: what models exist, what they can do, what they cost.

The facts come from two packages on PyPI, both under the MIT licence: litellm (its table of prices and windows) and
genai-prices (OpenRouter's models, names, total windows). Their versions and the day are pinned below, so that a re-run
writes the identical file. To bring the catalogue up to date, change the three constants, run, and read the diff:

    python -m venv catalogue-venv
    catalogue-venv/bin/pip install genai-prices==0.2.3
    catalogue-venv/bin/pip install --no-deps litellm==1.110.2
    catalogue-venv/bin/python scripts/make_catalogue.py

litellm is never imported, only its table is read; so it needs none of its dependencies.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

LITELLM = "1.110.2"
GENAI_PRICES = "0.2.3"
DAY = date(2026, 11, 30)

CATALOGUE = Path(__file__).parents[1] / "agent_magic" / "providers" / "catalogue.json"
SIZE_LIMIT = 300_000

# Our name of a provider: litellm's provider, the prefix of its ids there, the provider of genai-prices.
PROVIDERS = {
    "anthropic": ("anthropic", "", "anthropic"),
    "azure": ("azure", "azure/", "openai"),
    "cerebras": ("cerebras", "cerebras/", "cerebras"),
    "deepseek": ("deepseek", "deepseek/", "deepseek"),
    "fireworks": ("fireworks_ai", "fireworks_ai/", "fireworks"),
    "google": ("gemini", "gemini/", "google"),
    "groq": ("groq", "groq/", "groq"),
    "mistral": ("mistral", "mistral/", "mistral"),
    "openai": ("openai", "", "openai"),
    "together": ("together_ai", "together_ai/", "together"),
    "xai": ("xai", "xai/", "x-ai"),
}
APIS = {"anthropic": "anthropic", "google": "gemini"}
EMBEDDING_PROVIDERS = ("azure", "google", "openai")
# Vendors whose living ids mean the same model at OpenRouter; DeepSeek and Mistral move old ids to newer models.
OPENROUTER_VENDORS = {"anthropic": "anthropic", "google": "google", "openai": "openai", "x-ai": "xai"}

# What our adapters could not use or nobody should: fine-tuned bases, chat that insists on audio, live sessions,
# classifiers, the many aliases of withdrawn betas, and ids that litellm made up.
UNUSABLE = re.compile(
    r"^ft:|audio|container$|-live|streaming|prompt-guard|safeguard|grok-.*(beta|-gv2)|-exp-\d|gemini-gemma|^ada$|ada-002-v2$"
)
USABLE = {
    "azure": re.compile(r"^(?!.*\d{4}-\d\d-\d\d$)(?!.*mistral)[^/]+$"),
    "fireworks": re.compile(r"^accounts/fireworks/"),
    "google": re.compile(r"^(gemini|gemma)-"),
    "together": re.compile(r"^[^/]+/[^/]+$"),
}

RATES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
    "input_audio": "input_cost_per_audio_token",
    "output_image": "output_cost_per_image_token",
}
OPENROUTER_RATES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}
SERVICES = ("flex", "priority")
INPUT_KINDS = ("text", "image", "audio", "video", "pdf")
INPUT_FLAGS = {
    "supports_vision": "image",
    "supports_audio_input": "audio",
    "supports_video_input": "video",
    "supports_pdf_input": "pdf",
}
LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
LEVEL_FLAG = "supports_{}_reasoning_effort"

MIT = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated "
    'documentation files (the "Software"), to deal in the Software without restriction, including without limitation '
    "the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and "
    "to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above "
    "copyright notice and this permission notice shall be included in all copies or substantial portions of the "
    'Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT '
    "LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT "
    "SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION "
    "OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER "
    "DEALINGS IN THE SOFTWARE."
)
SOURCE = [
    {
        "package": "litellm",
        "version": LITELLM,
        "licence": "MIT",
        "copyright": "Copyright (c) 2023 Berri AI",
        "for": "all providers but openrouter",
    },
    {
        "package": "genai-prices",
        "version": GENAI_PRICES,
        "licence": "MIT",
        "copyright": "Copyright (c) Pydantic Services Inc. 2025 to present",
        "for": "openrouter, names, total windows",
    },
]

Entry = Mapping[str, Any]
Model = dict[str, Any]


def main() -> None:
    table, prices = read_litellm(), read_genai_prices()
    models = {name: dict(models_of(name, table, prices)) for name in PROVIDERS}
    models["openrouter"] = dict(openrouter_models(prices["openrouter"], models))
    text = as_text(models)
    if len(text.encode()) > SIZE_LIMIT:
        sys.exit(f"The catalogue would have {len(text.encode())} bytes; the limit is {SIZE_LIMIT}.")
    CATALOGUE.write_text(text, encoding="utf-8", newline="\n")
    counts = ", ".join(f"{name} {len(models[name])}" for name in sorted(models))
    print(f"{CATALOGUE.name}: {len(text.encode())} bytes; {counts}")


def read_litellm() -> dict[str, Entry]:
    require("litellm", LITELLM)
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    path = Path(spec.submodule_search_locations[0]) / "model_prices_and_context_window_backup.json"
    table: dict[str, Entry] = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    return table


def read_genai_prices() -> dict[str, list[Any]]:
    require("genai-prices", GENAI_PRICES)
    providers = importlib.import_module("genai_prices.data").providers
    return {provider.id: provider.models for provider in providers}


def require(package: str, version: str) -> None:
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        found = "none"
    if found != version:
        sys.exit(f"This needs {package} {version} and found {found}.\n\n{__doc__}")


def models_of(
    provider: str, table: Mapping[str, Entry], prices: Mapping[str, list[Any]]
) -> Iterator[tuple[str, Model]]:
    source, prefix, priced_as = PROVIDERS[provider]
    for key in sorted(table):
        entry = table[key]
        identity = key[len(prefix) :]
        if entry.get("litellm_provider") == source and key.startswith(prefix) and is_usable(provider, identity, entry):
            yield identity, model_of(provider, identity, entry, prices[priced_as])


def is_usable(provider: str, identity: str, entry: Entry) -> bool:
    mode = entry.get("mode")
    if UNUSABLE.search(identity) or not USABLE.get(provider, re.compile("")).search(identity):
        return False
    if provider == "fireworks" and ("source" not in entry or entry.get("deprecation_date", "9999") <= DAY.isoformat()):
        return False  # Without a source they are weights that one may deploy, at a price guessed by their size.
    if mode == "embedding":
        return provider in EMBEDDING_PROVIDERS
    if provider == "google":
        speaks = set(entry.get("supported_endpoints", ["/v1/chat/completions"])) - {"/v1beta/interactions"}
        return bool(speaks) and mode in ("chat", "audio_speech", "image_generation")
    return mode in ("chat", "responses")


def model_of(provider: str, identity: str, entry: Entry, priced: list[Any]) -> Model:
    embedding = entry["mode"] == "embedding"
    kinds = input_kinds_of(entry)
    model: Model = {
        "name": name_of(identity, priced),
        "api": api_of(provider, entry),
        "embedding": embedding,
        "context_window": window_of(identity, entry, priced),
        "max_tokens": None if embedding else entry.get("max_output_tokens"),
        "input": kinds,
        "output": output_kinds_of(identity, entry),
        "reasoning": entry.get("supports_reasoning"),
        "thinking_levels": thinking_levels_of(provider, identity, entry),
        "adaptive_thinking": entry.get("supports_adaptive_thinking"),
        "cost": cost_of(entry, kinds, embedding),
        "retires": entry.get("deprecation_date"),
    }
    return without_unknown(model)


def without_unknown(model: Model) -> Model:
    """Without what the source does not say. A price of 0 stays: it equals False, but is not it."""
    return {key: value for key, value in model.items() if value not in (None, [], {}) and value is not False}


def name_of(identity: str, priced: list[Any]) -> str | None:
    """The name for people, where it says the same as the id. Some names in the source belong to a sibling."""
    for other in priced:
        if other.id == identity and other.name and other.name != other.name.lower():
            words = [re.sub(r"[^a-z0-9]", "", text.lower()) for text in (other.name, identity.rpartition("/")[2])]
            return str(other.name) if words[0] == words[1] else None
    return None


def api_of(provider: str, entry: Entry) -> str | None:
    """None stands for openai-chat, the default."""
    if provider in APIS:
        return APIS[provider]
    chats = "/v1/chat/completions" in entry.get("supported_endpoints", ["/v1/chat/completions"])
    return None if entry["mode"] == "embedding" or (entry["mode"] == "chat" and chats) else "openai-responses"


def window_of(identity: str, entry: Entry, priced: list[Any]) -> int | None:
    """The whole window. litellm gives only its part for the prompt where OpenAI documents the two parts apart."""
    prompt, answer = entry.get("max_input_tokens"), entry.get("max_output_tokens")
    if prompt and answer:
        wholes = [other.context_window for other in priced if other.match.is_match(identity)]
        if prompt + answer in wholes:
            return int(prompt + answer)
    return prompt


def input_kinds_of(entry: Entry) -> list[str]:
    kinds = {"text", *entry.get("supported_modalities", ())}
    kinds |= {kind for flag, kind in INPUT_FLAGS.items() if entry.get(flag)}
    kinds -= {kind for flag, kind in INPUT_FLAGS.items() if entry.get(flag) is False}
    return [kind for kind in INPUT_KINDS if kind in kinds]


def output_kinds_of(identity: str, entry: Entry) -> list[str] | None:
    """None stands for text alone, the default."""
    if entry["mode"] == "audio_speech" or identity.endswith("-tts"):
        return ["audio"]
    return ["text", "image"] if entry["mode"] == "image_generation" else None


def thinking_levels_of(provider: str, identity: str, entry: Entry) -> list[str] | None:
    """The levels a request may name, or None where the source does not settle all of them."""
    if not entry.get("supports_reasoning"):
        return None
    if "reasoning_effort_levels" in entry:
        offered = {"off" if level == "none" else level for level in entry["reasoning_effort_levels"]}
        return [level for level in LEVELS if level in offered]
    flags = {level: entry.get(LEVEL_FLAG.format("none" if level == "off" else level)) for level in LEVELS}
    if provider == "anthropic" and flags["max"]:
        flags["off"] = not entry.get("thinking_always_on")
    elif provider in ("azure", "openai") and flags["off"] is not None and flags["minimal"] is not None:
        if "-pro" in identity and flags["low"] is None:
            return None  # The pro models lack some of low, medium and high, and the source has no word on which.
    else:
        return None
    usual = {level: True for level in ("low", "medium", "high") if flags[level] is None}
    return [level for level in LEVELS if (flags | usual)[level]]


def cost_of(entry: Entry, kinds: list[str], embedding: bool) -> Model:
    if "audio" not in kinds:
        entry = {key: value for key, value in entry.items() if not key.startswith(RATES["input_audio"])}
    cost = service_cost(entry, "")
    if embedding and "input" in cost:
        cost["output"] = 0  # There are no output tokens to pay for; everywhere else a zero means "not known".
    services = {name: service_cost(entry, f"_{name}") for name in SERVICES}
    return without_unknown(cost | {"services": without_unknown(services), "off_peak": off_peak_cost(entry)})


def service_cost(entry: Entry, service: str) -> Model:
    found = re.compile(rf"^input_cost_per_token(_above_(\d+)k_tokens){service}$")
    rates = {int(match[2]) * 1000: rates_of(entry, match[1] + service) for match in map(found.match, entry) if match}
    tiers = [{"above": start, **rates[start]} for start in sorted(rates) if rates[start]]
    return without_unknown({**rates_of(entry, service), "tiers": tiers})


def rates_of(entry: Entry, suffix: str) -> Model:
    rates = {name: entry.get(field + suffix) for name, field in RATES.items()}
    for modality, plain in (("input_audio", "input"), ("output_image", "output")):
        if rates[modality] == rates[plain]:
            del rates[modality]
    return {name: number(Decimal(rate) * 1_000_000) for name, rate in rates.items() if rate}


def off_peak_cost(entry: Entry) -> Model:
    """The lower rates of certain hours; weekdays count from Monday = 1."""
    hours = entry.get("off_peak_pricing")
    if not hours:
        return {}
    windows = [
        {
            "weekdays": window["weekdays"],
            "hours_utc": [window["hours_utc"]] if isinstance(window["hours_utc"], str) else window["hours_utc"],
        }
        for window in hours["windows"]
    ]
    return rates_of(hours, "") | {"windows": windows}


def number(price: Decimal) -> int | float:
    """The price as a number whose JSON text is the exact decimal. Beyond nine digits there is only binary noise."""
    rounded = Decimal(f"{price:.9g}")
    plain = int(rounded) if rounded == rounded.to_integral_value() else float(rounded)
    assert Decimal(repr(plain)) == rounded
    return plain


def openrouter_models(priced: list[Any], models: Mapping[str, Mapping[str, Model]]) -> Iterator[tuple[str, Model]]:
    """OpenRouter's models; what a model can see and whether it reasons is taken from its vendor's own entry."""
    for other in sorted(priced, key=lambda model: str(model.id)):
        vendor, _, name = other.id.partition("/")
        is_free = other.id.endswith(":free")
        batch_or_moving = other.id.endswith(":batch") or other.id.startswith("~")
        withdrawn = is_free and not other.context_window
        if not name or batch_or_moving or withdrawn or re.search(r"lyria|omni-1|gpt-audio", name):
            continue
        cost = {"input": 0, "output": 0} if is_free else openrouter_cost(other.prices)
        own = models.get(OPENROUTER_VENDORS.get(vendor, ""), {})
        known = own.get(name) or own.get(name.replace(".", "-")) or {}
        lives = known.get("retires", "9999") >= DAY.isoformat()
        inherited = {key: known[key] for key in ("input", "output", "reasoning") if lives and key in known}
        head = {"name": other.name, "context_window": other.context_window}
        yield other.id, without_unknown(head | inherited | {"cost": cost})


def openrouter_cost(prices: Any) -> Model:
    if isinstance(prices, list):
        valid = [dated for dated in prices if dated.constraint is None or dated.constraint.start_date <= DAY]
        prices = valid[-1].prices
    found = {name: getattr(prices, field) for name, field in OPENROUTER_RATES.items()}
    cost: Model = {name: number(getattr(price, "base", price)) for name, price in found.items() if price}
    tiers: dict[int, Model] = {}
    for name, price in found.items():
        for tier in getattr(price, "tiers", ()):
            tiers.setdefault(tier.start, {})[name] = number(tier.price)
    if tiers:
        cost["tiers"] = [{"above": start} | tiers[start] for start in sorted(tiers)]
    return cost


def as_text(models: Mapping[str, Mapping[str, Model]]) -> str:
    """JSON with one model a line, so that a diff reads as a list of changed models."""
    head = {
        "version": 1,
        "made_by": "scripts/make_catalogue.py",
        "day": DAY.isoformat(),
        "source": SOURCE,
        "licence_text": MIT,
        "unit": "USD per million tokens",
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    blocks = []
    for provider in sorted(models):
        rows = [f"{json.dumps(key)}: {compact(model)}" for key, model in sorted(models[provider].items())]
        blocks.append(f"{json.dumps(provider)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{\n" + "\n".join(lines) + '\n"models": {\n' + ",\n".join(blocks) + "\n}}\n"


def compact(model: Model) -> str:
    return json.dumps(model, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    main()
