"""What a session's own tables say of its pictures: read, never changed."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from enum import StrEnum

from simulator.privacy.titles import Titled
from simulator.session.schema import LATER_COLUMNS

__all__ = ["Picture", "Recorded", "State", "least"]

_SERIOUS = re.compile(r"high/|\w+/(?:blur|delete)\b")  # of a screener's opinions


class State(StrEnum):
    """Where a picture stands."""

    UNREVIEWED = "unreviewed"
    PASSED = "passed"
    REDACTED = "redacted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Picture:
    """One distinct picture of a session, with its state and the first row that shows it."""

    path: str
    state: State
    n_rows: int
    row: int
    tick: int
    captured_ns: int
    monitor: int


def least(states: str) -> State:
    """The least reviewed of states joined by commas; a word that is none counts as unreviewed."""
    given = states.split(",")
    known = [state for state in (State.PASSED, State.REDACTED, State.DELETED) if state in given]
    return known[0] if len(known) == len(given) else State.UNREVIEWED


class Recorded:
    """The pictures of a session and what was in front while they were taken.

    Args:
        db: of the session.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def pictures(self) -> list[Picture]:
        """All distinct pictures, by monitor and first row. Of rows that disagree the least reviewed state counts."""
        sql = (
            "SELECT file_path, MIN(id), COUNT(*), tick, captured_ns, monitor,"
            " GROUP_CONCAT(DISTINCT COALESCE(privacy_action, 'unreviewed')) FROM screenshots"
            " WHERE file_path IS NOT NULL GROUP BY file_path ORDER BY monitor, MIN(id)"
        )
        return [
            Picture(path, least(states), n, row, tick, captured, monitor)
            for path, row, n, tick, captured, monitor, states in self._db.execute(sql)
        ]

    def has(self, path: str) -> bool:
        """Whether a row shows that picture."""
        sql = "SELECT 1 FROM screenshots WHERE file_path = ? LIMIT 1"
        return self._db.execute(sql, (path,)).fetchone() is not None

    def sequence(self) -> list[tuple[int, str]]:
        """Monitor and path of the pictures as they follow each other, a still one once; by monitor, then time."""
        made: list[tuple[int, str]] = []
        sql = "SELECT monitor, file_path FROM screenshots WHERE file_path IS NOT NULL ORDER BY monitor, id"
        for shown in self._db.execute(sql):
            if not made or made[-1] != shown:
                made.append(shown)
        return made

    def windows(self, path: str) -> list[tuple[str | None, str | None]]:
        """Application and title of the windows that a picture was taken of."""
        sql = "SELECT DISTINCT app_name, window_title FROM screenshots WHERE file_path = ? ORDER BY id"
        return self._db.execute(sql, (path,)).fetchall()

    def titles(self, path: str) -> list[Titled]:
        """The titles of the windows that were in front while a picture was taken, and where these stood."""
        have = self._columns("screenshots")  # recordings of earlier versions do not say where a monitor begins
        origin = ", ".join(c if c in have else f"NULL AS {c}" for c in LATER_COLUMNS)
        sql = (
            f"SELECT DISTINCT window_title, monitor, window_x, window_y, window_w, window_h, scale, {origin}"
            " FROM screenshots WHERE file_path = ? AND window_title IS NOT NULL AND window_title != '' ORDER BY id"
        )
        return [
            Titled(str(title), int(monitor), *(n if isinstance(n, int | float) else None for n in place))
            for title, monitor, *place in self._db.execute(sql, (path,))
        ]

    def monitors(self) -> list[tuple[int, tuple[float, float, float, float]]]:
        """The monitors that there are pictures of, each with its places on the desktop (x, y, width, height), as far as
        these are known.
        """
        if not set(LATER_COLUMNS) <= self._columns("screenshots"):
            return []
        sql = (
            "SELECT DISTINCT monitor, monitor_x, monitor_y, width / COALESCE(scale, 1.0), height / COALESCE(scale, 1.0)"
            " FROM screenshots WHERE file_path IS NOT NULL AND monitor_x IS NOT NULL AND monitor_y IS NOT NULL"
            " AND width IS NOT NULL AND height IS NOT NULL ORDER BY 1, 2, 3, 4, 5"
        )
        return [(int(number), (x, y, width, height)) for number, x, y, width, height in self._db.execute(sql)]

    def masks(self) -> dict[str, list[tuple[int, int, int, int]]]:
        """What was covered while recording, by picture: x, y, width, height in its pixels."""
        made: dict[str, list[tuple[int, int, int, int]]] = {}
        if not self._columns("masks"):
            return made  # recorded by something else
        sql = (
            "SELECT DISTINCT s.file_path, m.x, m.y, m.w, m.h FROM masks m JOIN screenshots s"
            " ON s.tick = m.tick AND s.monitor = m.monitor WHERE s.file_path IS NOT NULL ORDER BY s.id, m.id"
        )
        for path, *rect in self._db.execute(sql):
            made.setdefault(path, []).append((rect[0], rect[1], rect[2], rect[3]))
        return made

    def serious(self, path: str) -> list[str]:
        """What a screener said of a picture while it was recorded that makes it wait for a person, such as ``screener:
        high/blur: financial``.
        """
        sql = "SELECT DISTINCT privacy_level FROM screenshots WHERE file_path = ? AND privacy_level IS NOT NULL"
        levels = [str(level) for (level,) in self._db.execute(f"{sql} ORDER BY privacy_level", (path,))]
        return [f"screener: {level}" for level in levels if _SERIOUS.match(level)]

    def _columns(self, table: str) -> set[str]:
        return {row[1] for row in self._db.execute(f"PRAGMA table_info({table})")}
