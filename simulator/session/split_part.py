"""A part of a recorded session as a session of its own: what lies between two instants, and nothing beside it."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from simulator.core.errors import InputError
from simulator.core.faults import kind_of
from simulator.core.folders import whole_folder
from simulator.session.reader import Header, connect
from simulator.session.schema import FILE_NAME, KINDS

__all__ = ["write_part"]

_BY_TIME = {"screenshots": "captured_ns", "events": "start_ns", "annotations": "start_ns", "opportunities": "opens_ns",
            "labels": "at_ns"}  # fmt: skip
_BY_TICK = ("masks", "notes")
_WHOLE = ("profile", "meta")


def write_part(header: Header, target: Path, name: str, from_ns: int, until_ns: int | None) -> Mapping[str, int]:
    """Write what a session holds from one instant of stream time until before another; the source stays as it is.

    Rows keep their numbers and times. Tables that this version does not know are left out, and so is what says no time.

    Args:
        header: of the session.
        target: the folder to be made; it is there whole or not at all.
        name: of the new session.
        from_ns: its first instant.
        until_ns: where it ends; None for the session's end.

    Returns:
        What was left out without being outside, by reason; pictures that are gone are counted.

    Raises:
        InputError: the source cannot be read, or holds no row in between.
    """
    try:
        with whole_folder(target) as part:
            return _copied(header, part, name, from_ns, until_ns)
    except sqlite3.Error as error:
        raise InputError(header.file, kind_of(error)) from None


def _copied(header: Header, part: Path, name: str, from_ns: int, until_ns: int | None) -> Counter[str]:
    odd: Counter[str] = Counter()
    low = from_ns + header.zero_ns
    high = None if until_ns is None else until_ns + header.zero_ns
    with closing(connect(header.file)) as source, closing(sqlite3.connect(part / FILE_NAME)) as db:
        source.backup(db)
        tables = [str(t) for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        for table in tables:
            if table in _BY_TIME:
                odd["rows that say no time"] += _cut_by(db, table, _BY_TIME[table], low, high)
            elif table not in (*_BY_TICK, *_WHOLE, "gaps") and not table.startswith("sqlite_"):
                odd["tables of another version"] += 1
                db.execute(f'DROP TABLE "{table}"')
        if header.monitor is not None:
            db.execute("DELETE FROM screenshots WHERE monitor <> ?", (header.monitor,))
        first, last = db.execute("SELECT MIN(tick), MAX(tick) FROM screenshots").fetchone()
        if first is None:
            raise InputError(header.file, "no row lies in the part that is to be cut out of it")
        for table in (t for t in tables if t in _BY_TICK):
            db.execute(f"DELETE FROM {table} WHERE tick < ? OR tick > ?", (first, last))
        _cut_gaps(db, first, last if high is None else high // header.period_ns - 1, whole_end=high is None)
        _name(db, header, name, high)
        db.commit()
        db.execute("VACUUM")  # else free pages would keep what was deleted
        files = [
            str(f) for (f,) in db.execute("SELECT DISTINCT file_path FROM screenshots WHERE file_path IS NOT NULL")
        ]
    odd["pictures that are gone"] += sum(not _copy(header.folder, part, file) for file in files)
    return +odd


def _cut_by(db: sqlite3.Connection, table: str, column: str, low: int, high: int | None) -> int:
    """Delete what lies outside; how many rows said no time."""
    if table not in KINDS:
        return 0
    n = db.execute(f"DELETE FROM {table} WHERE {column} IS NULL").rowcount
    db.execute(f"DELETE FROM {table} WHERE {column} < ?", (low,))
    if high is not None:
        db.execute(f"DELETE FROM {table} WHERE {column} >= ?", (high,))
    return n


def _cut_gaps(db: sqlite3.Connection, first: int, last: int, *, whole_end: bool) -> None:
    db.execute("DELETE FROM gaps WHERE to_tick < ?", (first,))
    if not whole_end:
        db.execute("DELETE FROM gaps WHERE from_tick > ?", (last,))
        db.execute("UPDATE gaps SET to_tick = ? WHERE to_tick > ?", (last, last))


def _name(db: sqlite3.Connection, header: Header, name: str, high: int | None) -> None:
    said = {"session": name, "part_of": header.session, "state": "closed"}
    if high is not None:
        said["end_ns"] = str(high)
    db.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", sorted(said.items()))


def _copy(folder: Path, part: Path, file: str) -> bool:
    """Take a picture along, unless it is named by a whole path or lies outside the session; whether it is there."""
    if Path(file).is_absolute():
        return Path(file).is_file()
    if ".." in Path(file).parts:
        return False
    try:
        (part / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / file, part / file)
    except FileNotFoundError:
        return False
    return True
