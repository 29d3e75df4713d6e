"""How simulated time is tied to real time: not at all (``Held``), or one to one (``Paced``).

The engine asks its pace before it takes the next event from the kernel. A held world moves at once. A paced one waits
until the event is due on an absolute schedule ``t0 + t_ns`` of the monotonic clock (a ``sleep(1)`` in a loop drifts
1-12 ms a snapshot), or until a completion is posted, whichever comes first.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from simulator.timing.clock import real_ns, yield_once
from simulator.timing.kernel import Kernel, Priority

__all__ = ["Held", "Pace", "Paced"]

_YIELD_EVERY = 1024


class Pace(Protocol):
    """See the module."""

    concurrent: bool
    """Whether decisions run while the world goes on."""

    async def turn(self, kernel: Kernel, n_in_flight: int) -> bool:
        """Return True when the kernel's next event is due, False when nothing will come any more."""
        ...

    def stamp(self, kernel: Kernel, real: int | None = None) -> int:
        """The simulated instant of a real one (now by default)."""
        ...


class Held:
    """The world stands still while a decision is made, and its charge moves it after."""

    concurrent = False

    def __init__(self) -> None:
        self._turns = 0

    async def turn(self, kernel: Kernel, n_in_flight: int) -> bool:
        """See ``Pace``."""
        self._turns += 1
        if self._turns % _YIELD_EVERY == 0:  # a loop that never suspends leaks timers
            await yield_once()
        return bool(kernel)

    def stamp(self, kernel: Kernel, real: int | None = None) -> int:
        """See ``Pace``: now is now."""
        return kernel.now_ns


class Paced:
    """Wall time. ``elastic`` jumps to the next event while nothing is in flight (at ``speed`` times real time if one
    is given, for watching); ``max_gap_ns`` shortens real waiting only, never a stamp.
    """

    concurrent = True

    def __init__(self, *, elastic: bool = False, speed: int | None = None, max_gap_ns: int | None = None) -> None:
        self._elastic, self._speed, self._max_gap_ns = elastic, speed, max_gap_ns
        self._t0: int | None = None
        self._posted = asyncio.Event()
        self.lateness_ns: list[int] = []

    async def turn(self, kernel: Kernel, n_in_flight: int) -> bool:
        """See ``Pace``."""
        if self._t0 is None:
            self._t0 = real_ns() - kernel.now_ns
        while True:
            self._posted.clear()
            due = kernel.next_ns()
            if due is None:
                if not n_in_flight:
                    return False
                await self._posted.wait()
                return True
            wait = self._t0 + due - real_ns()
            if wait > 0 and not n_in_flight:
                wait = self._shorten(wait)
            if wait <= 0:
                await yield_once()
                self.lateness_ns.append(-wait)
                return True
            await self._sleep(wait)

    def _shorten(self, wait: int) -> int:
        """Real nanoseconds still to wait while idle; the rest is skipped by moving the anchor."""
        assert self._t0 is not None
        keep = wait
        if self._elastic:
            keep = wait // self._speed if self._speed else 0
        elif self._max_gap_ns is not None:
            keep = min(wait, self._max_gap_ns)
        self._t0 -= wait - keep
        return keep

    async def _sleep(self, wait_ns: int) -> None:
        """Until the time is up or a completion is posted."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(wait_ns / 1e9, self._posted.set)
        try:
            await self._posted.wait()
        finally:
            timer.cancel()

    def stamp(self, kernel: Kernel, real: int | None = None) -> int:
        """See ``Pace``."""
        assert self._t0 is not None
        return max(kernel.now_ns, (real_ns() if real is None else real) - self._t0)

    def post(self, kernel: Kernel, real: int, flight: Any) -> None:
        """A flight ended at a real instant: a completion stamped ``max(kernel now, own stamp)``."""
        kernel.schedule(self.stamp(kernel, real), Priority.COMPLETION, flight)
        self._posted.set()
