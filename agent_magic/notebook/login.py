"""`%agent login`: takes a key without showing it, and keeps it in this process or, if asked, in the keyring."""

from __future__ import annotations

import getpass

from IPython.core.error import UsageError

from ..errors import AgentMagicError
from ..providers import keys
from ..providers.vendors import VENDORS, vendor_named
from .command import Answer, Words, columns
from .flags import near
from .kernel import NotebookKernel
from .main_thread import main_thread_is_free

NO_QUESTION = (
    "No key can be asked for here, since this front end takes no input. Set the provider's environment variable before "
    "the kernel starts, or give api_key= to a Model."
)


def login(kernel: NotebookKernel, words: Words) -> Answer:
    flags = {word for word in words if word.startswith("--")}
    names = [word for word in words if not word.startswith("--")]
    if not words:
        return _where_keys_are()
    if len(names) > 1:
        raise UsageError(
            f"%agent login takes no key: what stands in a cell is saved with the notebook. Delete it there, then type "
            f"%agent login {names[0] if vendor_named(names[0]) else 'PROVIDER'}, which asks for it."
        )
    if not names or flags - {"--keyring", "--forget"} or len(flags) > 1 or len(words) != len(flags) + 1:
        return None
    provider = _provider(names[0])
    if "--forget" in flags:
        keys.forget(provider)
        return f"The key for {provider} is forgotten, here and in the keyring."
    key = _asked_for(provider)
    if not key:
        return "No key was given, so nothing has changed."
    if "--keyring" in flags:
        keys.keep_in_keyring(provider, key)
        return f"The key for {provider} is kept in the keyring of this machine, also for other kernels."
    keys.login(provider, key)
    return f"The key for {provider} is kept in this kernel until it ends, and written nowhere."


def _provider(name: str) -> str:
    vendor = vendor_named(name)
    if vendor is not None and (vendor.key_variables or vendor.local):
        return vendor.name
    # A host, such as one's own server.
    if "." in name or name == "localhost":
        return name.lower()
    known = [each for each, vendor in VENDORS.items() if vendor.key_variables]
    raise UsageError(f"There is no provider {name}.{near(name, known) or ' There are ' + ', '.join(known) + '.'}")


def _asked_for(provider: str) -> str:
    if not main_thread_is_free():
        raise AgentMagicError(NO_QUESTION)
    try:
        return getpass.getpass(f"Key for {provider} (it is not shown): ").strip()
    except (EOFError, RuntimeError):
        # StdinNotImplementedError, which IPython raises where no front end takes input, is a RuntimeError.
        raise AgentMagicError(NO_QUESTION) from None


def _where_keys_are() -> str:
    rows = [(name, keys.where_key_is(name) or "no key") for name, vendor in VENDORS.items() if vendor.key_variables]
    return "\n".join([*columns(rows), "", "%agent login PROVIDER asks for a key and does not show it."])
