"""`%agent models`: what can be chosen, what an endpoint really serves, and which servers run on this machine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from ..models import Model, ModelCost
from .command import Answer, Words
from .kernel import NotebookKernel
from .wording import count, one_line, visible

if TYPE_CHECKING:
    from ..providers.endpoints import Endpoint

T = TypeVar("T")

# The rows of one answer; a longer list is better searched.
_ROWS = 60
_HEAD = ("model", "window", "USD per million in / out", "input", "thinking", "key")

_MORE = """\
%agent models FILTER    those that match
%agent models local     the servers and model files of this machine
%agent models at URL    what a server serves"""


def models(kernel: NotebookKernel, words: Words) -> Answer:
    if list(words) == ["local"]:
        return _local()
    if words and words[0] == "at":
        return _at(words[1]) if len(words) == 2 else None
    return _known(words[0] if words else "") if len(words) <= 1 else None


# The catalogue -------------------------------------------------------------------------------------------------------


def _known(part: str) -> str:
    from ..providers.catalogue import list_models

    listed = list_models()
    found = found_models(part)
    if part:
        if not found:
            return f"No known model has {one_line(part)!r} in its name. %agent models at URL asks a server itself."
        return _table(found)
    providers: dict[str, int] = {}
    for model in listed:
        providers[model.provider] = providers.get(model.provider, 0) + 1
    counts = ", ".join(f"{name} {count}" for name, count in providers.items() if name)
    return "\n".join(
        [
            _table(found),
            "",
            f"The catalogue has: {counts}.",
            _MORE,
        ]
    )


def found_models(part: str) -> list[Model]:
    """The models whose name or id holds `part`, those first that could be used at once; without it only those.

    A vendor's own models come before those that others resell.
    """
    from ..providers.catalogue import list_models
    from ..providers.vendors import VENDORS

    vendors = list(VENDORS)

    def place(model: Model) -> tuple[bool, int, int]:
        # What is resold names its maker, too: openrouter/openai/gpt-5.
        parts = model.label.count("/")
        return not has_key(model), parts, vendors.index(model.provider) if model.provider in vendors else -1

    found = [model for model in list_models() if part.lower() in f"{model.label} {model.name}".lower()]
    return sorted((model for model in found if part or has_key(model)), key=place)


def has_key(model: Model) -> bool:
    """Whether the model could be used at once: it needs no key, or there is one."""
    return _key(model) != "no key"


def described(model: Model) -> dict[str, Any]:
    """What a page shows of a model that can be chosen."""
    from ..providers.thinking import offered_levels

    return {
        "id": model.label,
        "window": model.context_window,
        "prices": prices(model.cost),
        "thinking": [str(level) for level in offered_levels(model)],
        "key": has_key(model),
    }


def _table(found: Sequence[Model]) -> str:
    rows = [_HEAD, *(_row(model) for model in found[:_ROWS])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
    lines = ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if len(found) > _ROWS:
        lines.append(f"... and {len(found) - _ROWS} more; add a word to the filter.")
    return "\n".join(lines)


def _row(model: Model) -> tuple[str, ...]:
    from ..providers.thinking import offered_levels

    levels = " ".join(offered_levels(model)) or ("yes" if model.reasoning else "-")
    return (
        visible(model.label),
        _tokens(model.context_window),
        prices(model.cost),
        " ".join(model.input),
        levels if model.reasoning else "-",
        _key(model),
    )


def _tokens(count: int | None) -> str:
    if count is None:
        return "?"
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{round(count / size, 1):g}{unit}"
    return str(count)


def prices(cost: ModelCost | None) -> str:
    """US dollars of a million tokens, in and out, in words."""
    if cost is None:
        return "?"
    if cost == ModelCost():
        return "free"
    dearer = f" (more above {_tokens(cost.tiers[0][0])})" if cost.tiers else ""
    return f"{_plain(cost.input)} / {_plain(cost.output)}{dearer}"


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def _key(model: Model) -> str:
    """Whether there is a key, never a part of it. The keyring is not asked."""
    from ..providers.keys import host_of, vendor_of, where_key_is
    from ..providers.vendors import vendor_named

    if model.secret is not None:
        return "own"
    vendor = vendor_of(model.base_url) if model.base_url else vendor_named(model.provider)
    if vendor is None:
        return "given" if where_key_is(host_of(model.base_url)) else "-"
    return "yes" if where_key_is(vendor.name) else "no key"


# Servers -------------------------------------------------------------------------------------------------------------


def _local() -> str:
    from ..providers.endpoints import local_servers
    from ..providers.local_files import find_models

    lines: list[str] = []
    for endpoint in _awaited(local_servers):
        lines += _served(endpoint)
    if not lines:
        lines = ["No server of Ollama, LM Studio, vLLM or llama.cpp answers on this machine."]
    files = find_models()
    lines += [
        "",
        f"Model files, run in this kernel by agent-magic[local]: {'none found' if not files else ''}".rstrip(),
    ]
    lines += [f"    local:{visible(name)}" for name in list(files)[:_ROWS]]
    return "\n".join([*lines, "", "%agent model ID chooses one; local:PATH takes a GGUF file from anywhere."])


def _at(place: str) -> str:
    from ..providers.endpoints import served_models

    endpoint = _awaited(lambda: served_models(place))
    lines = _served(endpoint)
    if not endpoint.provider:
        lines.append(
            f'Choose one: m = agent_magic.get_model("ID", base_url="{visible(endpoint.base_url)}"), then %agent model m'
        )
    return "\n".join(lines)


def _served(endpoint: Endpoint) -> list[str]:
    names = [f"{endpoint.provider}/{name}" if endpoint.provider else name for name in endpoint.models]
    head = f"{endpoint.provider or 'The server'} at {visible(endpoint.base_url)} serves {count(len(names), 'model')}"
    return [f"{head}{':' if names else '.'}", *(f"    {visible(name)}" for name in names)]


def _awaited(coroutine_function: Callable[[], Coroutine[Any, Any, T]]) -> T:
    from ..agent.background import run_blocking

    # Nothing is to be aborted: each request ends by itself within seconds.
    return run_blocking(coroutine_function, lambda: None)
