"""Annotations in a session's own file: the side table ``annotations``, and nothing else unless it is asked for.

One row an event and annotator (a model with its prompts, a rule book, a person). ``apply`` copies what one annotator
said into the columns of ``events`` that are still empty; the file then says who filled them, and so does the truth of
every run over it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from simulator.annotate.sample import Sample, Target, shots_of
from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.session.reader import connect
from simulator.session.schema import FILE_NAME, TABLE_OF_ANNOTATIONS
from simulator.timing.clock import utc_now

__all__ = ["APPLIED", "Annotation", "Source", "Status", "Store"]

Source = Literal["model", "rules", "person"]
Status = Literal["annotated", "partial", "unannotated"]
APPLIED = "annotated_by"
"""The entry of ``meta`` that names who filled columns of ``events``, a JSON list."""
_SHOT = "captured_ns, file_path, pixels_hash, width, height, text, scene_description"


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator says of one event; unknown is None.

    Attributes:
        annotator: its name, with the hash of its prompts or rules.
        status: ``annotated``; ``partial``: the event is, what was wanted of the assistant could not be read;
            ``unannotated``: nothing could.
        reason: why not, in words without anybody's texts.
        kind: how an assistant was used: chat, editor, answer_engine, other.
        conversation: JSON with ``user_queries`` and ``llm_responses``.
        repaired: how what was said had to be mended, None if it had not.
        asked: SHA-256 of what was asked, for not asking twice.
    """

    annotator: str
    source: Source
    status: Status
    reason: str | None = None
    assistance: bool | None = None
    platform: str | None = None
    kind: str | None = None
    summary: str | None = None
    conversation: str | None = None
    query: str | None = None
    intention: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    repaired: str | None = None
    model: str | None = None
    prompt_hash: str | None = None
    asked: str | None = None


_FIELDS = tuple(f.name for f in fields(Annotation))


