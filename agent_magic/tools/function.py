"""`@tool`: a Python function as a tool that can still be called as the function."""

from __future__ import annotations

import functools
import inspect
import logging
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from ..config import ToolExecutionMode
from ..errors import ToolDefinitionError
from .docstring import read_docstring
from .parameters import Signature, read_signature, source_of
from .schema import input_schema
from .tool import AgentTool, Arguments, Effect, ToolContext, is_async

P = ParamSpec("P")
R = TypeVar("R")
log = logging.getLogger(__name__)

# What every model server takes as the name of a tool.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class FunctionTool(AgentTool, Generic[P, R]):
    """A tool made of `function`. Calling it calls the function, without validation, policy or limits."""

    function: Callable[P, R]
    signature: Signature

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        effect: Effect = "read",
        timeout: float | None = None,
        mode: ToolExecutionMode | str | None = None,
        thread: bool = False,
        executor: Executor | None = None,
    ) -> None:
        name = name or _name_of(function)
        if not _NAME.fullmatch(name):
            raise ToolDefinitionError(
                f"{name!r} cannot be the name of a tool: models take up to 64 letters from a to z, digits, _ and -. "
                "Give another one, as in tool(name='...')."
            )
        documentation = read_docstring(_docstring_of(function))
        signature = read_signature(function, name, documentation)
        if executor is not None and signature.context_names:
            raise ToolDefinitionError(
                f"{name} takes a ToolContext, which cannot be sent to an executor. "
                "Leave out that parameter or the executor."
            )
        vars(self).update({each: getattr(function, each) for each in _COPIED if hasattr(function, each)})
        vars(self).update(function=function, signature=signature, __wrapped__=function)
        super().__init__(
            name=name,
            description=documentation.description,
            input_schema=input_schema(signature, name),
            execute=functools.partial(_call, function, signature),
            execution_mode=None if mode is None else ToolExecutionMode.of(mode),
            effect=effect,
            timeout=timeout,
            thread=thread,
            executor=executor,
        )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """In the body of a class: the tool of the object's method."""
        return self if instance is None else _remade(self, cast("Any", self.function).__get__(instance, owner))

    def __reduce__(self) -> str | tuple[Any, ...]:
        if not _is_found_by_name(self):
            raise TypeError(f"The tool {self.name!r} cannot be pickled, since no module holds it under its name.")
        return cast("str", vars(self)["__qualname__"])

    @property
    def is_async(self) -> bool:
        return is_async(self.function)

    def portable_call(self, arguments: dict[str, Any]) -> Callable[[], Any]:
        args, kwargs = self.signature.bind(arguments, None)
        call = functools.partial(_portable(self), *args, **kwargs)
        return functools.partial(_exhausted, call) if inspect.isgeneratorfunction(self.function) else call

    def convert(self, arguments: dict[str, Any]) -> Arguments:
        from .adapters import convert

        return convert(self.signature, arguments)


