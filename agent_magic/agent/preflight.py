"""What happens before a tool runs: look-up, validation, `before_tool_call`, policy and approval, in this order."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import count
from typing import Any

from ..messages import ToolCall
from ..tools.tool import AgentTool, AgentToolResult
from ..tools.validation import validate_tool_arguments
from .hooks import call_hook
from .loop_config import Block
from .policy import ApprovalAnswer, ApprovalRequest, Policy, hash_of_arguments
from .scope import RunScope

NOT_ALLOWED = "The policy does not allow the tool"

_numbers = count(1)


class CallRefusedError(Exception):
    """The call must not run; `result` says why. It never leaves the agent."""

    def __init__(self, reason: str, terminate: bool | None = None) -> None:
        self.result = AgentToolResult(reason, terminate=terminate, is_error=True)
        super().__init__(reason)


async def prepare(
    call: ToolCall, tools: Mapping[str, AgentTool], scope: RunScope
) -> tuple[AgentTool, dict[str, Any], bool]:
    """The tool that `call` names, the arguments to run it with, and whether the user changed them.

    Raises `CallRefusedError`, `ToolValidationError`, whatever the hook or the approver raised, or `AbortedError`.
    """
    if call.arguments_error is not None:
        raise CallRefusedError(
            f"The arguments of this call could not be read, so it was not run: {call.arguments_error} "
            "Call the tool again, with one JSON object as its arguments."
        )
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(tools) or "none"
        raise CallRefusedError(f"Tool {call.name} not found. The tools that exist: {known}.")
    wanted: Mapping[str, Any] = call.arguments
    arguments = validated(tool, call, wanted)
    hook = scope.config.before_tool_call
    if hook is not None:
        wanted = _new_arguments(await call_hook(scope.signal, hook, call, arguments, scope.context()), wanted)
        # Validated once more, so that nothing the hook did to its arguments gets past.
        arguments = validated(tool, call, wanted)
    edited = False
    if scope.policy is not None:
        approved = await _asked_policy(call, tool, wanted, scope.policy, scope)
        arguments = validated(tool, call, approved)
        edited = approved != wanted
    return tool, arguments, edited


def validated(tool: AgentTool, call: ToolCall, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `arguments` as the tool takes them; raises `ToolValidationError` with every problem."""
    return validate_tool_arguments(tool, ToolCall(call.id, call.name, dict(arguments)))


def _new_arguments(answer: Any, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(answer, Block):
        raise CallRefusedError(answer.reason, answer.terminate or None)
    if answer is None:
        return wanted
    if isinstance(answer, Mapping):
        return answer
    raise TypeError(f"before_tool_call must return None, new arguments or a Block, not {type(answer).__name__}")


async def _asked_policy(
    call: ToolCall, tool: AgentTool, wanted: Mapping[str, Any], policy: Policy, scope: RunScope
) -> Mapping[str, Any]:
    request = ApprovalRequest(
        id=f"approval-{next(_numbers)}",
        call=call,
        arguments=copy.deepcopy(dict(wanted)),
        arguments_hash=hash_of_arguments(wanted),
        tool=tool,
        reason=policy.reason(tool),
    )
    decision = policy.under_mode(await call_hook(scope.signal, policy.decide, request), tool)
    if decision == "allow":
        return wanted
    if decision != "ask":
        raise CallRefusedError(f"{NOT_ALLOWED} {tool.name} ({tool.origin}, {tool.effect}).")
    if scope.approver is None:
        raise CallRefusedError(f"The tool {tool.name} needs an approval, and there is nobody to ask.")
    answer: ApprovalAnswer = await call_hook(scope.signal, scope.approver.ask, request)
    scope.signal.throw_if_aborted()
    if answer.decision != "allow":
        said = "The user denied this call. " if answer.by_user else ""
        raise CallRefusedError(f"{said}{answer.reason}".rstrip())
    approved = wanted if answer.arguments is None else copy.deepcopy(dict(answer.arguments))
    if hash_of_arguments(approved) != answer.arguments_hash:
        raise CallRefusedError("The approval was given for other arguments, so the call was not run.")
    if answer.scope == "always":
        policy.allow_always(tool.name)
    return approved
