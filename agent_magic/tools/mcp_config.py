"""Which MCP servers there are and how each is reached: `.mcp.json` of the usual form, as plain data."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import InvalidDataError
from ..secret import BLANKED, shown_url

# `${NAME}`, `${NAME:-otherwise}`, and `${env:NAME}` as one editor writes it.
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_HTTP_TYPES = ("http", "streamable-http", "streamableHttp")
# Under which files of several programs have the servers.
_KEYS = ("mcpServers", "servers")


@dataclass(frozen=True)
class MCPServerConfig:
    """One server: a `command` with `args`, `env` and `cwd`, or a `url` with `headers`.

    Texts may hold `${NAME}` or `${NAME:-otherwise}`, which `expanded()` replaces from the environment.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """What would be started or reached, in one line; values that are likely secrets are hidden."""
        if self.url:
            headers = "".join(f", {name}: {BLANKED}" for name in self.headers)
            return shown_url(self.url) + headers
        variables = [
            f"{name}={BLANKED if _SECRET_NAME.search(name) and not _VARIABLE.fullmatch(value) else shlex.quote(value)}"
            for name, value in self.env.items()
        ]
        place = f"  (in {self.cwd})" if self.cwd else ""
        return " ".join([*variables, shlex.join([self.command, *self.args])]) + place

    def expanded(self, environment: Mapping[str, str] | None = None) -> MCPServerConfig:
        """With every variable replaced. Raises `InvalidDataError` for one that is not set."""
        known = os.environ if environment is None else environment

        def text(given: str) -> str:
            return _VARIABLE.sub(value, given)

        def value(found: re.Match[str]) -> str:
            name, otherwise = found.groups()
            if name in known:
                return known[name]
            if otherwise is None:
                raise InvalidDataError(f"the environment variable {name} is not set; set it, then start {self.name}")
            return str(otherwise)

        return replace(
            self,
            command=text(self.command),
            args=tuple(map(text, self.args)),
            env={name: text(each) for name, each in self.env.items()},
            cwd=None if self.cwd is None else text(self.cwd),
            url=text(self.url),
            headers={name: text(each) for name, each in self.headers.items()},
        )


def read_configs(data: Any, folder: str | os.PathLike[str] | None = None) -> tuple[MCPServerConfig, ...]:
    """The servers that `data` describes, in its order.

    `data` maps names to objects, to whole commands or to URLs, or has such a mapping under `mcpServers` or `servers`,
    or is an iterable of `MCPServerConfig`. A command runs in `folder` unless it has a `cwd`. Servers that are
    `disabled` are left out. Raises `InvalidDataError` with the place of the fault.
    """
    if isinstance(data, Mapping):
        for key in _KEYS:
            if isinstance(data.get(key), Mapping):
                data = data[key]
                break
        found = [
            _config(name, each, folder)
            for name, each in data.items()
            if not (isinstance(each, Mapping) and each.get("disabled") is True)
        ]
        return tuple(found)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        configs = tuple(data)
        if all(isinstance(each, MCPServerConfig) for each in configs):
            return configs
    raise InvalidDataError("MCP servers are given as an object of names and servers, as in .mcp.json")


def parse_file(text: str | bytes, folder: str | os.PathLike[str]) -> tuple[MCPServerConfig, ...]:
    """The servers of a `.mcp.json` with this content. Raises `InvalidDataError`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidDataError(f"is no JSON: {error}") from None
    if not isinstance(data, Mapping) or not any(isinstance(data.get(key), Mapping) for key in _KEYS):
        raise InvalidDataError("must be an object, with the servers by name under mcpServers", "mcpServers")
    return read_configs(data, folder)


def _config(name: Any, data: Any, folder: str | os.PathLike[str] | None) -> MCPServerConfig:
    place = f"mcpServers.{name}"
    if not isinstance(name, str) or not name.strip():
        raise InvalidDataError("a server needs a name", place)
    if isinstance(data, MCPServerConfig):
        return replace(data, name=name)
    if isinstance(data, str):
        return config_of(name, shlex.split(data), folder)
    if not isinstance(data, Mapping):
        raise InvalidDataError("must be an object with a command or a url", place)
    kind = data.get("type") or data.get("transport")
    url = _text(data, "url", place) or _text(data, "httpUrl", place) or _text(data, "serverUrl", place)
    command = _text(data, "command", place)
    if kind == "sse":
        raise InvalidDataError(
            'the old transport "sse" is not spoken here; servers have had "http" (streamable HTTP) since 2025', place
        )
    if kind not in (None, "stdio", *_HTTP_TYPES):
        raise InvalidDataError(f"must be stdio or http, not {kind!r}", f"{place}.type")
    if bool(url) == bool(command):
        raise InvalidDataError("needs either a command or a url", place)
    if url and not url.startswith(("http://", "https://", "${")):
        raise InvalidDataError("must begin with http:// or https://", f"{place}.url")
    args = data.get("args") or ()
    if not isinstance(args, (list, tuple)) or not all(isinstance(each, str) for each in args):
        raise InvalidDataError("must be a list of texts", f"{place}.args")
    env, headers = _texts(data, "env", place), _texts(data, "headers", place)
    if url:
        return MCPServerConfig(name, url=url, headers=headers)
    own = _text(data, "cwd", place)
    cwd = str(Path(folder or "").joinpath(own)) if own else None if folder is None else str(folder)
    return MCPServerConfig(name, command, tuple(args), env, cwd)


def config_of(name: str, words: Iterable[str], folder: str | os.PathLike[str] | None = None) -> MCPServerConfig:
    """The server that these words name: one URL, or a command and its arguments."""
    first, *rest = [*words] or [""]
    if first.startswith(("http://", "https://")) and not rest:
        return _config(name, {"url": first}, folder)
    return _config(name, {"command": first, "args": rest}, folder)


def _text(data: Mapping[str, Any], key: str, place: str) -> str:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidDataError("must be a text", f"{place}.{key}")
    return value or ""


def _texts(data: Mapping[str, Any], key: str, place: str) -> dict[str, str]:
    value = data.get(key) or {}
    if not isinstance(value, Mapping) or not all(isinstance(each, (str, int, float)) for each in value.values()):
        raise InvalidDataError("must be an object of texts", f"{place}.{key}")
    return {str(name): str(each) for name, each in value.items()}
