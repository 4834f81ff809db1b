"""What a request with a `trace_id` tells; who writes it down lies above and is reached by the package's root."""

from __future__ import annotations

from typing import Protocol

from ..config import RequestConfig
from ..errors import AgentMagicError
from ..messages import AssistantMessage, Context
from ..models import Model


class RequestTrace(Protocol):
    """One request: `asked` first, `repeated` for each failure after which it is sent again, then one of the others."""

    def asked(self, model: Model, context: Context, config: RequestConfig) -> None: ...

    def repeated(self, error: AgentMagicError) -> None: ...

    def answered(self, answer: AssistantMessage) -> None: ...

    def failed(self, error: AgentMagicError | None) -> None:
        """None when the request was aborted."""


class _NoTrace:
    """For requests without a `trace_id`."""

    def asked(self, model: Model, context: Context, config: RequestConfig) -> None:
        pass

    def repeated(self, error: AgentMagicError) -> None:
        pass

    def answered(self, answer: AssistantMessage) -> None:
        pass

    def failed(self, error: AgentMagicError | None) -> None:
        pass


_NO_TRACE = _NoTrace()


def trace_for(trace_id: str | None) -> RequestTrace:
    """What writes down a request with this id; nothing for None."""
    if trace_id is None:
        return _NO_TRACE
    from .. import trace_of

    trace: RequestTrace = trace_of(trace_id)
    return trace
