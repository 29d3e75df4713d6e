"""Who gets an idle place at an instant's end: memory writes first, then the snapshots that wait, as the policy says."""

from __future__ import annotations

from collections import deque

from simulator.core.types import Snapshot
from simulator.runs.books import Books
from simulator.runs.calls import Calls
from simulator.runs.config import Settings
from simulator.runs.flights import Write
from simulator.runs.history import Recent
from simulator.timing.kernel import Kernel
from simulator.timing.mailbox import Mailbox

__all__ = ["Turns"]


class Turns:
    """Of one unit.

    Args:
        kernel: tells the instant.
        recent: has the last snapshot, for a final question.
        calls: take the places.
        settings: the policy, and whether questions are asked alone.
        books: count moments that cannot be asked about.

    Attributes:
        mailbox: snapshots that wait.
        writes: what the memory has yet to take in.
        to_ask: questions asked alone, outside the stream's time: a snapshot and the moment meant, None for its own.
    """

    def __init__(self, kernel: Kernel, recent: Recent, calls: Calls, settings: Settings, books: Books) -> None:
        self._kernel, self._recent, self._calls, self._books = kernel, recent, calls, books
        self._alone, self._asks_all = settings.protocol != "stream", settings.protocol == "trajectory"
        self._cancels = settings.policy.cancels and not self._alone
        self._places = settings.policy.places
        self.mailbox = Mailbox(settings.policy)
        self.writes: deque[Write] = deque()
        self.to_ask: deque[tuple[Snapshot | None, int | None]] = deque()

    def released(self, snapshot: Snapshot) -> None:
        """A snapshot waits for the instant's end; it may stop the decision that is running."""
        in_flight = self._calls.flights
        if self._cancels and in_flight:
            self._calls.cancel()
        if not self._alone:
            self.mailbox.put(snapshot, self._places - len(in_flight))
        elif self._asks_all:
            self.to_ask.append((snapshot, None))

    async def give(self) -> None:
        """End of an instant: idle places take memory writes, then snapshots. Nothing starts at or after the end."""
        kernel, calls, waiting, writes = self._kernel, self._calls, self.mailbox.waiting, self.writes
        if self._alone:
            while writes:
                await calls.write(writes.popleft(), kernel.now_ns)
            while self.to_ask:
                await self._ask(*self.to_ask.popleft())
            return
        while (waiting or writes) and not calls.writing and (now := kernel.now_ns) < calls.end_ns:
            if writes:
                if calls.flights:  # those read as of their start: it waits for them, new ones for it
                    return
                await calls.write(writes.popleft(), now)
            elif len(calls.flights) < self._places:
                snapshot, dropped = self.mailbox.take()
                await calls.decide(snapshot, dropped, now, snapshot.captured_ns)
            else:
                return

    def give_now(self) -> None:
        """As ``give``, for snapshots alone and an agent that answers on the spot (never beside a paced world)."""
        kernel, calls, mailbox = self._kernel, self._calls, self.mailbox
        while mailbox.waiting and len(calls.flights) < self._places and (now := kernel.now_ns) < calls.end_ns:
            calls.decide_now(*mailbox.take(), now)

    async def finish(self) -> None:
        """Protocol trajectory: an agent with ``finish`` is asked once more, with all it has seen."""
        seen = self._recent.seen
        if seen and self._calls.can_finish:
            now = max(self._kernel.now_ns, seen[-1].captured_ns)
            await self._calls.decide(seen[-1], 0, now, now, None, "finish")

    async def _ask(self, snapshot: Snapshot | None, moment_ns: int | None) -> None:
        if snapshot is None:
            self._books.note("moment_without_snapshot")
        else:
            at = snapshot.captured_ns if moment_ns is None else moment_ns
            await self._calls.decide(snapshot, 0, at, at, moment_ns)
