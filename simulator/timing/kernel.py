"""Simulated time: an integer of nanoseconds, and the events that move it.

Events leave in order of ``(t_ns, priority, seq)``. At one instant: **completion < world change < snapshot < timer**,
and only when the instant holds no more of these do idle places take from the mailbox (**dispatch**). So an agent that
becomes free at the very instant of a snapshot gets that snapshot, not the one before (otherwise a fixed 2 s agent
would start every later decision 1 s stale):

>>> kernel = Kernel()
>>> kernel.schedule(2_000_000_000, Priority.SNAPSHOT, "snapshot 2")
>>> kernel.schedule(2_000_000_000, Priority.COMPLETION, "answer to snapshot 0")
>>> kernel.schedule(2_000_000_000, Priority.WORLD, "an event closed")
>>> while kernel:
...     print(kernel.pop(), "…" if kernel.more_now() else "-> dispatch")
answer to snapshot 0 …
an event closed …
snapshot 2 -> dispatch

A truth window is half open and no event: an answer at the closing instant is late, whatever the order here.
"""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush
from typing import Any

from simulator.core.errors import TimeError

__all__ = ["Kernel", "Priority"]


class Priority(IntEnum):
    """Order of events at one instant; published, since it decides who sees what."""

    COMPLETION = 0
    WORLD = 1
    SNAPSHOT = 2
    TIMER = 3


class Kernel:
    """The heap of what will happen (``heap``: truthy while anything will), and now."""

    __slots__ = ("_seq", "heap", "now_ns")

    def __init__(self, start_ns: int = 0) -> None:
        self.now_ns = start_ns
        self.heap: list[tuple[int, int, int, Any]] = []
        self._seq = 0

    def schedule(self, t_ns: int, priority: int, event: Any, seq: int | None = None) -> None:
        """Let ``event`` happen at ``t_ns``. ``seq`` orders events of one instant and priority: by default as they were
        scheduled; completions give their decision's own, so that they go by snapshot, whichever came in first.

        Raises:
            TimeError: the instant lies in the past.
        """
        if t_ns < self.now_ns:
            raise TimeError(f"an event was scheduled {self.now_ns - t_ns} ns in the past")
        if seq is None:
            self._seq += 1
            seq = self._seq
        heappush(self.heap, (t_ns, priority, seq, event))

    def pop(self) -> Any:
        """Move time to the next event and return it."""
        self.now_ns, _, _, event = heappop(self.heap)
        return event

    def pop_with_priority(self) -> tuple[int, Any]:
        """As ``pop``, with the event's priority."""
        self.now_ns, priority, _, event = heappop(self.heap)
        return priority, event

    def skip_to(self, t_ns: int) -> bool:
        """Move time to ``t_ns`` if nothing happens before it or at it: what is due then may be done without the heap.

        Raises:
            TimeError: the instant lies in the past.
        """
        if self.heap and self.heap[0][0] <= t_ns:
            return False
        if t_ns < self.now_ns:
            raise TimeError(f"time was asked to run back by {self.now_ns - t_ns} ns")
        self.now_ns = t_ns
        return True

    def next_ns(self) -> int | None:
        """The instant of the next event."""
        return self.heap[0][0] if self.heap else None

    def more_now(self) -> bool:
        """Whether another event waits at this very instant."""
        heap = self.heap
        return bool(heap) and heap[0][0] == self.now_ns

    def __len__(self) -> int:
        return len(self.heap)
