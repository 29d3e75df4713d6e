"""Reading a recorded session: read-only, nothing changed, rows streamed.

Every fault of a file is an ``InputError`` with one sentence. Instants come out in stream time: ``t_ns`` 0 is the
first snapshot.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from simulator.core.calendar import from_utc_ns
from simulator.core.errors import InputError
from simulator.core.faults import kind_of, told
from simulator.core.types import SECOND
from simulator.session.schema import (
    APPLICATION_ID,
    COLUMNS,
    FAR_NS,
    FILE_NAME,
    KINDS,
    LATER_COLUMNS,
    LEAST_PERIOD_NS,
    VERSION,
)
from simulator.session.truth import Gap

__all__ = ["HINT", "Header", "Reader", "connect", "is_session"]

HINT = "; `proact dataset check` says how far it reads"
_LIVE = "session"  # the session's folder within the folder of a live run
_MAGIC = b"SQLite format 3\x00"
_FARTHEST_NS = 10**9 * SECOND
_FAULTS = (sqlite3.Error, UnicodeError, OverflowError)  # UnicodeError: garbage in the text of SQLite's own error


@dataclass(frozen=True, slots=True)
class Header:
    """What is true of a session as a whole.

    Attributes:
        folder: where it lies.
        utc_anchor_ns: UTC, ns since the epoch, of the first snapshot (``t_ns`` 0); None if unknown.
        zero_ns: ``captured_ns`` of the first snapshot: what is taken off every instant of the file.
        end_ns: end of the session in stream time.
        monitor: the one monitor that is read, None for all rows.
        monitors: rows by monitor.
        state: ``recording`` (not closed), ``closed`` or ``recovered``.
        gaps: in stream time and order.
    """

    folder: Path
    session: str
    user: str
    period_ns: int
    zone: str
    state: str
    utc_anchor_ns: int | None
    zero_ns: int
    end_ns: int
    n_rows: int
    monitor: int | None
    monitors: dict[int, int]
    gaps: tuple[Gap, ...]
    profile: dict[str, str]
    meta: dict[str, str]

    @property
    def file(self) -> Path:
        """The database file."""
        return self.folder / FILE_NAME

    def check_time(self, row: object, captured: Any, last: int) -> None:
        """Refuse the time of a row that follows one captured at ``last``; both as in the file.

        Raises:
            InputError: it is no integer, lies before ``last``, or so far behind it, without a gap, that it must be
                wrong: a run would hold the last snapshot for days.
        """
        field = f"screenshots row {row}, captured_ns"
        if type(captured) is not int:
            said = "NULL" if captured is None else captured
            raise InputError(self.file, "must be an integer of nanoseconds", field=field, value=said)
        if captured < last:
            raise InputError(self.file, f"time runs backwards here, after {last}", field=field, value=captured)
        if self._still_ns(last - self.zero_ns, captured - self.zero_ns) > FAR_NS:
            want = f"over 7 days after the row before ({last}) and no gap between: one of the two is wrong"
            raise InputError(self.file, want, field=field, value=captured)

    def _still_ns(self, last: int, until: int) -> int:
        """How long a snapshot would be held: until the next one or the first gap."""
        return min([until, *(max(last, g.start_ns) for g in self.gaps if g.end_ns > last)]) - last


def is_session(folder: Path) -> bool:
    """Whether the folder looks like a recorded session (it holds a ``session.db``, sound or not)."""
    return (folder / FILE_NAME).is_file()


def connect(file: Path) -> sqlite3.Connection:
    """A read-only connection to a session file, after its head has been checked.

    Raises:
        InputError: missing, empty, not SQLite, not a session, of a newer version.
    """
    if not file.is_file():
        raise InputError(file, f"there is no such file; {_session_near(file.parent)}")
    with told(file), file.open("rb") as stream:
        head = stream.read(100)
    if not head:
        raise InputError(file, "the file is empty (0 bytes); nothing was recorded in it")
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise InputError(file, "this is not an SQLite database, or its head is damaged")
    version, application = int.from_bytes(head[60:64], "big", signed=True), int.from_bytes(head[68:72], "big")
    wal = file.with_name(file.name + "-wal")
    unmerged = wal.exists() and wal.stat().st_size > 0
    if not unmerged:
        _check_ids(file, application, version)
    # Without a write-ahead log nobody writes; `immutable` then keeps SQLite from leaving -shm and -wal files behind.
    mode = "mode=ro" if unmerged else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True, check_same_thread=False)
        if unmerged:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            _check_ids(file, application, version)
    except _FAULTS as error:
        raise InputError(file, f"SQLite cannot open it: {kind_of(error)}") from None
    return connection


def _session_near(folder: Path) -> str:
    """What may have been meant by a folder that is no session."""
    if is_session(inner := folder / _LIVE):
        return f"the session of this live run is {inner}"
    return "a session is a folder with a session.db in it"


def _check_ids(file: Path, application: int, version: int) -> None:
    if application != APPLICATION_ID:
        raise InputError(
            file,
            f"a database, but not a session of proact (application_id {application:#x}); "
            "databases of LifeTrace and ProAgentBench are read with `proact dataset import`",
        )
    if version < 0:
        raise InputError(file, f"its head is damaged: it says version {version}, which no proact wrote")
    if version > VERSION:
        raise InputError(file, f"written by a newer proact (version {version}, this one reads up to {VERSION})")


class Reader:
    """One session, open for reading; a context manager.

    Args:
        folder: the session's folder, or its ``session.db``.
        monitor: which monitor to read. None: all rows if no tick has several, else the monitor with most rows
            (the lowest number of equals).

    Raises:
        InputError: any fault of the file, an empty session, a monitor that has no rows.
    """

    def __init__(self, folder: Path, *, monitor: int | None = None, known: Header | None = None) -> None:
        self.folder = folder.parent if folder.name == FILE_NAME else folder
        self.file = self.folder / FILE_NAME
        self._connection = connect(self.file)
        try:
            with told(self.file):
                self._check_tables()
                self.header = known or self._read_header(monitor)
                if known is None:
                    self._check_far()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._connection.close()

    def _check_tables(self) -> None:
        """A view in a table's place can be without end: no question about it would be answered."""
        if self._connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'view'").fetchone() is not None:
            raise InputError(self.file, "it holds a view, which no proact wrote")

    def cursor(self, columns: Sequence[str] = COLUMNS) -> sqlite3.Cursor:
        """A cursor over the rows of the chosen monitor in the order written; ``LATER_COLUMNS`` may be NULL."""
        unknown = [c for c in columns if c not in COLUMNS]
        if unknown:
            raise ValueError(f"no such column: {unknown[0]}")
        have = {row[1] for row in self._execute("PRAGMA table_info(screenshots)")}
        chosen = (f"NULL AS {c}" if c in LATER_COLUMNS and c not in have else c for c in columns)
        sql = f"SELECT {', '.join(chosen)} FROM screenshots"
        monitor = self.header.monitor
        where, args = ("", ()) if monitor is None else (" WHERE monitor = ?", (monitor,))
        return self._execute(f"{sql}{where} ORDER BY id", args)

    def rows(self, columns: Sequence[str] = COLUMNS) -> Iterator[tuple[Any, ...]]:
        """The rows of the chosen monitor, streamed; ``captured_ns`` as in the file.

        Raises:
            InputError: the file is damaged at some row.
        """
        return self._streamed(self.cursor(columns))

    def stream(self, sql: str, args: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of one question, streamed.

        Raises:
            InputError: the file is damaged at some row.
        """
        return self._streamed(self._execute(sql, args))

    def _streamed(self, cursor: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
        try:
            for row in cursor:  # noqa: UP028 - `yield from` would close the cursor, perhaps after the connection
                yield row
        except _FAULTS as error:
            raise self.damaged(error) from None

    def table(self, name: str, columns: Sequence[str], order: str = "id") -> list[tuple[Any, ...]]:
        """All rows of a small table (events, opportunities, labels, gaps), with NULL for columns it lacks.

        Raises:
            InputError: the file is damaged; a value is not of its column's kind (SQLite keeps whatever it was given).
        """
        have = {row[1] for row in self._execute(f"PRAGMA table_info({name})")}
        if not have:
            return []
        chosen = ", ".join(c if c in have else f"NULL AS {c}" for c in columns)
        number = "id" if "id" in have else "rowid"
        rows = self.fetch(f"SELECT {number}, {chosen} FROM {name} ORDER BY {order}")
        kinds = [(i, c, KINDS[name][c]) for i, c in enumerate(columns, 1)]
        for row in rows:
            for i, column, kind in kinds:
                if not kind.fits(row[i]):
                    field = f"{name} row {str(row[0])[:40]}, {column}"
                    raise InputError(self.file, f"must be {kind.words}, and it is {_said(row[i])}", field=field)
        return [row[1:] for row in rows]

    def fetch(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of one question.

        Raises:
            InputError: the file is damaged.
        """
        try:
            return self._execute(sql, args).fetchall()
        except _FAULTS as error:
            raise self.damaged(error) from None

    def damaged(self, error: Exception) -> InputError:
        """The error to raise for an SQLite error while reading; it quotes no text of the file."""
        return InputError(self.file, f"{kind_of(error)}{HINT}")

    def _execute(self, sql: str, args: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, args)
        except _FAULTS as error:
            raise self.damaged(error) from None

    def _read_header(self, monitor: int | None) -> Header:
        meta = {str(k): str(v) for k, v in self.fetch("SELECT key, value FROM meta ORDER BY key")}
        profile = {str(k): str(v) for k, v in self.fetch("SELECT key, value FROM profile ORDER BY key")}
        monitors: dict[int, int] = dict(
            self.fetch("SELECT monitor, COUNT(*) FROM screenshots GROUP BY monitor ORDER BY monitor")
        )
        if not monitors:
            raise InputError(self.file, "the session is empty: it holds no snapshot")
        chosen = self._choose(monitor, monitors)
        where, args = ("", ()) if chosen is None else (" WHERE monitor = ?", (chosen,))
        first, last = (
            self.fetch(f"SELECT captured_ns FROM screenshots{where} ORDER BY id {way} LIMIT 1", args)[0][0]
            for way in ("ASC", "DESC")
        )
        for value in (first, last):
            if type(value) is not int:
                raise InputError(self.file, "must be an integer of nanoseconds", field="captured_ns", value=value)
        period = self._int(meta, "period_ns", SECOND)
        if not LEAST_PERIOD_NS <= period <= FAR_NS:
            raise InputError(self.file, "must be a period from 1 ms to 7 days", field="meta.period_ns", value=period)
        anchor = self._int(meta, "utc_anchor_ns", None)
        if anchor is not None:
            try:
                from_utc_ns(anchor + first)
                from_utc_ns(anchor + last)
            except OverflowError:
                want = "nanoseconds since 1970 of a year from 1 to 9999"
                raise InputError(self.file, want, field="meta.utc_anchor_ns", value=anchor) from None
        stated = self._int(meta, "end_ns", None)
        end = last + period if stated is None else max(stated, last + period)
        gaps = self.table("gaps", ("from_tick", "to_tick", "reason"), order="from_tick, id")
        for tick in (tick for gap in gaps for tick in gap[:2]):
            if abs(tick) > _FARTHEST_NS // period:
                raise InputError(self.file, "must be a tick within 31 years", field="gaps", value=tick)
        return Header(
            folder=self.folder,
            session=meta.get("session") or self.folder.absolute().name,
            user=meta.get("user") or "user",
            period_ns=period,
            zone=meta.get("zone") or "UTC",
            state=meta.get("state") or "closed",
            utc_anchor_ns=None if anchor is None else anchor + first,
            zero_ns=first,
            end_ns=end - first,
            n_rows=sum(monitors.values()) if chosen is None else monitors[chosen],
            monitor=chosen,
            monitors=monitors,
            gaps=tuple(Gap(a * period - first, (b + 1) * period - first, str(reason)) for a, b, reason in gaps),
            profile=profile,
            meta=meta,
        )

    def _check_far(self) -> None:
        """Refuse a row, or an end, that lies days behind the row before it without a gap between."""
        header = self.header
        if header.end_ns <= FAR_NS + header.n_rows * header.period_ns:
            return  # rows fill the time but for less than that: one that lies far ahead is told when it is played
        where, args = ("", ()) if header.monitor is None else (" WHERE monitor = ?", (header.monitor,))
        sql = (
            "SELECT id, captured_ns, before FROM (SELECT id, captured_ns, LAG(captured_ns) OVER (ORDER BY id) AS before"
            f" FROM screenshots{where}) WHERE captured_ns - before > ?"
        )
        for row, captured, before in self.fetch(sql, (*args, FAR_NS)):
            if type(before) is int:  # others are told when the row is played
                header.check_time(row, captured, before)
        ((last,),) = self.fetch(f"SELECT captured_ns FROM screenshots{where} ORDER BY id DESC LIMIT 1", args)
        if header._still_ns(last - header.zero_ns, header.end_ns) > FAR_NS:
            want = "over 7 days after the last row and no gap between: the session's end is wrong"
            raise InputError(self.file, want, field="meta.end_ns", value=header.meta.get("end_ns"))

    def _choose(self, wanted: int | None, monitors: dict[int, int]) -> int | None:
        if wanted is not None:
            if wanted not in monitors:
                raise InputError(
                    self.file, f"no row has it; there are {sorted(monitors)}", field="monitor", value=wanted
                )
            return wanted if len(monitors) > 1 else None
        if len(monitors) == 1:
            return None
        several = self.fetch(
            "SELECT 1 FROM screenshots GROUP BY tick HAVING MIN(monitor) <> MAX(monitor) LIMIT 1"
        )  # one monitor at a time means a recorder that follows the active window: all rows belong together
        return max(monitors, key=lambda m: (monitors[m], -m)) if several else None

    def _int(self, meta: dict[str, str], key: str, default: Any) -> Any:
        if key not in meta:
            return default
        try:
            return int(meta[key])
        except ValueError:
            raise InputError(self.file, "must be a whole number", field=f"meta.{key}", value=meta[key]) from None


def _said(value: object) -> str:
    """The kind of a value that does not fit, not the value: it may be a title."""
    kinds = {int: "an integer", float: "a number with a fraction", str: "a text", bytes: "a blob"}
    return "NULL" if value is None else kinds[type(value)]
