"""What a model is sent, and a snapshot of what an agent holds (source: Y SP-019; A AgentContext, Context)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .errors import InvalidDataError

if TYPE_CHECKING:
    from .messages import Message


def tools_by_name(tools: Mapping[str, Any] | Iterable[Any] | None) -> Mapping[str, Any] | None:
    """Tools as a read-only mapping by name, in the order given; two of one name are an error."""
    if tools is None:
        return None
    given = tools.values() if isinstance(tools, Mapping) else tools
    found: dict[str, Any] = {}
    for tool in given:
        name = getattr(tool, "name", None)
        if not isinstance(name, str) or not name:
            raise InvalidDataError(f"{tool!r} is no tool; make one of it with agent_magic.tool", "tools")
        if name in found:
            raise InvalidDataError(f"two tools are named {name!r}; give one of them another name", "tools")
        found[name] = tool
    return MappingProxyType(found)


@dataclass(frozen=True, init=False)
class Context:
    """What a model is sent: converted messages (source: A Context)."""

    system_prompt: str
    messages: tuple[Message, ...]
    tools: Mapping[str, Any] | None

    def __init__(
        self,
        system_prompt: str = "",
        messages: Iterable[Message] = (),
        tools: Mapping[str, Any] | Iterable[Any] | None = None,
    ) -> None:
        object.__setattr__(self, "system_prompt", system_prompt)
        object.__setattr__(self, "messages", tuple(messages))
        object.__setattr__(self, "tools", tools_by_name(tools))


@dataclass(frozen=True, init=False)
class AgentContext:
    """A snapshot of an agent's state: its own messages, of any kind (source: Y SP-019, A AgentContext)."""

    system_prompt: str
    messages: tuple[Any, ...]
    tools: Mapping[str, Any] | None

    def __init__(
        self,
        system_prompt: str = "",
        messages: Iterable[Any] = (),
        tools: Mapping[str, Any] | Iterable[Any] | None = None,
    ) -> None:
        object.__setattr__(self, "system_prompt", system_prompt)
        object.__setattr__(self, "messages", tuple(messages))
        object.__setattr__(self, "tools", tools_by_name(tools))
