"""The ways to servers that are kept for the next request: one for each event loop and server, closed with the loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from . import network
from .address import Address
from .direct import Answer


class Way(Protocol):
    """What carries requests to one server, as `direct.Connections` does."""

    def exchange(
        self, method: str, address: Address, headers: Mapping[str, str], body: bytes
    ) -> AbstractAsyncContextManager[Answer]: ...

    async def aclose(self) -> None: ...


class _Kept:
    """A way to a server. Its keeper is an async generator, which a loop closes at its own end."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.closed = False
        self.keeper = self._keep()

    async def _keep(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self.closed = True
            await self.way.aclose()


_kept: dict[tuple[Any, ...], _Kept] = {}


async def way_to(address: Address, new_way: Callable[[Address], Way]) -> Way:
    """The way to a server from this loop, as the environment is now; a `new_way` where none is kept."""
    direct = network.is_direct(address.scheme, address.host)
    place = (asyncio.get_running_loop(), address.scheme, address.server, () if direct else network.settings())
    kept = _kept.get(place)
    if kept is None or kept.closed:
        # Loops of other threads may do the same meanwhile.
        for gone in [each for each in list(_kept) if each[0].is_closed()]:
            _kept.pop(gone, None)
        kept = _kept[place] = _Kept(new_way(address))
        await anext(kept.keeper)
    return kept.way