# As functools.update_wrapper, but for the function's own attributes, which might hide those of the tool.
_COPIED = functools.WRAPPER_ASSIGNMENTS


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    effect: Effect = "read",
    timeout: float | None = None,
    mode: ToolExecutionMode | str | None = None,
    thread: bool = False,
    executor: Executor | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    effect: Effect = "read",
    timeout: float | None = None,
    mode: ToolExecutionMode | str | None = None,
    thread: bool = False,
    executor: Executor | None = None,
) -> FunctionTool[P, R]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a tool of a function, method, coroutine function, generator function or callable object.

    The annotations say what the model may give, the docstring (Google, NumPy or reST) what it means; a parameter
    annotated with `ToolContext` receives the context of the call and is not shown to the model. Yields are progress.

    >>> @tool
    ... def area(width: float, height: float = 1.0) -> float:
    ...     "The area of a rectangle, in square metres."
    ...     return width * height
    >>> area(2.0), area.name
    (2.0, 'area')

    name: the tool's name, if not that of the function.
    effect: `read` (nothing changes), `write`, `execute` or `network`; the policy decides by it.
    timeout: seconds that a call may take.
    mode: `sequential` if no other tool may run beside it.
    thread: run it in a thread also in a notebook, where functions otherwise run on the main thread, one at a time.
    executor: a `concurrent.futures.Executor` to run it in; the function must be picklable there.

    Raises `ToolDefinitionError` when the function cannot be a tool.
    """
    if function is None:
        return functools.partial(tool, **options)
    if isinstance(function, str):
        raise ToolDefinitionError(f"tool({function!r}) names no function. A name is given as @tool(name={function!r}).")
    if isinstance(function, FunctionTool):
        made = _remade(function, function.function, **options) if options else function
    else:
        made = FunctionTool(function, **options)
    if not made.signature.unbound:
        _announce(made)
    return made


def as_tool(value: Any) -> AgentTool:
    """`value` if it is a tool, else the tool of that function; nobody is told of it."""
    if isinstance(value, AgentTool):
        return value
    if not callable(value):
        raise ToolDefinitionError(f"{value!r} is neither a tool nor a function.")
    return FunctionTool(value)


def as_tools(values: Iterable[Any]) -> list[AgentTool]:
    return [as_tool(value) for value in values]


# Who wants to know ----------------------------------------------------------------------------------------------------

_listeners: list[Callable[[FunctionTool[..., Any]], object]] = []


def observe_definitions(listener: Callable[[FunctionTool[..., Any]], object]) -> Callable[[], None]:
    """Call `listener(tool)` for every tool that `tool` makes. Returns a function that ends this."""
    _listeners.append(listener)

    def unsubscribe() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return unsubscribe


def _announce(made: FunctionTool[..., Any]) -> None:
    for listener in tuple(_listeners):
        _tell(listener, made)


def _tell(listener: Callable[[FunctionTool[..., Any]], object], made: FunctionTool[..., Any]) -> None:
    try:
        listener(made)
    except Exception:
        log.exception("A listener for new tools failed at %s.", made.name)


# Calls ----------------------------------------------------------------------------------------------------------------


def _call(function: Callable[..., Any], signature: Signature, arguments: dict[str, Any], context: ToolContext) -> Any:
    args, kwargs = signature.bind(arguments, context)
    return function(*args, **kwargs)


def _exhausted(call: Callable[[], Any]) -> Any:
    """The result of a generator in another process, from which there is no progress to report."""
    generator = call()
    last: Any = None
    try:
        while True:
            last = next(generator)
    except StopIteration as end:
        return last if end.value is None else end.value


def _portable(made: FunctionTool[..., Any]) -> Callable[..., Any]:
    """What a process pool should pickle.

    It pickles a function by name, and under the name of a decorated function it finds the tool: then the tool goes.
    Every other executor that leaves the process can pickle the function itself.
    """
    processes = sys.modules.get("concurrent.futures.process")
    by_name = processes is not None and isinstance(made.executor, processes.ProcessPoolExecutor)
    return made if by_name and _is_found_by_name(made) else made.function


def _is_found_by_name(made: FunctionTool[..., Any]) -> bool:
    found: Any = sys.modules.get(vars(made).get("__module__", ""))
    for step in vars(made).get("__qualname__", "").split("."):
        found = getattr(found, step, None)
    return found is made


def _remade(given: FunctionTool[..., Any], function: Callable[..., Any], **changes: Any) -> FunctionTool[..., Any]:
    options: dict[str, Any] = {
        "name": given.name,
        "effect": given.effect,
        "timeout": given.timeout,
        "mode": given.execution_mode,
        "thread": given.thread,
        "executor": given.executor,
    }
    return FunctionTool(function, **{**options, **changes})


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(source_of(function), "__name__", "")
    if name == "__call__":
        name = type(function).__name__
    if not name or name == "<lambda>":
        raise ToolDefinitionError("A function without a name needs one to be a tool, as in tool(name='...').")
    return str(name)


def _docstring_of(function: Any) -> str | None:
    """The text as it was written; its indentation is taken off where it is read."""
    if inspect.isroutine(function) or inspect.isclass(function):
        return function.__doc__
    source = source_of(function)
    return source.__doc__ or (None if isinstance(function, functools.partial) else type(function).__doc__)
