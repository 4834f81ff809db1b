"""The policy of one cell: that of the kernel, changed as `--approve` says."""

from __future__ import annotations

from ..agent.policy import ApprovalRequest, Decision, Policy


class CellPolicy(Policy):
    """What the kernel's policy denies stays denied.

    Of the rest, `ask` asks about every call, `auto` allows every call, and `deny` denies what would be asked about.
    """

    def __init__(self, kernel: Policy, approve: str) -> None:
        super().__init__()
        self._kernel = kernel
        self._approve = approve

    def decide(self, request: ApprovalRequest) -> Decision:
        decision = self._kernel.decide(request)
        if decision == "deny":
            return decision
        if self._approve == "ask":
            return "allow" if request.tool.name in self.always else "ask"
        if decision == "ask":
            return "allow" if self._approve == "auto" else "deny"
        return decision
