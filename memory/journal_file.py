"""The SQLite file of a memory's log: how it is opened, how its faults are told, how what was forgotten leaves."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, NoRoom
from simulator.core.faults import kind_of

__all__ = [
    "COUNTS",
    "NAME",
    "VECTORS",
    "as_bytes",
    "check",
    "cleaned",
    "faults",
    "opened",
    "raw",
    "text",
    "texts",
    "to_write",
    "written_tables",
]

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
_TEXT = (str, type(None))
_NO_JOURNAL = "is not a memory's journal"
_WAIT_S = 2.0
"""How long a writer waits for readers to end: some look for an instant only."""


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Tell what is wrong with the file in one sentence, without a word that it holds.

    Raises:
        InputError: it is damaged, or cannot be read or written.
        NoRoom: the disk is full.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte tells the kind
        if code == sqlite3.SQLITE_FULL:
            raise NoRoom(f"{path}: there is no room left on the disk for what is to be written there") from None
        raise InputError(path, _why(code, error)) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(path, kind_of(error)) from None


def _why(code: int, error: sqlite3.Error) -> str:
    match code:
        case sqlite3.SQLITE_IOERR:  # often: no room for the log's index beside it
            return f"cannot be read now: the disk is full, or it fails ({error})"
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return (
                f"cannot be opened: nothing can be written in its folder, and its log has to be looked into ({error})"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another program holds it"
        case sqlite3.SQLITE_NOTADB:
            return f"{_NO_JOURNAL} ({error})"
    return kind_of(error)


def opened(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection that has changed nothing yet; one that only reads sees the file as it is now."""
    place = path.absolute().as_uri()
    if not read_only:
        return sqlite3.connect(f"{place}?mode=rwc", _WAIT_S, uri=True, isolation_level=None, check_same_thread=False)
    # On a disk that cannot be written there is no place for the log's index; then nobody writes it either.
    for how in ("mode=ro", "mode=ro&immutable=1"):
        db = sqlite3.connect(f"{place}?{how}", uri=True, isolation_level=None, check_same_thread=False)
        try:
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return db
        except sqlite3.OperationalError:
            db.close()
            if how != "mode=ro" or path.with_name(NAME + "-wal").exists():
                raise
        except BaseException:
            db.close()
            raise
    raise AssertionError


def check(db: sqlite3.Connection, path: Path) -> bool:
    """Whether there is a log of ours in it; False where there is nothing yet. Nothing is changed.

    Raises:
        InputError: it is something else, or of a newer program.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    if version > _SCHEMA:
        raise InputError(path, f"was written by a newer program (schema {version}, this one knows {_SCHEMA})")
    if not version and not there:
        return False
    if version != _SCHEMA or not {"about", "users", "events", "labels", "changes"} <= there:
        raise InputError(path, _NO_JOURNAL)
    return True


def to_write(db: sqlite3.Connection) -> None:
    """Settle how it is written."""
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint={_PAGES}")
    db.execute("PRAGMA secure_delete=ON")  # what is forgotten is not left in free pages


def written_tables(db: sqlite3.Connection, clock: str) -> None:
    """Make the tables of a new log."""
    begin = f"INSERT INTO about VALUES ('clock', '{clock}'); PRAGMA user_version={_SCHEMA};"
    db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {begin} COMMIT;")


def cleaned(db: sqlite3.Connection, path: Path) -> str | None:
    """Get what was deleted out of the file, its log, and what was made of it beside it.

    Whoever reads the file as it was before keeps it in there, and may still lay things beside it; once there is no such
    reader nothing comes after, since nobody can begin to read what was.

    Returns:
        Why it is not done; None where it is.
    """
    _drop_made(path)
    try:
        if not _worked_in(db):
            return "a run reads it; call again when that has ended"
        db.execute("PRAGMA temp_store=MEMORY")  # the copy is not left in a temporary file
        db.execute("VACUUM")  # pages are overwritten already, but rows that moved left copies in some
        if not _worked_in(db):
            return "a run reads it; call again when that has ended"
    except sqlite3.Error as error:
        return f"{kind_of(error)}; call again when that is mended"
    return None if _drop_made(path) else "what was made of it cannot be removed; call again"


def _worked_in(db: sqlite3.Connection) -> bool:
    """Whether the file holds all of its log, and the log nothing."""
    (busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _drop_made(path: Path) -> bool:
    for made in (VECTORS, COUNTS):
        shutil.rmtree(path.parent / made, ignore_errors=True)
    return not any((path.parent / made).exists() for made in (VECTORS, COUNTS))


def raw(text: str) -> bytes:
    """As it is kept: titles and names of others may hold half a character, which SQLite's texts may not."""
    return text.encode("utf-8", "surrogatepass")


def as_bytes(kept: Any) -> bytes:
    """What is to be bytes, and may be anything in a damaged file."""
    if not isinstance(kept, bytes):
        raise TypeError
    return kept


def text(kept: Any) -> str:
    """What ``raw`` made bytes of."""
    return as_bytes(kept).decode("utf-8", "surrogatepass")


def texts(kept: Iterable[Any]) -> list[str | None]:
    """What are to be texts, each or none."""
    found = list(kept)
    if not all(isinstance(one, _TEXT) for one in found):
        raise TypeError
    return found
