"""Real time. The only module that reads a clock or waits; ruff bans both everywhere else.

Real time belongs to asyncio and is never patched, mocked or sped up: every virtual event-loop clock that was tried
charged a real answer of 0.35 s as 0, 6 or 30 s. Simulated time is an integer that ``simulator.timing.kernel`` moves.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

__all__ = ["boot_ns", "pause", "real_ns", "rest", "utc_now", "wall_ns", "yield_once"]

real_ns = time.perf_counter_ns
"""Nanoseconds of a monotonic clock (``() -> int``); only differences mean anything."""

wall_ns = time.time_ns
"""The calendar's time, UTC ns since the epoch (``() -> int``): a label of what is recorded. People set it."""


def boot_ns() -> int:
    """As ``real_ns``, but time in which the machine slept counts too where the system can tell (Linux)."""
    return time.clock_gettime_ns(_BOOT) if _BOOT is not None else time.monotonic_ns()


_BOOT: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def utc_now() -> datetime:
    """The calendar's time, for labels such as when a run was started; never for measuring."""
    return datetime.now(UTC)


async def pause(duration_ns: int) -> None:
    """Wait in real time; a duration that is not positive only yields to the loop."""
    await asyncio.sleep(max(0, duration_ns) / 1e9)


async def yield_once() -> None:
    """Let other tasks of the loop run; a loop that never suspends starves timers and I/O."""
    await asyncio.sleep(0)


def rest(duration_ns: int) -> None:
    """Block the calling thread, which must not be a loop's."""
    time.sleep(max(0, duration_ns) / 1e9)
