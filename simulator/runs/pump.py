"""Brings the snapshots of a live source into the kernel: they come when they come, and the world goes on meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator

from anyio import CancelScope

from simulator.core.protocols import LiveSource, SnapshotSource
from simulator.core.types import Snapshot
from simulator.timing.kernel import Kernel
from simulator.timing.pace import Held, Paced

__all__ = ["Pump", "nothing"]


class Pump:
    """Of one unit; ``live`` while snapshots may still come by themselves.

    Args:
        source: a recording (then nothing is pumped) or a live one.
        pace: a live source needs a paced world.
        kernel: where snapshots go.
    """

    def __init__(self, source: SnapshotSource, pace: Held | Paced, kernel: Kernel) -> None:
        self._source, self._pace, self._kernel = source, pace, kernel
        self._scope = CancelScope()
        self._n_gaps = len(source.gaps)
        self.live = source.end_ns is None

    async def run(self, snapshots: AsyncIterator[Snapshot]) -> None:
        """Until the source ends or ``stop``."""
        source, pace = self._source, self._pace
        assert isinstance(pace, Paced)
        assert isinstance(source, LiveSource)
        pace.lateness_ns = source.lateness_ns
        with self._scope:
            async for snapshot in snapshots:
                pace.arrive(self._kernel, snapshot.captured_ns, source.now_ns() - snapshot.captured_ns, snapshot)
        self.live = False
        pace.wake()

    def stop(self) -> None:
        """Wait for no further snapshot."""
        self._scope.cancel()

    def new_gaps(self) -> list[int]:
        """Where gaps start that were not known at the last call, or at the beginning."""
        known = self._source.gaps[self._n_gaps :]
        self._n_gaps += len(known)
        return [start for start, _, _ in known]


async def nothing() -> Snapshot:
    """The next snapshot where nothing is pulled."""
    raise StopAsyncIteration
