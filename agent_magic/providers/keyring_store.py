"""Keys in the keyring of the operating system, by the package `keyring` (an extra). Asked only where the user did."""

from __future__ import annotations

import importlib.util
from typing import Any

from ..errors import AgentMagicError
from ..secret import Secret

SERVICE = "agent-magic"


def stored_key(provider: str) -> Secret | None:
    """The key kept for this provider; None without one, without the package, or when the keyring is locked."""
    if importlib.util.find_spec("keyring") is None:
        return None
    import keyring

    try:
        return Secret.of(keyring.get_password(SERVICE, provider))
    except Exception:
        # Every backend has failures of its own; a request then says that there is no key.
        return None


def store_key(provider: str, key: str | None) -> None:
    """Keep a key beyond this process; None forgets it. Raises `AgentMagicError` where no keyring can be used."""
    if importlib.util.find_spec("keyring") is None:
        raise AgentMagicError('The package keyring is not installed. Run: pip install "agent-magic[keyring]"')
    import keyring

    try:
        if key is not None:
            keyring.set_password(SERVICE, provider, key)
        elif keyring.get_password(SERVICE, provider) is not None:
            keyring.delete_password(SERVICE, provider)
    except Exception as error:
        raise AgentMagicError(f"The keyring of this machine cannot be used: {_words_of(error)}") from None


def _words_of(error: Any) -> str:
    return " ".join(str(error).split()) or type(error).__name__
