"""Forgetting a recorded session, or a stretch of it: rows, pictures, events, needs, labels, texts.

All in one transaction that overwrites what it deletes, then the pictures that no row names any more, then the file is
written anew (VACUUM) and the write-ahead log cut. ``meta.forgetting`` stands in the file until all is done, so a kill
in between is found and finished by the next call. Of a session that stays the first row does too, without its
contents: instants count from it. The stretch itself becomes a gap ``missing``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from simulator.core.errors import ProactError
from simulator.core.faults import FAULTS, told
from simulator.privacy.disk import remove, remove_tree
from simulator.privacy.forget_opening import (
    FORGETTING,
    IN_USE,
    OURS,
    WRECK,
    Head,
    check_free,
    is_broken,
    is_recorded,
    is_wreck,
    read_head,
    reading,
    writing,
)
from simulator.privacy.items import Item, Unreached
from simulator.privacy.run_of import RUN
from simulator.privacy.span import Span
from simulator.privacy.texts import TEXTS, said_in
from simulator.session.ignored import unhide
from simulator.session.schema import FILE_NAME

__all__ = [
    "WRECK",
    "Head",
    "check_free",
    "is_broken",
    "is_recorded",
    "is_wreck",
    "last_ns",
    "plan_session",
    "read_head",
]

FORGOTTEN = "deleted"  # privacy_action of the first row, whose contents are gone
_STAY = frozenset({"id", "tick", "captured_ns", "late_ms", "monitor", "privacy_action"})
_KNOWN = frozenset(
    {"screenshots", "gaps", "events", "opportunities", "labels", "masks", "notes", "annotations", "profile", "meta"}
    | {"noise"}  # simulator.session.noise: which rows are noise, no text of theirs
)


_OF_RELEASES = ("DATASHEET.md", "LICENSE.txt", "events.csv")  # what ``dataset release`` puts beside the database


def plan_session(head: Head, span: Span) -> Item | Unreached | None:
    """What of a session goes; None for nothing.

    Raises:
        InputError: the file cannot be read.
    """
    item = _planned(head, span)
    return Unreached(head.folder / FILE_NAME, IN_USE) if item is not None and is_recorded(head.folder) else item


def last_ns(head: Head) -> int | None:
    """UTC of the session's last row; None where there is none, or nobody knows its calendar time, or can read it."""
    column = "wall_utc_ms * 1000000" if head.anchor_ns is None else f"captured_ns + {head.anchor_ns}"
    try:
        with reading(head.folder / FILE_NAME) as db:
            (last,) = db.execute(f"SELECT MAX({column}) FROM screenshots").fetchone()
    except (ProactError, *FAULTS):
        return None
    return None if last is None else int(last)


def _planned(head: Head, span: Span) -> Item | Unreached | None:
    if span.everything:
        return _whole(head)
    file = head.folder / FILE_NAME
    with told(file), reading(file) as db:
        if head.anchor_ns is None and not _has_wall_times(db):
            return Unreached(file, "it does not know its calendar time, so nobody can tell which of it is meant")
        where, args = _rows_of(head, span)
        (n_all,) = db.execute("SELECT COUNT(*) FROM screenshots").fetchone()
        (n_rows,) = db.execute(f"SELECT COUNT(*) FROM screenshots WHERE {where}", args).fetchone()
        (n_fresh,) = db.execute(f"SELECT COUNT(*) FROM screenshots WHERE {where} AND NOT {_BLANK}", args).fetchone()
        n_events, n_needs, n_labels = (len(ids) for ids in _dependants(db, head, span))
        n_said = len(_annotations(db, head, span))
        texts = _texts(db, where, args, head, span)
    if n_all and n_rows == n_all:
        return _whole(head)
    if not (n_fresh or n_events or n_needs or n_labels or n_said or head.half_done):
        return None
    said = f"{_n(n_fresh, 'row')} of {n_all}, {_n(n_events, 'event')}, {_n(n_needs, 'need')}, {_n(n_labels, 'label')}"
    said += f", {_n(n_said, 'annotation')}" if n_said else ""
    return Item("session", head.folder, said, lambda: _cut(head, span), texts, frozenset((head.session,)))


def _whole(head: Head) -> Item:
    file = head.folder / FILE_NAME
    with told(file), reading(file) as db:
        (n_rows,) = db.execute("SELECT COUNT(*) FROM screenshots").fetchone()
        (n_events,) = db.execute("SELECT COUNT(*) FROM events").fetchone()
        texts = _texts(db, "1", (), head, Span())
    n_files = sum(path.is_file() for path in (head.folder / "screenshots").rglob("*"))
    said = f"the whole session: {_n(n_rows, 'row')}, {_n(n_files, 'picture')}, {_n(n_events, 'event')}"
    return Item("session", head.folder, said, lambda: _remove(head), texts, frozenset((head.session,)))


