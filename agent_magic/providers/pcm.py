"""Raw sound as a sound file that everything can play."""

from __future__ import annotations

import base64
import io
import re
import wave

_RAW = re.compile(r"\s*audio/(l16|pcm|x-pcm|s16le)\b", re.IGNORECASE)
_RATE = re.compile(r"rate=(\d{3,6})", re.IGNORECASE)
_CHANNELS = re.compile(r"channels=(\d)", re.IGNORECASE)
_USUAL_RATE = 24_000


def is_raw_sound(mime_type: str) -> bool:
    """Whether the type is of samples of 16 bits without a header, such as `audio/L16;codec=pcm;rate=24000`."""
    return _RAW.match(mime_type) is not None


def wav_from(samples: bytes, mime_type: str) -> str:
    """A WAV file in base64 of these samples, whose rate and channels stand in the type."""
    rate, channels = _RATE.search(mime_type), _CHANNELS.search(mime_type)
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(max(1, int(channels[1])) if channels else 1)
        sound.setsampwidth(2)
        sound.setframerate(int(rate[1]) if rate else _USUAL_RATE)
        sound.writeframes(samples)
    return base64.b64encode(file.getvalue()).decode("ascii")
