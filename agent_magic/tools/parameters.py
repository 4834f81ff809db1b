"""The parameters of a function: which of them a model fills, by what annotation, and how a call is put together."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter as Kind
from typing import Any

from ..errors import ToolDefinitionError
from .docstring import Documentation
from .plain import plain_schema
from .tool import ToolContext

REQUIRED = Kind.empty


@dataclass(frozen=True)
class Parameter:
    """A parameter that the model fills. `default` is `REQUIRED` if there is none.

    `supply` makes the value of a missing argument where the function itself would not, as for `x: int = Field(3)`.
    """

    name: str
    annotation: Any = Any
    default: Any = REQUIRED
    description: str = ""
    supply: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Signature:
    """All parameters of a function.

    `parameters` are the model's, by name; `context_names` receive the `ToolContext`; `positional` are passed by
    position, with their defaults; `extra` is the annotation of `**kwargs`, or None; `unbound` tells that the function
    is a method that waits for its object.
    """

    parameters: Mapping[str, Parameter]
    context_names: tuple[str, ...] = ()
    positional: tuple[tuple[str, Any], ...] = ()
    extra: Any = None
    unbound: bool = False

    def bind(self, arguments: Mapping[str, Any], context: ToolContext | None) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments of a call with these arguments."""
        named = dict(arguments)
        for each in self.parameters.values():
            if each.supply is not None and each.name not in named:
                named[each.name] = each.supply()
        named.update(dict.fromkeys(self.context_names, context))
        return [named.pop(name, default) for name, default in self.positional], named


def source_of(function: Callable[..., Any]) -> Any:
    """The function that was written: inside a partial, a bound method, a callable object or a decorator."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__
    return inspect.unwrap(getattr(function, "__func__", function))


def read_signature(function: Callable[..., Any], name: str, documentation: Documentation) -> Signature:
    """The parameters of `function`, which becomes the tool `name`. Raises `ToolDefinitionError`."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ToolDefinitionError(
            f"The parameters of {name} cannot be read, as of many functions written in C. "
            "Wrap it in a Python function with annotated parameters."
        ) from None
    unbound = _is_unbound_method(function, found)
    annotations = _resolved(function, name, found)
    parameters: dict[str, Parameter] = {}
    context_names: list[str] = []
    positional: list[tuple[str, Any]] = []
    extra: Any = None
    for each in found[1:] if unbound else found:
        annotation = annotations.get(each.name, Any)
        if each.kind is Kind.VAR_POSITIONAL:
            raise ToolDefinitionError(
                f"{name} takes *{each.name}, which a model cannot fill, since it gives every argument by name. "
                f"Take a list instead, such as {each.name}: list[str]."
            )
        if each.kind is Kind.VAR_KEYWORD:
            extra = annotation
            continue
        if each.kind is Kind.POSITIONAL_ONLY:
            positional.append((each.name, each.default))
        if _is_context(annotation):
            context_names.append(each.name)
        else:
            parameters[each.name] = _parameter(each, annotation, documentation)
    return Signature(parameters, tuple(context_names), tuple(positional), extra, unbound)


def _parameter(each: inspect.Parameter, annotation: Any, documentation: Documentation) -> Parameter:
    default, supply = each.default, None
    if type(default).__module__ == "pydantic.fields":
        annotation = typing.Annotated[annotation, default]
        if default.is_required():
            default = REQUIRED
        else:
            supply = functools.partial(default.get_default, call_default_factory=True)
            default = default.get_default(call_default_factory=False)
    elif default is None and not (_is_union(annotation) and type(None) in annotation.__args__):
        # Not every annotation knows `|`: one that is still a string does not.
        annotation = typing.Optional[annotation]  # noqa: UP045
    description = _stated(annotation) or documentation.parameters.get(each.name, "")
    return Parameter(each.name, annotation, default, description, supply)


def _stated(annotation: Any) -> str:
    """What `Annotated` says: a text, `Doc("...")` or `Field(description="...")`."""
    for each in getattr(annotation, "__metadata__", ()):
        text = each if isinstance(each, str) else getattr(each, "documentation", getattr(each, "description", None))
        if isinstance(text, str):
            return text
    return ""


def _is_context(annotation: Any) -> bool:
    return annotation is ToolContext or (_is_union(annotation) and ToolContext in annotation.__args__)


def _is_union(annotation: Any) -> bool:
    return isinstance(annotation, types.UnionType) or getattr(annotation, "__origin__", None) is typing.Union


def _is_unbound_method(function: Any, found: list[inspect.Parameter]) -> bool:
    """Whether `function` stands in the body of a class and its first parameter is the object."""
    if not inspect.isfunction(function) or not found or found[0].name not in ("self", "cls"):
        return False
    return "." in function.__qualname__.rpartition("<locals>.")[2]


def _resolved(function: Callable[..., Any], name: str, found: list[inspect.Parameter]) -> dict[str, Any]:
    """The annotations with every text in them evaluated; that of the return value is not looked at."""
    names = getattr(source_of(function), "__globals__", {})
    given = {each.name: each.annotation for each in found if each.annotation is not Kind.empty}
    # A plain annotation holds no text, and evaluating it would take longer than all the rest.
    others = {parameter: each for parameter, each in given.items() if plain_schema(each) is None}
    try:
        return {**given, **_evaluated(others, names)} if others else given
    except Exception:
        return {parameter: _resolve_one(parameter, annotation, name, names) for parameter, annotation in given.items()}


def _resolve_one(parameter: str, annotation: Any, name: str, names: dict[str, Any]) -> Any:
    try:
        return _evaluated({parameter: annotation}, names)[parameter]
    except Exception as error:
        raise ToolDefinitionError(
            f"The annotation {annotation!r} of the parameter {parameter!r} of {name} cannot be resolved: {error}. "
            "Define or import that name at the top level, before the function."
        ) from None


def _evaluated(annotations: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    holder = types.SimpleNamespace(__annotations__=annotations)
    return typing.get_type_hints(holder, globalns=names, localns=names, include_extras=True)
