"""Writing a recorded session: images first, then rows, so that a crash loses nothing that was acknowledged.

The order of a tick: the picture is encoded in memory, written to a ``.part`` file, renamed to its final name, and
only then the row that names it is committed. One file a distinct picture, named by the SHA-256 of its pixels.
Opening a session whose recorder died repairs it and says so (``Recovery``).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.screen.pixels import pixels_hash
from simulator.session.reader import connect
from simulator.session.recovery import Recovery, remove_leftovers, repair
from simulator.session.schema import APPLICATION_ID, COLUMNS, DDL, FILE_NAME, KINDS, VERSION

__all__ = [
    "DENSE",
    "QUICK",
    "SMALLEST",
    "Left",
    "Writer",
    "image_path",
    "pack",
    "pixels_hash",
    "replace_file",
]

QUICKEST, QUICK, DENSE, SMALLEST = 0, 1, 4, 6
"""Methods of lossless WebP. A screen of 1080p: 27 ms and 306 KB, 64 ms and 124 KB, 146 ms and 82 KB, 2 s and 75 KB."""

_OF_RECORDER = ("boot_id", "boot_zero_ns", "exclusions")  # meta that only a recording which goes on needs
_REMEMBERED = 1024  # pictures whose file is not hashed again when they come back; a day may have 80,000


def image_path(digest: str, suffix: str = ".webp") -> str:
    """Where the picture of that pixel hash lies, relative to the session's folder."""
    return f"screenshots/{digest[:2]}/{digest}{suffix}"


def pack(image: Image.Image, method: int = DENSE) -> bytes:
    """An RGB picture as lossless WebP, by one of the four methods: the same pixels by whichever."""
    packed = BytesIO()
    effort = {QUICKEST: 0, QUICK: 0, DENSE: 75, SMALLEST: 100}[method]
    image.save(packed, "WEBP", lossless=True, quality=effort, method=method, exact=True)
    return packed.getvalue()