class Store:
    """A closed session, opened for annotation; a context manager. Nothing is written before the first ``put``.

    Args:
        folder: the session's folder.

    Raises:
        InputError: no session, or one that is being recorded.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.parent if folder.name == FILE_NAME else folder
        self.file = self.folder / FILE_NAME
        connect(self.file).close()  # refuses what is no session
        self._db = sqlite3.connect(self.file, isolation_level=None, timeout=2)
        try:
            with self._free():
                (state,) = self._db.execute("SELECT value FROM meta WHERE key = 'state'").fetchone() or ("closed",)
                self._made = bool(self._db.execute("PRAGMA table_info(annotations)").fetchall())
            if state == "recording":
                want = (
                    "the session is being recorded, or its recorder died; close it first (`proact record` repairs it)"
                )
                raise InputError(self.file, want)
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    @contextmanager
    def _free(self) -> Iterator[None]:
        try:
            with told(self.file):
                yield
        except InputError as error:
            if "locked" not in str(error):
                raise
            raise InputError(self.file, "another program has this session open; wait until it is done") from None

    # ------------------------------------------------------------------ reading

    def sample(self, target: Target) -> Sample:
        """What is shown of an event."""
        marks = ", ".join("?" * len(target.rows))
        with self._free():
            sql = f"SELECT id, {_SHOT} FROM screenshots WHERE id IN ({marks})"
            rows = {row: values for row, *values in self._db.execute(sql, target.rows)}
        return Sample(target, tuple(shots_of(self.folder, target, rows)))

    def annotators(self) -> dict[str, str]:
        """Who has annotated it, with the source of each."""
        if not self._made:
            return {}
        with self._free():
            sql = "SELECT annotator, MIN(source) FROM annotations GROUP BY annotator ORDER BY annotator"
            return dict(self._db.execute(sql).fetchall())

    def said_by(self, annotator: str) -> dict[int, Annotation]:
        """What an annotator said, by the start of the event."""
        if not self._made:
            return {}
        names = ", ".join(_COLUMN.get(name, name) for name in _FIELDS)
        with self._free():
            rows = self._db.execute(
                f"SELECT start_ns, {names} FROM annotations WHERE annotator = ? ORDER BY id", (annotator,)
            ).fetchall()
        return {start: _from_row(values) for start, *values in rows}

    # ------------------------------------------------------------------ writing

    def put(self, target: Target, annotation: Annotation) -> None:
        """Keep what is said of an event, in place of what the same annotator said of it before."""
        row = {_COLUMN.get(name, name): getattr(annotation, name) for name in _FIELDS}
        row |= {"event_id": target.event_id, "start_ns": target.start_ns, "end_ns": target.end_ns}
        row |= {"official": 0, "created_at": utc_now().isoformat(timespec="seconds")}
        if annotation.assistance is not None:
            row["assistance"] = int(annotation.assistance)
        with self._writing():
            self._db.execute(
                "DELETE FROM annotations WHERE annotator = ? AND start_ns = ?", (annotation.annotator, target.start_ns)
            )
            names = ", ".join(row)
            self._db.execute(
                f"INSERT INTO annotations ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
            )

    def apply(self, found: Sequence[Target], annotator: str) -> dict[str, int]:
        """Fill empty columns of ``events`` with what an annotator said; how many of each were filled.

        Where the session has no events they become rows of the table, cut as they were annotated. What is there already
        stays, whoever wrote it.
        """
        said = self.said_by(annotator)
        filled: dict[str, int] = {}
        with self._writing():
            for target in found:
                annotation = said.get(target.start_ns)
                if annotation is None or annotation.assistance is None:
                    continue
                number = target.event_id if target.event_id is not None else self._insert(target)
                for column, value in _columns(annotation).items():
                    sql = f"UPDATE events SET {column} = ? WHERE id = ? AND {column} IS NULL"
                    if value is not None and self._db.execute(sql, (value, number)).rowcount:
                        filled[column] = filled.get(column, 0) + 1
            if filled:
                self._note(annotator)
        return filled

    def _insert(self, target: Target) -> int:
        sql = "INSERT INTO events (start_ns, end_ns, app_name, window_title) VALUES (?, ?, ?, ?)"
        made = self._db.execute(sql, (target.start_ns, target.end_ns, target.app, target.title))
        target.event_id = int(made.lastrowid or 0)
        self._db.execute("UPDATE annotations SET event_id = ? WHERE start_ns = ?", (target.event_id, target.start_ns))
        return target.event_id

    def _note(self, annotator: str) -> None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (APPLIED,)).fetchone()
        names = json.loads(row[0]) if row is not None else []
        if annotator not in names:
            value = json.dumps([*names, annotator], ensure_ascii=False)
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (APPLIED, value))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it, or nothing."""
        with self._free():
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                if not self._made:
                    self._db.execute(TABLE_OF_ANNOTATIONS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
                yield
                self._db.execute("COMMIT")
                self._made = True
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")


_COLUMN: Mapping[str, str] = {"kind": "type", "asked": "asked_hash"}


def _from_row(values: Sequence[Any]) -> Annotation:
    said = dict(zip(_FIELDS, values, strict=True))
    if said["assistance"] is not None:
        said["assistance"] = bool(said["assistance"])
    return Annotation(**said)


def _columns(annotation: Annotation) -> dict[str, Any]:
    """The columns of ``events`` that an annotation can fill."""
    return {
        "is_llm_event": int(bool(annotation.assistance)),
        "event_summary": annotation.summary,
        "llm_platform": annotation.platform,
        "conversation": _conversation(annotation),
        "user_intention": annotation.intention,
        "intention_confidence": annotation.confidence,
    }


def _conversation(annotation: Annotation) -> str | None:
    """The conversation, the user's own question first in it: that is where readers of sessions look for it."""
    said: dict[str, Any] = json.loads(annotation.conversation) if annotation.conversation else {}
    queries = [q for q in said.get("user_queries", []) if isinstance(q, str)]
    if annotation.query is not None and annotation.query not in queries[:1]:
        queries.insert(0, annotation.query)
    if not queries and not said:
        return None
    return json.dumps({**said, "user_queries": queries}, ensure_ascii=False)
