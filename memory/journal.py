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
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from memory.entry import Entry
from simulator.core.errors import InputError
from simulator.core.lock import FolderLock
from simulator.core.types import Event, Label

__all__ = ["COUNTS", "NAME", "VECTORS", "Journal"]

NAME, VECTORS, COUNTS = "journal.sqlite", "vectors", "counts"
_SCHEMA = 1
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE users (user INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
CREATE TABLE events (seq INTEGER PRIMARY KEY, user INTEGER NOT NULL, id BLOB NOT NULL, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, said TEXT NOT NULL, chain BLOB NOT NULL);
CREATE UNIQUE INDEX event_of ON events (user, id);
CREATE TABLE labels (seq INTEGER PRIMARY KEY, user INTEGER NOT NULL, id BLOB NOT NULL, help INTEGER NOT NULL,
  available_ns INTEGER NOT NULL, said TEXT NOT NULL, chain BLOB NOT NULL);
CREATE UNIQUE INDEX label_of ON labels (user, id);
CREATE TABLE changes (seq INTEGER PRIMARY KEY, user INTEGER NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
  chain BLOB NOT NULL);
"""
_PAGES = 8_000
"""Of the write-ahead log (32 MB) before it is worked in: that takes some 10 ms, and befalls one write in 2,000."""
_OF_USERS = ("events", "labels")
_ENTRY = """SELECT e.seq, u.name, e.id, e.start_ns, e.end_ns, e.said, l.help, l.available_ns, l.said FROM events e
JOIN users u ON u.user = e.user LEFT JOIN labels l ON l.user = e.user AND l.id = e.id """


class Journal:
    """One folder's log. One process may write it; any number may read it, also at the same time.

    Instants are kept in UTC where the first writer knew it (``utc_anchor_ns``), else as they came. Whoever opens it
    reads and writes instants of its own session: the difference is added and taken away here.

    Args:
        folder: holds ``journal.sqlite``; made by a writer.
        read_only: see the store as it is at this moment, whatever is written meanwhile, and write nothing.
        utc_anchor_ns: the UTC of the opener's time 0; None where no calendar is known.

    Attributes:
        numbers: users and their numbers in the file.
        seq: the number of the newest write.
        shift_ns: what is added to instants of the file.

    Raises:
        InputError: no store, a damaged one or one of a newer program; its instants are UTC and the opener has none.
        UsageError: another process writes it.
    """

    def __init__(self, folder: Path, *, read_only: bool = False, utc_anchor_ns: int | None = None) -> None:
        self.path, self.read_only = folder / NAME, read_only
        self._lock: FolderLock | None = None
        self.numbers: dict[str, int] = {}
        if read_only and not self.path.is_file():
            raise InputError(self.path, "no memory is stored there")
        if not read_only:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(folder, f"no folder can be made there ({error.strerror})") from error
            self._lock = FolderLock(folder / ".lock", f"another proact writes into the memory {folder}; wait for it")
        try:
            self._db = self._open()
            self._begin("session" if utc_anchor_ns is None else "utc")
        except sqlite3.Error as error:
            self._release()
            raise InputError(self.path, f"is not a memory's journal, or is damaged ({error})") from error
        except BaseException:
            self._release()
            raise
        if self.clock == "utc" and utc_anchor_ns is None:
            self.close()
            raise InputError(self.path, "counts in calendar time, and what opens it does not know the calendar")
        self.shift_ns = -(utc_anchor_ns or 0) if self.clock == "utc" else 0

    def _open(self) -> sqlite3.Connection:
        place = self.path.absolute().as_uri()
        if not self.read_only:
            db = sqlite3.connect(f"{place}?mode=rwc", uri=True, isolation_level=None, check_same_thread=False)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint={_PAGES}")
            db.execute("PRAGMA secure_delete=ON")  # what is forgotten is not left in free pages
            return db
        # On a disk that cannot be written there is no place for the log's index; then nobody writes it either.
        for how in ("mode=ro", "mode=ro&immutable=1"):
            db = sqlite3.connect(f"{place}?{how}", uri=True, isolation_level=None, check_same_thread=False)
            try:
                db.execute("BEGIN")
                db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return db
            except sqlite3.OperationalError:
                db.close()
                if how != "mode=ro" or self.path.with_name(NAME + "-wal").exists():
                    raise
        raise AssertionError

    def _begin(self, clock: str) -> None:
        """Make the tables of a new store, or read where an old one stands."""
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > _SCHEMA:
            raise InputError(self.path, f"was written by a newer program (schema {version}, this one knows {_SCHEMA})")
        if version == 0:
            if self.read_only or self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise InputError(self.path, "is not a memory's journal")
            begin = f"INSERT INTO about VALUES ('clock', '{clock}'); PRAGMA user_version={_SCHEMA};"
            self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {begin} COMMIT;")
        self.clock: str = self._db.execute("SELECT value FROM about WHERE key = 'clock'").fetchone()[0]
        for number, name in self._db.execute("SELECT user, name FROM users"):
            self.numbers[_text(name)] = number
        self.seq, self._chain = self._last()

    def _last(self) -> tuple[int, bytes]:
        tables = ("events", "labels", "changes")
        ask = " UNION ALL ".join(
            f"SELECT * FROM (SELECT seq, chain FROM {t} ORDER BY seq DESC LIMIT 1)" for t in tables
        )
        found = self._db.execute(f"SELECT seq, chain FROM ({ask}) ORDER BY seq DESC LIMIT 1").fetchone()
        return found if found is not None else (0, b"")

    # What it is.

    @property
    def identity(self) -> str:
        """Names all that was ever written, in its order: 32 hexadecimal digits; of an empty store none."""
        return self._chain.hex()

    @property
    def epoch(self) -> int:
        """The newest correction or forgetting: what was derived before it is not valid any more."""
        found: int = self._db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0]
        return found

    def chain(self, seq: int) -> str | None:
        """The identity as of a write; None where that is not there (any more)."""
        for table in ("events", "labels", "changes"):
            found = self._db.execute(f"SELECT chain FROM {table} WHERE seq = ?", (seq,)).fetchone()
            if found is not None:
                return str(bytes(found[0]).hex())
        return None

    def users(self) -> list[str]:
        """Whose events or labels were ever written, in order of arrival."""
        return list(self.numbers)

    def sizes(self) -> dict[str, int]:
        """How many events each user has."""
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
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:  # also of the commit: what it did not keep, nothing here may go on from
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self.seq, self._chain, self.numbers = seq, chain, users
            raise

    def observe(self, event: Event) -> bool:
        """Append an event; False if it is known already."""
        span = (event.start_ns - self.shift_ns, event.end_ns - self.shift_ns)
        said = json.dumps([event.app, event.title, event.category, event.summary, event.assistance])
        put = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._write():
            user, key = self._user(event.user), _raw(event.id)
            if self._db.execute("SELECT 1 FROM events WHERE user = ? AND id = ?", (user, key)).fetchone():
                return False
            head = self._next("event", event.user, event.id, *span, said)
            self._db.execute(put, (head[0], user, key, *span, said, head[1]))
        return True

    def feedback(self, label: Label) -> bool:
        """Append a label; one of an event that has another takes its place. False if it is the same."""
        available_ns = label.available_ns - self.shift_ns
        said = json.dumps([label.intention, label.query])
        row = (int(label.help), available_ns, said)
        with self._write():
            user, key = self._user(label.user), _raw(label.event_id)
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
        number, span = self.numbers[user], (start_ns - self.shift_ns, end_ns - self.shift_ns)
        touched = "user = ? AND start_ns < ? AND end_ns > ?"
        for made in (VECTORS, COUNTS):  # first: they hold words of it too, and after a kill the next call finds no rows
            shutil.rmtree(self.path.parent / made, ignore_errors=True)
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
        if n:  # what was deleted also stands in the write-ahead log
            self._write_anew()
        return n

    def _write_anew(self) -> None:
        """Give the freed pages back. Where there is no room for that they stay: overwritten they are already."""
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA temp_store=MEMORY")  # the copy is not left in a temporary file
            self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _change(self, head: tuple[int, bytes], user: int, what: str, n: int) -> None:
        self._db.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", (head[0], user, what, n, head[1]))

    @contextmanager
    def _write(self) -> Iterator[None]:
        """A transaction of its own, unless a batch is open."""
        if self._db.in_transaction:
            yield
        else:
            with self.batch():
                yield

    def _user(self, name: str) -> int:
        if name not in self.numbers:
            made = self._db.execute("INSERT INTO users (name) VALUES (?)", (_raw(name),)).lastrowid
            assert made is not None
            self.numbers[name] = made
        return self.numbers[name]

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
        for row in self._db.execute(f"{_ENTRY}{where}ORDER BY e.seq", args):
            yield self._entry(row)

    def labelled(self, after: int, until: int) -> Iterator[Entry]:
        """Events written up to ``until`` whose label was written after ``after``, in order of the labels."""
        where = "WHERE l.seq > ? AND e.seq <= ? ORDER BY l.seq"
        for row in self._db.execute(_ENTRY + where, (after, until)):
            yield self._entry(row)

    def entry(self, seq: int) -> Entry:
        """The event of a number, as it stands."""
        row = self._db.execute(_ENTRY + "WHERE e.seq = ?", (seq,)).fetchone()
        if row is None:
            raise InputError(self.path, f"lacks its write {seq}, which its vectors still name")
        return self._entry(row)

    def knows(self, user: str, event_id: str) -> bool:
        """Whether a user has an event of that id; asked at each new event, and one look into an index."""
        key = (self.numbers.get(user), _raw(event_id))
        return self._db.execute("SELECT 1 FROM events WHERE user = ? AND id = ?", key).fetchone() is not None

    def find(self, user: str, event_id: str) -> Entry | None:
        """A user's event by its id."""
        key = (self.numbers.get(user), _raw(event_id))
        row = self._db.execute(_ENTRY + "WHERE e.user = ? AND e.id = ?", key).fetchone()
        return None if row is None else self._entry(row)

    def early(self) -> Iterator[Label]:
        """Labels whose events have not come."""
        ask = """SELECT u.name, l.id, l.help, l.available_ns, l.said FROM labels l JOIN users u ON u.user = l.user WHERE
        NOT EXISTS (SELECT 1 FROM events e WHERE e.user = l.user AND e.id = l.id) ORDER BY l.seq"""
        for name, key, *row in self._db.execute(ask):
            yield self._label(_text(name), _text(key), *row)

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        seq, name, key, start_ns, end_ns, said, needed, available_ns, told = row
        user, event_id = _text(name), _text(key)
        app, title, category, summary, assistance = json.loads(said)
        event = Event(event_id, user, start_ns + self.shift_ns, end_ns + self.shift_ns,
                      app, title, category, summary, assistance)  # fmt: skip
        label = None if needed is None else self._label(user, event_id, needed, available_ns, told)
        return Entry(event, label, seq)

    def _label(self, user: str, event_id: str, needed: int, available_ns: int, said: str) -> Label:
        return Label(event_id, user, bool(needed), available_ns + self.shift_ns, *json.loads(said))

    def _one(self, ask: str) -> int:
        found: int = self._db.execute(ask).fetchone()[0]
        return found

    def close(self) -> None:
        """Close it; the last one out leaves one file."""
        self._db.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _raw(text: str) -> bytes:
    """As it is kept: titles and names of others may hold half a character, which SQLite's texts may not."""
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return bytes(raw).decode("utf-8", "surrogatepass")
