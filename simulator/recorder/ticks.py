"""When the next look at the screen is due: absolute deadlines, and what became of the ticks that were missed.

Waiting ``sleep(1)`` between looks loses 44 frames an hour, and one late wake-up would shift all that follow. So tick k
is due at ``zero + k * period`` of a clock that goes on while the machine sleeps, whenever the last look ended. What was
missed is told with its reason and never caught up with in a burst.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from simulator.core.types import MS, SECOND
from simulator.timing.clock import boot_ns, pause, real_ns, wall_ns

__all__ = ["HUNG_NS", "STEP_NS", "Clocks", "Due", "Ticks"]

STEP_NS = 500 * MS
"""Differences of two clocks up to this are drift; above, somebody set the calendar, or the machine slept."""

HUNG_NS = 5 * SECOND
"""A look that takes so long is none of a busy machine any more: the screen does not answer."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of a recorder, so that tests can bring their own.

    Attributes:
        boot: ns, goes on while the machine sleeps; everything is scheduled and stamped by it.
        real: ns, stands still while the machine sleeps (on Linux): the difference tells a suspend.
        wall: the calendar, UTC ns since the epoch: a label.
        sleep: wait that many ns.
    """

    boot: Callable[[], int] = boot_ns
    real: Callable[[], int] = real_ns
    wall: Callable[[], int] = wall_ns
    sleep: Callable[[int], Awaitable[None]] = pause


class Due(NamedTuple):
    """The tick that is due now, and those missed before it (None, or first, last, reason)."""

    tick: int
    missed: tuple[int, int, str] | None
    step_ns: int
    """How far the calendar was moved since the last look, 0 if it was not."""


class Ticks:
    """The schedule of one recording.

    Args:
        clocks: see there.
        period_ns: of the ticks.
        zero: the ``boot`` instant of ``captured_ns`` 0.
        first: the first tick.
    """

    def __init__(self, clocks: Clocks, period_ns: int, zero: int, first: int = 0) -> None:
        self.period_ns, self.zero, self.next = period_ns, zero, first
        self._clocks = clocks
        self._apart = self._differences()

    def now_ns(self) -> int:
        """The recording's time: since ``captured_ns`` 0."""
        return self._clocks.boot() - self.zero

    def wait_ns(self) -> int:
        """How long until the next tick is due; 0 or less when it is."""
        return self.next * self.period_ns - self.now_ns()

    def take(self) -> Due:
        """The latest tick that is due; the one after it is next. Call it only when ``wait_ns`` is not positive."""
        asleep, step = self._moved()
        tick = max(self.next, self.now_ns() // self.period_ns)
        missed = None if tick == self.next else (self.next, tick - 1, "suspend" if asleep else "overload")
        self.next = tick + 1
        return Due(tick, missed, step)

    def skip_to(self, tick: int) -> None:
        """The ticks before this one have been dealt with."""
        self.next = max(self.next, tick)

    def _differences(self) -> tuple[int, int]:
        boot = self._clocks.boot()
        return boot - self._clocks.real(), self._clocks.wall() - boot

    def _moved(self) -> tuple[bool, int]:
        """Whether the machine slept since the last look, and by how much the calendar was moved."""
        before, self._apart = self._apart, self._differences()
        slept, step = self._apart[0] - before[0], self._apart[1] - before[1]
        return slept > STEP_NS, step if abs(step) > STEP_NS else 0
