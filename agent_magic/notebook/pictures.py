"""Pictures made small enough for a record."""

from __future__ import annotations

import base64
import binascii
import io
from typing import Any

from .limits import IMAGE_LIMIT

# Dots per inch of a figure.
_RESOLUTION = 100
_SHRINKS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def figure_picture(figure: Any) -> dict[str, Any]:
    """A matplotlib figure as PNG at 100 dots per inch, or smaller and as JPEG where that does not fit."""
    width, height = figure.get_size_inches() * _RESOLUTION
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_RESOLUTION, bbox_inches="tight")
    return {**fitted("image/png", file.getvalue()), "text/plain": f"figure, {width:.0f} × {height:.0f} pixels"}


def pil_picture(image: Any) -> dict[str, Any]:
    """A PIL image as PNG, or smaller and as JPEG where that does not fit."""
    words = f"image, {image.width} × {image.height} pixels"
    if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA") or _is_opaque(image):
        image = image.convert("RGB")
    for shrink in _SHRINKS:
        size = (max(1, int(image.width * shrink)), max(1, int(image.height * shrink)))
        if size[0] * size[1] > 4_000_000:
            continue
        smaller = image if shrink == 1.0 else image.convert("RGBA" if "A" in image.mode else "RGB").resize(size)
        for kind, form in (("image/png", "PNG"), ("image/jpeg", "JPEG")):
            if form == "JPEG" and smaller.mode not in ("L", "RGB"):
                continue
            file = io.BytesIO()
            smaller.save(file, form)
            data = _encoded(file.getvalue())
            if len(data) <= IMAGE_LIMIT:
                return {kind: data, "text/plain": words}
    return {"text/plain": f"{words}, left out: it takes more than {IMAGE_LIMIT // 1000} kB"}


def _is_opaque(image: Any) -> bool:
    return bool(image.mode == "RGBA" and image.getextrema()[3] == (255, 255))


def fitted(kind: str, data: Any) -> dict[str, Any]:
    """A picture of MIME type `kind` (base64 text or bytes), made smaller where it takes too much.

    Empty when it is no picture; where it cannot be made smaller, words that say so.
    """
    if isinstance(data, (bytes, bytearray)):
        data = _encoded(bytes(data))
    try:
        raw = base64.b64decode("".join(data.split()), validate=True)
    except (AttributeError, ValueError, binascii.Error):
        return {}
    if not raw:
        return {}
    if len(data) <= IMAGE_LIMIT:
        return {kind: _encoded(raw)}
    try:
        from PIL import Image

        return pil_picture(Image.open(io.BytesIO(raw)))
    except Exception:
        # Without PIL, or with a file that it cannot read, the picture stays out of the record.
        return {"text/plain": f"{kind}, left out: it takes more than {IMAGE_LIMIT // 1000} kB"}
