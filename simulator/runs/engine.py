"""One agent on one session: the kernel's events in order, the agent's decisions through the seam, all into the log.

Data walks one way: the source's next snapshot is scheduled; when it happens it is released into the mailbox, the world
learns what it proves (events closed, labels known), and at the end of the instant idle places of the lane take memory
writes first, then snapshots. A decision's answer comes back as a completion and is logged. The same path serves all
clocks: ``timing.pace`` decides whether the world waits, ``runs.seam`` what a call costs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from anyio.abc import TaskGroup

from memory.view import NOTHING, LabelBook, View
from simulator.core.errors import JournalMiss
from simulator.core.intentions import key
from simulator.core.protocols import Memory, MemoryView, SnapshotSource
from simulator.core.types import Event, Observation, Snapshot
from simulator.runs.answers import Answer
from simulator.runs.books import Books
from simulator.runs.config import Settings
from simulator.runs.flights import Flight, Write
from simulator.runs.history import HistoryView, Recent
from simulator.runs.journal import JournalEnds
from simulator.runs.labels import Asks
from simulator.runs.pump import Pump, nothing
from simulator.runs.records import Flag, Kind
from simulator.runs.runlog import LogWriter
from simulator.runs.seam import Seam
from simulator.session.truth import Truth
from simulator.timing.kernel import Kernel, Priority
from simulator.timing.mailbox import Mailbox
from simulator.timing.meter import SilentMeter
from simulator.timing.pace import Held, Paced
from simulator.timing.tasks import task_group

__all__ = ["Engine", "Interrupt"]

_NEVER = 1 << 62
_YIELD_EVERY = 1024  # a loop that never suspends leaks timers
_HELD = int(Flag.HELD)
# An enum's member costs a look-up at each use.
_COMPLETION, _WORLD, _SNAPSHOT, _ = (int(p) for p in Priority)
_SILENT, _OFFER = Kind.SILENT, Kind.OFFER


class Interrupt:
    """Asks a run to stop: what is in flight comes to its end, nothing new starts, the log stays without an end line."""

    asked = False


class Engine:
    """Plays one session into one agent.

    Args:
        source: the snapshots.
        truth: read for what the world reveals (the user's acts) and for the moments to ask; never shown to the agent.
        seam: agent and memory.
        memory: the memory as the views read it; None when it is inert, and then nothing is written either.
        book: labels known before time 0.
        recent: the history view's keeper, with the last events before time 0.
        profile: of the user.
        settings: the unit's rules.
        log: where records go.
        pace: how simulated time is tied to real time.
        interrupt: looked at before each event.
        intentions: in use; offers that name another one are counted. Empty: any.

    Attributes:
        cut: why it ended before the stream did, where a journal reaches no further; None otherwise.
    """

    def __init__(self, source: SnapshotSource, truth: Truth, seam: Seam, memory: Memory | None, book: LabelBook,
                 recent: Recent, profile: Mapping[str, str], settings: Settings, log: LogWriter,
                 pace: Held | Paced, interrupt: Interrupt, intentions: Sequence[str] = ()) -> None:  # fmt: skip
        self._user = source.user
        self._source, self._truth, self._seam, self._memory, self._book = source, truth, seam, memory, book
        self._recent, self._profile, self._settings, self.pace = recent, profile, settings, pace
        self._interrupt = interrupt
        self._intentions = frozenset(key(i) for i in intentions)
        self._kernel = Kernel()
        self._mailbox = Mailbox(settings.policy)
        self._places = settings.policy.places
        self._asks = Asks(truth)
        self._writes: deque[Write] = deque()
        self._flights: dict[int, Flight] = {}
        self._alone = settings.protocol != "stream"
        self._cancels = settings.policy.cancels and not self._alone
        self._end_ns = source.end_ns if source.end_ns is not None else _NEVER
        self._pump = Pump(source, pace, self._kernel)
        self._gaps = deque(sorted(start for start, _, _ in source.gaps))
        self._no_gap_ns = 0 if self._pump.live else _NEVER  # 0: look at each snapshot, there may be a new one
        self._next_gap_ns = self._gaps[0] if self._gaps else self._no_gap_ns
        self._seq = 0
        self._writing = self._in_upkeep = False
        self._newest_offer = -1
        self._newest: Snapshot | None = None
        self._to_ask: deque[tuple[Snapshot | None, int | None]] = deque()
        self._cold = True
        self._group: TaskGroup | None = None
        self._overrun_ns = truth.period_ns
        self.books = Books(log)
        self.cut: str | None = None

    # ------------------------------------------------------------------ for those who look on

    @property
    def user(self) -> str:
        """Whose screen it is."""
        return self._user

    @property
    def source(self) -> SnapshotSource:
        """The snapshots' source."""
        return self._source

    @property
    def seen(self) -> Sequence[Snapshot]:
        """The last snapshots released, oldest first; 600 at least, where there were so many."""
        return self._recent.seen

    @property
    def waiting(self) -> int:
        """Snapshots that wait in the mailbox."""
        return len(self._mailbox)

    @property
    def dropped(self) -> int:
        """Snapshots that gave way to others before any decision saw them."""
        return self._mailbox.n_dropped

    def now_ns(self) -> int:
        """Stream time: in a paced world as it goes on, else that of the last thing that happened."""
        return self.pace.now_ns(self._kernel) if isinstance(self.pace, Paced) else self._kernel.now_ns

    # ------------------------------------------------------------------ the loop

    async def run(self) -> None:
        """Play until nothing will happen any more."""
        snapshots = self._source.snapshots()
        self._snapshots: AsyncIterator[Snapshot] = snapshots
        for moment in self._truth.moments if self._settings.protocol == "moments" else ():
            self._kernel.schedule(moment.t_ns, Priority.TIMER, moment.t_ns)
        try:
            async with task_group() as group:
                self._group = group if self.pace.concurrent else None
                if self._pump.live:
                    group.start_soon(self._live)
                else:
                    await self._pull()
                await self._until_cut(self._play())
                self._pump.stop()
        finally:
            close = getattr(snapshots, "aclose", None)
            if close is not None:  # a generator holds its file until it is closed
                await close()
        if self._interrupt.asked or self.cut is not None:
            self._land()
        elif self._settings.protocol == "trajectory":
            await self._until_cut(self._finish())
        self.books.tally.never_seen = self._mailbox.n_dropped + len(self._mailbox)
        self.books.tally.writes_after_end = len(self._writes)
        if self._asks.n_passed_over:
            self.books.note("questions_passed_over", self._asks.n_passed_over)

    async def _until_cut(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, or as much of it as an interrupted run's journal holds."""
        try:
            await work
        except JournalEnds as end:
            self.cut = str(end)

    async def _play(self) -> None:
        kernel, pace, waiting = self._kernel, self.pace, self._mailbox.waiting
        writes, to_ask, seam = self._writes, self._to_ask, self._seam
        heap, coming = kernel.heap, nothing if self._pump.live else self._snapshots.__anext__
        turns = 0
        while True:
            turns += 1
            if pace.concurrent or turns % _YIELD_EVERY == 0:
                if not await pace.turn(kernel, self._expecting):
                    break
            elif not heap:  # a held world needs no waiting: its turn is asked for only to yield to the loop
                break
            if self._interrupt.asked:
                break
            priority, event = kernel.pop_with_priority()
            if priority == _SNAPSHOT:
                self._release(event)
                try:  # as _pull, without a coroutine of its own
                    event = await coming()
                    kernel.schedule(event.captured_ns, _SNAPSHOT, event)
                except StopAsyncIteration:
                    pass
            elif priority == _COMPLETION:
                self._complete(event)
            elif priority == _WORLD:
                writes.append(event)
            else:
                to_ask.append((self._newest, event))
            if (waiting or writes or to_ask) and not (heap and heap[0][0] == kernel.now_ns):  # the instant's end
                if seam.inline and not writes and not to_ask:
                    self._decide_now()
                else:
                    await self._dispatch()
        if self._group is not None or self._interrupt.asked:
            return
        for flight in self._flights.values():
            index = flight.snapshot.index if flight.snapshot else None
            raise JournalMiss(
                f"the journal holds only a cancelled decision for snapshot {index}, and nothing cancels it here: "
                "its full charge is unknown"
            )

    def _land(self) -> None:
        """After an interrupt: what was in flight has come to its end, and is recorded; nothing else happens."""
        while self._kernel:
            priority, event = self._kernel.pop_with_priority()
            if priority == _COMPLETION:
                self._complete(event)

    async def _pull(self) -> None:
        """Schedule the source's next snapshot: one ahead, so that memory stays flat."""
        snapshot = await anext(self._snapshots, None)
        if snapshot is not None:
            self._kernel.schedule(snapshot.captured_ns, _SNAPSHOT, snapshot)

    async def _live(self) -> None:
        await self._pump.run(self._snapshots)
        self._end_ns = self._source.end_ns if self._source.end_ns is not None else _NEVER

    def _expecting(self) -> bool:
        """Whether more may come than the kernel knows of."""
        return bool(self._flights) or self._pump.live

    # ------------------------------------------------------------------ the world

    def _release(self, snapshot: Snapshot) -> None:
        """A snapshot happens: the world learns what it proves, the mailbox gets it."""
        self.books.tally.released += 1
        t = snapshot.captured_ns
        closed = None
        if t >= self._next_gap_ns:
            closed = self._pass_gaps(t)
        closed = self._recent.saw(snapshot) or closed
        self._newest = snapshot
        if closed is not None:
            self._closed(closed, t)
        if self._cancels and self._flights:
            self._cancel()
        if self._alone:
            if self._settings.protocol == "trajectory":
                self._to_ask.append((snapshot, None))
        else:
            self._mailbox.put(snapshot, self._places - len(self._flights))

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
            self.books.changes_ns.append(t)
        if self._memory is None or self._settings.memory_mode == "frozen":
            return
        now = self._kernel.now_ns  # later than t where a live snapshot was late
        event, label = self._asks.settle(event, now)
        self._kernel.schedule(now, Priority.WORLD, Write("observe", event, None, now))
        if label is not None:
            self._kernel.schedule(now, Priority.WORLD, Write("feedback", event, label, now))

    # ------------------------------------------------------------------ the lane

    async def _dispatch(self) -> None:
        """End of an instant: idle places take memory writes, then snapshots. Nothing starts at or after the end."""
        if self._alone:
            while self._writes:
                await self._write(self._writes.popleft(), self._kernel.now_ns)
            while self._to_ask:
                await self._ask(*self._to_ask.popleft())
            return
        kernel, waiting = self._kernel, self._mailbox.waiting
        while (waiting or self._writes) and not self._writing and (now := kernel.now_ns) < self._end_ns:
            if self._writes:
                if self._flights:  # those read as of their start: it waits for them, new ones for it
                    return
                await self._write(self._writes.popleft(), now)
            elif len(self._flights) < self._places:
                snapshot, dropped = self._mailbox.take()
                await self._decide(snapshot, dropped, now, snapshot.captured_ns)
            else:
                return

    def _decide_now(self) -> None:
        """As ``_dispatch``, for snapshots alone and an agent that answers on the spot (never beside a paced world)."""
        kernel, mailbox, seam = self._kernel, self._mailbox, self._seam
        while mailbox.waiting and len(self._flights) < self._places and (now := kernel.now_ns) < self._end_ns:
            snapshot, dropped = mailbox.take()
            flight = self._depart("decide", snapshot, dropped, now, snapshot.captured_ns)
            meter = seam.meter()
            observation = self._observe(snapshot, now, HistoryView(self._recent, now), meter)
            self._arrive(flight, seam.decide_now(snapshot.index, observation, meter))

    async def _ask(self, snapshot: Snapshot | None, moment_ns: int | None) -> None:
        """A question asked alone, outside the stream's time."""
        if snapshot is None:
            self.books.note("moment_without_snapshot")
        else:
            at = snapshot.captured_ns if moment_ns is None else moment_ns
            await self._decide(snapshot, 0, at, at, moment_ns)

    def _depart(self, what: str, snapshot: Snapshot, dropped: int, started: int, released: int) -> Flight:
        """A decision starts."""
        flags = _HELD if snapshot.held else 0
        if self._cold:
            self._cold, flags = False, flags | Flag.COLD
        seq = self._seq
        self._seq = seq + 1
        flight = self._flights[seq] = Flight(what, seq, started, released, dropped, flags, snapshot)
        return flight

    def _observe(self, snapshot: Snapshot, started: int, history: HistoryView, meter: SilentMeter) -> Observation:
        memory = NOTHING if self._memory is None else self._view(snapshot, started, meter)
        return Observation(snapshot, started, self._user, history, self._profile, memory, meter)

    async def _decide(self, snapshot: Snapshot, dropped: int, started: int, released: int, moment_ns: int | None = None,
                      what: str = "decide") -> None:  # fmt: skip
        flight = self._depart(what, snapshot, dropped, started, released)
        look = partial(self._observe, snapshot, started, HistoryView(self._recent, started))
        if self._group is not None:
            self._group.start_soon(self._fly, flight, look)
        else:
            self._arrive(flight, await self._seam.decide(snapshot.index, look, moment_ns, what))

    def _view(self, snapshot: Snapshot, started: int, meter: SilentMeter) -> MemoryView:
        assert self._memory is not None
        where = (snapshot.app, snapshot.title, snapshot.category)
        return View(self._memory, self._book, self._user, started, *where, meter)

    async def _write(self, write: Write, started: int) -> None:
        self._writing = True
        flight = Flight(write.what, self._seq, started, write.available_ns, write=write)
        self._seq += 1
        self._flights[flight.seq] = flight
        if self._group is not None:
            self._group.start_soon(self._fly, flight, None)
        else:
            self._arrive(flight, await self._seam.write(write.what, write.event, write.label))
            await self._upkeep(started)

    async def _fly(self, flight: Flight, look: Any) -> None:
        """A call beside the running world. It is charged from the instant at which it was due to start: hand-over is
        part of it, and its journal then replays the very same run.
        """
        assert isinstance(self.pace, Paced)
        begun = self.pace.real_ns(flight.started_ns)
        if flight.write is not None:
            answer = await self._seam.write(flight.what, flight.write.event, flight.write.label, begun)
        else:
            assert flight.snapshot is not None
            if self.books.departing is not None:
                self.books.departing(flight)
            shown = partial(_kept, flight, look)
            answer = await self._seam.decide(flight.snapshot.index, shown, begun_real_ns=begun)
            if flight.cancelled and not await self._seam.told_cancelled():
                self.books.note("cancel_failed")
        flight.answer = answer
        self.pace.post(self._kernel, answer.ended_real_ns, flight, flight.seq)
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
            self.books.note("upkeep_failed")

    def _arrive(self, flight: Flight, answer: Answer) -> None:
        """A call made while the world stood still: its charge moves the world now."""
        flight.answer = answer
        if self._alone:
            self._complete(flight, flight.started_ns + answer.charge_ns)
        elif not answer.censored:
            ended = flight.started_ns + answer.charge_ns
            if self._kernel.skip_to(ended):
                self._complete(flight)
            else:
                self._kernel.schedule(ended, Priority.COMPLETION, flight, flight.seq)

    def _cancel(self) -> None:
        """A newer snapshot stops the running decision (memory writes go on)."""
        running = [f for f in self._flights.values() if f.write is None and not f.cancelled]
        for flight in running:
            flight.cancelled = True
        if self.pace.concurrent:
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

    # ------------------------------------------------------------------ what came of it

    def _complete(self, flight: Flight, ended_ns: int | None = None) -> None:
        if self._flights.pop(flight.seq, None) is None:
            return  # it was cancelled before
        ended = self._kernel.now_ns if ended_ns is None else ended_ns
        answer = flight.answer
        assert answer is not None
        if flight.write is not None:
            self._written(flight, flight.write, answer, ended)
            return
        if ended >= self._end_ns:
            flight.flags |= Flag.AFTER_END
        kind = Kind.CANCELLED if flight.cancelled else answer.kind
        assert flight.snapshot is not None
        if kind is _OFFER or (answer.retracted and kind is _SILENT):
            if flight.snapshot.index < self._newest_offer:
                kind = Kind.SUPERSEDED
            else:
                self._newest_offer = flight.snapshot.index
        if ended - flight.started_ns > self._overrun_ns:
            self.books.tally.overruns += 1
        if answer.notes:
            for name, n in answer.notes.items():
                self.books.note(name, n)
        if answer.offers and self._intentions:
            unknown = next((o.intention for o, _ in answer.offers if key(o.intention) not in self._intentions), None)
            if unknown is not None:
                self.books.note("unknown_intention")
                self.books.unknown = self.books.unknown or unknown
        self.books.decided(flight, kind, ended)

    def _written(self, flight: Flight, write: Write, answer: Answer, ended: int) -> None:
        """A memory write is visible from its completion on."""
        self._writing = False
        if write.label is not None:
            self._book.add(write.event, write.label)
        self.books.written(flight, write, answer, ended)

    async def _finish(self) -> None:
        """Protocol trajectory: an agent with ``finish`` is asked once more, with all it has seen."""
        last = self._recent.seen[-1] if self._recent.seen else None
        if last is not None and self._seam.can_finish:
            now = max(self._kernel.now_ns, last.captured_ns)
            await self._decide(last, 0, now, now, None, "finish")


def _kept(flight: Flight, look: Callable[[SilentMeter], Observation], meter: SilentMeter) -> Observation:
    """What the agent is handed, kept with its flight."""
    flight.observation = observation = look(meter)
    return observation
