"""Keeping what was seen: a thread that encodes pictures and writes rows, in order, behind a bounded queue.

Encoding takes 0.2 s at 1080p and 2 s on a busy machine, so the looks must not wait for it. At most ``DEPTH`` pictures
wait (kill -9 loses them, the rows that wait behind them, and nothing that ``counts`` tells); when more than half of
them do, encoding turns to quicker methods, and where none fits any more, the recorder makes a gap of the tick. A disk
that is full, or fails, costs ticks and never the recording: what could not be written becomes a gap, and the gap is
written as soon as there is room.
"""

from __future__ import annotations

import errno
import queue
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from simulator.core.operators import operators
from simulator.session.schema import FILE_NAME
from simulator.session.store import DENSE, QUICK, QUICKEST, Writer

__all__ = ["DEPTH", "Counts", "Rows", "Saver"]

DEPTH = 4
"""Pictures that may wait to be encoded."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAULTS = (OSError, sqlite3.Error, MemoryError, ValueError)


@dataclass(frozen=True, slots=True)
class Rows:
    """All that one tick adds to a session.

    Attributes:
        tick: which.
        rows: columns of ``screenshots`` by monitor, each with its picture, or None where that was handed in before.
        masks: columns of ``masks``.
        notes: columns of ``notes``.
        event: columns of the event that this tick closed, if it closed one.
    """

    tick: int
    rows: Sequence[tuple[dict[str, Any], Image.Image | None]]
    masks: Sequence[dict[str, Any]] = ()
    notes: Sequence[dict[str, Any]] = ()
    event: dict[str, Any] | None = None


@dataclass(slots=True)
class Counts:
    """What has been written so far; ``n_bytes`` is all of the session, ``n_bytes_new`` what came since the opening;
    ``lost`` counts ticks whose rows could not be written, by reason.
    """

    n_rows: int = 0
    n_pictures: int = 0
    n_quick: int = 0
    n_bytes: int = 0
    n_bytes_new: int = 0
    last_tick: int | None = None
    lost: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Gap:
    first: int
    last: int
    reason: str
    detail: str | None
    id: int | None = None
    written: int | None = None  # up to which tick it stands in the database


class Saver:
    """The only one that writes a session while it is recorded.

    Args:
        writer: of the session; closed by ``close``.
        lost: called, in the saver's thread, when a tick could not be written: what it showed was not kept.
        after: called, in the saver's thread, after each piece of work.
    """

    def __init__(
        self, writer: Writer, *, lost: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None
    ) -> None:
        self._picture_bytes = _size(writer.folder / "screenshots", "**/*")
        self._before = self._picture_bytes + _size(writer.folder, FILE_NAME + "*")
        self.counts = Counts(n_bytes=self._before)
        self._writer, self._lost, self._after = writer, lost, after
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._n_waiting, self._guard = 0, threading.Lock()
        self._gaps: list[_Gap] = []
        self._events: list[dict[str, Any]] = []  # closed, and not written yet
        self._failing: str | None = None
        self._fault: str | None = None
        self._finished = False
        operators()  # imported now: a fault that leaves no file to open could not be told otherwise
        self._thread = threading.Thread(target=self._run, name="proact-saver", daemon=True)
        self._thread.start()

    @property
    def n_waiting(self) -> int:
        """Pictures that wait or are being encoded."""
        return self._n_waiting

    @property
    def alive(self) -> bool:
        """Whether it still writes; if not, a bug of ours ended its thread, which said so on stderr."""
        return self._thread.is_alive()

    @property
    def failing(self) -> str | None:
        """Why the last tick could not be written (a reason of a gap), None if it could."""
        return self._failing

    @property
    def fault(self) -> str | None:
        """What kind of fault the last thing that could not be written met; None if all could."""
        return self._fault

    def has_room(self, n: int) -> bool:
        """Whether so many more pictures may be handed in. A tick of more monitors than ``DEPTH`` needs it empty."""
        return self._n_waiting + n <= max(DEPTH, n)

    def rows(self, rows: Rows) -> None:
        """Write one tick."""
        with self._guard:
            self._n_waiting += sum(image is not None for _, image in rows.rows)
        self._work.put(lambda: self._write(rows))

    def gap(self, first: int, last: int, reason: str, detail: str | None, event: dict[str, Any] | None = None) -> None:
        """Write a gap, as part of the last one where they touch, with the event that it closed."""
        self._work.put(lambda: self._write_gap(first, last, reason, detail, event))

    def call(self, work: Callable[[Writer], None]) -> None:
        """Let something else be written, in its turn; where the disk has no room for it, it is left out."""

        def guarded() -> None:
            self._guarded(lambda: work(self._writer))

        self._work.put(guarded)

    def close(self, event: dict[str, Any] | None = None) -> bool:
        """Write what waits and the last event, close the session; False if that could not all be written. Blocks."""
        if event is not None:
            self._work.put(lambda: self._events.append(event))
        self._work.put(None)
        self._thread.join()
        if not self._finished:  # whoever opens it next is to see that something is missing
            self._writer.abandon()
            return False
        self._pay()
        try:
            self._writer.close()
        except _FAULTS as error:
            self._told("the session could not be marked closed", error)
            return False
        self._measure()
        return not self._events and all(gap.written == gap.last for gap in self._gaps)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            self._after()
        self._finished = True

    def _write(self, rows: Rows) -> None:
        fresh: list[str] = []
        if rows.event is not None:
            self._events.append(rows.event)
        try:
            columns = [self._kept(row, image, fresh) for row, image in rows.rows]
            with self._writer.transaction():
                for row in columns:
                    self._writer.add(**row)
                for mask in rows.masks:
                    self._writer.mask(**mask)
                for note in rows.notes:
                    self._writer.note(**note)
        except _FAULTS as error:
            self._fail(rows.tick, error, fresh)
        else:
            self._failing = None
            self.counts.n_rows += len(columns)
            self.counts.n_pictures += len(fresh)
            self._picture_bytes += sum(row["file_size"] for row in columns if row["pixels_hash"] in fresh)
            self._measure()
            self.counts.last_tick = rows.tick
        finally:
            with self._guard:
                self._n_waiting -= sum(image is not None for _, image in rows.rows)
        self._pay()

    def _measure(self) -> None:
        self.counts.n_bytes = self._picture_bytes + _size(self._writer.folder, FILE_NAME + "*")
        self.counts.n_bytes_new = self.counts.n_bytes - self._before

    def _kept(self, row: dict[str, Any], image: Image.Image | None, fresh: list[str]) -> dict[str, Any]:
        """The row with what is known of its picture's file, which is written where it is not there."""
        digest = row["pixels_hash"]
        kept = self._writer.kept(digest)
        if kept is not None:
            return {**row, **kept}
        if image is None:
            raise FileNotFoundError(errno.ENOENT, "the picture was not kept")
        method = DENSE if self._n_waiting <= DEPTH // 2 else QUICK if self._n_waiting < DEPTH else QUICKEST
        made = self._writer.keep(image, digest=digest, method=method)
        self.counts.n_quick += method != DENSE
        fresh.append(digest)
        return {**row, **made}

    def _fail(self, tick: int, error: Exception, fresh: Sequence[str]) -> None:
        full = (isinstance(error, OSError) and error.errno in _FULL) or "full" in str(error)
        gone = isinstance(error, FileNotFoundError) and self._failing is not None  # shows what failed before
        reason = self._failing if gone and self._failing else "disk_full" if full else "missing"
        if self._failing is None:
            self._told("a tick could not be written", error)
        for digest in fresh:
            self._guarded(lambda digest=digest: self._writer.discard(digest))  # type: ignore[misc]
        self._failing = reason
        self.counts.lost[reason] += 1
        self._note_gap(tick, tick, reason, None if reason == "disk_full" else _named(error))
        self._lost()

    def _write_gap(self, first: int, last: int, reason: str, detail: str | None, event: dict[str, Any] | None) -> None:
        if event is not None:
            self._events.append(event)
        self._note_gap(first, last, reason, detail)
        self._pay()

    def _note_gap(self, first: int, last: int, reason: str, detail: str | None) -> None:
        gap = self._gaps[-1] if self._gaps else None
        if gap is not None and (gap.last + 1, gap.reason, gap.detail) == (first, reason, detail):
            gap.last = last
        else:
            self._gaps.append(_Gap(first, last, reason, detail))

    def _pay(self) -> None:
        """Write events, and gaps that are not, or not as far, in the database; the last gap may yet be stretched."""
        if self._events:
            if not self._guarded(lambda: self._writer.events(self._events)):
                return
            self._events.clear()
        for gap in self._gaps:
            if gap.written == gap.last:
                continue
            if not self._guarded(lambda gap=gap: self._pay_one(gap)):  # type: ignore[misc]
                return
        del self._gaps[:-1]

    def _pay_one(self, gap: _Gap) -> None:
        if gap.id is None:
            gap.id = self._writer.gap(gap.first, gap.last, gap.reason, gap.detail)
        else:
            self._writer.stretch(gap.id, gap.last)
        gap.written = gap.last

    def _guarded(self, work: Callable[[], object]) -> bool:
        """Do it; False where the disk failed."""
        try:
            work()
        except _FAULTS as error:
            if self._failing is None:
                self._told("something could not be written", error)
            return False
        return True

    def _told(self, what: str, error: Exception) -> None:
        """Keep the fault for whoever shows how the recording goes; operators see it where they ask for such lines."""
        self._fault = _named(error)
        operators().info(what, fault=self._fault)


def _named(error: Exception) -> str:
    """Which fault, without the texts of it: they may quote what was to be written."""
    code = getattr(error, "errno", None)
    name = errno.errorcode.get(code, "") if isinstance(code, int) else getattr(error, "sqlite_errorname", "")
    return " ".join(filter(None, [type(error).__name__, name]))


def _size(folder: Path, pattern: str) -> int:
    """Bytes of the files that there are."""
    return sum(file.stat().st_size for file in folder.glob(pattern) if file.is_file())
