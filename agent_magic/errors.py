"""One tree of exceptions, rooted in `AgentMagicError`.

Every message says what happened, for which model and host where one was involved, and what to do about it.
No message ever holds a key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .messages import AssistantMessage

# A preview of raw argument text is shown whole up to this length, else its two ends are (source: H, errors).
PREVIEW_WHOLE = 160
PREVIEW_END = 72


class AgentMagicError(Exception):
    """The root of every exception that this package raises on purpose.

    `reply` is the `Reply` of the run that ended with this error, None where there was no run.
    """

    reply: Any = None

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: it asks the exception. One without a class of its own tells what led to it."""
        from .tracebacks import lines_for_ipython

        return lines_for_ipython(self, with_cause=type(self) is AgentMagicError and self.__cause__ is not None)


class InvalidDataError(AgentMagicError, ValueError):
    """Stored or given data has the wrong shape.

    `path` names the place of the fault, such as `messages[3].content[0].text`.
    """

    def __init__(self, message: str, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__(f"{path}: {message}" if path else message)

    def inside(self, place: str) -> InvalidDataError:
        """The same fault, seen from the data that holds `place`."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return InvalidDataError(self.message, f"{place}{joint}{self.path}")


class UnknownModelError(AgentMagicError, LookupError):
    """No model, provider or API is known under the given name; the message names near matches."""


class UnsupportedParameterError(AgentMagicError, ValueError):
    """A parameter was given for this call that the model's API does not offer. Nothing was sent."""


class ToolDefinitionError(AgentMagicError, TypeError):
    """A function or schema cannot become a tool."""


class ToolValidationError(AgentMagicError, ValueError):
    """The arguments of a tool call do not fit the tool; the message lists every problem."""


class ToolTimeoutError(AgentMagicError, TimeoutError):
    """A tool did not finish in its time."""


class ToolExecutionError(AgentMagicError, RuntimeError):
    """A tool could not be started, or ended in a way that is no ordinary exception, such as `sys.exit`."""


class MCPServerError(AgentMagicError, RuntimeError):
    """An MCP server cannot be started or reached, has ended, or refused a request (source: Y SP-009).

    `server` is its name; `code` the code of its JSON-RPC error, None where it sent none.
    """

    def __init__(self, server: str, message: str, code: int | None = None) -> None:
        self.server = server
        self.code = code
        error = "" if code is None else f" answered with error {code}"
        super().__init__(f"The MCP server {server}{error}{':' if error else ''} {message}")


class AgentBusyError(AgentMagicError, RuntimeError):
    """The agent runs already, and what was asked for needs it idle."""


class BudgetExceededError(AgentMagicError):
    """The next request would exceed the budget, so it was not sent."""


class SessionError(AgentMagicError):
    """A session cannot be found, read, written or changed in the way that was asked for."""


class SessionLockedError(SessionError):
    """Another process has the session open, so this one must not write to it."""


class ReplayError(AgentMagicError):
    """A request was not recorded, or a recording cannot be read or written."""


class OutputTypeError(AgentMagicError, ValueError):
    """The answer does not fit the `output_type`, also after it was sent back once with what is wrong.

    `problems` says what is wrong. `reply` holds the `Reply`: its `text` is the answer as it came.
    """

    def __init__(self, output_type: str, problems: str) -> None:
        self.output_type = output_type
        self.problems = problems
        super().__init__(
            f"The answer does not fit {output_type}: {problems}\n"
            "Send the message again, word it differently, or allow more in the type. The answer as it came is the "
            "`text` of this error's `reply`."
        )


class AbortedError(AgentMagicError):
    """The request was aborted. `partial` is what had been received, or None."""

    def __init__(self, reason: str = "", partial: AssistantMessage | None = None) -> None:
        self.reason = reason
        self.partial = partial
        super().__init__(reason or "The request was aborted.")


class ProviderError(AgentMagicError):
    """A model server, or the way to it, failed.

    `kind` is one of `ERROR_KINDS`; `status` the HTTP status or None; `retryable` tells whether the same request
    may succeed later; `retry_after` is the server's own waiting time in seconds, or None; `partial` is what had
    been received of the answer (an `AssistantMessage`), or None.
    """

    kind: ClassVar[str] = "server"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        partial: AssistantMessage | None = None,
    ) -> None:
        self.message = message
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.partial = partial
        super().__init__(message)


class AuthenticationError(ProviderError):
    """The key is missing, wrong or not allowed to do this."""

    kind = "auth"


class RateLimitError(ProviderError):
    """Too many requests, or out of quota (then `retryable` is False)."""

    kind = "rate_limit"


class ContextOverflowError(ProviderError):
    """The conversation does not fit into the model's context window."""

    kind = "context_overflow"


class BadRequestError(ProviderError):
    """The server refused the request for any other fault of the request."""

    kind = "bad_request"


class ServerError(ProviderError):
    """The server failed or is overloaded, before or inside the answer."""

    kind = "server"


class ServerConnectionError(ProviderError):
    """No answer came at all."""

    kind = "connection"


class StreamInterruptedError(ProviderError):
    """The answer began and then broke off, with or without a proper close."""

    kind = "stream_interrupted"


class ContentFilterError(ProviderError):
    """The answer was refused or cut for its content."""

    kind = "content_filter"


class EmptyResponseError(ProviderError):
    """The answer finished without text, call or data (source: H, errors).

    `client` is the name of the API, `finish_reason` what the server gave as the reason.
    """

    kind = "empty_response"

    def __init__(
        self, client: str, finish_reason: str | None = None, *, partial: AssistantMessage | None = None
    ) -> None:
        self.client = client
        self.finish_reason = finish_reason
        super().__init__(
            f"The model answered with neither text nor a tool call (API {client}, finish reason {finish_reason}). "
            "Send the message again, or word it differently.",
            partial=partial,
        )


class ToolCallArgumentParseError(ProviderError):
    """The arguments of a tool call are not a JSON object (source: H, tool-call streaming protocol).

    `partial` holds the whole calls, and the bad ones with `arguments={}` and `arguments_error`.
    """

    kind = "tool_call_arguments"

    def __init__(
        self,
        client: str,
        tool_name: str,
        tool_call_id: str,
        raw_arguments: str,
        *,
        partial: AssistantMessage | None = None,
    ) -> None:
        self.client = client
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id
        self.raw_arguments_length = len(raw_arguments)
        self.raw_arguments_preview = preview(raw_arguments)
        super().__init__(
            f"The model called the tool {tool_name!r} with arguments that are not a JSON object "
            f"({self.raw_arguments_length} characters): {self.raw_arguments_preview}. Send the message again.",
            partial=partial,
        )


# The name that the third source document gives to the root of a provider's errors.
AgentHubError = ProviderError

ERROR_CLASSES: dict[str, type[ProviderError]] = {
    each.kind: each
    for each in (
        AuthenticationError,
        RateLimitError,
        ContextOverflowError,
        BadRequestError,
        ServerError,
        ServerConnectionError,
        StreamInterruptedError,
        ToolCallArgumentParseError,
        EmptyResponseError,
        ContentFilterError,
    )
}
ERROR_KINDS = tuple(ERROR_CLASSES)


def preview(text: str) -> str:
    """`text` whole up to 160 characters, else its first and last 72 around a marker of what was left out."""
    if len(text) <= PREVIEW_WHOLE:
        return text
    left_out = len(text) - 2 * PREVIEW_END
    return f"{text[:PREVIEW_END]} … {left_out} characters left out … {text[-PREVIEW_END:]}"
