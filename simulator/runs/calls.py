"""Calls to agent and memory: how they start, what is on its way, and when it has landed.

A call made while the world stands still moves it by its charge when it is back; one beside a running world is posted
when it really ends.
"""

from __future__ import annotations

from functools import partial

from anyio.abc import TaskGroup

from simulator.core.errors import JournalMiss
from simulator.core.types import Observation, Snapshot
from simulator.runs.answers import Answer
from simulator.runs.books import Books
from simulator.runs.config import Settings
from simulator.runs.flights import Flight, Write
from simulator.runs.history import HistoryView
from simulator.runs.records import Flag
from simulator.runs.seam import Look, Seam
from simulator.runs.sight import Sight
from simulator.timing.kernel import Kernel, Priority
from simulator.timing.meter import SilentMeter
from simulator.timing.pace import Held, Paced

__all__ = ["Calls"]

_HELD = int(Flag.HELD)  # an enum's member costs a look-up at each use


class Calls:
    """Of one unit.

    Args:
        kernel: where completions go.
        seam: agent and memory.
        sight: what the agent is shown.
        settings: the unit's rules.
        pace: how simulated time is tied to real time.
        books: are told what has come to its end.
        end_ns: of the stream.

    Attributes:
        flights: on their way, by number; a cancelled one is here until it has landed.
        writing: whether one of them is a memory write.
        group: takes the calls beside a running world; None while the world stands still for each.
        end_ns: of the stream; of a live one known once it is over.
    """

    def __init__(self, kernel: Kernel, seam: Seam, sight: Sight, settings: Settings, pace: Held | Paced, books: Books,
                 end_ns: int) -> None:  # fmt: skip
        self._kernel, self._seam, self._sight, self._pace, self._books = kernel, seam, sight, pace, books
        self._alone = settings.protocol != "stream"
        self.group: TaskGroup | None = None
        self.end_ns = end_ns
        self.flights: dict[int, Flight] = {}
        self.writing = self._in_upkeep = False
        self._seq = 0
        self._cold = True

    @property
    def can_finish(self) -> bool:
        """Whether the agent has a final question."""
        return self._seam.can_finish

    def check_none_left(self) -> None:
        """After a world that stood still for each call.

        Raises:
            JournalMiss: a journal's call that never came to its end.
        """
        for flight in self.flights.values():
            index = flight.snapshot.index if flight.snapshot else None
            raise JournalMiss(
                f"the journal holds only a cancelled decision for snapshot {index}, and nothing cancels it here: "
                "its full charge is unknown"
            )

    # ------------------------------------------------------------------ starting

    def _depart(self, what: str, snapshot: Snapshot, dropped: int, started: int, released: int) -> Flight:
        """A decision starts."""
        flags = _HELD if snapshot.held else 0
        if self._cold:
            self._cold, flags = False, flags | Flag.COLD
        seq = self._seq
        self._seq = seq + 1
        flight = self.flights[seq] = Flight(what, seq, started, released, dropped, flags, snapshot)
        return flight

    def decide_now(self, snapshot: Snapshot, dropped: int, started: int) -> None:
        """As ``decide``, by an agent that answers on the spot."""
        flight = self._depart("decide", snapshot, dropped, started, snapshot.captured_ns)
        meter = self._seam.meter()
        observation = self._sight.observe(snapshot, started, HistoryView(self._sight.recent, started), meter)
        self._arrive(flight, self._seam.decide_now(snapshot.index, observation, meter))

    async def decide(self, snapshot: Snapshot, dropped: int, started: int, released: int, moment_ns: int | None = None,
                     what: str = "decide") -> None:  # fmt: skip
        """Ask the agent; a world that stands still is moved by it, a running one goes on meanwhile."""
        flight = self._depart(what, snapshot, dropped, started, released)
        look = self._sight.look(snapshot, started)
        if self.group is not None:
            self.group.start_soon(self._fly, flight, look)
        else:
            self._arrive(flight, await self._seam.decide(snapshot.index, look, moment_ns, what))

    async def write(self, write: Write, started: int) -> None:
        """Let the memory take something in."""
        self.writing = True
        flight = Flight(write.what, self._seq, started, write.available_ns, write=write)
        self._seq += 1
        self.flights[flight.seq] = flight
        if self.group is not None:
            self.group.start_soon(self._fly, flight, None)
        else:
            self._arrive(flight, await self._seam.write(write.what, write.event, write.label))
            await self._upkeep(started)

    # ------------------------------------------------------------------ on their way

    async def _fly(self, flight: Flight, look: Look | None) -> None:
        """A call beside the running world. It is charged from the instant at which it was due to start: hand-over is
        part of it, and its journal then replays the very same run.
        """
        assert isinstance(self._pace, Paced)
        begun = self._pace.real_ns(flight.started_ns)
        if flight.write is not None:
            answer = await self._seam.write(flight.what, flight.write.event, flight.write.label, begun)
        else:
            assert flight.snapshot is not None
            assert look is not None
            if self._books.departing is not None:
                self._books.departing(flight)
            shown = partial(_kept, flight, look)
            answer = await self._seam.decide(flight.snapshot.index, shown, begun_real_ns=begun)
            if flight.cancelled and not await self._seam.told_cancelled():
                self._books.note("cancel_failed")
        flight.answer = answer
        self._pace.post(self._kernel, answer.ended_real_ns, flight, flight.seq)
        if flight.write is not None:
            await self._upkeep(flight.started_ns)

    async def _upkeep(self, now_ns: int) -> None:
        """What a write has made necessary, off the decision path: rebuilt while the world stands still, or beside it.

        One at a time: what becomes due meanwhile is seen to after the next write.
        """
        if self._in_upkeep or not self._seam.upkeep_due:
            return
        self._in_upkeep = True
        well = await self._seam.upkeep(now_ns)
        self._in_upkeep = False
        if not well:
            self._books.note("upkeep_failed")

    def cancel(self) -> None:
        """Stop the decisions that are running (memory writes go on)."""
        running = [f for f in self.flights.values() if f.write is None and not f.cancelled]
        for flight in running:
            flight.cancelled = True
        if self._pace.concurrent:
            if running:
                self._seam.stop_running()
            return
        now = self._kernel.now_ns
        for flight in running:
            answer = flight.answer
            assert answer is not None
            if not answer.censored:
                answer = flight.answer = answer.stopped(now - flight.started_ns)
            ended = max(now, flight.started_ns + answer.charge_ns)  # a journalled one held its place until it stopped
            self._kernel.schedule(ended, Priority.COMPLETION, flight, flight.seq)

    # ------------------------------------------------------------------ landed

    def _arrive(self, flight: Flight, answer: Answer) -> None:
        """A call made while the world stood still: its charge moves the world now."""
        flight.answer = answer
        if self._alone:
            self.complete(flight, flight.started_ns + answer.charge_ns)
        elif not answer.censored:
            ended = flight.started_ns + answer.charge_ns
            if self._kernel.skip_to(ended):
                self.complete(flight)
            else:
                self._kernel.schedule(ended, Priority.COMPLETION, flight, flight.seq)

    def complete(self, flight: Flight, ended_ns: int | None = None) -> None:
        """A call came to its end, now or at another instant; a memory write is visible from then on."""
        if self.flights.pop(flight.seq, None) is None:
            return  # it was cancelled before
        ended = self._kernel.now_ns if ended_ns is None else ended_ns
        if (write := flight.write) is not None:
            self.writing = False
            if write.label is not None:
                self._sight.book.add(write.event, write.label)
            self._books.written(flight, write, ended)
            return
        if ended >= self.end_ns:
            flight.flags |= Flag.AFTER_END
        self._books.decided(flight, ended)


def _kept(flight: Flight, look: Look, meter: SilentMeter) -> Observation:
    """What the agent is handed, kept with its flight."""
    flight.observation = observation = look(meter)
    return observation
