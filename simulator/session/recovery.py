"""What a crash left of a session, put in order: rows whose picture is not there go, ticks without a row become gaps."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

__all__ = ["Recovery", "remove_leftovers", "repair"]


@dataclass(slots=True)
class Recovery:
    """What opening a session after a crash found and did. Ticks whose rows were dropped are a gap ``missing`` now, and
    events that had not been closed end with their last row.
    """

    n_rows_kept: int = 0
    n_rows_without_image: int = 0
    n_rows_with_damaged_image: int = 0
    n_orphans_removed: int = 0
    n_parts_removed: int = 0
    n_events_closed: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """One sentence for the user."""
        return (
            f"the session had not been closed; {self.n_rows_kept} rows kept, {self.n_rows_without_image} dropped for a "
            f"missing image, {self.n_rows_with_damaged_image} for a damaged one; {self.n_orphans_removed} images "
            f"without a row and {self.n_parts_removed} half-written files removed"
        )


_TICK = "SELECT 1 FROM screenshots WHERE tick = ? LIMIT 1"
_CLOSE_EVENTS = """
INSERT INTO events (id, start_ns, end_ns, start_tick, end_tick, app_name, window_title)
SELECT event_id, MIN(captured_ns), MAX(captured_ns) + ?, MIN(tick), MAX(tick), app_name, window_title
FROM screenshots WHERE event_id NOT IN (SELECT id FROM events) GROUP BY event_id
"""


def repair(db: sqlite3.Connection, folder: Path) -> Recovery:
    """Make the tables true again; within a transaction of the caller's.

    Args:
        db: of the session.
        folder: where its pictures lie.
    """
    found = Recovery()
    _missing(db, _drop_rows(db, folder, found))
    (period,) = db.execute("SELECT value FROM meta WHERE key = 'period_ns'").fetchone()
    found.n_events_closed = db.execute(_CLOSE_EVENTS, (int(period),)).rowcount
    (found.n_rows_kept,) = db.execute("SELECT COUNT(*) FROM screenshots").fetchone()
    return found


def remove_leftovers(db: sqlite3.Connection, folder: Path, found: Recovery) -> None:
    """Remove the pictures that no row names, and what was half written; once ``repair`` is durable."""
    known = {row[0] for row in db.execute("SELECT DISTINCT file_path FROM screenshots WHERE file_path IS NOT NULL")}
    for path in sorted((folder / "screenshots").rglob("*")):
        if not path.is_file():
            continue
        if path.suffix == ".part":
            found.n_parts_removed += 1
            path.unlink()
        elif path.relative_to(folder).as_posix() not in known:
            found.n_orphans_removed += 1
            path.unlink()


def _drop_rows(db: sqlite3.Connection, folder: Path, found: Recovery) -> set[int]:
    """Drop the rows whose picture cannot be used; their ticks."""
    sql = "SELECT file_path, MIN(file_hash), COUNT(*) FROM screenshots WHERE file_path IS NOT NULL GROUP BY file_path"
    dropped: set[int] = set()
    for path, file_hash, n in db.execute(sql).fetchall():
        fault = _fault(folder / path, file_hash)
        if fault is None:
            continue
        if fault == "missing":
            found.n_rows_without_image += n
        else:
            found.n_rows_with_damaged_image += n
        if len(found.examples) < 5:
            found.examples.append(f"{path}: {fault}")
        gone = db.execute("DELETE FROM screenshots WHERE file_path = ? RETURNING tick", (path,)).fetchall()
        dropped.update(tick for (tick,) in gone)
    return dropped


def _missing(db: sqlite3.Connection, dropped: set[int]) -> None:
    """Gaps for the ticks of which no row is left."""
    left = {tick for tick in dropped if db.execute(_TICK, (tick,)).fetchone() is None}
    for first in sorted(tick for tick in left if tick - 1 not in left):
        last = first
        while last + 1 in left:
            last += 1
        db.execute(
            "INSERT INTO gaps (from_tick, to_tick, reason, detail) VALUES (?, ?, 'missing', ?)",
            (first, last, "the picture was lost when the recorder died"),
        )


def _fault(path: Path, file_hash: str | None) -> str | None:
    """Why a picture cannot be used. Whole files are compared by their hash: no decoding needed."""
    if not path.is_file():
        return "missing"
    if file_hash is not None and len(file_hash) == 64:
        return None if sha256(path.read_bytes()).hexdigest() == file_hash else "damaged"
    return None if path.stat().st_size else "damaged"
