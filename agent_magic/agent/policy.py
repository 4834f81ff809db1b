"""Who may run what: the policy decides, the approver asks a person, and what was approved is what runs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol, cast, runtime_checkable

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
    they are validated again, and the hash is theirs. `reason` is the word to the model that goes with a denial;
    where `by_user` is False, nobody could be asked, and it is all that the model is told.
    `request.allow()` and `request.deny()` make answers that fit.
    """

    decision: Literal["allow", "deny"]
    scope: Scope = "once"
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    arguments_hash: str = ""
    by_user: bool = True

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

    def deny(self, reason: str = "", *, by_user: bool = True) -> ApprovalAnswer:
        """No, with a word to the model."""
        return ApprovalAnswer("deny", "once", reason, by_user=by_user)


@runtime_checkable
class Approver(Protocol):
    """Asks somebody. A run awaits one `ask` at a time, and cancels it when it is stopped."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer: ...


# By the origin of a tool and its effect; what a table does not name is asked.
KERNEL_TABLE: Mapping[str, Mapping[str, Decision]] = MappingProxyType(
    {
        "user": {"read": "allow", "write": "allow", "execute": "ask", "network": "ask"},
        "builtin": {"read": "allow", "write": "ask", "execute": "ask", "network": "ask"},
        "mcp": {},
    }
)


Mode = Literal["ask", "auto", "deny"]
MODES = ("ask", "auto", "deny")

# An answer "always" for these ends when text of others reaches the model, which might be made to misuse them.
_REACHING = ("execute", "network")


@dataclass(frozen=True, eq=False)
class Allowance:
    """One answer "always", and how many untrusted results there were by then."""

    untrusted: int


@dataclass
class Answers:
    """What was allowed for good, by the name of the tool, and how often text of others has reached the model.

    In memory only.
    """

    always: dict[str, Allowance] = field(default_factory=dict)
    untrusted: int = 0


@dataclass
class Policy:
    """Decides about calls by the name of a tool, else by its origin and effect.

    `tools` maps names of tools, `table` origin (`user`, `builtin`, `mcp`) and effect (`read`, `write`, `execute`,
    `network`) to `allow`, `ask` or `deny`; `otherwise` serves what they do not name. `Policy()` allows everything.
    `folders` are those beyond the notebook's own that the file tools may reach.

    A tool that somebody allowed for good is not asked about again until `forget()`. For `execute` and `network` this
    also ends when the next result of a network tool, an MCP server, a command or a file from elsewhere has come in.

    `mode` goes for the run that is given this policy: `ask` asks about every call, `auto` allows and `deny` denies
    what would be asked. What is denied without a mode stays denied. Subclasses may override `decide`.
    """

    table: Mapping[str, Mapping[str, Decision]] = field(default_factory=dict)
    otherwise: Decision = "allow"
    tools: Mapping[str, Decision] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    mode: Mode | None = None
    answers: Answers = field(default_factory=Answers)
    _earlier: Mapping[str, Allowance] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        in_table = [(f"table.{origin}", effects) for origin, effects in self.table.items()]
        for path, decisions in (*in_table, ("tools", self.tools), ("", {"otherwise": self.otherwise})):
            for name, decision in decisions.items():
                if decision not in DECISIONS:
                    where = f"{path}.{name}".lstrip(".")
                    raise InvalidDataError(f"a policy decides {', '.join(DECISIONS)}, not {decision!r}", where)
        if self.mode is not None and self.mode not in MODES:
            raise InvalidDataError(f"must be one of {', '.join(MODES)}, not {self.mode!r}", "mode")

    @classmethod
    def for_kernel(cls) -> Policy:
        """The default of a notebook: reading is allowed; execution, network and foreign tools are asked."""
        return cls(KERNEL_TABLE, "ask")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Policy:
        """The policy of a notebook, changed by a JSON file with any of the keys of `FILE_KEYS`.

        `tools` and `table` as above, over the default table; `otherwise`; `folders`, relative ones seen from the
        folder of the file; `approve`, the mode. Raises `InvalidDataError` for anything else: a rule with a slip in it
        must not pass for none.
        """
        file = Path(path).expanduser()
        try:
            return cls(**_fields_of(json.loads(file.read_text(encoding="utf-8-sig")), file.absolute().parent))
        except OSError as error:
            raise InvalidDataError(f"the policy file {path} cannot be read: {error.strerror or error}") from error
        except InvalidDataError as error:
            raise InvalidDataError(f"the policy file {path}: {error}") from error
        except ValueError as error:
            raise InvalidDataError(f"the policy file {path} is not JSON: {error}") from error

    def in_mode(self, mode: str | None) -> Policy:
        """This policy for one run in another mode; what is answered there counts here."""
        return replace(self, mode=cast("Mode | None", mode), _earlier=dict(self.answers.always))

    # Deciding ---------------------------------------------------------------------------------------------------------

    def rule(self, tool: Any) -> Decision:
        """What the rules say about `tool`, whatever was answered."""
        by_effect = self.table.get(str(tool.origin), {}).get(str(tool.effect), self.otherwise)
        return self.tools.get(tool.name, by_effect)

    def decide(self, request: ApprovalRequest) -> Decision:
        """Whether the call of `request` may run, but for the mode."""
        decision = self.rule(request.tool)
        return "allow" if decision == "ask" and self.is_always_allowed(request.tool) else decision

    def under_mode(self, decision: Decision, tool: Any) -> Decision:
        """What becomes of a decision about `tool` in the present mode."""
        if decision == "deny" or self.mode is None:
            return decision
        if self.mode == "ask":
            given_here = self.answers.always.get(tool.name) is not self._earlier.get(tool.name)
            return "allow" if given_here and self.is_always_allowed(tool) else "ask"
        return decision if decision == "allow" else "allow" if self.mode == "auto" else "deny"

    def reason(self, tool: Any) -> str:
        """Why somebody is asked about `tool`, in one or two sentences."""
        origin, effect = _ORIGINS.get(tool.origin, str(tool.origin)), _EFFECTS.get(tool.effect, str(tool.effect))
        text = f"{tool.name} is {origin} that {effect}."
        if tool.name in self.always and not self.is_always_allowed(tool):
            text += " Text from outside has reached the model since you allowed it for good."
        return text

    # Answers ----------------------------------------------------------------------------------------------------------

    @property
    def always(self) -> tuple[str, ...]:
        """The names of the tools that somebody allowed for good."""
        return tuple(self.answers.always)

    def is_always_allowed(self, tool: Any) -> bool:
        """Whether somebody allowed `tool` for good, and nothing has ended that."""
        given = self.answers.always.get(tool.name)
        return given is not None and (tool.effect not in _REACHING or given.untrusted == self.answers.untrusted)

    def allow_always(self, tool_name: str) -> None:
        """Do not ask about this tool again, until `forget`."""
        self.answers.always[tool_name] = Allowance(self.answers.untrusted)

    def saw_untrusted(self) -> None:
        """Text of others has reached the model."""
        self.answers.untrusted += 1

    def forget(self) -> None:
        """Ask again about every tool."""
        self.answers.always.clear()


def is_untrusted(tool: Any, result: Any) -> bool:
    """Whether what a call of `tool` came to was written by others."""
    return tool.effect == "network" or tool.origin == "mcp" or bool(result.untrusted)


FILE_KEYS = ("table", "tools", "otherwise", "folders", "approve")


def _fields_of(data: Any, folder: Path) -> dict[str, Any]:
    """The fields of `Policy` that a policy file gives."""
    if not isinstance(data, dict):
        raise InvalidDataError(f"must be an object with any of {', '.join(FILE_KEYS)}")
    for key in data:
        if key not in FILE_KEYS:
            raise InvalidDataError(f"there is no such key; there are {', '.join(FILE_KEYS)}", key)
    table, tools, folders = data.get("table", {}), data.get("tools", {}), data.get("folders", [])
    if not isinstance(tools, dict):
        raise InvalidDataError("must be an object of decisions by the names of tools", "tools")
    if not isinstance(folders, list) or not all(isinstance(each, str) for each in folders):
        raise InvalidDataError("must be a list of paths", "folders")
    return {
        "table": _over_kernel_table(table),
        "otherwise": data.get("otherwise", "ask"),
        "tools": tools,
        "folders": tuple(str(folder / Path(each).expanduser()) for each in folders),
        "mode": data.get("approve"),
    }


def _over_kernel_table(table: Any) -> dict[str, dict[str, Decision]]:
    merged = {origin: dict(effects) for origin, effects in KERNEL_TABLE.items()}
    if not isinstance(table, dict):
        raise InvalidDataError(f"must be an object with any of {', '.join(merged)}", "table")
    for origin, effects in table.items():
        if origin not in merged or not isinstance(effects, dict):
            raise InvalidDataError(f"must be one of {', '.join(merged)}, each with effects", f"table.{origin}")
        for effect in effects:
            if effect not in _EFFECTS:
                raise InvalidDataError(f"must be one of {', '.join(_EFFECTS)}", f"table.{origin}.{effect}")
        merged[origin].update(effects)
    return merged


_EFFECTS = {
    "read": "only reads",
    "write": "may change files or data",
    "execute": "runs code",
    "network": "reaches beyond this machine",
}
_ORIGINS = {
    "user": "a tool of your own",
    "builtin": "a tool of agent_magic",
    "mcp": "a tool of an MCP server",
}
