"""Whether a session's rows are of their columns' kinds: SQLite keeps whatever it was given, a text for a time too."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from simulator.core.errors import InputError
from simulator.session.schema import KINDS, Kind

__all__ = ["check_kinds"]

_READ = ("id", "tick", "captured_ns", "monitor", "file_path", "app_name", "window_title", "text", "scene_description",
         "privacy_level", "privacy_action")  # fmt: skip
_WORDS = {
    "integer": "an integer",
    "real": "a number with a fraction",
    "text": "a text",
    "blob": "a blob",
    "null": "NULL",
}


def check_kinds(db: sqlite3.Connection, file: Path) -> None:
    """Look through the columns that scan and review go by.

    Raises:
        InputError: a value is of another kind than its column; names row, column and kind, never the value.
    """
    for table, column, kind in _columns(db):
        fitting = ", ".join(repr(stored) for stored in kind.stored)
        sql = f"SELECT rowid, typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({fitting}) LIMIT 1"
        for row, found in db.execute(sql):
            raise InputError(
                file, f"must be {kind.words}, and it is {_WORDS[found]}", field=f"{table} row {row}, {column}"
            )


def _columns(db: sqlite3.Connection) -> Iterator[tuple[str, str, Kind]]:
    yield from (("screenshots", column, KINDS["screenshots"][column]) for column in _READ)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        if table.startswith("privacy_"):
            for _, column, declared, needed, _, is_key in db.execute(f"PRAGMA table_info({table})").fetchall():
                if declared in ("INTEGER", "TEXT"):
                    yield table, column, Kind(declared, bool(needed or is_key))
