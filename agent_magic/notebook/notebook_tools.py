"""Which tools the kernel's agent has: those the notebook defines, those bound to a name, less those switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..tools.tool import AgentTool


class NotebookTools:
    """The tools of a notebook. `off` holds names that are switched off; `only`, unless None, those one cell wants."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._defined: dict[str, AgentTool] = {}
        self._builtin: dict[str, AgentTool] = {}
        self._exist: dict[str, Callable[[], bool]] = {}
        self.off: set[str] = set()
        self.only: frozenset[str] | None = None

    def provide(self, tools: Iterable[AgentTool], on: bool, exist: Callable[[], bool] | None = None) -> None:
        """Offer tools of ours, while they `exist()`; those of the notebook and of the agent go before them."""
        for tool in tools:
            self._builtin[tool.name] = tool
            if exist is not None:
                self._exist[tool.name] = exist
            if not on and tool.name not in self._defined:
                self.off.add(tool.name)

    @property
    def builtin(self) -> Mapping[str, AgentTool]:
        """The tools of ours by name, switched on or off."""
        return self._builtin

    def define(self, tool: AgentTool) -> None:
        """Take in a tool that was just made, if its function was defined in the notebook. A later one replaces it."""
        function = getattr(tool, "function", tool.execute)
        if getattr(function, "__module__", None) == self._namespace.get("__name__"):
            # What is off is the tool of ours that this one hides.
            if tool.name in self._builtin and tool.name not in self._defined:
                self.off.discard(tool.name)
            self._defined[tool.name] = tool

    def known(self, others: Mapping[str, AgentTool]) -> dict[str, AgentTool]:
        """All tools by name: ours, then `others`, which were given to the agent, then those of the notebook."""
        ours = {name: tool for name, tool in self._builtin.items() if name not in self._exist or self._exist[name]()}
        found = {**ours, **others, **self._defined}
        # A copy, since other threads may bind names meanwhile.
        for name, value in list(self._namespace.items()):
            # By the type: an object of the user's may fail when it is asked for its class.
            if issubclass(type(value), AgentTool) and not name.startswith("_"):
                found[value.name] = value
        return found

    def allows(self, name: str) -> bool:
        return name not in self.off if self.only is None else name in self.only
