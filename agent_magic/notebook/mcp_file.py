"""The `.mcp.json` beside a notebook, and which such files the user has allowed to start what they name.

A file comes with a folder, and so perhaps from somebody else: nothing of it starts before the user has seen its
commands. What is allowed is one content of one file, by its path and hash, and is kept in the user's own folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import AgentMagicError, InvalidDataError
from ..session.location import data_folder
from ..tools.mcp_config import MCPServerConfig, parse_file

NAME = ".mcp.json"
ALLOWED = "mcp-allowed.json"
# Digits of the hash that stand for the file when the user allows it.
DIGITS = 10


@dataclass(frozen=True)
class ServersFile:
    """One content of a `.mcp.json`."""

    path: Path
    content: bytes
    configs: tuple[MCPServerConfig, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def digits(self) -> str:
        return self.digest[:DIGITS]


def read_servers(folder: Path) -> ServersFile | None:
    """The file in `folder`, None where there is none. Raises `AgentMagicError` for one that cannot be used."""
    path = folder.resolve() / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AgentMagicError(f"{path} cannot be read: {error}") from error
    try:
        return ServersFile(path, content, parse_file(content, folder))
    except InvalidDataError as error:
        raise InvalidDataError(f"{error.message} (in {path})", error.path) from None


def is_allowed(file: ServersFile) -> bool:
    """Whether the user allowed this content of this file."""
    return _allowed().get(str(file.path)) == file.digest


def allow(file: ServersFile) -> None:
    """From now on this content of this file may be started, in every kernel of the user."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / ALLOWED, {**_allowed(), str(file.path): file.digest})


def _allowed() -> dict[str, Any]:
    try:
        found = json.loads((data_folder() / ALLOWED).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save(folder: Path, name: str, entry: Mapping[str, Any] | None) -> ServersFile:
    """Write the server `name` into the file in `folder`, or take it out where `entry` is None.

    What was allowed stays allowed, and so is a file that did not exist; one that was not allowed is not.
    """
    before = read_servers(folder)
    data: dict[str, Any] = {} if before is None else json.loads(before.content)
    key = "servers" if isinstance(data.get("servers"), dict) and "mcpServers" not in data else "mcpServers"
    servers = {**data.get(key, {})}
    if entry is None:
        servers.pop(name, None)
    else:
        servers[name] = dict(entry)
    trusted = before is None or is_allowed(before)
    _write(folder.resolve() / NAME, {**data, key: servers})
    after = read_servers(folder)
    assert after is not None
    if trusted:
        allow(after)
    return after


def _write(path: Path, data: Mapping[str, Any]) -> None:
    """Replace the file whole, so that nobody reads half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2, ensure_ascii=False)
            file.write("\n")
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
