"""How simulated time is tied to real time: not at all (``Held``), or one to one (``Paced``).

The engine asks its pace before it takes the next event from the kernel. A held world moves at once. A paced one waits
until the event is due on an absolute schedule ``t0 + t_ns`` of the monotonic clock (a ``sleep(1)`` in a loop drifts
1-12 ms a snapshot), or until a completion is posted, whichever comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from simulator.core.types import MS
from simulator.timing.clock import real_ns, yield_once
from simulator.timing.kernel import Kernel, Priority

__all__ = ["Held", "Paced"]

_SLEPT_NS = 500 * MS
_LOOK_NS = 200 * MS  # how often a long wait looks whether the run is asked to stop


class Held:
    """The world stands still while a decision is made, and its charge moves it after."""

    concurrent = False
    """Whether decisions run while the world goes on."""

    async def turn(self, kernel: Kernel, expecting: Callable[[], object]) -> bool:
        """Let other tasks of the loop run. True: the kernel's next event is due; False: nothing will come any more."""
        await yield_once()
        return bool(kernel)


class Paced:
    """Wall time. ``elastic`` jumps to the next event while nothing is in flight (at ``speed`` times real time if one
    is given, for watching); ``max_gap_ns`` shortens real waiting only, never a stamp.

    Attributes:
        lateness_ns: of each release, against the schedule; of a live source, of each capture.
    """

    concurrent = True

    def __init__(self, *, elastic: bool = False, speed: int | None = None, max_gap_ns: int | None = None,
                 asked_to_stop: Callable[[], bool] = lambda: False) -> None:  # fmt: skip
        self._elastic, self._speed, self._max_gap_ns = elastic, speed, max_gap_ns
        self._asked_to_stop = asked_to_stop
        self._idle_until: int | None = None
        self._t0: int | None = None
        self._posted = asyncio.Event()
        self._live = False
        self.lateness_ns: list[int] = []

    async def turn(self, kernel: Kernel, expecting: Callable[[], object]) -> bool:
        """Wait until the kernel's next event is due, or the run is asked to stop; False: nothing will come any more.

        ``expecting`` tells whether something is still to come that the kernel does not know of: a decision in flight, a
        live source.
        """
        while True:
            self._posted.clear()
            due = kernel.next_ns()
            if due is None:
                if self._asked_to_stop() or not expecting():
                    return False
                await self._sleep(_LOOK_NS)
                continue
            if self._t0 is None:
                self._t0 = real_ns() - kernel.now_ns
            wait = self._t0 + due - real_ns()
            if wait > 0 and self._idle_until != due and not expecting():
                self._idle_until, wait = due, self._shorten(wait)
            if wait <= 0:
                await yield_once()
                if kernel.heap[0][1] == Priority.SNAPSHOT and not self._live:
                    self.lateness_ns.append(-wait)
                return True
            if self._asked_to_stop():
                return True
            await self._sleep(min(wait, _LOOK_NS))

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

    def real_ns(self, t_ns: int) -> int:
        """The real instant at which a simulated one is due."""
        assert self._t0 is not None
        return self._t0 + t_ns

    def now_ns(self, kernel: Kernel) -> int:
        """Stream time, now; that of the kernel's last event before the two times are tied together."""
        return kernel.now_ns if self._t0 is None else max(kernel.now_ns, real_ns() - self._t0)

    def post(self, kernel: Kernel, real: int, flight: Any, seq: int) -> None:
        """A flight ended at a real instant: a completion stamped ``max(kernel now, own stamp)``."""
        kernel.schedule(max(kernel.now_ns, real - self.real_ns(0)), Priority.COMPLETION, flight, seq)
        self._posted.set()

    def arrive(self, kernel: Kernel, t_ns: int, age_ns: int, snapshot: Any) -> None:
        """A live snapshot, captured at ``t_ns`` of stream time, is here ``age_ns`` later.

        It counts as released when it was captured, unless more has happened since: getting it here is part of what the
        decision on it is charged. The first one ties the two times together, and so does one after the machine slept.
        """
        here = t_ns + age_ns
        if self._t0 is None or here - (real_ns() - self._t0) > _SLEPT_NS:
            self._t0 = real_ns() - here
        self._live = True
        kernel.schedule(max(kernel.now_ns, t_ns), Priority.SNAPSHOT, snapshot)
        self._posted.set()

    def wake(self) -> None:
        """What was expected may have changed: look again."""
        self._posted.set()
