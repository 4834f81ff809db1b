"""Servers of this machine for tests, on ports that no kernel had.

Who talked to a kernel that has ended looks for it for a while, and finds whoever was given one of its ports.
"""

from __future__ import annotations

import contextlib
import random
import socket

# Below those that a system gives to who asks for any, as kernels do.
_PORTS = range(20_000, 32_000)


def listening_socket() -> socket.socket:
    """A socket that listens where nobody is expected but the test's own clients."""
    while True:
        with contextlib.suppress(OSError):
            return socket.create_server(("127.0.0.1", random.choice(_PORTS)))
