"""The recorder: looks at the screen at every tick, hands out what it saw, and keeps it.

Three threads: the event loop schedules and hands out, one thread looks (``looking``), one writes (``saving``). The loop
never waits for the disk; a look that hangs costs ticks, and stopping does not wait for it.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from simulator.core.errors import ProactError
from simulator.core.types import MS, SECOND
from simulator.recorder.ledger import Ledger
from simulator.recorder.looking import SLOW_NS, Eye, Looker, Sight, Unseen
from simulator.recorder.machine import Usage
from simulator.recorder.opening import Begun, begin
from simulator.recorder.saving import Rows, Saver
from simulator.recorder.screener import Screener, ScreenerQueue, Screening
from simulator.recorder.shots import Budget, Shot, Summary
from simulator.recorder.status import BEAT, LOCK, PAUSE, Facts, write_beat
from simulator.recorder.ticks import Clocks, Ticks
from simulator.recorder.worker import Worker
from simulator.session.schema import FILE_NAME
from simulator.timing.audit import percentile
from simulator.timing.clock import pause

if TYPE_CHECKING:
    from simulator.recorder.exclusions import Exclusions
    from simulator.recorder.windows import Windows

__all__ = ["Recorder"]

_GRACE_NS = 3 * SECOND  # how long stopping waits for a look, or a screener, that hangs
_LATENESSES = 3600


@dataclass(frozen=True, slots=True)
class _Parts:
    """What works together while a session is recorded."""

    begun: Begun
    ticks: Ticks
    ledger: Ledger
    saver: Saver
    eye: Eye
    worker: Worker
    usage: Usage
    begun_ns: int


class Recorder:
    """Records one desktop into one session folder.

    Args:
        folder: of the session; made if it does not exist. One left by a crash is repaired and continued.
        screen: where pixels come from (``screens.KeptScreen``).
        windows: which windows there are.
        period_ns: of the ticks.
        session: its name; None for the folder's.
        user: whose session it is; None: as a session that is continued says, a new one ``user``'s.
        rules: what is left out (``exclusions.Exclusions``); None: nothing is.
        screener: looks at distinct pictures off the tick path; None: nobody does.
        budget: how much may be written.
        on_shot: called in the loop's thread with each row as it becomes known.
        on_gap: called in the loop's thread with ``(start_ns, end_ns, reason)`` for each stretch without rows as it
            becomes known, mostly tick by tick; stretches that touch belong together.
        clocks: for tests.

    Attributes:
        session: its name.
        user: whose it is; None until that is known, which it is once ``run`` has started.
        period_ns: of the ticks.
        recovered: what was repaired when a session left by a crash was opened, as a sentence; known once ``run`` has
            started.
    """

    def __init__(
        self,
        folder: Path,
        screen: Looker,
        windows: Windows,
        *,
        period_ns: int = SECOND,
        session: str | None = None,
        user: str | None = None,
        rules: Exclusions | None = None,
        screener: Screener | None = None,
        budget: Budget | None = None,
        on_shot: Callable[[Shot], None] | None = None,
        on_gap: Callable[[int, int, str], None] | None = None,
        clocks: Clocks | None = None,
    ) -> None:
        self.folder, self.user, self.period_ns = folder, user, period_ns
        self.session = session or folder.absolute().name
        self.recovered: str | None = None
        self._screening = None if screener is None else ScreenerQueue(screener, self._screened)
        self._screen, self._windows, self._rules = screen, windows, rules
        self._budget, self._clocks = budget or Budget(), clocks or Clocks()
        self._on_shot, self._on_gap = on_shot, on_gap
        self._stopping = self._pausing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stirred = asyncio.Event()
        self._made: _Parts | None = None
        self._forgetting = False
        self._gaps: Counter[str] = Counter()
        self._trouble: str | None = None
        self._last_tick_ns = self._last_row_ns = self._last_beat_ns = None  # type: int | None
        self._late: deque[int] = deque(maxlen=_LATENESSES)
        self._own_missing = self._page_missing = False
        self._looking_since: int | None = None

    def now_ns(self) -> int:
        """The recording's time, the clock of ``captured_ns``; 0 before ``run`` has started."""
        return 0 if self._made is None else self._made.ticks.now_ns()

    def stop(self) -> None:
        """Close the session after the tick in hand. From any thread, also before ``run``."""
        self._stopping = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the recording ended long ago
                self._loop.call_soon_threadsafe(self._stirred.set)

    def pause(self) -> None:
        """Look at nothing and record nothing (gap ``paused``) until ``resume``. From any thread."""
        self._pausing = True

    def resume(self) -> None:
        """Go on after ``pause``, or after a file ``pause`` in the session's folder, which is removed."""
        self._pausing = False
        (self.folder / PAUSE).unlink(missing_ok=True)

    @property
    def paused(self) -> bool:
        """Whether the last tick was left out because somebody paused."""
        return self._trouble == "paused"

    @property
    def _parts(self) -> _Parts:
        assert self._made is not None
        return self._made

    @property
    def facts(self) -> Facts:
        """How it is doing; from any thread."""
        if self._made is None:
            return Facts()
        parts, now, late = self._made, self.now_ns(), list(self._late)
        counts = parts.saver.counts
        seconds = max(1, now - parts.begun_ns) / SECOND
        return Facts(
            last_tick_age_s=None if self._last_tick_ns is None else (now - self._last_tick_ns) / SECOND,
            last_row_age_s=None if self._last_row_ns is None else (now - self._last_row_ns) / SECOND,
            trouble=self._trouble or parts.saver.failing,
            fault=parts.saver.fault,
            n_rows=counts.n_rows,
            n_pictures=counts.n_pictures,
            gaps=dict(sorted((self._gaps + counts.lost).items())),
            late_p99_ms=percentile(late, 99) / MS if late else None,
            n_bytes=counts.n_bytes,
            kb_per_s=counts.n_bytes_new / 1000 / seconds,
            cpu_percent=parts.usage.cpu_percent(),
            rss_bytes=parts.usage.rss_bytes,
            queue=parts.saver.n_waiting,
            n_quick=counts.n_quick,
            events_closed=parts.ledger.events_closed,
            event_open=parts.ledger.event_open,
            quality=parts.ledger.quality(),
            own_missing=self._own_missing,
            page_missing=self._page_missing,
            screened=self._opinions(),
            looking_s=0.0 if (since := self._looking_since) is None else max(0, now - since) / SECOND,
        )

    def _opinions(self) -> dict[str, int]:
        if self._screening is None:
            return {}
        return {"screened": self._screening.n_screened, **dict(sorted(self._screening.unreviewed.items()))}

    async def run(self, for_ns: int | None = None) -> Summary:
        """Record until ``stop``, or so long; the session is closed whatever happens.

        Args:
            for_ns: how long; None: until ``stop``.

        Raises:
            UsageError: the folder holds a closed session, or one begun otherwise; or another recorder writes it.
        """
        self._loop = asyncio.get_running_loop()
        eye = Eye(self._screen, self._windows, self._rules, self.now_ns, max(SLOW_NS, self.period_ns))
        worker = Worker("proact-eye")
        with self._stoppable(_GRACE_NS):
            await worker.submit(lambda: None if self._is_paused() else eye.warm())
        try:
            self._made = await anyio.to_thread.run_sync(self._open, eye, worker)
        except BaseException:
            worker.close(eye.close, 0)
            raise
        end = None if for_ns is None else self._parts.begun.first + max(1, for_ns // self.period_ns)
        screening = None if self._screening is None else asyncio.create_task(self._screening.run())
        try:
            await self._record(end)
            if self._screening is not None:
                await self._screening.drain()
        finally:
            with anyio.CancelScope(shield=True):
                if screening is not None:
                    screening.cancel()
                    await asyncio.wait([screening], timeout=_GRACE_NS / SECOND)
                summary = await anyio.to_thread.run_sync(self._close)
        return summary

    def _open(self, eye: Eye, worker: Worker) -> _Parts:
        """Open or continue the session, and set its clock going. Blocks."""
        rules = "none" if self._rules is None else self._rules.digest()
        begun = begin(self.folder, self.session, self.user, self.period_ns, self._clocks, rules)
        self.user, self.session, self.recovered = begun.user, begun.session, begun.recovered
        ticks = Ticks(self._clocks, self.period_ns, begun.zero, begun.first)
        return _Parts(
            begun,
            ticks,
            Ledger(begun.user, begun.session, begun.zone, self.period_ns, begun.last_event + 1),
            Saver(begun.writer, lost=self._lose, after=self._beat),
            eye,
            worker,
            Usage(),
            ticks.now_ns(),
        )

    def _close(self) -> Summary:
        """Write what waits, and close the session. Blocks."""
        parts = self._parts
        parts.worker.close(parts.eye.close, SECOND)
        closed = parts.saver.close(parts.ledger.end())
        nothing = parts.ticks.next == 0  # stopped before the first tick: the folder is as good as new
        for name in (BEAT, PAUSE, LOCK, *([FILE_NAME] if nothing else [])):
            (self.folder / name).unlink(missing_ok=True)
        parts.begun.lock.release()
        facts = self.facts
        return Summary(self.folder, parts.ticks.next - parts.begun.first, facts.n_rows, facts.n_pictures,
                       facts.n_bytes, facts.gaps, facts.quality, self.recovered, closed)  # fmt: skip

    async def _record(self, end: int | None) -> None:
        """Record until somebody stops it, or that tick comes next."""
        while not self._stopping and (end is None or self._parts.ticks.next < end):
            if (wait := self._parts.ticks.wait_ns()) > 0:
                await self._rest(wait)
                continue
            due = self._parts.ticks.take()
            if due.missed is not None:
                self._gap(*due.missed)
            if due.step_ns:
                self._parts.ledger.note(
                    due.tick, "clock_step", f"the calendar was set by {due.step_ns / SECOND:+.3f} s"
                )
            await self._tick(due.tick)
            if not self._parts.saver.alive:
                raise ProactError("the recording ended: nothing can be written any more; the lines above say why")

    async def _rest(self, wait_ns: int) -> None:
        with self._stoppable(0):
            await self._clocks.sleep(wait_ns)

    @contextmanager
    def _stoppable(self, grace_ns: int) -> Iterator[None]:
        """What is awaited within ends so long after somebody stops the recording, done or not."""
        scope = anyio.CancelScope()
        listener = asyncio.create_task(self._stirring(scope, grace_ns))
        try:
            with scope:
                yield
        finally:
            listener.cancel()

    async def _stirring(self, scope: anyio.CancelScope, grace_ns: int) -> None:
        await self._stirred.wait()
        await pause(grace_ns)
        scope.cancel()

    async def _tick(self, tick: int) -> None:
        seen = await self._looked()
        if isinstance(seen, Sight):
            self._saw(max(tick, seen.captured_ns // self.period_ns), tick, seen)
            return
        # A look that took long and saw nothing has cost the ticks that came due meanwhile for the same reason.
        last = max(tick, self._parts.ticks.now_ns() // self.period_ns)
        self._parts.ticks.skip_to(last + 1)
        self._gap(tick, last, seen.reason, seen.detail)

    async def _looked(self) -> Sight | Unseen:
        seen: Sight | Unseen = Unseen("display_lost", "the screen did not answer")
        self._looking_since = self._parts.ticks.now_ns()
        with self._stoppable(_GRACE_NS):
            seen = await self._parts.worker.submit(self._look)
        self._looking_since = None
        return Unseen("paused") if self._pausing else seen  # paused meanwhile: it was not to be seen

    def _look(self) -> Sight | Unseen:
        """In the worker's thread: look, unless there is a reason not to."""
        if self._forgetting:
            self._forgetting = False
            self._parts.eye.forget()
        if self._is_paused():
            return Unseen("paused")
        if (full := self._full()) is not None:
            return Unseen("disk_full", full)
        return self._parts.eye.look()

    def _is_paused(self) -> bool:
        return self._pausing or (self.folder / PAUSE).exists()

    def _full(self) -> str | None:
        """What keeps us from writing more."""
        if self._budget.n_bytes is not None and self._parts.saver.counts.n_bytes >= self._budget.n_bytes:
            return "budget"
        return "free space" if shutil.disk_usage(self.folder).free < self._budget.free_floor else None

    def _saw(self, tick: int, due: int, sight: Sight) -> None:
        """Keep a look, as the tick in whose period the pixels were taken."""
        self._parts.ticks.skip_to(tick + 1)
        if tick > due:
            self._gap(due, tick - 1, "overload")
        if not self._parts.saver.has_room(sum(seen.image is not None for seen in sight.seen)):
            self._forgetting = True
            self._gap(tick, tick, "overload", "pictures wait to be written")
            return
        utc = self._clocks.wall() - (self._parts.ticks.now_ns() - sight.captured_ns)
        rows, shots = self._parts.ledger.sight(tick, sight, utc)
        self._trouble, self._own_missing, self._page_missing = None, sight.own_missing, sight.page_missing
        self._last_tick_ns = self._last_row_ns = sight.captured_ns
        self._late.append(sight.captured_ns - tick * self.period_ns)
        if self._screening is not None:
            self._screen_it(self._screening, rows)
        self._parts.saver.rows(rows)
        if self._on_shot is not None:
            for shot in shots:
                self._on_shot(shot)

    def _screen_it(self, screening: ScreenerQueue, rows: Rows) -> None:
        """Hand new pictures to the screener; what it has said of known ones goes into the rows."""
        for row, image in rows.rows:
            row |= screening.columns(row["pixels_hash"])
            if image is not None:
                screening.offer(row["pixels_hash"], image, row.get("app_name"), row.get("window_title"))

    def _screened(self, digest: str, screening: Screening) -> None:
        self._parts.saver.call(lambda writer: writer.screened(digest, **screening.columns()))

    def _gap(self, first: int, last: int, reason: str, detail: str | None = None) -> None:
        self._parts.saver.gap(first, last, reason, detail, self._parts.ledger.gap(first * self.period_ns))
        self._gaps[reason] += last - first + 1
        self._trouble, self._last_tick_ns = reason, self._parts.ticks.now_ns()
        if self._on_gap is not None:
            self._on_gap(first * self.period_ns, (last + 1) * self.period_ns, reason)

    def _lose(self) -> None:
        """In the saver's thread: what was last seen is not on disk, so it must not count as seen."""
        self._forgetting = True

    def _beat(self) -> None:
        """In the saver's thread: tell the world that somebody still records."""
        now = self.now_ns()
        if self._last_beat_ns is None or now - self._last_beat_ns >= SECOND // 2:
            self._last_beat_ns = now
            self._parts.usage.look()
            write_beat(self.folder, self.facts, self._clocks)
