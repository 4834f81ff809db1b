"""The llama.cpp server in this process, by xllamacpp: one for each model file, for nobody else, freed after use."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import AgentMagicError, ServerError
from ..models import Model
from ..secret import Secret
from .local_files import LARGEST_WINDOW, find_model

# After so much rest the server frees the model's memory, and loads the file again for the next request.
IDLE_MINUTES = 10.0


@dataclass
class LocalServer:
    """A running server. It lives as long as `native`, the object of xllamacpp, is held.

    `takes_tools` is None until the server has been asked.
    """

    path: Path
    window: int
    address: str
    key: Secret
    native: Any
    takes_tools: bool | None = None


_servers: dict[Path, LocalServer] = {}
_lock = threading.Lock()


def server_for(model: Model) -> LocalServer:
    """The server of the model's file, started if need be; takes seconds then.

    Raises `AgentMagicError` where the extra is not installed or the file is missing, and `ServerError` where it
    cannot be loaded.
    """
    path = Path(model.compat.get("path") or find_model(model.id))
    window = model.context_window or LARGEST_WINDOW
    with _lock:
        server = _servers.get(path)
        if server is None or server.window != window:
            _servers.pop(path, None)
            server = None  # Frees the memory of the one before, before the next one needs it.
            server = _servers[path] = _start(model, path, window)
        return server


def unload(name: str | None = None) -> list[str]:
    """Free the memory of the model in the file of this name or path, None meaning all; returns the names.

    A request that is going on ends first. The next request loads the file again.
    """
    with _lock:
        freed = [path for path in _servers if name is None or name in (path.stem, path.name, str(path))]
        for path in freed:
            del _servers[path]
    return [path.stem for path in freed]


def _start(model: Model, path: Path, window: int) -> LocalServer:
    xllamacpp = _library()
    if not path.is_file():
        raise ServerError(f"{model.label}: the file {path.name} is gone. Choose the model again by its new path.")
    key = secrets.token_urlsafe(24)
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = {path.stem}
    settings.n_ctx = window
    # For this process only: no page, no other origin, no request without the key.
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [key]
    settings.ui = False
    settings.cors_origins = ""
    settings.cors_credentials = False
    settings.endpoint_slots = False
    settings.offline = True
    # One conversation at a time, whose beginning stays in the one slot.
    settings.n_parallel = 1
    settings.cache_ram_mib = 0
    settings.sleep_idle_seconds = max(1, round(60 * float(model.compat.get("idle_minutes", IDLE_MINUTES))))
    # The interpreter waits while the server starts, so the weights are read by the first request instead.
    settings.warmup = False
    # Threads that wait for one which gets no processor waste the others' time: the rest is for the user's own work.
    threads = int(model.compat.get("threads") or max(1, (os.cpu_count() or 1) // 2))
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.verbosity = -1
    if model.compat.get("chat_template"):
        settings.chat_template = str(model.compat["chat_template"])
    try:
        native = xllamacpp.Server(settings)
    except RuntimeError:
        raise ServerError(
            f"{model.label}: {path.name} could not be loaded. The file may be damaged, of a kind that this xllamacpp "
            f"does not know, or too large for the free memory with a window of {window} tokens. Try another file, a "
            "newer xllamacpp, or a smaller context_window."
        ) from None
    return LocalServer(path, window, native.listening_address, Secret(key), native)


def _library() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise AgentMagicError(
            "A model in this machine needs the package xllamacpp, which "
            + ("is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded ({error})")
            + '. Run: pip install "agent-magic[local]"'
        ) from None
    return xllamacpp


# Servers have threads of their own, which must end before the interpreter does.
atexit.register(unload)
