"""A session's tables are tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.session.reader import Reader
from tests.replays import record


def test_a_view_in_a_table_s_place_is_refused_and_not_read_for_ever(tmp_path: Path) -> None:
    folder = record(tmp_path / "day") / "session"
    with closing(sqlite3.connect(folder / "session.db")) as db:
        db.execute("ALTER TABLE screenshots RENAME TO rows_of_it")
        db.execute(
            "CREATE VIEW screenshots AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT r.* FROM rows_of_it r, n"
        )
        db.commit()
    with pytest.raises(InputError, match="it holds a view, which no proact wrote"):
        Reader(folder)
