"""One agent on one session: the kernel's events in order, the agent's decisions through the seam, all into the log.

Data walks one way: the source's next snapshot is scheduled; when it happens it is released, ``runs.world`` learns what
it proves (events closed, labels known), and at the end of the instant ``runs.turns`` gives idle places to memory writes
first, then to snapshots. What ``runs.calls`` makes of them comes back as a completion and goes into ``runs.books``. The
same path serves all clocks: ``timing.pace`` decides whether the world waits, ``runs.seam`` what a call costs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import Any

from memory.view import LabelBook
from simulator.core.intentions import key
from simulator.core.protocols import Memory, SnapshotSource
from simulator.core.types import Snapshot
from simulator.runs.books import Books
from simulator.runs.calls import Calls
from simulator.runs.config import Settings
from simulator.runs.history import Recent
from simulator.runs.journal import JournalEnds
from simulator.runs.pump import Pump, nothing
from simulator.runs.runlog import LogWriter
from simulator.runs.seam import Seam
from simulator.runs.sight import Sight
from simulator.runs.turns import Turns
from simulator.runs.world import NEVER_NS, World
from simulator.session.truth import Truth
from simulator.timing.kernel import Kernel, Priority
from simulator.timing.pace import Held, Paced
from simulator.timing.tasks import task_group

__all__ = ["Engine", "Interrupt"]

_YIELD_EVERY = 1024  # a loop that never suspends leaks timers
# An enum's member costs a look-up at each use.
_COMPLETION, _WORLD, _SNAPSHOT, _ = (int(p) for p in Priority)


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
        recalls: how often decisions asked the memory; None where there is none.
    """

    def __init__(self, source: SnapshotSource, truth: Truth, seam: Seam, memory: Memory | None, book: LabelBook,
                 recent: Recent, profile: Mapping[str, str], settings: Settings, log: LogWriter,
                 pace: Held | Paced, interrupt: Interrupt, intentions: Sequence[str] = ()) -> None:  # fmt: skip
        self._source, self._truth, self._seam, self._recent = source, truth, seam, recent
        self._protocol, self._interrupt, self.pace = settings.protocol, interrupt, pace
        self._kernel = kernel = Kernel()
        self._pump = Pump(source, pace, kernel)
        self.books = Books(log, frozenset(key(i) for i in intentions), truth.period_ns)
        remembers = memory is not None and settings.memory_mode != "frozen"
        self._world = World(source, self._pump, truth, recent, kernel, self.books, remembers=remembers)
        sight = Sight(source.user, profile, recent, memory, book)
        self.recalls = sight.recalls
        self._calls = Calls(kernel, seam, sight, settings, pace, self.books, _end_ns(source))
        self._turns = Turns(kernel, recent, self._calls, settings, self.books)
        self.cut: str | None = None

    # ------------------------------------------------------------------ for those who look on

    @property
    def user(self) -> str:
        """Whose screen it is."""
        return self._source.user

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
        return len(self._turns.mailbox)

    @property
    def dropped(self) -> int:
        """Snapshots that gave way to others before any decision saw them."""
        return self._turns.mailbox.n_dropped

    def now_ns(self) -> int:
        """Stream time: in a paced world as it goes on, else that of the last thing that happened."""
        return self.pace.now_ns(self._kernel) if isinstance(self.pace, Paced) else self._kernel.now_ns

    # ------------------------------------------------------------------ the loop

    async def run(self) -> None:
        """Play until nothing will happen any more."""
        snapshots = self._source.snapshots()
        self._snapshots: AsyncIterator[Snapshot] = snapshots
        for moment in self._truth.moments if self._protocol == "moments" else ():
            self._kernel.schedule(moment.t_ns, Priority.TIMER, moment.t_ns)
        try:
            async with task_group() as group:
                self._calls.group = group if self.pace.concurrent else None
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
        elif self._protocol == "trajectory":
            await self._until_cut(self._turns.finish())
        self.books.tally.never_seen = self.dropped + self.waiting
        self.books.tally.writes_after_end = len(self._turns.writes)
        if self._world.n_passed_over:
            self.books.note("questions_passed_over", self._world.n_passed_over)

    async def _until_cut(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, or as much of it as an interrupted run's journal holds."""
        try:
            await work
        except JournalEnds as end:
            self.cut = str(end)

    async def _play(self) -> None:
        kernel, pace, seam, turns = self._kernel, self.pace, self._seam, self._turns
        waiting, writes, to_ask = turns.mailbox.waiting, turns.writes, turns.to_ask
        saw, released, complete, schedule = self._world.saw, turns.released, self._calls.complete, kernel.schedule
        heap, coming = kernel.heap, nothing if self._pump.live else self._snapshots.__anext__
        newest: Snapshot | None = None
        rounds = 0
        while True:
            rounds += 1
            if pace.concurrent or rounds % _YIELD_EVERY == 0:
                if not await pace.turn(kernel, self._expecting):
                    break
            elif not heap:  # a held world needs no waiting: its turn is asked for only to yield to the loop
                break
            if self._interrupt.asked:
                break
            priority, event = kernel.pop_with_priority()
            if priority == _SNAPSHOT:
                newest = event
                saw(event)
                released(event)
                try:  # as _pull, without a coroutine of its own
                    event = await coming()
                    schedule(event.captured_ns, _SNAPSHOT, event)
                except StopAsyncIteration:
                    pass
            elif priority == _COMPLETION:
                complete(event)
            elif priority == _WORLD:
                writes.append(event)
            else:
                to_ask.append((newest, event))
            if (waiting or writes or to_ask) and not (heap and heap[0][0] == kernel.now_ns):  # the instant's end
                if seam.inline and not writes and not to_ask:
                    turns.give_now()
                else:
                    await turns.give()
        if not pace.concurrent and not self._interrupt.asked:
            self._calls.check_none_left()

    def _land(self) -> None:
        """After an interrupt: what was in flight has come to its end, and is recorded; nothing else happens."""
        while self._kernel:
            priority, event = self._kernel.pop_with_priority()
            if priority == _COMPLETION:
                self._calls.complete(event)

    async def _pull(self) -> None:
        """Schedule the source's next snapshot: one ahead, so that memory stays flat."""
        snapshot = await anext(self._snapshots, None)
        if snapshot is not None:
            self._kernel.schedule(snapshot.captured_ns, _SNAPSHOT, snapshot)

    async def _live(self) -> None:
        await self._pump.run(self._snapshots)
        self._calls.end_ns = _end_ns(self._source)

    def _expecting(self) -> bool:
        """Whether more may come than the kernel knows of."""
        return bool(self._calls.flights) or self._pump.live


def _end_ns(source: SnapshotSource) -> int:
    return source.end_ns if source.end_ns is not None else NEVER_NS
