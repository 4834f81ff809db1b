"""Arrays and tensors as text: shape and type, and for numpy the first values and their range."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .kinds import MISSING, attribute, is_a, shape_of

# Values that an array may have to be shown whole.
_WHOLE = 200
_FIRST = 10
# Values that the range is made of.
_SAMPLED = 1_000_000


def describe(value: Any) -> Iterator[str] | None:
    """What an array or tensor is; None for anything else. Values of tensors are not read: they may be elsewhere."""
    if is_a(value, "numpy", "ndarray"):
        return None if value.dtype == object and _holds_artists(value) else _array(value)
    shape = None if isinstance(value, type) or is_a(value, "numpy", "generic") else shape_of(value)
    return None if shape is None else _tensor(value, shape)


def _holds_artists(array: Any) -> bool:
    return bool(array.size) and type(array.flat[0]).__module__.startswith("matplotlib.")


def _array(array: Any) -> Iterator[str]:
    yield f"numpy array of shape {array.shape}, {array.dtype}"
    if array.dtype.hasobject or not array.size:
        return
    numpy = sys.modules["numpy"]
    if array.size <= _WHOLE:
        yield numpy.array2string(array)
    else:
        yield "First values: " + ", ".join(str(each) for each in array.flat[:_FIRST])
        yield from _range(numpy, array)


def _range(numpy: Any, array: Any) -> Iterator[str]:
    if array.dtype.kind not in "iuf":
        return
    step = -(-array.size // _SAMPLED)
    longest = max(range(array.ndim), key=lambda axis: int(array.shape[axis]))
    sample = numpy.moveaxis(array, longest, 0)[::step]
    numbers = sample[numpy.isfinite(sample)]
    if numbers.size:
        of = "" if step == 1 else f" (of one value in {step:,})"
        yield f"minimum {numbers.min():g}, mean {numbers.mean():g}, maximum {numbers.max():g}{of}"
    if other := sample.size - numbers.size:
        yield f"{other:,} not finite"


def _tensor(tensor: Any, shape: tuple[Any, ...]) -> Iterator[str]:
    device = attribute(tensor, "device")
    where = "" if device is MISSING else f", on {device}"
    yield f"{type(tensor).__name__} of shape {shape}, {attribute(tensor, 'dtype')}{where}"
