"""Whether the real service would accept a request: the types of the vendor's SDK, and the scripted server's checks."""

from __future__ import annotations

import copy
from typing import Any

from ..benchmarks import mockllm
from .test_sdk_types import CHECKS

_READERS = {"anthropic": "Messages", "gemini": "Gemini", "openai-chat": "Chat", "openai-responses": "Responses"}


def check_accepted(api: str, url: str, body: dict[str, Any]) -> None:
    """Raise `AssertionError`, or what the types or the scripted server raise, where it would be refused."""
    plain = copy.deepcopy(body)
    for message in plain.get("messages", ()):
        # Only the server that gave these knows them; the types of OpenAI's own SDK do not.
        for name in ("reasoning", "reasoning_content", "reasoning_details"):
            message.pop(name, None)
    CHECKS[api](url, plain)
    mockllm.check_history("text", 0, *getattr(mockllm, _READERS[api]).read(plain))
