"""What a released snapshot proves: that events closed, and what is known of them; the memory gets to know it."""

from __future__ import annotations

from collections import deque

from simulator.core.protocols import SnapshotSource
from simulator.core.types import Event, Snapshot
from simulator.runs.books import Books
from simulator.runs.flights import Write
from simulator.runs.history import Recent
from simulator.runs.labels import Asks
from simulator.runs.pump import Pump
from simulator.session.truth import Truth
from simulator.timing.kernel import Kernel, Priority

__all__ = ["NEVER_NS", "World"]

NEVER_NS = 1 << 62
"""Of what has no end, or does not come."""


class World:
    """One unit's, as its snapshots show it.

    Args:
        source: for where its recording stopped.
        pump: tells of gaps that come about while a live source runs.
        truth: what the user did with assistants; never shown to the agent.
        recent: the history view's keeper.
        kernel: memory writes are scheduled there.
        books: count what was released, and when events changed.
        remembers: whether there is a memory that takes in anything.
    """

    def __init__(self, source: SnapshotSource, pump: Pump, truth: Truth, recent: Recent, kernel: Kernel, books: Books,
                 *, remembers: bool) -> None:  # fmt: skip
        self._pump, self._asks, self._recent, self._kernel = pump, Asks(truth), recent, kernel
        self._books, self._tally, self._remembers = books, books.tally, remembers
        self._gaps = deque(sorted(start for start, _, _ in source.gaps))
        self._no_gap_ns = 0 if pump.live else NEVER_NS  # 0: look at each snapshot, there may be a new one
        self._next_gap_ns = self._gaps[0] if self._gaps else self._no_gap_ns

    @property
    def n_passed_over(self) -> int:
        """Questions that no label tells of."""
        return self._asks.n_passed_over

    def saw(self, snapshot: Snapshot) -> None:
        """A snapshot happened."""
        self._tally.released += 1
        t = snapshot.captured_ns
        closed = None
        if t >= self._next_gap_ns:
            closed = self._pass_gaps(t)
        closed = self._recent.saw(snapshot) or closed
        if closed is not None:
            self._closed(closed, t)

    def _pass_gaps(self, t: int) -> Event | None:
        """Recording stopped before this snapshot: what was open ended when it stopped."""
        closed = None
        self._gaps.extend(self._pump.new_gaps())
        while self._gaps and self._gaps[0] <= t:
            closed = self._recent.gap(self._gaps.popleft()) or closed
        self._next_gap_ns = self._gaps[0] if self._gaps else self._no_gap_ns
        return closed

    def _closed(self, event: Event, t: int) -> None:
        """An event is proven closed at ``t``: the memory may have it, and what is known of it."""
        if event.end_ns == t:
            self._books.changes_ns.append(t)
        if not self._remembers:
            return
        now = self._kernel.now_ns  # later than t where a live snapshot was late
        event, label = self._asks.settle(event, now)
        self._kernel.schedule(now, Priority.WORLD, Write("observe", event, None, now))
        if label is not None:
            self._kernel.schedule(now, Priority.WORLD, Write("feedback", event, label, now))
