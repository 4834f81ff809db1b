"""`%agent mcp`: which MCP servers there are and how they are; add, remove, start and allow them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError

from ..errors import AgentMagicError, MCPServerError
from ..tools.mcp_config import MCPServerConfig, config_of
from .command import Answer, Words
from .flags import near
from .kernel import NotebookKernel
from .masking import masked
from .mcp_file import DIGITS, NAME, ServersFile, allow, is_allowed, save
from .servers import NotebookServers
from .wording import count, one_line, visible

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_TOOLS_SHOWN = 12


def mcp(kernel: NotebookKernel, words: Words) -> Answer:
    servers = kernel.servers
    what, *rest = words or ("list",)
    if what == "list" and not rest:
        return _list(servers)
    if what == "allow" and len(rest) <= 1:
        return _allow(servers, *rest)
    if what == "add":
        return _add(servers, rest)
    if what == "remove" and rest:
        return _remove(servers, rest)
    if what == "start" and len(rest) == 1:
        return _start(servers, rest[0])
    return None


# The list -------------------------------------------------------------------------------------------------------------


def _list(servers: NotebookServers) -> str:
    trouble = ""
    try:
        servers.start_allowed()
        if servers.states():
            servers.running.wait(1.0)
    except AgentMagicError as error:
        trouble = _shown(str(error))
    lines = [line for state in servers.states() for line in _lines(state)]
    if trouble:
        lines.append(trouble)
    elif (file := servers.waiting()) is not None:
        lines += _question(file)
    if lines:
        return "\n".join(lines)
    return (
        f"There are no MCP servers. Add one with %agent mcp add NAME COMMAND ..., or %agent mcp add NAME URL, "
        f"or write a {NAME} beside the notebook."
    )


def _lines(state: Any) -> list[str]:
    lines = [f"{visible(state.name)}  {state.state}  {_shown(state.shown)}"]
    if state.error:
        lines += [f"    {line}" for line in _shown(state.error).splitlines()]
    elif state.state == "connected":
        names = ", ".join(state.tools[:_TOOLS_SHOWN]) + (", …" if len(state.tools) > _TOOLS_SHOWN else "")
        left_out = f" ({state.left_out:,} more were left out)" if state.left_out else ""
        lines.append(f"    {count(len(state.tools), 'tool')}: {names}{left_out}" if state.tools else "    no tools")
    if state.output and not state.error:
        lines.append(f"    it printed: {one_line(masked(state.output.splitlines()[-1]))}")
    return lines


def _question(file: ServersFile) -> list[str]:
    """What would be started, whole, and the line that allows it. The digits in it are the file's own."""
    return [
        f"{NAME} beside this notebook names {count(len(file.configs), 'server')}; nothing of it has been started:",
        *(f"    {visible(config.name)}: {_shown(config.shown)}" for config in file.configs),
        f"If you trust these commands, start them with: %agent mcp allow {file.digits}",
    ]


def _shown(text: str) -> str:
    return masked(visible(text))


# Changes --------------------------------------------------------------------------------------------------------------


def _allow(servers: NotebookServers, digits: str = "") -> str:
    file = servers.file()
    if file is None or not file.configs:
        return f"There is no {NAME} with servers beside this notebook, so there is nothing to allow."
    if not digits and is_allowed(file):
        return f"{NAME} is allowed as it is.\n{_list(servers)}"
    if not digits:
        return "\n".join(_question(file))
    if digits != file.digits:
        raise UsageError(
            f"{NAME} is not the file that these {DIGITS} digits stand for; it may have been changed. "
            "Look at it again: %agent mcp"
        )
    allow(file)
    servers.start_allowed()
    servers.running.wait()
    return _list(servers)


def _add(servers: NotebookServers, words: list[str]) -> Answer:
    words, variables, keep = _options(words)
    if len(words) < 2:
        return None
    name, *command = words
    if not _NAME.fullmatch(name):
        raise UsageError("The name of a server has letters, digits, dots, dashes and underscores, at most 40.")
    config = replace(config_of(name, command, servers.home), env=variables)
    # As with %pip, what is meant is the Python of this kernel, wherever the search path leads.
    mine = config.command in ("python", "python3")
    servers.add(replace(config, command=sys.executable) if mine else config)
    servers.running.wait()
    state = next(each for each in servers.states() if each.name == name)
    if state.state == "failed":
        raise MCPServerError(name, _shown(state.error))
    lines = _lines(state)
    if keep:
        lines += _kept(save(servers.home, name, _entry(config)))
    return "\n".join(lines)


def _options(words: list[str]) -> tuple[list[str], dict[str, str], bool]:
    """The words behind the options, the variables of the environment to hand on, and whether to save."""
    variables: dict[str, str] = {}
    keep = False
    while words and words[0].startswith("-"):
        option, *words = words
        if option == "--save":
            keep = True
        elif option == "-e" and words:
            name, *words = words
            if not name.isidentifier():
                raise UsageError("-e takes the name of a variable of the environment, and hands its value on.")
            variables[name] = f"${{{name}}}"
        else:
            raise UsageError(f"There is no option {option} of %agent mcp add; there are --save and -e VARIABLE.")
    return words, variables, keep


def _entry(config: MCPServerConfig) -> Mapping[str, Any]:
    """The server as the file has it; it runs in the folder of the file anyway."""
    if config.url:
        return {"type": "http", "url": config.url}
    entry: dict[str, Any] = {"command": config.command, "args": list(config.args)}
    return {**entry, "env": dict(config.env)} if config.env else entry


def _kept(file: ServersFile) -> list[str]:
    lines = [f"Saved in {NAME} beside this notebook."]
    return lines if is_allowed(file) else [*lines, "You have not allowed that file yet: %agent mcp allow"]


def _remove(servers: NotebookServers, words: list[str]) -> Answer:
    words, variables, keep = _options(words)
    if len(words) != 1 or variables:
        return None
    (name,) = words
    file = servers.file()
    in_file = file is not None and any(config.name == name for config in file.configs)
    if not servers.remove(name) and not (keep and in_file):
        raise _unknown(servers, name)
    if not in_file:
        return f"The MCP server {name} is gone."
    if not keep:
        advice = f"To take it out of {NAME} too: %agent mcp remove --save {name}"
        return f"The MCP server {name} is gone from this kernel. {advice}"
    save(servers.home, name, None)
    return f"The MCP server {name} is gone, also from {NAME}."


def _start(servers: NotebookServers, name: str) -> str:
    servers.start_allowed()
    if not any(each.name == name for each in servers.states()):
        raise _unknown(servers, name)
    servers.running.restart(name)
    servers.running.wait()
    return "\n".join(line for state in servers.states() if state.name == name for line in _lines(state))


def _unknown(servers: NotebookServers, name: str) -> UsageError:
    names = [state.name for state in servers.states()]
    return UsageError(f"There is no MCP server {visible(name)}.{near(name, names)} %agent mcp lists them.")
