"""The log of a memory that outlives a run: events, labels, corrections and forgettings, in one SQLite file.

Every write is one transaction in a write-ahead log with ``synchronous=NORMAL``: a killed process loses nothing that
was acknowledged, so at most the event in hand; a machine that loses power may lose the last commits and never has a
damaged file. ``FULL`` would save those at the price of a disk flush an event (milliseconds instead of 0.05 ms), and
what is lost can be fed again: an event that is known already is left out.

The order of writing is kept (``seq``), and each write's digest covers all writes before it: the last one names what the
whole store holds, which is what a run that reads it writes down (``identity``). All else (vectors, counts, clusters) is
derived from the log, may be thrown away and comes out the same.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from memory import journal_file as disk
from memory.entry import Entry
from memory.journal_file import COUNTS, NAME, VECTORS, faults
from simulator.core.errors import InputError
from simulator.core.lock import FolderLock
from simulator.core.types import Event, Label

__all__ = ["COUNTS", "NAME", "VECTORS", "Journal"]

_WRITTEN = ("events", "labels", "changes")
_OF_USERS = ("events", "labels")
_ENTRY = """SELECT e.seq, u.name, e.id, e.start_ns, e.end_ns, e.said, l.help, l.available_ns, l.said FROM events e
JOIN users u ON u.user = e.user LEFT JOIN labels l ON l.user = e.user AND l.id = e.id """
_LEFT = "forgotten"
"""The key in ``about`` that says: what was forgotten is deleted, and not yet out of the file."""
_BEYOND = 2**63


class Journal:
    """One folder's log. One process may write it; any number may read it, also at the same time.

    Instants are kept in UTC where the first writer knew it (``utc_anchor_ns``), else as they came. Whoever opens it
    reads and writes instants of its own session: the difference is added and taken away here.

    Args:
        folder: holds ``journal.sqlite``; made by a writer.
        read_only: see the store as it is at this moment, whatever is written meanwhile, and write nothing.
        utc_anchor_ns: the UTC of the opener's time 0; None where no calendar is known.
        identity: for a reader: see it as it was when that was its identity, whatever was added since.

    Attributes:
        numbers: users and their numbers in the file.
        seq: the number of the newest write.
        shift_ns: what is added to instants of the file.
        left: why what was forgotten is still somewhere in the file; None where it is not, and for who only reads.

    Raises:
        InputError: no store, a damaged one or one of a newer program; its instants are UTC and the opener has none;
            what it was cannot be seen any more. What is damaged further in is told likewise when it is read.
        NoRoom: the disk is full.
        UsageError: another process writes it.
    """

    def __init__(self, folder: Path, *, read_only: bool = False, utc_anchor_ns: int | None = None,
                 identity: str | None = None) -> None:  # fmt: skip
        self.path, self.read_only = folder / NAME, read_only
        self._lock: FolderLock | None = None
        self.numbers: dict[str, int] = {}
        self.left: str | None = None
        if read_only and not self.path.is_file():
            raise InputError(self.path, "no memory is stored there")
        with ExitStack() as undo:
            if not read_only:
                self._be_the_writer(folder, undo)
            with faults(self.path):
                self._db = disk.opened(self.path, read_only=read_only)
                undo.callback(self._db.close)
                self._begin("session" if utc_anchor_ns is None else "utc")
                if self.clock == "utc" and utc_anchor_ns is None:
                    raise InputError(self.path, "counts in calendar time, and what opens it does not know the calendar")
                if identity is not None and identity != self.identity:
                    self._go_back(identity)
            undo.pop_all()
        self.shift_ns = -(utc_anchor_ns or 0) if self.clock == "utc" else 0

    def _be_the_writer(self, folder: Path, undo: ExitStack) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(folder, f"no folder can be made there ({error.strerror})") from error
        lock = folder / ".lock"
        strange = self.path.exists() and not lock.exists()
        self._lock = FolderLock(lock, f"another proact writes into the memory {folder}; wait for it")
        if strange:  # a file of somebody else's is refused, and its folder left as it was
            undo.callback(lock.unlink, missing_ok=True)
        undo.callback(self._release)

    def _begin(self, clock: str) -> None:
        """Make the tables of a new store, or read where an old one stands."""
        db = self._db
        there = disk.check(db, self.path)
        if not there and self.read_only:
            raise InputError(self.path, "is not a memory's journal")
        if not self.read_only:
            disk.to_write(db)
            if not there:
                disk.written_tables(db, clock)
        found = db.execute("SELECT value FROM about WHERE key = 'clock'").fetchone()
        if found is None or found[0] not in ("session", "utc"):
            raise InputError(
                self.path, "is not a memory's journal, or is damaged: it does not say which clock it counts by"
            )
        self.clock: str = found[0]
        for number, name in db.execute("SELECT user, name FROM users"):
            self.numbers[disk.text(name)] = number
        self.seq, self._chain = self._last()
        if not self.read_only and self.unfinished:
            self._finish()

    def _last(self) -> tuple[int, bytes]:
        ask = " UNION ALL ".join(
            f"SELECT * FROM (SELECT seq, chain FROM {t} ORDER BY seq DESC LIMIT 1)" for t in _WRITTEN
        )
        found = self._db.execute(f"SELECT seq, chain FROM ({ask}) ORDER BY seq DESC LIMIT 1").fetchone()
        return (0, b"") if found is None else (found[0], disk.as_bytes(found[1]))

    def _go_back(self, identity: str) -> None:
        """Put what was added since out of sight."""
        ask = " UNION ALL ".join(f"SELECT seq FROM {t} WHERE chain = ?1" for t in _WRITTEN)
        seq = 0 if not identity else self._one(f"SELECT max(seq) FROM ({ask})", bytes.fromhex(identity))
        if seq is None or self.epoch > seq:
            raise InputError(
                self.path, "was corrected, or forgotten in, since the run began that reads it: start that anew"
            )
        for table in _WRITTEN:
            self._db.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE seq <= {int(seq)}")
        self.seq, self._chain = self._last()

    # What it is.

    @property
    def identity(self) -> str:
        """Names all that was ever written, in its order: 32 hexadecimal digits; of an empty store none."""
        return self._chain.hex()

    @property
    def epoch(self) -> int:
        """The newest correction or forgetting: what was derived before it is not valid any more."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM changes"))

    @property
    def unfinished(self) -> bool:
        """Whether what was forgotten is still somewhere in the file: its rows are gone, but a kill or a reader came
        before the rest. Whoever opens it to write goes on with that.
        """
        return self._one("SELECT 1 FROM about WHERE key = ?", _LEFT) is not None

    def chain(self, seq: int) -> str | None:
        """The identity as of a write; None where that is not there (any more)."""
        for table in _WRITTEN:
            found = self._one(f"SELECT chain FROM {table} WHERE seq = ?", seq)
            if found is not None:
                with faults(self.path):
                    return disk.as_bytes(found).hex()
        return None

    def users(self) -> list[str]:
        """Whose events or labels were ever written, in order of arrival."""
        return list(self.numbers)

    def sizes(self) -> dict[str, int]:
        """How many events each user has."""
        with faults(self.path):
            found = dict(self._db.execute("SELECT user, count(*) FROM events GROUP BY user"))
        return {name: found[number] for name, number in self.numbers.items() if number in found}

    def counts(self) -> dict[str, int]:
        """How many events, labels of events, and labels that wait for theirs."""
        n_events = self._one("SELECT count(*) FROM events")
        n_labels = self._one("SELECT count(*) FROM labels")
        n_early = sum(1 for _ in self.early())
        return {"events": n_events, "labels": n_labels - n_early, "early": n_early}

    # Writing.

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction for many writes: they are all kept or none is."""
        seq, chain, users = self.seq, self._chain, dict(self.numbers)
        with faults(self.path):
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            with faults(self.path):
                self._db.execute("COMMIT")
        except BaseException:  # also of the commit: what it did not keep, nothing here may go on from
            with suppress(sqlite3.Error):  # what failed may have taken it back itself
                self._db.execute("ROLLBACK")
            self.seq, self._chain, self.numbers = seq, chain, users
            raise

    def observe(self, event: Event) -> bool:
        """Append an event; False if it is known already."""
        span = (self._kept(event.start_ns), self._kept(event.end_ns))
        said = json.dumps([event.app, event.title, event.category, event.summary, event.assistance])
        put = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._write():
            user, key = self._user(event.user), disk.raw(event.id)
            if self._db.execute("SELECT 1 FROM events WHERE user = ? AND id = ?", (user, key)).fetchone():
                return False
            head = self._next("event", event.user, event.id, *span, said)
            self._db.execute(put, (head[0], user, key, *span, said, head[1]))
        return True

    def feedback(self, label: Label) -> bool:
        """Append a label; one of an event that has another takes its place. False if it is the same."""
        available_ns = self._kept(label.available_ns)
        said = json.dumps([label.intention, label.query])
        row = (int(label.help), available_ns, said)
        with self._write():
            user, key = self._user(label.user), disk.raw(label.event_id)
            ask = "SELECT help, available_ns, said FROM labels WHERE user = ? AND id = ?"
            known = self._db.execute(ask, (user, key)).fetchone()
            if known == row:
                return False
            head = self._next("label", label.user, label.event_id, *row)
            if known is None:
                self._db.execute("INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)", (head[0], user, key, *row, head[1]))
            else:
                set_to = "UPDATE labels SET help = ?, available_ns = ?, said = ? WHERE user = ? AND id = ?"
                self._db.execute(set_to, (*row, user, key))
                self._change(head, user, "corrected", 1)
        return True

    def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """Delete the events of a user that touch ``[start_ns, end_ns)`` with their labels, and labels that became known
        in it. The rows are gone from the file, not marked; how many is kept.
        """
        if user not in self.numbers:
            return 0
        number, span = (
            self.numbers[user],
            tuple(min(max(ns - self.shift_ns, -_BEYOND), _BEYOND - 1) for ns in (start_ns, end_ns)),
        )
        touched = "user = ? AND start_ns < ? AND end_ns > ?"
        with self._write():
            args = (number, span[1], span[0])
            self._db.execute(
                f"DELETE FROM labels WHERE user = ? AND id IN (SELECT id FROM events WHERE {touched})", (number, *args)
            )
            n = self._db.execute(f"DELETE FROM events WHERE {touched}", args).rowcount
            told = "DELETE FROM labels WHERE user = ? AND available_ns >= ? AND available_ns < ?"
            n += self._db.execute(told, (number, *span)).rowcount
            if not any(self._db.execute(f"SELECT 1 FROM {t} WHERE user = ?", (number,)).fetchone() for t in _OF_USERS):
                self._db.execute("DELETE FROM users WHERE user = ?", (number,))
                del self.numbers[user]
            if n:
                self._change(self._next("forgot", user, *span, n), number, "forgot", n)
                self._db.execute("INSERT OR REPLACE INTO about VALUES (?, 'not yet out of the file')", (_LEFT,))
        if n:
            self._finish()
        return n

    def _finish(self) -> None:
        """Get what was forgotten out of all files; the mark for whoever comes after a kill stays until that is done."""
        self.left = disk.cleaned(self._db, self.path)
        if self.left is None:
            with faults(self.path):
                self._db.execute("DELETE FROM about WHERE key = ?", (_LEFT,))

    def _change(self, head: tuple[int, bytes], user: int, what: str, n: int) -> None:
        self._db.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", (head[0], user, what, n, head[1]))

    @contextmanager
    def _write(self) -> Iterator[None]:
        """A transaction of its own, unless a batch is open."""
        if self._db.in_transaction:
            with faults(self.path):
                yield
        else:
            with self.batch(), faults(self.path):
                yield

    def _user(self, name: str) -> int:
        if name not in self.numbers:
            made = self._db.execute("INSERT INTO users (name) VALUES (?)", (disk.raw(name),)).lastrowid
            assert made is not None
            self.numbers[name] = made
        return self.numbers[name]

    def _kept(self, ns: int) -> int:
        """An instant as the file counts it."""
        kept = ns - self.shift_ns
        if not -_BEYOND <= kept < _BEYOND:
            raise InputError(
                self.path,
                "keeps instants of 292 years on each side of its time 0 (of a calendar: 1970), and this lies beyond",
            )
        return kept

    def _next(self, *what: Any) -> tuple[int, bytes]:
        self.seq += 1
        self._chain = blake2b(json.dumps(what).encode(), key=self._chain, digest_size=16).digest()
        return self.seq, self._chain

    # Reading.

    def entries(self, user: str | None = None, after: int = 0) -> Iterator[Entry]:
        """Events with their labels, in order of arrival.

        Args:
            user: whose; None for everybody's.
            after: only those written after this number.
        """
        if user is not None and user not in self.numbers:
            return
        where, args = "WHERE e.seq > ? ", [after]
        if user is not None:
            where, args = where + "AND e.user = ? ", [after, self.numbers[user]]
        with faults(self.path):
            for row in self._db.execute(f"{_ENTRY}{where}ORDER BY e.seq", args):
                yield self._entry(row)

    def labelled(self, after: int, until: int) -> Iterator[Entry]:
        """Events written up to ``until`` whose label was written after ``after``, in order of the labels."""
        where = "WHERE l.seq > ? AND e.seq <= ? ORDER BY l.seq"
        with faults(self.path):
            for row in self._db.execute(_ENTRY + where, (after, until)):
                yield self._entry(row)

    def entry(self, seq: int) -> Entry:
        """The event of a number, as it stands."""
        with faults(self.path):
            row = self._db.execute(_ENTRY + "WHERE e.seq = ?", (seq,)).fetchone()
            if row is None:
                raise InputError(self.path, f"lacks its write {seq}, which its vectors still name")
            return self._entry(row)

    def knows(self, user: str, event_id: str) -> bool:
        """Whether a user has an event of that id; asked at each new event, and one look into an index."""
        key = (self.numbers.get(user), disk.raw(event_id))
        return self._one("SELECT 1 FROM events WHERE user = ? AND id = ?", *key) is not None

    def find(self, user: str, event_id: str) -> Entry | None:
        """A user's event by its id."""
        key = (self.numbers.get(user), disk.raw(event_id))
        with faults(self.path):
            row = self._db.execute(_ENTRY + "WHERE e.user = ? AND e.id = ?", key).fetchone()
            return None if row is None else self._entry(row)

    def early(self) -> Iterator[Label]:
        """Labels whose events have not come."""
        ask = """SELECT u.name, l.id, l.help, l.available_ns, l.said FROM labels l JOIN users u ON u.user = l.user WHERE
        NOT EXISTS (SELECT 1 FROM events e WHERE e.user = l.user AND e.id = l.id) ORDER BY l.seq"""
        with faults(self.path):
            for name, key, *row in self._db.execute(ask):
                yield self._label(disk.text(name), disk.text(key), *row)

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        seq, name, key, start_ns, end_ns, said, needed, available_ns, told = row
        user, event_id = disk.text(name), disk.text(key)
        *told_of, assistance = json.loads(said)
        app, title, category, summary = disk.texts(told_of)
        event = Event(event_id, user, self._read(start_ns), self._read(end_ns),
                      app, title, category, summary, bool(assistance))  # fmt: skip
        label = None if needed is None else self._label(user, event_id, needed, available_ns, told)
        return Entry(event, label, seq)

    def _label(self, user: str, event_id: str, needed: int, available_ns: int, said: str) -> Label:
        return Label(event_id, user, bool(needed), self._read(available_ns), *disk.texts(json.loads(said)))

    def _read(self, kept: int) -> int:
        """An instant of the file as the opener counts it."""
        ns = kept + self.shift_ns
        if not -_BEYOND <= ns < _BEYOND:
            raise OverflowError
        return ns

    def _one(self, ask: str, *args: Any) -> Any:
        """The one value of the one row; None where there is none."""
        with faults(self.path):
            found = self._db.execute(ask, args).fetchone()
        return None if found is None else found[0]

    def close(self) -> None:
        """Close it; the last one out leaves one file."""
        self._db.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
