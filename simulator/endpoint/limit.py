"""How many calls are in flight at once: fewer after a 429, slowly more again (additive increase, halving).

Only "too many" says that there are too many: other server errors change nothing here. A call that began before the last
halving says nothing new, and does not halve again.

Where several processes ask the same server (``share``), a call takes one of their common places too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from simulator.core.types import MS
from simulator.timing.clock import pause, real_ns

__all__ = ["Limit", "Places", "share"]

_LOOK_NS, _LOOK_MOST_NS = 2 * MS, 50 * MS


class Places(Protocol):
    """Places at one server that several processes share; a process that ends gives its own back."""

    async def take(self, most: int) -> bool:
        """Take a place if fewer than ``most`` are taken; does not wait for one."""
        ...

    def leave(self) -> None:
        """Give one back."""
        ...


_SHARED: list[Callable[[str, int], Places]] = []


def share(places: Callable[[str, int], Places] | None) -> None:
    """Have the limits that are made from now on in this process count together with those of others.

    Args:
        places: from a server's shown base URL and how many calls it may have; None: each limit counts for itself.
    """
    _SHARED[:] = [] if places is None else [places]


class Limit:
    """Places for calls, first come first served. For one event loop.

    Args:
        most: the places there are when nobody complains.
        server: whose places may be shared with other processes; None: they never are.
    """

    def __init__(self, most: int, server: str | None = None) -> None:
        self.most, self.now = most, float(most)
        self._shared = _SHARED[0](server, most) if server is not None and _SHARED else None
        self.n_limited = 0
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved_ns = self._closed_until_ns = 0

    def closed_ns(self) -> int:
        """How long the server still wants to see nobody."""
        return max(0, self._closed_until_ns - real_ns())

    async def enter(self) -> int:
        """Wait for a place; the ns that it took, 0 where one was free."""
        waited = await self._enter_alone()
        if self._shared is None:
            return waited
        try:
            return waited + await self._enter_shared(self._shared)
        except BaseException:
            self._leave_alone()
            raise

    async def _enter_shared(self, shared: Places) -> int:
        begun, look_ns = real_ns(), _LOOK_NS
        if await shared.take(self.most):
            return 0
        while not await shared.take(self.most):  # by looking: a lock that blocks could not be given up
            await pause(look_ns)
            look_ns = min(2 * look_ns, _LOOK_MOST_NS)
        return real_ns() - begun

    async def _enter_alone(self) -> int:
        if not self._waiting and self._in_flight < int(self.now) and real_ns() >= self._closed_until_ns:
            self._in_flight += 1
            return 0
        begun = real_ns()
        if self._waiting or self._in_flight >= int(self.now):
            await self._queue()
        else:
            self._in_flight += 1
        try:
            while left := self.closed_ns():
                await pause(left)
        except BaseException:
            self._leave_alone()
            raise
        return real_ns() - begun

    async def _queue(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except BaseException:
            if place.done() and not place.cancelled():  # it was given, and nobody takes it
                self._leave_alone()
            else:
                self._waiting.remove(place)
            raise

    def leave(self) -> None:
        """Give the place back."""
        if self._shared is not None:
            self._shared.leave()
        self._leave_alone()

    def _leave_alone(self) -> None:
        self._in_flight -= 1
        self._admit()

    def went_well(self) -> None:
        """A call was answered: one place more for a round of calls."""
        self.now = min(float(self.most), self.now + 1 / self.now)
        self._admit()

    def was_limited(self, began_ns: int, wait_ns: int) -> None:
        """A call that began at ``began_ns`` (real time) met a 429 that asks everybody to wait ``wait_ns`` (or 0)."""
        self.n_limited += 1
        now = real_ns()
        self._closed_until_ns = max(self._closed_until_ns, now + wait_ns)
        if began_ns >= self._halved_ns:
            self.now, self._halved_ns = max(1.0, self.now / 2), now

    def _admit(self) -> None:
        while self._waiting and self._in_flight < int(self.now):
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)
