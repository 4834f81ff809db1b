"""A tool of a model, what a call of it comes to, and what it may know about the call.

Sources: A AgentTool, AgentToolResult, execute; Y SP-009, SP-010, SP-023.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ..abort import AbortSignal
from ..config import ToolExecutionMode
from ..errors import ToolDefinitionError
from ..messages import Content, ContentLike, content_blocks, joined_text
from ..usage import Usage

# What a call may change: nothing, files or data, anything (it runs code), or something beyond this machine.
Effect = Literal["read", "write", "execute", "network"]

# Who made the tool: the user, this package, or an MCP server.
Origin = Literal["user", "builtin", "mcp"]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling `function` gives a coroutine or an asynchronous generator, and so does not block."""
    while isinstance(function, functools.partial):
        function = function.func
    return any(
        inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each)
        for each in (function, type(function).__call__)
    )


def _ignore(partial: Any) -> None:
    pass


@dataclass(frozen=True)
class ToolContext:
    """What a running tool may know and do.

    `signal` is aborted when the run is stopped or the tool's time is up; a long computation should look at
    `signal.aborted` now and then. `on_update(partial)` shows progress and may be called from the tool's own thread;
    after the call has ended it does nothing. `agent` is the agent that runs the tool, or None.
    """

    tool_call_id: str = ""
    signal: AbortSignal = field(default_factory=AbortSignal)
    on_update: Callable[[Any], None] = _ignore
    agent: Any = None


@dataclass(frozen=True, init=False)
class AgentToolResult:
    """What a call came to.

    `content` is for the model; `details` is for people and logs and must be JSON-able to be stored;
    `added_tool_names` names tools that exist from now on; the run ends after a batch whose every result says
    `terminate`. `value` is the Python object that the tool returned: views draw it, nothing stores it. `untrusted`
    says that the content was written by others, as that of a command or of a file from elsewhere.
    """

    content: tuple[Content, ...] = ()
    details: Any = None
    usage: Usage | None = None
    added_tool_names: tuple[str, ...] | None = None
    terminate: bool | None = None
    is_error: bool = False
    value: Any = field(default=None, repr=False, compare=False, kw_only=True)
    untrusted: bool = field(default=False, kw_only=True)

    def __init__(
        self,
        content: ContentLike | None = (),
        details: Any = None,
        usage: Usage | None = None,
        added_tool_names: Iterable[str] | None = None,
        terminate: bool | None = None,
        is_error: bool = False,
        *,
        value: Any = None,
        untrusted: bool = False,
    ) -> None:
        vars(self).update(
            content=content_blocks(() if content is None else content),
            details=details,
            usage=usage,
            added_tool_names=None if added_tool_names is None else tuple(added_tool_names),
            terminate=terminate,
            is_error=is_error,
            value=value,
            untrusted=untrusted,
        )

    @property
    def text(self) -> str:
        return joined_text(self.content)


@dataclass(frozen=True)
class Arguments:
    """Arguments as the tool takes them, and every problem that was found with them, one line each."""

    values: dict[str, Any]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AgentTool:
    """A tool: what the model is told (`name`, `description`, `input_schema`) and what is run.

    `execute(arguments, context)` gets the arguments as a dictionary and a `ToolContext`; it may be a plain function,
    a coroutine function or a generator of either kind, and returns an `AgentToolResult` or any value.

    label: name for people; the `name` if empty.
    prepare_arguments: called as `f(arguments)` before validation; returns the arguments to validate.
    validate_required_args: called as `f(arguments)`; returns None, or a text that says what is missing.
    execution_mode: `sequential` makes every batch of calls that holds this tool sequential.
    effect: `read`, `write`, `execute` or `network`; the policy decides by it.
    origin: `user`, `builtin` or `mcp`.
    timeout: seconds that a call may take, or None.
    thread: run a plain function in a thread, even in a notebook.
    executor: where to run a plain function; it then gets None as its context, and must be picklable there.

    Raises `ToolDefinitionError` if the parts do not fit together.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    execute: Callable[..., Any] = field(repr=False)
    label: str = ""
    prepare_arguments: Callable[[dict[str, Any]], Mapping[str, Any]] | None = field(default=None, repr=False)
    validate_required_args: Callable[[dict[str, Any]], str | None] | None = field(default=None, repr=False)
    execution_mode: ToolExecutionMode | None = None
    effect: Effect = "execute"
    origin: Origin = "user"
    timeout: float | None = None
    thread: bool = False
    executor: Executor | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ToolDefinitionError(f"A tool needs a name, not {self.name!r}.")
        if not callable(self.execute):
            raise ToolDefinitionError(f"The tool {self.name!r} cannot be run: {self.execute!r} is not callable.")
        schema = self.input_schema or {"type": "object", "properties": {}}
        if not isinstance(schema, Mapping):
            raise ToolDefinitionError(f"The input_schema of the tool {self.name!r} must be a mapping, not {schema!r}.")
        for what, value, known in (("effect", self.effect, Effect), ("origin", self.origin, Origin)):
            if value not in get_args(known):
                choices = ", ".join(get_args(known))
                raise ToolDefinitionError(f"The {what} of the tool {self.name!r} must be one of {choices}: {value!r}.")
        if self.timeout is not None and not self.timeout > 0:
            raise ToolDefinitionError(f"The timeout of the tool {self.name!r} must be more than 0 s: {self.timeout!r}.")
        if self.executor is not None and self.thread:
            raise ToolDefinitionError(f"The tool {self.name!r} has both thread=True and an executor; choose one.")
        if self.executor is not None and self.is_async:
            raise ToolDefinitionError(f"The tool {self.name!r} is asynchronous and needs no executor; leave it out.")
        mode = None if self.execution_mode is None else ToolExecutionMode.of(self.execution_mode)
        vars(self).update(
            description=self.description or "",
            input_schema=dict(schema),
            label=self.label or self.name,
            execution_mode=mode,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> AgentTool:
        # A tool is never changed, and what it runs cannot be copied.
        return self

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The input schema under the name that the second document gives it."""
        return self.input_schema

    @property
    def is_async(self) -> bool:
        """Whether a call runs on the event loop instead of blocking a thread."""
        return is_async(self.execute)

    def portable_call(self, arguments: dict[str, Any]) -> Callable[[], Any]:
        """A call without context, for an executor to pickle."""
        return functools.partial(self.execute, arguments, None)

    def convert(self, arguments: dict[str, Any]) -> Arguments:
        """Check `arguments` against the input schema and convert what can safely be converted."""
        from .json_schema import check

        return check(arguments, self.input_schema)
