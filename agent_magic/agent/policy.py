"""Who may run what: the policy decides, the approver asks a person, and what was approved is what runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol, runtime_checkable

from ..errors import InvalidDataError
from ..messages import ToolCall

Decision = Literal["allow", "ask", "deny"]
Scope = Literal["once", "always"]

DECISIONS = ("allow", "ask", "deny")


def hash_of_arguments(arguments: Mapping[str, Any]) -> str:
    """The SHA-256 of the arguments as sorted JSON, in hexadecimal digits."""
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class ApprovalAnswer:
    """What a person, or who stands for one, said to a request.

    An answer that allows names the hash of the arguments it was given for. `arguments`, if not None, are edited ones;
    they are validated again, and the hash is theirs. `reason` is the word to the model that goes with a denial.
    `request.allow()` and `request.deny()` make answers that fit.
    """

    decision: Literal["allow", "deny"]
    scope: Scope = "once"
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    arguments_hash: str = ""

    def __post_init__(self) -> None:
        if self.decision not in ("allow", "deny"):
            raise InvalidDataError(f"must be allow or deny, not {self.decision!r}", "decision")
        if self.scope not in ("once", "always"):
            raise InvalidDataError(f"must be once or always, not {self.scope!r}", "scope")


@dataclass(frozen=True)
class ApprovalRequest:
    """A call that waits for a decision.

    `call` is what the model sent, `arguments` what would run (a hook may have changed them), `reason` says why
    somebody is asked.
    """

    id: str
    call: ToolCall
    arguments: Mapping[str, Any]
    arguments_hash: str
    tool: Any
    reason: str = ""

    def allow(self, scope: Scope = "once", arguments: Mapping[str, Any] | None = None) -> ApprovalAnswer:
        """Yes, to these arguments or to the edited ones given."""
        chosen = self.arguments_hash if arguments is None else hash_of_arguments(arguments)
        return ApprovalAnswer("allow", scope, "", arguments, chosen)

    def deny(self, reason: str = "") -> ApprovalAnswer:
        """No, with a word to the model."""
        return ApprovalAnswer("deny", "once", reason)


@runtime_checkable
class Approver(Protocol):
    """Asks somebody. `ask` is awaited, one request at a time, and cancelled when the run is stopped."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer: ...


# By the origin of a tool and its effect; what a table does not name is asked.
KERNEL_TABLE: Mapping[str, Mapping[str, Decision]] = MappingProxyType(
    {
        "user": {"read": "allow", "write": "allow", "execute": "ask", "network": "ask"},
        "builtin": {"read": "allow", "write": "ask", "execute": "ask", "network": "ask"},
        "mcp": {},
    }
)


@dataclass
class Policy:
    """Decides about calls by the origin and the effect of their tools.

    `table` maps origin (`user`, `builtin`, `mcp`) and effect (`read`, `write`, `execute`, `network`) to `allow`, `ask`
    or `deny`; `otherwise` serves what it does not name. `Policy()` allows everything. `always` holds the names of the
    tools that somebody allowed for good; it lives in memory only. Subclasses may override `decide`.
    """

    table: Mapping[str, Mapping[str, Decision]] = field(default_factory=dict)
    otherwise: Decision = "allow"
    always: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        given = [self.otherwise, *(decision for effects in self.table.values() for decision in effects.values())]
        for decision in given:
            if decision not in DECISIONS:
                raise InvalidDataError(f"a policy decides {', '.join(DECISIONS)}, not {decision!r}", "table")

    @classmethod
    def for_kernel(cls) -> Policy:
        """The default of a notebook: reading is allowed; execution, network and foreign tools are asked."""
        return cls(KERNEL_TABLE, "ask")

    def decide(self, request: ApprovalRequest) -> Decision:
        """Whether the call of `request` may run."""
        tool = request.tool
        decision = self.table.get(str(tool.origin), {}).get(str(tool.effect), self.otherwise)
        return "allow" if decision == "ask" and tool.name in self.always else decision

    def allow_always(self, tool_name: str) -> None:
        """Do not ask about this tool again, until `forget`."""
        self.always.add(tool_name)

    def forget(self) -> None:
        """Ask again about every tool."""
        self.always.clear()
