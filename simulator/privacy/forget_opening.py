"""Whose a recorded session is, and opening it for forgetting: alone, with deleted contents overwritten."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.lock import is_locked
from simulator.session.reader import connect
from simulator.session.schema import FILE_NAME

__all__ = ["FORGETTING", "IN_USE", "OURS", "WRECK", "Head", "check_free", "is_broken", "is_recorded", "is_wreck",
           "read_head", "reading", "writing"]  # fmt: skip

FORGETTING = "forgetting"  # meta: a stretch is being forgotten, or a kill left it half done
_RECORDING = ".recording.lock"  # held by whoever records into the folder
OURS = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal", f"{FILE_NAME}.part", "status.json",
         "pause", _RECORDING)  # fmt: skip
WRECK = "the session.db is gone, and pictures or logs of the session are still there; remove the folder by hand"
_SIDES = OURS[1:5]  # of the database: they hold texts, and nobody else names a file so
_PICTURE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32,}\.\w+")
IN_USE = "somebody has it open: end the recording (or whatever reads it) and call again"


@dataclass(frozen=True, slots=True)
class Head:
    """Whose session it is and when it was.

    ``anchor_ns``: UTC of ``captured_ns`` 0, None if not known; ``first_ns``: ``captured_ns`` of the first row, None
    for a session without rows. ``half_done``: a kill left it half forgotten. ``tier``: of a release, else None.
    """

    folder: Path
    user: str
    session: str
    period_ns: int
    anchor_ns: int | None
    first_ns: int | None
    half_done: bool
    tier: str | None = None

    @property
    def zero_ns(self) -> int | None:
        """UTC of the first row, where times of scenarios count from."""
        return None if self.anchor_ns is None or self.first_ns is None else self.anchor_ns + self.first_ns


def read_head(folder: Path) -> Head:
    """Read it without changing anything, but for what SQLite itself mends after a kill.

    Raises:
        InputError: the file cannot be read.
    """
    file = folder / FILE_NAME
    with told(file), reading(file) as db:
        meta = {str(k): str(v) for k, v in db.execute("SELECT key, value FROM meta")}
        (first,) = db.execute("SELECT captured_ns FROM screenshots ORDER BY id LIMIT 1").fetchone() or (None,)
        anchor = meta.get("utc_anchor_ns")
        return Head(
            folder,
            meta.get("user") or "user",
            meta.get("session") or folder.absolute().name,
            int(meta.get("period_ns") or 10**9),
            None if anchor is None else int(anchor),
            first,
            FORGETTING in meta,
            _tier(meta),
        )


def _tier(meta: Mapping[str, str]) -> str | None:
    """As ``release`` states it."""
    try:
        return str(json.loads(meta["released"])["tier"])
    except (LookupError, TypeError, ValueError, RecursionError):
        return "unknown" if "released" in meta else None


def is_wreck(folder: Path) -> bool:
    """Whether a folder holds what is left of a session whose database is gone: its pictures, or its log."""
    if (folder / FILE_NAME).is_file():
        return False
    pictures = folder / "screenshots"
    return any((folder / name).exists() for name in _SIDES) or any(
        _PICTURE.fullmatch(path.relative_to(pictures).as_posix()) for path in pictures.glob("*/*")
    )


def is_broken(folder: Path) -> bool:
    """Whether a folder holds a session of which nobody can tell whose it is."""
    if not (folder / FILE_NAME).is_file():
        return is_wreck(folder)
    try:
        read_head(folder)
    except InputError:
        return True
    return False


def is_recorded(folder: Path) -> bool:
    """Whether somebody records into a folder, or changes the session there, right now."""
    return is_locked(folder / _RECORDING)


def check_free(head: Head) -> None:
    """Make sure that the session could go now: what says whose it is must not go before it.

    Raises:
        InputError: somebody has it open, or it is damaged.
    """
    with told(head.folder / FILE_NAME), writing(head.folder / FILE_NAME):
        pass


@contextmanager
def reading(file: Path) -> Iterator[sqlite3.Connection]:
    """The file, to be read; what a kill left half written SQLite mends first."""
    journal = file.with_name(file.name + "-journal")
    if journal.exists():  # a kill left it: SQLite puts the file back in order as soon as somebody may write
        connect(file).close()
        with sqlite3.connect(file) as mending:
            mending.execute("SELECT COUNT(*) FROM meta")
        mending.close()
    db = connect(file)
    try:
        yield db
    finally:
        db.close()


@contextmanager
def writing(file: Path) -> Iterator[sqlite3.Connection]:
    """The file for us alone, deleted contents overwritten; its write-ahead log is folded in and removed.

    Raises:
        InputError: somebody else has it open.
    """
    connect(file).close()
    if is_recorded(file.parent):
        raise InputError(file, IN_USE)
    db = sqlite3.connect(file, isolation_level=None, timeout=1)
    try:
        try:  # leaving the write-ahead log is what SQLite does for the only one that has a file open
            (mode,) = db.execute("PRAGMA journal_mode=DELETE").fetchone()
            db.execute("BEGIN IMMEDIATE")
            db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            mode = "locked"
        if mode != "delete":
            raise InputError(file, IN_USE)
        db.execute("PRAGMA secure_delete=ON")
        db.execute("PRAGMA temp_store=MEMORY")  # what a VACUUM sorts is not left in a temporary file
        yield db
    finally:
        db.close()
