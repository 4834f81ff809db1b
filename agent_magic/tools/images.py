"""Images for a model: recognised by their first bytes, and made small enough to send."""

from __future__ import annotations

import base64
import importlib.util
import io
from typing import Any

from ..messages import Content, ImageContent, TextContent

# Bytes that an image may have.
MAX_IMAGE = 300_000

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_type(data: bytes) -> str | None:
    """The MIME type of a PNG, JPEG, GIF or WebP image, None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for magic, name in _MAGIC if data.startswith(magic)), None)


def _block(data: bytes, mime_type: str) -> ImageContent:
    return ImageContent(base64.b64encode(data).decode("ascii"), mime_type)


def image_content(data: bytes, mime_type: str) -> Content:
    """A block of this image, scaled down if it has more than 300 kB, or a note if that cannot be done."""
    if len(data) <= MAX_IMAGE:
        return _block(data, mime_type)
    if importlib.util.find_spec("PIL") is not None:
        from PIL import Image

        try:
            with Image.open(io.BytesIO(data)) as image:
                return pil_content(image)
        except (OSError, ValueError, Image.DecompressionBombError):
            pass
    return TextContent(f"[An image of {len(data):,} bytes ({mime_type}) was left out, because it is too large.]")


def pil_content(image: Any) -> Content:
    """A block of a PIL image: PNG, else a JPEG, ever smaller until it has at most 300 kB."""
    image.load()
    if image.mode not in ("RGB", "RGBA", "L", "LA", "P", "1"):
        image = image.convert("RGB")
    while True:
        for mime_type, options in (("image/png", {"format": "PNG"}), ("image/jpeg", {"format": "JPEG", "quality": 85})):
            buffer = io.BytesIO()
            (_on_white(image) if mime_type == "image/jpeg" else image).save(buffer, **options)
            if buffer.tell() <= MAX_IMAGE:
                return _block(buffer.getvalue(), mime_type)
        image = image.resize((max(1, image.width * 2 // 3), max(1, image.height * 2 // 3)))


def _on_white(image: Any) -> Any:
    if "transparency" not in image.info and image.mode not in ("RGBA", "LA"):
        return image.convert("RGB")
    from PIL import Image

    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image).convert("RGB")
