"""Opening LifeTrace and ProAgentBench databases: which there are, which build wrote them, what their tables hold."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.faults import kind_of
from simulator.core.names import free, plain
from simulator.sources.foreign import natural

__all__ = ["Row", "databases", "digest", "generation", "known", "load", "moment", "text"]

_UNKNOWN = frozenset({"未知应用", "未知窗口", "unknown", "unknown app", "unknown window"})
Row = Mapping[str, Any]


def databases(source: Path) -> list[tuple[str, Path]]:
    """The databases under a folder (or the file itself), each with the user it belongs to.

    A user is called after the folder below ``source`` that the database lies in; several databases in one folder are
    several users, called after their files too. Names that come out alike get a number: each user has a folder.
    """
    if source.is_file():
        return [(plain(source.stem), source)]
    found = [p for p in natural(source.rglob("*.db")) if p.is_file() and len(p.relative_to(source).parts) <= 4]
    if not found:
        raise InputError(source, "there is no database (*.db) in this folder")
    many = Counter(_owner(source, p) for p in found)
    taken: set[str] = set()
    named = ((o if many[o] == 1 else f"{o}-{plain(p.stem)}", p) for p in found for o in [_owner(source, p)])
    return [(free(name, taken), p) for name, p in named]


def _owner(source: Path, file: Path) -> str:
    parts = file.relative_to(source).parts
    return plain(parts[0] if len(parts) > 1 else source.absolute().name)


def generation(tables: Mapping[str, Sequence[str]]) -> str:
    """Which build wrote a database with these tables and columns: v0, v1, v1b, v2, v2b, v3, FreeTodo, ProAgentBench."""
    events = set(tables.get("events", ()))
    if not events:
        return "v0"
    if events & {"is_llm_event", "conversation", "event_summary"}:
        return "ProAgentBench"
    if "alembic_version" in tables or ("status" in events and "task_id" not in events):
        return "FreeTodo"
    if "status" in events:
        return "v3"
    if "ai_title" in events or "ai_summary" in events:
        return "v2b" if "task_id" in events else "v2"
    return "v1b" if "user_behavior_stats" in tables or "app_usage_logs" in tables else "v1"


def digest(file: Path) -> str:
    """SHA-256 of a database with its write-ahead log."""
    whole = sha256()
    for one in (file, file.with_name(file.name + "-wal")):
        if one.is_file():
            whole.update(one.read_bytes())
    return whole.hexdigest()


def load(file: Path) -> tuple[dict[str, list[str]], dict[str, list[Row]]]:
    """Columns by table, and the rows of screenshots, ocr_results and events (empty where there is no such table).

    Raises:
        InputError: missing, 0 bytes, not SQLite, no table ``screenshots``, damaged.
    """
    if not file.is_file():
        raise InputError(file, "there is no such file")
    if file.stat().st_size == 0:
        raise InputError(file, "the file is empty (0 bytes); nothing was recorded in it")
    wal = file.with_name(file.name + "-wal")
    mode = "mode=ro" if wal.exists() and wal.stat().st_size else "mode=ro&immutable=1"
    try:
        db = sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True)
        try:
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            names = [str(n) for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
            tables = {n: [str(r[1]) for r in db.execute(f'PRAGMA table_info("{n}")')] for n in names}
            if "screenshots" not in tables:
                raise InputError(file, "this database has no table screenshots; LifeTrace and ProAgentBench have")
            wanted = ("screenshots", "ocr_results", "events")
            return tables, {n: _all(db, n, tables.get(n, [])) for n in wanted}
        finally:
            db.close()
    except (sqlite3.Error, UnicodeError) as error:
        raise InputError(file, kind_of(error)) from None


def _all(db: sqlite3.Connection, table: str, columns: Sequence[str]) -> list[Row]:
    if not columns:
        return []
    order = " ORDER BY id" if "id" in columns else ""
    return [dict(zip(columns, row, strict=True)) for row in db.execute(f'SELECT * FROM "{table}"{order}')]


def moment(value: Any) -> datetime | None:
    """A time as SQLAlchemy or a later pipeline stored it; None for none."""
    if value is None or value == "":
        return None
    try:
        return datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None


def known(value: Any) -> str | None:
    """A name, None where the recorder wrote its word for unknown."""
    if value is None or str(value).strip().casefold() in _UNKNOWN or not str(value).strip():
        return None
    return str(value)


def text(value: Any) -> str | None:
    """A text that says something, else None."""
    return None if value is None or not str(value).strip() else str(value)
