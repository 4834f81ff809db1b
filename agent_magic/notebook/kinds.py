"""What a value is, in a few words, and attributes that can be read without running anybody's code."""

from __future__ import annotations

import inspect
import types
from typing import Any

from ..tools.tool import AgentTool
from .tables import loaded

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType)
CONTAINERS = (dict, list, tuple, set, frozenset)
PLAIN = (str, bytes, bool, int, float, complex, type(None))

_IN_C = (types.GetSetDescriptorType, types.MemberDescriptorType)
# Their arrays compute shape and type in Python, and nothing else happens.
_ARRAY_LIBRARIES = ("jax", "jaxlib", "tensorflow", "cupy", "mlx", "torch", "numpy")

MISSING: Any = object()


def is_a(value: Any, module: str, *names: str) -> bool:
    """Whether `value` is of one of these classes of `module`. Asks its type alone, and imports nothing."""
    return any(issubclass(type(value), kind) for name in names for kind in loaded(module, name))


def library_of(value: Any) -> str:
    """The top package that the class of `value` comes from."""
    return str(type(value).__module__).partition(".")[0]


def plain_attribute(value: Any, name: str) -> Any:
    """An attribute that is stored and not computed; `MISSING` where there is none, or a property would have to run."""
    try:
        found = inspect.getattr_static(value, name)
        if isinstance(found, _IN_C):
            return found.__get__(value)
    except Exception:
        return MISSING
    if isinstance(found, (staticmethod, classmethod)):
        return found.__func__
    computed = hasattr(type(found), "__get__") and not isinstance(found, (*FUNCTIONS, type))
    return MISSING if computed else found


def shape_of(value: Any) -> tuple[Any, ...] | None:
    """The shape of an array or tensor of any library, None for anything else."""
    read = getattr if library_of(value) in _ARRAY_LIBRARIES and not isinstance(value, type) else plain_attribute
    shape, dtype = read(value, "shape", *_default(read)), read(value, "dtype", *_default(read))
    return tuple(shape) if isinstance(shape, (tuple, list)) and dtype is not MISSING else None


def attribute(value: Any, name: str) -> Any:
    """As `plain_attribute`, but arrays of well-known libraries may compute it."""
    read = getattr if library_of(value) in _ARRAY_LIBRARIES else plain_attribute
    return read(value, name, *_default(read))


def _default(read: Any) -> tuple[Any, ...]:
    return (MISSING,) if read is getattr else ()


def kind_of(value: Any) -> str:
    """Such as `DataFrame 12 × 3`, `ndarray 4 × 4 float64`, `list of 3` or `function`. Never fails."""
    try:
        return _kind_of(value)
    except Exception:
        # A class of the user's may fail at anything, even at its name.
        return "object"


def _kind_of(value: Any) -> str:
    kind = type(value)
    if is_a(value, "pandas", "DataFrame") or is_a(value, "polars", "DataFrame"):
        return f"{kind.__name__} {_times(value.shape)}"
    if is_a(value, "pandas", "Series", "Index") or is_a(value, "polars", "Series"):
        return f"{kind.__name__} {len(value):,} {value.dtype}"
    if is_a(value, "numpy", "generic"):
        return kind.__name__
    if isinstance(value, type):
        return "class"
    if issubclass(kind, AgentTool):
        return "tool"
    if issubclass(kind, FUNCTIONS):
        return "function"
    if kind in CONTAINERS:
        return f"{kind.__name__} of {len(value):,}"
    if kind is str or kind is bytes:
        return f"{kind.__name__} of {len(value):,}"
    if kind in PLAIN:
        return kind.__name__
    if kind is types.ModuleType:
        return "module"
    shape = shape_of(value)
    return kind.__name__ if shape is None else f"{kind.__name__} {_times(shape)} {attribute(value, 'dtype')}".strip()


def _times(shape: Any) -> str:
    return " × ".join(f"{size:,}" if isinstance(size, int) else "?" for size in shape) or "scalar"