def _remove(head: Head) -> list[Unreached]:
    """The session's own files, the database last: it says whose they are."""
    folder, file = head.folder, head.folder / FILE_NAME
    with writing(file):
        pass  # nobody records into it, and what the write-ahead log held is in the file
    outside = _outside(file)
    remove_tree(folder / "screenshots")
    for path in sorted(folder.iterdir()):
        beside = head.tier is not None and path.name in _OF_RELEASES
        if path != file and (path.name in OURS or path.name.endswith(".part") or beside):
            remove_tree(path)
    remove(file)
    unhide(folder)
    rest = sorted(folder.iterdir())
    if not rest:
        folder.rmdir()
    strange = [path for path in rest if not (path / RUN).is_file()]  # a run was played into it: forgotten as runs are
    return [Unreached(path, "a file in the session's folder that proact did not make") for path in strange] + outside


def _cut(head: Head, span: Span) -> list[Unreached]:
    """The stretch out of a session that stays."""
    file = head.folder / FILE_NAME
    with writing(file) as db:
        outside = _outside(file, db)
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", (FORGETTING,))
            _cut_rows(db, head, span)
            events, needs, labels = _dependants(db, head, span)
            _cut_events(db, head, span, events)
            _delete(db, "opportunities", needs)
            _delete(db, "labels", labels)
            _delete(db, "annotations", _annotations(db, head, span))
            db.execute("UPDATE screenshots SET event_id = NULL WHERE event_id NOT IN (SELECT id FROM events)")
            _cut_reviews(db)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        tables = {name for (name,) in db.execute(_TABLES)}
        strange = sorted(name for name in tables - _KNOWN if not name.startswith("privacy_"))
        _sweep(head.folder, db)
        db.execute("VACUUM")
        db.execute("DELETE FROM meta WHERE key = ?", (FORGETTING,))
    return outside + [Unreached(file, f"a table that this version does not know: {name}") for name in strange]


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_BLANK = (
    f"(privacy_action IS '{FORGOTTEN}' AND app_name IS NULL AND window_title IS NULL AND text IS NULL"
    " AND file_path IS NULL AND scene_description IS NULL)"
)


def _rows_of(head: Head, span: Span) -> tuple[str, tuple[int, ...]]:
    """The rows of a span as a condition. By either clock: somebody may have set the calendar while it was recorded."""
    parts: list[str] = []
    args: list[int] = []
    for column in ([] if head.anchor_ns is None else [f"captured_ns + {head.anchor_ns}"]) + ["wall_utc_ms * 1000000"]:
        bounds = [(">=", span.start_ns), ("<", span.end_ns)]
        tests = [f"{column} {sign} ?" for sign, bound in bounds if bound is not None]
        args += [bound for _, bound in bounds if bound is not None]
        parts.append(f"({' AND '.join(tests)})")
    return f"coalesce({' OR '.join(parts)}, 0)", tuple(args)


