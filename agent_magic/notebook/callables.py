"""Functions, classes and modules as text: signature, documentation, source."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ..tools.tool import AgentTool
from .kinds import FUNCTIONS, PLAIN, plain_attribute

_SOURCE = 6_000
_DOCUMENTATION = 1_000
_METHODS = 40
_NAMES = 60


class _LeftOut:
    def __repr__(self) -> str:
        return "…"


def describe(value: Any) -> Iterator[str] | None:
    """What a function, class, tool or module is; None for anything else."""
    function = function_of(value)
    if function is not None:
        return _function(function, "tool" if issubclass(type(value), AgentTool) else "function")
    if type(value) is ModuleType:
        return _module(value)
    return _class(value) if isinstance(value, type) else None


def function_of(value: Any) -> Any:
    """The function that `value` is, or that a tool was made of; None for anything else."""
    if issubclass(type(value), AgentTool):
        return getattr(value, "function", value.execute)
    is_function = issubclass(type(value), FUNCTIONS) or issubclass(
        type(plain_attribute(value, "__wrapped__")), FUNCTIONS
    )
    return value if is_function and not isinstance(value, type) else None


def signature_of(value: Any) -> str:
    """Such as `(region: str, year: int = 2025)`. Defaults that are not plain values show as `…`."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return "(…)"
    parameters = [
        each.replace(default=_shown_default(each.default), annotation=_shown_annotation(each.annotation))
        for each in signature.parameters.values()
    ]
    returns = _shown_annotation(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=returns))


def _shown_default(value: Any) -> Any:
    return value if value is inspect.Parameter.empty or type(value) in PLAIN else _LeftOut()


def _shown_annotation(value: Any) -> Any:
    known = isinstance(value, (str, type)) or type(value).__module__ in ("typing", "types", "builtins")
    return value if known else "…"


def documentation_of(value: Any, limit: int = _DOCUMENTATION) -> str:
    text = value.__doc__ if isinstance(getattr(value, "__doc__", None), str) else ""
    text = inspect.cleandoc(text or "")
    return text if len(text) <= limit else f"{text[:limit].rstrip()}…"


def _function(function: Any, kind: str) -> Iterator[str]:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
    prefix = "async def" if inspect.iscoroutinefunction(function) else "def"
    yield f"{kind} of the module {getattr(function, '__module__', None) or '?'}"
    yield f"{prefix} {name}{signature_of(function)}"
    source = _source(function)
    if source:
        yield f"Source:\n{source}"
    elif documentation := documentation_of(function):
        yield documentation


def _class(value: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    yield f"class {value.__name__}{f'({bases})' if bases else ''} of the module {value.__module__}"
    yield f"{value.__name__}{signature_of(value)}"
    # The classes of libraries are long, and to find one in its file takes long.
    source = _source(value) if value.__module__ == "__main__" else ""
    if source and len(source) <= _SOURCE:
        yield f"Source:\n{source}"
        return
    if documentation := documentation_of(value):
        yield documentation
    yield "\n".join(["Methods:", *methods_of(value)])


def _module(value: ModuleType) -> Iterator[str]:
    yield f"module {value.__name__}"
    if documentation := documentation_of(value):
        yield documentation
    names = [name for name in vars(value) if not name.startswith("_")]
    left = len(names) - _NAMES
    yield "Names: " + ", ".join(names[:_NAMES]) + (f" and {left:,} more" if left > 0 else "")


def methods_of(value: type) -> list[str]:
    """The public methods that a class itself defines, with their signatures, one a line."""
    found = [
        f"  {name}{signature_of(each)}"
        for name, each in vars(value).items()
        if not name.startswith("_") and issubclass(type(each), FUNCTIONS)
    ]
    left = len(found) - _METHODS
    return found[:_METHODS] + ([f"  … {left:,} more"] if left > 0 else [])


def _source(value: Any) -> str:
    try:
        source = inspect.getsource(inspect.unwrap(value))
    except (OSError, TypeError, ValueError):
        source = _class_source(value) if isinstance(value, type) else ""
    source = inspect.cleandoc(f"\n{source}")
    left = len(source) - _SOURCE
    return source if left <= 0 or isinstance(value, type) else f"{source[:_SOURCE]}\n… {left:,} more characters"


def _class_source(value: type) -> str:
    """The source of a class defined in a cell, found by its methods: `inspect` does not find it before Python 3.13."""
    codes = [each.__code__ for each in vars(value).values() if hasattr(each, "__code__")]
    for code in codes[:1]:
        text = "".join(linecache.getlines(code.co_filename))
        try:
            nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
        except SyntaxError:
            return ""
        for node in nodes:
            if node.name == value.__name__ and node.lineno <= code.co_firstlineno <= (node.end_lineno or 0):
                return ast.get_source_segment(text, node) or ""
    return ""
