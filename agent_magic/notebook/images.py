"""The images of `--image`: from a variable that is or draws one, or from a file."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from ..messages import ImageContent
from ..tools.images import image_content, image_type, pil_content
from ..tools.result import to_result
from .flags import near

# Bytes of a file that is read at all.
_LARGEST = 50_000_000


def image_named(name: str, namespace: Mapping[str, Any]) -> ImageContent:
    """The image that the variable or file `name` holds, small enough to send.

    Raises `UsageError` where there is none, and says what may be given.
    """
    if name in namespace:
        return _of_value(name, namespace[name])
    path = Path(os.path.expanduser(name))
    if path.is_file():
        return _of_file(path)
    names = [each for each in namespace if not each.startswith("_")]
    raise UsageError(f"--image: there is no variable and no file {name}.{near(name, names)}")


def _of_file(path: Path) -> ImageContent:
    if path.stat().st_size > _LARGEST:
        raise UsageError(f"--image: {path} has more than {_LARGEST // 1_000_000} MB.")
    try:
        return _of_bytes(str(path), path.read_bytes())
    except OSError as error:
        raise UsageError(f"--image: {path} cannot be read: {error.strerror}.") from None


def _of_bytes(name: str, data: bytes) -> ImageContent:
    kind = image_type(data)
    if kind is None:
        raise UsageError(f"--image: {name} is no PNG, JPEG, GIF or WebP image.")
    return _checked(name, image_content(data, kind))


def _of_value(name: str, value: Any) -> ImageContent:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _of_bytes(name, bytes(value))
    if isinstance(value, (str, os.PathLike)) and Path(value).is_file():
        return _of_file(Path(value))
    if _is_pixels(value):
        return _checked(name, _of_array(name, value))
    try:
        found = [block for block in to_result(value).content if isinstance(block, ImageContent)]
    except Exception as error:
        raise UsageError(f"--image: {name} cannot be drawn: {error}") from None
    if not found:
        hint = _MISSING.get(type(value).__module__.partition(".")[0], "")
        raise UsageError(
            f"--image: {name} is a {type(value).__name__}, of which no image can be made{hint}. Give a figure, a PIL "
            "image, an array of pixels, image bytes, or a file."
        )
    return found[0]


# What draws these without a browser.
_MISSING = {
    "plotly": " (the package kaleido draws plotly figures)",
    "altair": " (the package vl-convert-python draws altair charts)",
}


def _checked(name: str, block: Any) -> ImageContent:
    if isinstance(block, ImageContent):
        return block
    raise UsageError(f"--image: {name} is too large to send; install pillow, which makes it smaller.")


def _is_pixels(value: Any) -> bool:
    shape = getattr(value, "shape", None)
    # A frame has an array too, but no one type of pixels.
    if not hasattr(value, "dtype") or not callable(getattr(type(value), "__array__", None)):
        return False
    if not isinstance(shape, tuple):
        return False
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4))


def _of_array(name: str, value: Any) -> Any:
    """Pixels as an image: whole numbers of 0 to 255, or floats of 0 to 1; other ranges are stretched to fit."""
    if importlib.util.find_spec("PIL") is None:
        raise UsageError("--image: install pillow, which makes images of arrays.")
    import numpy as np
    from PIL import Image

    pixels = np.asarray(value)
    if pixels.size == 0 or pixels.dtype.kind not in "buif":
        raise UsageError(f"--image: {name} is an array of {pixels.dtype} with shape {pixels.shape}, not of pixels.")
    if pixels.dtype != np.uint8:
        low, high = float(np.nanmin(pixels)), float(np.nanmax(pixels))
        if pixels.dtype.kind == "f" and low >= 0 and high <= 1:
            low, high = 0.0, 1.0
        elif low >= 0 and high <= 255 and pixels.dtype.kind in "ui":
            low, high = 0.0, 255.0
        scaled = (pixels.astype(float) - low) * (255.0 / ((high - low) or 1.0))
        pixels = np.nan_to_num(scaled).round().astype(np.uint8)
    return pil_content(Image.fromarray(pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels))
