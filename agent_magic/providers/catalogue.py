"""Finds models by name: the user's own, the snapshot in `catalogue.json`, local servers and files, and `demo`."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import InvalidDataError, UnknownModelError
from ..models import Model, ModelCost
from .local_files import PREFIX, local_model
from .user_models import user_models
from .vendors import VENDORS, Vendor, base_url_of, vendor_named

_FREE = ModelCost()
# What the catalogue knows of a model beyond the fields of `Model`; adapters read it from `compat`.
_COMPAT = ("thinking_levels", "adaptive_thinking", "embedding", "output")
_SUGGESTIONS = 4

DEMO = Model("demo", api="demo", name="demo: built-in, no language model", cost=_FREE)

Entry = Mapping[str, Any]


def get_model(name: str, **overrides: Any) -> Model:
    """The model of this name, with the fields of `Model` in `overrides` changed.

    `name` is `provider/id`, such as `openai/gpt-5-mini`, `openrouter/anthropic/claude-sonnet-4.5` or `ollama/qwen3`;
    an id alone where only one provider has it; `local:` with the path, or the found name, of a GGUF file; or `demo`.
    With `base_url` any id may be given, with or without a provider; a provider's name in front is always read as the
    provider. Raises `UnknownModelError`, which names near matches and what to do. Nothing is sent.

    >>> get_model("openai/gpt-5-mini").base_url
    'https://api.openai.com/v1'
    >>> get_model("Qwen/Qwen3-8B", base_url="http://127.0.0.1:8000/v1", api_key="any").label
    'Qwen/Qwen3-8B'
    """
    _check_overrides(overrides)
    name = name.strip()
    if name == DEMO.id:
        return DEMO.replace(**overrides)
    if name.startswith((f"{PREFIX}:", f"{PREFIX}/")):
        return local_model(name[len(PREFIX) + 1 :], overrides)
    own = user_models().get(name)
    if own is not None:
        return own.replace(**overrides)
    first, slash, rest = name.partition("/")
    vendor = vendor_named(first) if slash and rest else None
    if vendor is not None:
        return _addressed(_model_of(vendor, rest, overrides))
    if "base_url" in overrides and name:
        return Model(**{"id": name, **overrides})
    owners = [each for each in _vendors_listing(name) if each.name != "azure"]
    if len(owners) == 1:
        return _model_of(owners[0], name, overrides)
    raise UnknownModelError(_advice(name, [f"{owner.name}/{name}" for owner in owners]))


def list_models(provider: str | None = None) -> list[Model]:
    """The models of the user's own file and of the catalogue, all or those of one provider, sorted by provider and id.

    Local servers and other open-ended providers have more than the catalogue lists, or are not listed at all.
    """
    if provider == DEMO.id:
        return [DEMO]
    if provider is None:
        return [
            DEMO,
            *user_models().values(),
            *(_model_of(VENDORS[name], each, {}) for name in sorted(_catalogue()) for each in _catalogue()[name]),
        ]
    own = [model for model in user_models().values() if model.provider == provider]
    vendor = vendor_named(provider)
    if vendor is None and own:
        return own
    if vendor is None:
        near = difflib.get_close_matches(provider.lower(), VENDORS, _SUGGESTIONS)
        did_you_mean = f"Did you mean {_either(near)}? " if near else ""
        raise UnknownModelError(
            f"No provider is named {provider!r}. {did_you_mean}The providers are {', '.join(sorted(VENDORS))}."
        )
    return [*own, *(_model_of(vendor, each, {}) for each in _catalogue().get(vendor.name, {}))]


@lru_cache(maxsize=1)
def _catalogue() -> Mapping[str, Mapping[str, Entry]]:
    text = Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
    models: Mapping[str, Mapping[str, Entry]] = json.loads(text, parse_float=Decimal)["models"]
    return models


def _vendors_listing(identity: str) -> Iterator[Vendor]:
    return (VENDORS[name] for name, models in _catalogue().items() if identity in models)


def _check_overrides(overrides: Mapping[str, Any]) -> None:
    known = [each.name for each in fields(Model)]
    unknown = [name for name in overrides if name not in known]
    if unknown:
        raise InvalidDataError(f"a model has no {', '.join(unknown)}; it has {', '.join(known)}", unknown[0])


def _model_of(vendor: Vendor, identity: str, overrides: Mapping[str, Any]) -> Model:
    entry = {} if vendor.local else _catalogue().get(vendor.name, {}).get(identity)
    base_url = str(overrides.get("base_url") or base_url_of(vendor))
    elsewhere = "base_url" in overrides or base_url != vendor.base_url
    if entry is None and not (vendor.open_ended or vendor.local or elsewhere):
        raise UnknownModelError(_advice(f"{vendor.name}/{identity}", []))
    found = {
        "id": identity,
        "api": vendor.api,
        "provider": vendor.name,
        "base_url": base_url,
        **_fields_of(entry or {}),
    }
    if vendor.local and not vendor.owns(base_url):
        found["cost"] = _FREE
    compat = {**found.get("compat", {}), **overrides.get("compat", {})}
    return Model(**{**found, **overrides, "compat": compat})


def _addressed(model: Model) -> Model:
    """`model`, unless its address is one that only the user knows."""
    if model.base_url:
        return model
    raise UnknownModelError(
        f"{model.label} needs the address of your own resource: set AZURE_OPENAI_ENDPOINT, such as "
        "https://my-resource.openai.azure.com, or give get_model a base_url that ends with /openai/v1."
    )


def _fields_of(entry: Entry) -> dict[str, Any]:
    """A line of the catalogue as fields of `Model`; what it does not say keeps the default."""
    plain = {
        key: entry[key] for key in ("name", "api", "context_window", "max_tokens", "reasoning", "input") if key in entry
    }
    compat = {key: tuple(entry[key]) if isinstance(entry[key], list) else entry[key] for key in _COMPAT if key in entry}
    return {**plain, "cost": _cost_of(entry.get("cost", {})), "compat": compat}


def _cost_of(rates: Mapping[str, Any]) -> ModelCost | None:
    """None where a price is unknown. Cached input of no known price costs what other input does, never nothing."""
    if "input" not in rates or "output" not in rates:
        return None
    plain = rates["input"]
    return ModelCost(
        plain,
        rates["output"],
        rates.get("cache_read", plain),
        rates.get("cache_write", plain),
        rates.get("cache_write_1h"),
        tuple((tier["above"], _cost_of(tier)) for tier in rates.get("tiers", ())),
        tuple((name, _cost_of(service)) for name, service in rates.get("services", {}).items()),
    )


def _advice(name: str, same_id: list[str]) -> str:
    """What to say when `name` was not found, or was found at several providers."""
    first, _, rest = name.partition("/")
    vendor = vendor_named(first) if rest else None
    if same_id:
        return f"Several providers have a model {name!r}: write {_either(same_id)}."
    near = _near(name)
    question = f" Did you mean {_either(near)}?" if near else ""
    if vendor is None:
        return (
            f"No model {name!r} is known.{question} Write provider/id, such as openai/gpt-5-mini or ollama/qwen3; the "
            f"providers are {', '.join(VENDORS)}, and demo needs none. For any other server that speaks the OpenAI "
            "API, add base_url=... to get_model."
        )
    made = f'Model({rest!r}, api="{vendor.api}", provider="{vendor.name}", base_url="{vendor.base_url}")'
    return (
        f"{vendor.name} has no model {rest!r} in the catalogue of this version.{question} "
        f"agent_magic.list_models({vendor.name!r}) lists all; a newer one can be used with agent_magic.{made}."
    )


def _near(name: str) -> list[str]:
    """Names of the catalogue that resemble `name`, those of the same provider first, then those that end with it."""
    first, _, rest = name.lower().partition("/")
    vendor = vendor_named(first)
    if vendor is not None and rest and not vendor.local:
        ids = {each.lower(): each for each in _catalogue().get(vendor.name, {})}
        near = [f"{vendor.name}/{ids[each]}" for each in difflib.get_close_matches(rest, ids, _SUGGESTIONS)]
        if near:
            return near
    labels = [f"{provider}/{each}" for provider, models in _catalogue().items() for each in models]
    inside = [label for label in labels if label.lower().endswith(f"/{name.lower()}")]
    if inside:
        return inside[:_SUGGESTIONS]
    by_id = {
        label.lower().partition("/")[2]: label for label in labels if not label.startswith(("openrouter/", "azure/"))
    }
    by_id[DEMO.id] = DEMO.id
    by_label = {label.lower(): label for label in labels}
    found = [by_label[each] for each in difflib.get_close_matches(name.lower(), by_label, _SUGGESTIONS, 0.75)]
    found += [by_id[each] for each in difflib.get_close_matches(name.lower(), by_id, _SUGGESTIONS, 0.7)]
    return list(dict.fromkeys(found))[:_SUGGESTIONS]


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
