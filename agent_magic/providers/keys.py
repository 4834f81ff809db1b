"""Which key goes with a request. A key from the environment goes to its vendor's own host only."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from urllib.parse import urlsplit

from ..errors import AuthenticationError, InvalidDataError
from ..models import Model
from ..secret import BLANKED, Secret
from .keyring_store import store_key, stored_key
from .vendors import VENDORS, Vendor, vendor_named

# Keys given in this process, by the vendor's name or by host; they are never written anywhere.
_logins: dict[str, Secret] = {}
# Keys of models that were used, so that they can be hidden too. Some are renewed all the time.
_used: deque[Secret] = deque(maxlen=50)
# A shorter key might be an ordinary word; the model's own is more likely to be what is meant.
_SHORTEST_OWN = 3
_SHORTEST_HELD = 8
# How many wish that requests go without the keys that are missing.
_keyless = 0


def login(provider_or_host: str, key: str | Secret | None) -> None:
    """Keep a key in this process for a provider's own hosts, or for one host; None forgets it."""
    vendor = vendor_named(provider_or_host)
    if vendor is None and "." not in provider_or_host and provider_or_host != "localhost":
        known = ", ".join(name for name, each in VENDORS.items() if each.key_variables)
        raise InvalidDataError(f"{provider_or_host!r} is neither a host nor one of the providers {known}", "provider")
    place = vendor.name if vendor else provider_or_host.lower()
    secret = Secret.of(key)
    if secret is None:
        _logins.pop(place, None)
    else:
        _logins[place] = secret


def do_without_keys() -> Callable[[], None]:
    """Look for no vendor's key and miss none, while nothing is sent to vendors. Returns a function that ends this."""
    global _keyless
    _keyless += 1

    def end() -> None:
        global _keyless
        _keyless -= 1

    return end


def keep_in_keyring(provider: str, key: str) -> None:
    """`login`, and keep the key in the keyring of the machine for later processes."""
    store_key(provider, key)
    login(provider, key)


def forget(provider: str) -> None:
    """Forget the key that was given for a provider or host, in the keyring too if the package for it is there."""
    login(provider, None)
    if find_spec("keyring") is not None and vendor_named(provider) is not None:
        store_key(provider, None)


def where_key_is(provider: str) -> str | None:
    """Where the key of this provider comes from, in words; None when there is none. Never asks the keyring."""
    vendor = vendor_named(provider)
    if provider in _logins:
        return "given in this kernel"
    variable = vendor.key_variable() if vendor is not None else None
    return f"environment variable {variable}" if variable else None


def known_keys() -> list[Secret]:
    """Every key that this process holds for a vendor or host, so that it can be hidden wherever it turns up."""
    variables = [os.environ.get(name, "").strip() for vendor in VENDORS.values() for name in vendor.key_variables]
    return [*_logins.values(), *(Secret(value) for value in variables if value), *tuple(_used)]


def without_keys(text: str, model: Model) -> str:
    """`text` with every key that goes with requests to `model`, or that this process holds, blanked."""
    own = [*([model.secret.reveal()] if model.secret is not None else []), *model.headers.values()]
    held = [key.reveal() for key in known_keys()]
    found = {part for value in own for part in (value, value.rpartition(" ")[2]) if len(part) > _SHORTEST_OWN}
    found |= {value for value in held if len(value) >= _SHORTEST_HELD}
    for key in sorted(found, key=len, reverse=True):
        text = text.replace(key, BLANKED)
    return text


@lru_cache
def host_of(url: str) -> str:
    """The host that a URL names, in small letters; empty where it names none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


@lru_cache
def vendor_of(url: str) -> Vendor | None:
    """The vendor to whom `url` leads, encrypted."""
    return next((vendor for vendor in VENDORS.values() if vendor.owns(url)), None)


def key_for(model: Model, url: str) -> Secret | None:
    """The key to send to `url`: the model's own, else one of `login`, else the vendor's environment variable.

    None where a server needs no key. A vendor's own host without a key is an `AuthenticationError`, raised before
    anything is sent.
    """
    vendor = vendor_of(url)
    kept = model.secret or _logins.get(host_of(url)) or (_logins.get(vendor.name) if vendor else None)
    if model.secret is not None and model.secret not in _used:
        _used.append(model.secret)
    if kept is not None or vendor is None:
        return kept
    if _keyless:
        return None
    variable = vendor.key_variable()
    if variable is not None:
        return Secret(os.environ[variable].strip())
    stored = stored_key(vendor.name)
    if stored is not None:
        _logins[vendor.name] = stored
        return stored
    raise AuthenticationError(
        f"No key for {model.label} at {host_of(url)}. Set the environment variable {vendor.key_variables[0]}, "
        f"give api_key= to the model, or in a notebook type %agent login {vendor.name}."
    )


def key_advice(model: Model, url: str) -> str:
    """What to do about a refused key, in one sentence."""
    vendor = vendor_of(url)
    host = host_of(url)
    named = vendor_named(model.provider)
    kept_back = named.key_variable() if named else None
    if model.secret is None and vendor is None and kept_back and host not in _logins:
        return (
            f"{kept_back} was not sent, for a key from the environment goes to its vendor's own host only. Give "
            f"api_key= to the model, or in a notebook type %agent login {host}."
        )
    if model.secret is not None or vendor is None:
        return "Check the api_key= given with the model."
    return f"Check the environment variable {vendor.key_variables[0]}, or give api_key= to the model."