def _has_wall_times(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT 1 FROM screenshots WHERE wall_utc_ms IS NOT NULL LIMIT 1").fetchone())


def _cut_rows(db: sqlite3.Connection, head: Head, span: Span) -> None:
    """Delete the rows of the span, leave the first of each monitor without contents, and make the stretch a gap."""
    where, args = _rows_of(head, span)
    (last_ns, last_tick) = db.execute("SELECT MAX(captured_ns), MAX(tick) FROM screenshots").fetchone()
    gone = [tick for (tick,) in db.execute(f"SELECT DISTINCT tick FROM screenshots WHERE {where} ORDER BY tick", args)]
    columns = [row[1] for row in db.execute("PRAGMA table_info(screenshots)") if row[1] not in _STAY]
    firsts = "id IN (SELECT MIN(id) FROM screenshots GROUP BY monitor)"
    emptied = ", ".join(f"{column} = NULL" for column in columns)
    db.execute(f"UPDATE screenshots SET {emptied}, privacy_action = ? WHERE {where} AND {firsts}", (FORGOTTEN, *args))
    db.execute(f"DELETE FROM screenshots WHERE {where} AND NOT {firsts}", args)
    (stated,) = db.execute("SELECT value FROM meta WHERE key = 'end_ns'").fetchone() or (None,)
    end_ns = max(last_ns + head.period_ns, 0 if stated is None else int(stated))
    if stated is None or int(stated) < end_ns:  # the session is as long as it was: instants in it stay what they are
        db.execute("INSERT OR REPLACE INTO meta VALUES ('end_ns', ?)", (str(end_ns),))
    if gone:
        ticks = (gone[0], gone[-1])
    else:
        return
    if head.anchor_ns is not None:
        lower = gone[0] if span.start_ns is None else -((head.anchor_ns - span.start_ns) // head.period_ns)
        last = max(last_tick, end_ns // head.period_ns - 1)
        upper = last if span.end_ns is None else min(last, (span.end_ns - head.anchor_ns - 1) // head.period_ns)
        ticks = (min(ticks[0], max(lower, 0)), max(ticks[1], upper))
    _note_gap(db, *ticks)


def _note_gap(db: sqlite3.Connection, first: int, last: int) -> None:
    """Ticks of the stretch that have no row and lie in no gap: a gap of their own. What was said of them goes."""
    kept = [(t, t) for (t,) in db.execute("SELECT DISTINCT tick FROM screenshots WHERE tick BETWEEN ? AND ?",
                                          (first, last))]  # fmt: skip
    gaps = db.execute("SELECT from_tick, to_tick FROM gaps WHERE to_tick >= ? AND from_tick <= ?", (first, last))
    for start, end in _between(first, last, [*kept, *gaps.fetchall()]):
        db.execute("INSERT INTO gaps (from_tick, to_tick, reason) VALUES (?, ?, 'missing')", (start, end))
    db.execute("UPDATE gaps SET detail = NULL WHERE to_tick >= ? AND from_tick <= ?", (first, last))
    for table in ("masks", "notes"):
        if db.execute(f"{_TABLES} AND name = ?", (table,)).fetchone():
            bare = "tick NOT IN (SELECT tick FROM screenshots WHERE file_path IS NOT NULL)"
            db.execute(f"DELETE FROM {table} WHERE tick BETWEEN ? AND ? AND {bare}", (first, last))


def _between(first: int, last: int, taken: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What the pairs (both ends included) leave free of a stretch.

    >>> list(_between(0, 9, [(2, 3), (3, 5), (9, 12)]))
    [(0, 1), (6, 8)]
    """
    for start, end in sorted(taken):
        if start > first:
            yield first, min(start - 1, last)
        first = max(first, end + 1)
    if first <= last:
        yield first, last


def _dependants(db: sqlite3.Connection, head: Head, span: Span) -> tuple[list[object], list[object], list[object]]:
    """Ids of events, needs and labels of the span. What has no instant goes if the session touches the span at all: it
    cannot be shown to be of another time.
    """
    anchor = head.anchor_ns
    if anchor is None or head.first_ns is None:
        return [], [], []
    (last,) = db.execute("SELECT MAX(captured_ns) FROM screenshots").fetchone()
    if not span.touches(anchor + head.first_ns, anchor + last + head.period_ns):
        return [], [], []

    def within(start: int | None, end: int | None) -> bool:
        if start is None:
            return True
        return span.touches(anchor + start, anchor + (start if end is None else max(start, end)))

    events = [i for i, s, e in db.execute("SELECT id, start_ns, end_ns FROM events") if within(s, e)]
    needs = [
        i
        for i, opens, closes, acted, event in db.execute(
            "SELECT id, opens_ns, closes_ns, acted_ns, event_id FROM opportunities"
        )
        if within(opens, max(closes, closes if acted is None else acted)) or event in events
    ]
    return events, needs, _labels(db, events, within)


def _labels(
    db: sqlite3.Connection, events: list[object], within: Callable[[int | None, int | None], bool]
) -> list[object]:
    """Labels of the span; of windows also what was said of them before they were changed."""
    have = {row[1] for row in db.execute("PRAGMA table_info(labels)")}
    later = ", ".join(name if name in have else f"NULL AS {name}" for name in ("closes_ns", "acted_ns", "replaces"))
    gone: dict[object, None] = {}
    for i, at, event, closes, acted, replaces in db.execute(
        f"SELECT id, at_ns, event_id, {later} FROM labels ORDER BY id"
    ):
        ends = [end for end in (at, closes, acted) if end is not None]
        if within(at, max(ends, default=None)) or event in events or (replaces is not None and replaces in gone):
            gone[i] = None
    return list(gone)


def _annotations(db: sqlite3.Connection, head: Head, span: Span) -> list[object]:
    """Ids of what was said afterwards of events that touch the span: it may quote any moment of theirs."""
    anchor = head.anchor_ns
    if anchor is None or not db.execute(f"{_TABLES} AND name = 'annotations'").fetchone():
        return []
    rows = db.execute("SELECT id, start_ns, end_ns FROM annotations")
    return [i for i, start, end in rows if span.touches(anchor + start, anchor + max(start, end))]


def _cut_events(db: sqlite3.Connection, head: Head, span: Span, events: list[object]) -> None:
    """Events of the span go; one that only reaches into it ends where the span begins, without its summaries."""
    anchor = head.anchor_ns or 0
    for number in events:
        row = db.execute("SELECT start_ns, is_llm_event, app_name, window_title FROM events WHERE id = ?", (number,))
        start, assistance, app, title = row.fetchone()
        if start is None or assistance or span.start_ns is None or anchor + start >= span.start_ns:
            _delete(db, "events", [number])
            continue
        end = span.start_ns - anchor
        seen = db.execute(
            "SELECT MAX(tick), MAX(app_name IS ?), MAX(window_title IS ?) FROM screenshots"
            " WHERE captured_ns >= ? AND captured_ns < ?",
            (app, title, start, end),
        )
        tick, app_stays, title_stays = seen.fetchone()
        db.execute(
            "UPDATE events SET end_ns = ?, end_time = NULL, end_tick = ?, event_summary = NULL, conversation = NULL,"
            " detailed_description = NULL, app_name = ?, window_title = ? WHERE id = ?",
            (end, tick, app if app_stays else None, title if title_stays else None, number),
        )


def _cut_reviews(db: sqlite3.Connection) -> None:
    """What a review kept of pictures that no row names any more."""
    for (table,) in db.execute(f"{_TABLES} AND name GLOB 'privacy_*'").fetchall():
        if "file_path" in {row[1] for row in db.execute(f"PRAGMA table_info({table})")}:
            named = "SELECT file_path FROM screenshots WHERE file_path IS NOT NULL"
            db.execute(f"DELETE FROM {table} WHERE file_path NOT IN ({named})")


def _delete(db: sqlite3.Connection, table: str, ids: list[object]) -> None:
    db.executemany(f"DELETE FROM {table} WHERE id IS ?", [(i,) for i in ids])


def _sweep(folder: Path, db: sqlite3.Connection) -> None:
    """Remove the pictures that no row names, and what was half written."""
    named = {PurePosixPath(p) for (p,) in db.execute("SELECT DISTINCT file_path FROM screenshots") if p is not None}
    pictures = folder / "screenshots"
    for path in [] if pictures.is_symlink() else sorted(pictures.rglob("*")):
        if path.is_file() and PurePosixPath(path.relative_to(folder).as_posix()) not in named:
            path.unlink()
    for path in sorted(folder.glob("*.part")):
        remove_tree(path)


def _outside(file: Path, db: sqlite3.Connection | None = None) -> list[Unreached]:
    """Pictures that a row names and that do not lie in the session's folder (``--images reference``)."""
    sql = "SELECT COUNT(DISTINCT file_path) FROM screenshots WHERE file_path IS NOT NULL AND file_path NOT GLOB ?"
    if db is None:
        with reading(file) as opened:
            return _outside(file, opened)
    (n,) = db.execute(sql, ("screenshots/*",)).fetchone()
    if (file.parent / "screenshots").is_symlink():
        return [Unreached(file.parent / "screenshots", "a link, not followed: its pictures lie in another folder")]
    (n_up,) = db.execute("SELECT COUNT(DISTINCT file_path) FROM screenshots WHERE file_path GLOB '*..*'").fetchone()
    said = f"{n + n_up} of its pictures lie outside of its folder, where others recorded them"
    return [Unreached(file, said)] if n + n_up else []


def _texts(db: sqlite3.Connection, where: str, args: tuple[int, ...], head: Head, span: Span) -> frozenset[str]:
    """Texts that go and are nowhere in what stays."""
    events, needs, labels = _dependants(db, head, span)
    ids = {"events": events, "opportunities": needs, "labels": labels, "annotations": _annotations(db, head, span)}
    has_annotations = db.execute(f"{_TABLES} AND name = 'annotations'").fetchone() is not None
    gone: set[str] = set()
    kept: set[str] = set()
    for table, column in TEXTS:
        if table == "annotations" and not has_annotations:
            continue
        if table == "screenshots":
            rows = db.execute(f"SELECT DISTINCT {column}, {where} FROM {table} WHERE {column} IS NOT NULL", args)
            pairs = [(text, bool(of_span)) for text, of_span in rows]
        elif table == "profile":
            pairs = [(text, span.everything) for (text,) in db.execute(f"SELECT {column} FROM {table}")]
        else:
            rows = db.execute(f"SELECT id, {column} FROM {table} WHERE {column} IS NOT NULL")
            pairs = [(text, span.everything or number in ids[table]) for number, text in rows]
        for text, of_span in pairs:
            (gone if of_span else kept).update(said_in(str(text)))
    return frozenset(gone - kept)


def _n(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