def replace_file(target: Path, content: bytes) -> None:
    """Write a file so that it is there whole or, if the disk is full or the process dies, as it was before.

    Who may read it stays as it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        with part.open("wb") as stream:
            if target.exists():
                os.chmod(part, target.stat().st_mode & 0o777)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except OSError:  # a full disk keeps what was written of it
        part.unlink(missing_ok=True)
        raise


class Left(NamedTuple):
    """Where a session stands: last tick (row or gap) and last ``captured_ns``, -1 for none; last event, 0 for none."""

    tick: int
    captured_ns: int
    event: int
    meta: dict[str, str]


class Writer:
    """The one writer of a session; a context manager that closes the session on success and on error.

    Args:
        folder: made if it does not exist.
        session, user: names kept in ``meta``.
        period_ns: period of the ticks.
        zone: IANA name of the zone that wall times are shown in.
        utc_anchor_ns: UTC, ns since the epoch, of ``captured_ns`` 0.
        sync: wait for the disk at every row (11 ms instead of 0.8 ms).
        meta: further entries.

    Attributes:
        recovery: what was repaired when an unclosed session was opened to be continued; None for a new one.

    Raises:
        InputError: the folder holds a session that is closed, or something that is no session.
    """

    def __init__(
        self,
        folder: Path,
        *,
        session: str | None = None,
        user: str = "user",
        period_ns: int = SECOND,
        zone: str = "UTC",
        utc_anchor_ns: int | None = None,
        sync: bool = False,
        meta: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self.file = folder, folder / FILE_NAME
        self.recovery: Recovery | None = None
        self._known: dict[str, dict[str, Any]] = {}
        self._closed = False
        folder.mkdir(parents=True, exist_ok=True)
        exists = self.file.exists()
        if exists:
            connect(self.file).close()  # refuses what is no session of ours before anything is touched
        else:
            given = {
                "session": session or folder.absolute().name,
                "user": user,
                "period_ns": str(period_ns),
                "zone": zone,
                "state": "recording",
                "codec": "webp lossless",
                "sqlite": sqlite3.sqlite_version,
            }
            if utc_anchor_ns is not None:
                given["utc_anchor_ns"] = str(utc_anchor_ns)
            _create(self.file, {**given, **(meta or {})})
        self._db = sqlite3.connect(self.file, check_same_thread=False, isolation_level=None)
        try:
            if exists:
                self.recovery = self._recover()
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, *, image: Image.Image | None = None, **row: Any) -> int:
        """Write one row (columns of ``schema.COLUMNS``), with its picture if there is one; the row's id.

        The row is durable against a crash of the process when this returns.
        """
        if image is not None:
            row = {**self.keep(image), **row}
        return self._insert("screenshots", row)

    def keep(self, image: Image.Image, *, digest: str | None = None, method: int = DENSE) -> dict[str, Any]:
        """Store a picture as lossless WebP unless the same pixels are there; the row's columns about it.

        Kept as RGB: a screen is opaque, whatever a fourth channel says.

        Args:
            image: the picture.
            digest: its ``pixels_hash``, where that is known already.
            method: see ``pack``.
        """
        plain = image if image.mode == "RGB" else image.convert("RGB")
        digest = digest or pixels_hash(plain)
        relative = image_path(digest)
        if (columns := self.kept(digest)) is None:
            content = pack(plain, method)
            self.put(relative, content)
            columns = self._remember(digest, content)
        return {"file_path": relative, "pixels_hash": digest, **columns, "width": plain.width, "height": plain.height}

    def kept(self, digest: str) -> dict[str, Any] | None:
        """``file_hash`` and ``file_size`` of the picture with these pixels; None if there is none."""
        if digest in self._known:
            return dict(self._known[digest])
        target = self.folder / image_path(digest)
        return self._remember(digest, target.read_bytes()) if target.exists() else None

    def discard(self, digest: str) -> None:
        """Remove a picture that no row names."""
        self._known.pop(digest, None)
        (self.folder / image_path(digest)).unlink(missing_ok=True)

    def _remember(self, digest: str, content: bytes) -> dict[str, Any]:
        if len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[digest] = {"file_hash": sha256(content).hexdigest(), "file_size": len(content)}
        return dict(self._known[digest])

    def put(self, relative: str, content: bytes) -> None:
        """Write a file of the session so that it is there whole or not at all."""
        replace_file(self.folder / relative, content)

    def add_rows(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Many rows in one transaction, for imports and for making test sessions: about 500,000 rows a second."""
        unknown = [c for c in columns if c not in COLUMNS]
        if unknown:
            raise ValueError(f"no such column: {unknown[0]}")
        marks = ", ".join("?" * len(columns))
        with self.transaction():
            self._db.executemany(f"INSERT INTO screenshots ({', '.join(columns)}) VALUES ({marks})", rows)

    def gap(self, from_tick: int, to_tick: int, reason: str, detail: str | None = None) -> int:
        """The ticks from one to the other, both included, were not recorded; the gap's id."""
        return self._insert("gaps", {"from_tick": from_tick, "to_tick": to_tick, "reason": reason, "detail": detail})

    def stretch(self, gap: int, to_tick: int) -> None:
        """The gap of that id reaches further."""
        self._db.execute("UPDATE gaps SET to_tick = ? WHERE id = ?", (to_tick, gap))

    def mask(self, **row: Any) -> None:
        """One rectangle of a row's picture that was filled before anybody saw it (columns of the table ``masks``)."""
        self._insert("masks", row)

    def note(self, **row: Any) -> None:
        """Something odd about a tick that was recorded all the same (columns of the table ``notes``)."""
        self._insert("notes", row)

    def screened(self, digest: str, **columns: Any) -> None:
        """Fill columns of all rows that show the picture of that pixel hash."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(f"UPDATE screenshots SET {names} WHERE pixels_hash = ?", (*columns.values(), digest))

    def event(self, **row: Any) -> int:
        """One event (columns of the table ``events``)."""
        return self._insert("events", row)

    def events(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Many events in one transaction."""
        with self.transaction():
            for row in rows:
                self._insert("events", row)

    def opportunity(self, **row: Any) -> None:
        """One need for help (columns of the table ``opportunities``)."""
        self._insert("opportunities", row)

    def label(self, **row: Any) -> None:
        """What a person said (columns of the table ``labels``)."""
        self._insert("labels", row)

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Many rows of a table of the session in one transaction."""
        marks = ", ".join("?" * len(columns))
        with self.transaction():
            self._db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def beside(self, ddl: str, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """A table of somebody else's beside those of the session, with its rows."""
        with self.transaction():
            self._db.execute(ddl)
            if rows:
                self._db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    def set_profile(self, profile: Mapping[str, str]) -> None:
        """Facts about the user, replacing entries of the same key."""
        self._db.executemany("INSERT OR REPLACE INTO profile VALUES (?, ?)", [(k, str(v)) for k, v in profile.items()])

    def set_meta(self, meta: Mapping[str, object]) -> None:
        """Facts about the session, replacing entries of the same key."""
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(k, str(v)) for k, v in meta.items()])

    def left(self) -> Left:
        """Where the session stands, for whoever continues it."""
        tick, captured = self._db.execute("SELECT MAX(tick), MAX(captured_ns) FROM screenshots").fetchone()
        (gap,) = self._db.execute("SELECT MAX(to_tick) FROM gaps").fetchone()
        (event,) = self._db.execute("SELECT MAX(id) FROM events").fetchone()
        meta = dict(self._db.execute("SELECT key, value FROM meta"))
        ticks = [t for t in (tick, gap) if t is not None]
        return Left(max(ticks, default=-1), -1 if captured is None else captured, event or 0, meta)

    def abandon(self) -> None:
        """Let go of the file as it is, not closed; a further call, or ``close``, does nothing."""
        if not self._closed:
            self._closed = True
            self._db.close()

    def close(self, *, end_ns: int | None = None) -> None:
        """Mark the session closed and fold the write-ahead log in; a second call does nothing.

        ``end_ns``: until when the screen is known to have stood still, where that is later than the last row.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if end_ns is not None:
                self.set_meta({"end_ns": end_ns})
            state = "closed" if self.recovery is None else "recovered"
            self.set_meta({"state": state})
            self._db.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in _OF_RECORDER])
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._db.close()

    def transaction(self) -> _Transaction:
        """A context manager: what is written within it is there whole or not at all."""
        return _Transaction(self._db)

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        names = ", ".join(row)
        made = self._db.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )
        return int(made.lastrowid or 0)

    def _recover(self) -> Recovery:
        (state,) = self._db.execute("SELECT value FROM meta WHERE key = 'state'").fetchone() or ("recording",)
        if state != "recording":
            raise InputError(self.file, f"this session is {state}; a new recording needs a folder of its own")
        with self.transaction():
            _make_tables(self._db)  # one that an earlier version began may lack some
            found = repair(self._db, self.folder)
        remove_leftovers(self._db, self.folder, found)
        self.set_meta({"recovery": json.dumps({"said": found.sentence}), "state": "recording"})
        return found


def _create(file: Path, meta: Mapping[str, str]) -> None:
    """A new session file: whole, or not there, so that one whose maker was killed is no riddle."""
    part = file.with_name(file.name + ".part")
    part.unlink(missing_ok=True)
    db = sqlite3.connect(part, isolation_level=None)
    try:
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={VERSION}")
        with _Transaction(db):
            _make_tables(db)
            db.executemany("INSERT INTO meta VALUES (?, ?)", list(meta.items()))
    finally:
        db.close()
    part.replace(file)


def _make_tables(db: sqlite3.Connection) -> None:
    for statement in DDL.split(";"):
        if statement.strip():
            db.execute(statement.replace("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1))
    have = {row[1] for row in db.execute("PRAGMA table_info(screenshots)")}
    for column in COLUMNS:
        if column not in have:
            db.execute(f"ALTER TABLE screenshots ADD COLUMN {column} {KINDS['screenshots'][column].name}")


class _Transaction:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:  # what failed, or a COMMIT for which the disk had no room
                self._db.execute("ROLLBACK")
