"""Models that the user defines in a file: `models.json` in the configuration folder of agent_magic.

    {"models": {"lab/qwen3-32b": {"base_url": "https://models.example.org/v1", "api_key_variable": "LAB_KEY"}}}

The name of each is what `get_model` takes, `provider/id` or an id alone, and goes before the catalogue. Its fields are
those of `Model` but id and provider, all optional: api, base_url, name, reasoning, input, cost (with tiers and
services), context_window, max_tokens, headers, compat. Keys do not stand in the file: `api_key_variable` names the
environment variable that holds one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .. import reading as read
from ..errors import InvalidDataError
from ..models import Model
from ..stored_models import model_from_json

FILE = "models.json"
# As this package writes them, and as stored models have them.
_FIELDS = ("api", "base_url", "name", "reasoning", "input", "cost", "context_window", "max_tokens", "headers", "compat")
_KEY = "api_key_variable"
_KNOWN = {*_FIELDS, _KEY, "baseUrl", "contextWindow", "maxTokens", "apiKeyVariable"}


def config_folder() -> Path:
    """The user's folder for settings of this package, by platform; `AGENT_MAGIC_CONFIG` names another."""
    chosen = os.environ.get("AGENT_MAGIC_CONFIG")
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return base / "agent_magic"


def user_models() -> Mapping[str, Model]:
    """The models of the file by name, none where there is no file. It is read again when it has changed.

    Raises `InvalidDataError`, whose path begins with that of the file.
    """
    path = config_folder() / FILE
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return {}
    # The file is kept as it was read, but a key may be set, or renewed, at any time.
    return {name: model.replace(api_key=_key_in(variable)) for name, (model, variable) in _read(path, changed).items()}


def _key_in(variable: str | None) -> str | None:
    return os.environ.get(variable, "").strip() or None if variable else None


@lru_cache(maxsize=1)
def _read(path: Path, changed: int) -> Mapping[str, tuple[Model, str | None]]:
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
        return _models(data)
    except OSError as error:
        fault = InvalidDataError(f"cannot be read: {error.strerror}", str(path))
    except InvalidDataError as error:
        fault = InvalidDataError(error.message, f"{path}: {error.path}".removesuffix(": "))
    except ValueError as error:
        fault = InvalidDataError(f"is no JSON: {error}. Correct or remove the file.", str(path))
    raise fault


def _models(data: Any) -> Mapping[str, tuple[Model, str | None]]:
    given = _object(data, {"models"}, ("models",)).get("models")
    named = read.at("models", lambda each: read.mapping(each, "models by name"), given)
    return MappingProxyType(
        {name: read.at(f"models[{name!r}]", partial(_model, name), each) for name, each in named.items()}
    )


def _model(name: str, data: Any) -> tuple[Model, str | None]:
    """The model but for its key, and the variable that holds that."""
    fields = dict(_object(data, _KNOWN, (*_FIELDS, _KEY)))
    headers = read.at("headers", lambda each: read.mapping(each, "headers by name"), fields.pop("headers", {}))
    variable = read.optional_text(fields, _KEY, "apiKeyVariable")
    provider, slash, identity = name.partition("/")
    model = model_from_json({**fields, "id": identity if slash else name, "provider": provider if slash else ""})
    return model.replace(headers={each: str(value) for each, value in headers.items()}), variable


def _object(data: Any, known: set[str], told: tuple[str, ...]) -> Mapping[str, Any]:
    fields = read.mapping(data, "an object")
    unknown = next((name for name in fields if name not in known), None)
    if unknown is not None:
        raise InvalidDataError(f"is not known here; known are {', '.join(told)}", str(unknown))
    return fields
