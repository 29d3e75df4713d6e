"""Windows in which help was needed, as people mark them on a recording, and how they become its truth.

Each change is a row in the table ``labels`` before anybody is told that it was made. A change of a window is a row that
``replaces`` an earlier one, and so is its removal (``verdict`` says ``removed``): what counts are the rows that are
``draft`` and that no other draft replaces. So the last change can be undone, and done again, after a crash too; and
whatever goes through the table (``proact forget``, ``privacy scan``) goes through what was said before as well.

Who has marked closes: the windows become the session's ``opportunities``, which runs and scores take for its truth, and
nothing can be undone any more. Each labeller has windows of their own; nobody changes another's.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from pydantic import ValidationError

from simulator.annotate.marks import (
    CLOSED,
    COLUMNS,
    MARKED,
    NEED,
    Case,
    Mark,
    labelled_by,
    live,
    mark_of,
    problems,
    version_of,
    why,
)
from simulator.core.errors import InputError, UsageError, quote
from simulator.core.faults import kind_of, told
from simulator.core.lock import FolderLock
from simulator.session.reader import connect
from simulator.session.scenario_truth import LABELLED
from simulator.session.schema import DRAFTS, FILE_NAME, KINDS, LATER_LABELS, LOCK
from simulator.timing.clock import utc_now

__all__ = ["Labels"]

LONGEST_NAME = 40
LONGEST_TEXT = 4000
_DRAFT, _UNDONE = DRAFTS
_REMOVED = "removed"


class Labels:
    """One labeller's windows of a closed session, to be changed; a context manager that holds the session's lock.

    Args:
        case: the session.
        by: the labeller's pseudonym.

    Raises:
        UsageError: no name, or another program has the session open.
        InputError: it is being recorded, or damaged.
    """

    def __init__(self, case: Case, by: str) -> None:
        self.by = by.strip()
        if not self.by or len(self.by) > LONGEST_NAME or not self.by.isprintable():
            raise UsageError(f"a name that stands by the labels is wanted, a pseudonym of up to {LONGEST_NAME} letters")
        self._case, self._zero = case, case.header.zero_ns
        self.file = case.header.folder / FILE_NAME
        self._lock = FolderLock(
            case.header.folder / LOCK, f"{self.file}: another program has this session open; wait for it"
        )
        try:
            connect(self.file).close()
            self._db = sqlite3.connect(self.file, isolation_level=None, timeout=2.0)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise
        except BaseException:
            self._let_go()
            raise

    def _open(self) -> None:
        with told(self.file):
            state = self._db.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()
            if state is not None and state[0] == "recording":
                want = (
                    "the session is being recorded, or its recorder died; close it first (`proact record` repairs it)"
                )
                raise InputError(self.file, want)
            self._db.execute("PRAGMA journal_mode=WAL")  # readers never see a half
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("PRAGMA synchronous=FULL")
            have = {row[1] for row in self._db.execute("PRAGMA table_info(labels)")}
            for column in LATER_LABELS:
                if column not in have:
                    self._db.execute(f"ALTER TABLE labels ADD COLUMN {column} {KINDS['labels'][column].name}")

    def __enter__(self) -> Labels:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with suppress(sqlite3.OperationalError):  # somebody reads it: the log stays, and is sound
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._db.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._db.close()
            self._let_go()
        if isinstance(error, sqlite3.Error):  # a full disk, a damaged page
            raise InputError(self.file, kind_of(error)) from None

    def _let_go(self) -> None:
        (self._case.header.folder / LOCK).unlink(missing_ok=True)
        self._lock.release()

    def add(self, mark: Mark) -> int:
        """A new window; its id.

        Raises:
            InputError: it cannot be a window of this session.
        """
        return self._step(self._checked(mark), NEED, None)

    def change(self, mark: Mark) -> int:
        """Another version of the window with that id; the version's own id.

        Raises:
            UsageError: there is no such window of this labeller.
        """
        self._there(mark.id)
        return self._step(self._checked(mark), NEED, mark.id)

    def remove(self, id_: int) -> None:
        """Take a window away."""
        self._step(self._there(id_), _REMOVED, id_)

    def undo(self) -> None:
        """Take the last change back.

        Raises:
            UsageError: there is none.
        """
        self._turn("MAX", _DRAFT, _UNDONE, "nothing is left to undo")

    def redo(self) -> None:
        """Do again what was undone last."""
        self._turn("MIN", _UNDONE, _DRAFT, "nothing was undone")

    def marks(self) -> list[Mark]:
        """The windows, in order of time."""
        marks = (mark_of(row, self._zero) for row in live(self._rows()))
        return sorted(marks, key=lambda m: (m.opens_ns, m.closes_ns, m.id))

    def version(self) -> str:
        """What this labeller has changed so far, see ``marks.version_of``."""
        return version_of(self._rows())

    def close(self, *, replace: bool = False) -> int:
        """Make the windows the session's truth; how many. They cannot be changed afterwards.

        Args:
            replace: also where another labeller's are its truth; theirs stay in ``labels``.

        Raises:
            UsageError: there is none, one is not finished, or the session has another truth.
        """
        self._ensure_open()
        marks = self.marks()
        if not marks:
            raise UsageError("no window is marked, so there is nothing to close")
        if self._case.spec.truth != "recorded":
            said = "states a truth of its own, so windows in the session would not count; take it out first"
            raise UsageError(f"{self._case.where} {said}")
        counts = dict(self._db.execute("SELECT origin = ?, COUNT(*) FROM opportunities GROUP BY 1", (MARKED,)))
        if counts.get(0):
            raise UsageError(f"the session has {counts[0]} recorded needs; labels do not take their place")
        meta = dict(self._db.execute("SELECT key, value FROM meta"))
        before = [name for name in labelled_by(meta) if name != self.by] if counts.get(1) else []
        if before and not replace:
            raise UsageError(
                f"the windows of {' and '.join(before)} are the session's truth; say that yours replace them"
            )
        single, together = problems(self._case, marks)
        for n, wrong in enumerate(single, 1):
            if wrong is not None:
                raise UsageError(f"window {n}: {wrong}")
        if together is not None:
            raise UsageError(together)
        self._write(marks)
        return len(marks)

    def _write(self, marks: Sequence[Mark]) -> None:
        ids = [(mark.id,) for mark in marks]
        rows = [
            (f"l{n}", m.opens_ns + self._zero, m.closes_ns + self._zero, self._at(m.acted_ns),
             self._case.names.named(m.intention or ""), m.query, m.weight, MARKED)
            for n, m in enumerate(marks, 1)
        ]  # fmt: skip
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.execute("DELETE FROM opportunities WHERE origin = ?", (MARKED,))
            sql = ("INSERT INTO opportunities (id, opens_ns, closes_ns, acted_ns, intention, query, weight, origin)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")  # fmt: skip
            self._db.executemany(sql, rows)
            self._db.executemany("UPDATE labels SET state = 'closed', replaces = NULL WHERE id = ?", ids)
            self._db.execute("DELETE FROM labels WHERE rater = ? AND state IN (?, ?)", (self.by, *DRAFTS))
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (LABELLED, json.dumps([self.by])))
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _rows(self) -> list[dict[str, Any]]:
        sql = f"SELECT {', '.join(COLUMNS)} FROM labels WHERE rater = ? AND state IS NOT NULL ORDER BY id"
        return [dict(zip(COLUMNS, row, strict=True)) for row in self._db.execute(sql, (self.by,))]

    def _there(self, id_: int) -> Mark:
        found = next((mark for mark in self.marks() if mark.id == id_), None)
        if found is None:
            raise UsageError("this window is not there any more: it was changed elsewhere; load the page again")
        return found

    def _ensure_open(self) -> None:
        if any(row["state"] == CLOSED for row in self._rows()):
            raise UsageError(f"{quote(self.by)} has closed; to label anew, take another name")

    def _checked(self, mark: Mark) -> Mark:
        """The window with its intention's own name; one that is not known yet may be missing, nothing else."""
        for text in (mark.query, mark.note):
            if text is not None and len(text) > LONGEST_TEXT:
                raise UsageError(f"a text of up to {LONGEST_TEXT:,} letters is wanted")
        if mark.intention is not None:
            try:
                self._case.names.named(mark.intention)
            except ValueError as error:
                raise UsageError(str(error)) from None
        known = mark.intention or self._case.names.known[0]
        try:
            with (rule := self._case.rule()).reader:
                rule.need(Mark(mark.opens_ns, mark.closes_ns, known, mark.acted_ns, weight=mark.weight).as_spec(), 0)
        except (InputError, ValidationError) as error:
            raise UsageError(why(error)) from None
        intention = None if mark.intention is None else self._case.names.named(mark.intention)
        return Mark(mark.opens_ns, mark.closes_ns, intention, mark.acted_ns, mark.query or None, mark.note or None,
                    mark.weight, mark.origin, mark.id)  # fmt: skip

    def _step(self, mark: Mark, verdict: str, replaces: int | None) -> int:
        """A row; what had been undone is gone for good."""
        self._ensure_open()
        row = {
            "at_ns": mark.opens_ns + self._zero, "closes_ns": mark.closes_ns + self._zero,
            "acted_ns": self._at(mark.acted_ns), "rater": self.by, "help": int(verdict == NEED),
            "intention": mark.intention, "query": mark.query, "note": mark.note, "weight": float(mark.weight),
            "origin": mark.origin, "verdict": verdict, "state": _DRAFT, "replaces": replaces,
            "created_at": utc_now().isoformat(timespec="seconds"),
        }  # fmt: skip
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.execute("DELETE FROM labels WHERE rater = ? AND state = ?", (self.by, _UNDONE))
            sql = f"INSERT INTO labels ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
            made = self._db.execute(sql, tuple(row.values())).lastrowid
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:  # it failed, or the disk had no room for the COMMIT
                self._db.execute("ROLLBACK")
        return int(made or 0)

    def _turn(self, which: str, of: str, to: str, none: str) -> None:
        self._ensure_open()
        sql = f"SELECT {which}(id) FROM labels WHERE rater = ? AND state = ?"
        (id_,) = self._db.execute(sql, (self.by, of)).fetchone()
        if id_ is None:
            raise UsageError(none)
        self._db.execute("UPDATE labels SET state = ? WHERE id = ?", (to, id_))

    def _at(self, ns: int | None) -> int | None:
        return None if ns is None else ns + self._zero
