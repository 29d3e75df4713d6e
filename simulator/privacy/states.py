"""Where a session's pictures stand: unreviewed, passed, redacted, deleted; and the way from one to the next.

A state is kept with every row (``screenshots.privacy_action``; NULL is unreviewed), what was found and decided in
tables of its own (``privacy_…``), which hold places and kinds and never a text. A picture that changes is replaced
everywhere:

1. the new file is written (``.part``, flushed, renamed), under the name of its new pixels;
2. one transaction turns all rows to it and notes the old file for removal;
3. the old file is removed, then the note.

A kill between 1 and 2 leaves a redacted file that no row names, one between 2 and 3 an old file that is noted: whoever
opens the session for redaction next removes both. At no instant does a row name a file that is not there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import TracebackType

from PIL import Image

from simulator.core.errors import InputError
from simulator.core.faults import kind_of, told
from simulator.core.lock import FolderLock
from simulator.privacy.disk import remove
from simulator.privacy.disk import replace as put
from simulator.privacy.layout import Box
from simulator.privacy.recorded import Picture, Recorded, State, least
from simulator.privacy.soundness import check_kinds
from simulator.privacy.texts import TEXTS, rewritten
from simulator.screen.pixels import pixels_hash
from simulator.session.reader import connect
from simulator.session.schema import FILE_NAME, LOCK
from simulator.session.store import image_path, pack

__all__ = ["BY_PERSON", "Picture", "Shelf", "State", "inside", "least"]

_TABLES = """
CREATE TABLE IF NOT EXISTS privacy_looks (file_path TEXT PRIMARY KEY, reading TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS privacy_boxes (
  id INTEGER PRIMARY KEY, file_path TEXT NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, width INTEGER NOT NULL,
  height INTEGER NOT NULL, kind TEXT NOT NULL, sure INTEGER NOT NULL, filled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS privacy_flags (file_path TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY (file_path, why));
CREATE TABLE IF NOT EXISTS privacy_decisions (
  id INTEGER PRIMARY KEY, file_path TEXT NOT NULL, decision TEXT NOT NULL, boxes TEXT NOT NULL DEFAULT '[]');
CREATE TABLE IF NOT EXISTS privacy_removals (file_path TEXT PRIMARY KEY);
"""
_BY_PATH = ("privacy_looks", "privacy_boxes", "privacy_flags", "privacy_decisions")

BY_PERSON = "person"
"""The reading of a picture on which a person has decided: rules do not look at it again."""


def inside(path: str) -> bool:
    """Whether a picture lies in the session's folder; others belong to somebody else and are never changed."""
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts and "\\" not in path and "\0" not in path


class Shelf(Recorded):
    """A closed session opened for redaction, by one program at a time; a context manager.

    Args:
        folder: the session's folder.
        step: called with a word before each step that a kill may fall on; for tests.

    Attributes:
        n_removed: old files removed that an earlier, killed redaction had left.

    Raises:
        InputError: no session, one that is being recorded, a damaged one.
        UsageError: another program has it open.
    """

    def __init__(self, folder: Path, *, step: Callable[[str], None] | None = None) -> None:
        self.folder = folder.parent if folder.name == FILE_NAME else folder
        self.file = self.folder / FILE_NAME
        self._step = step or (lambda word: None)
        connect(self.file).close()  # refuses what is no session before anything is touched
        self._lock = FolderLock(self.folder / LOCK, f"{self.file}: another program has this session open; wait for it")
        try:
            super().__init__(sqlite3.connect(self.file, isolation_level=None, timeout=2.0))
            try:
                self._open()
                with told(self.file):
                    self.n_removed = self._sweep()
            except BaseException:
                self._db.close()
                raise
        except BaseException:
            (self.folder / LOCK).unlink(missing_ok=True)
            self._lock.release()
            raise

    def _open(self) -> None:
        """Refuse a session that is being recorded; then a log ahead of the file, so that readers never see a half."""
        with told(self.file):
            state = self._db.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()
        if state is not None and state[0] == "recording":
            want = "the session is being recorded, or its recorder died; close it first (`proact record` repairs it)"
            raise InputError(self.file, want)
        with told(self.file):
            check_kinds(self._db, self.file)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("PRAGMA synchronous=FULL")
            with self._transaction():
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)

    def __enter__(self) -> Shelf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, sqlite3.Error):  # a full disk, a damaged page
            raise InputError(self.file, kind_of(error)) from None

    def close(self) -> None:
        """Fold the log in, which overwrites what was removed, and let others open the session again."""
        try:
            # Somebody reads it, or the disk is full: the log stays, and is sound.
            with told(self.file), suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._db.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._db.close()
            (self.folder / LOCK).unlink(missing_ok=True)
            self._lock.release()

    def looks(self) -> dict[str, str]:
        """For each picture that was looked at, by which reading."""
        return dict(self._db.execute("SELECT file_path, reading FROM privacy_looks"))

    def boxes(self, *, filled: bool) -> dict[str, list[Box]]:
        """What was found, by picture: what is filled by now, or what is not yet."""
        made: dict[str, list[Box]] = {}
        sql = "SELECT file_path, x, y, width, height, kind, sure FROM privacy_boxes WHERE filled = ? ORDER BY id"
        for path, x, y, width, height, kind, sure in self._db.execute(sql, (int(filled),)):
            made.setdefault(path, []).append(Box(x, y, width, height, kind, bool(sure)))
        return made

    def boxes_of(self, path: str) -> list[Box]:
        """What was found on one picture and is not filled yet."""
        sql = "SELECT x, y, width, height, kind, sure FROM privacy_boxes WHERE file_path = ? AND filled = 0 ORDER BY id"
        return [Box(x, y, w, h, kind, bool(sure)) for x, y, w, h, kind, sure in self._db.execute(sql, (path,))]

    def flags(self) -> dict[str, list[str]]:
        """Why a picture waits for a person, by picture."""
        made: dict[str, list[str]] = {}
        for path, why in self._db.execute("SELECT file_path, why FROM privacy_flags ORDER BY rowid"):
            made.setdefault(path, []).append(why)
        return made

    def flags_of(self, path: str) -> list[str]:
        """Why one picture waits for a person."""
        sql = "SELECT why FROM privacy_flags WHERE file_path = ? ORDER BY rowid"
        return [why for (why,) in self._db.execute(sql, (path,))]

    def keep_look(self, path: str, reading: str, boxes: Iterable[Box], flags: Iterable[str] = ()) -> None:
        """Note what a reading found on a picture, in place of what an earlier one did."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO privacy_looks VALUES (?, ?)", (path, reading))
            self._db.execute("DELETE FROM privacy_boxes WHERE file_path = ? AND filled = 0", (path,))
            self._db.execute("DELETE FROM privacy_flags WHERE file_path = ?", (path,))
            self._add_boxes(path, boxes)
            self._add_flags(path, flags)

    def note(self, path: str, why: str) -> None:
        """A person has to look at this picture, as ``flag``, but its state stays until it is settled."""
        with self._transaction():
            self._add_flags(path, [why])

    def add_boxes(self, found: Iterable[tuple[str, Sequence[Box]]]) -> None:
        """More boxes to fill, of several pictures at once."""
        with self._transaction():
            for path, boxes in found:
                self._add_boxes(path, boxes)

    def flag(self, path: str, why: str) -> None:
        """A person has to look at this picture; it is unreviewed until then. Why: a word of ours, never a text."""
        with self._transaction():
            self._add_flags(path, [why])
            self._set_state(path, State.UNREVIEWED)

    def settle(self, path: str, state: State, *, by_person: bool = False) -> State:
        """The state of all rows of a picture. A flag keeps it unreviewed until a person decides, which clears it."""
        with self._transaction():
            return self._settle(path, state, by_person=by_person)

    def replace(
        self,
        path: str,
        image: Image.Image,
        state: State,
        *,
        filled: Iterable[Box] = (),
        left: Iterable[Box] = (),
        flags: Iterable[str] = (),
        by_person: bool = False,
    ) -> tuple[str, State]:
        """Put other pixels in the place of a picture, in all rows; the new path. See the module for the order.

        Args:
            path: the picture as rows name it now.
            image: the new pixels, RGB.
            state: of the new picture, where no flag says otherwise.
            filled: the boxes that were filled, to be noted.
            left: boxes that still wait to be filled; others that waited are dropped.
            flags: what is new of why it waits for a person.
            by_person: a person decided so, which clears the flags.
        """
        digest = pixels_hash(image)
        new = image_path(digest)
        self._step("start")
        if not (self.folder / new).exists():
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            put(self.folder / new, pack(image))
        content = (self.folder / new).read_bytes()
        self._step("written")
        with self._transaction():
            self._db.execute(
                "UPDATE screenshots SET file_path = ?, file_hash = ?, pixels_hash = ?, file_size = ?, width = ?,"
                " height = ?, text = NULL WHERE file_path = ?",
                (new, sha256(content).hexdigest(), digest, len(content), image.width, image.height, path),
            )
            self._db.execute("DELETE FROM privacy_boxes WHERE file_path = ? AND filled = 0", (path,))
            self._add_boxes(path, filled, done=True)
            self._add_boxes(path, left)
            self._add_flags(path, flags)
            if new != path:
                for table in _BY_PATH:
                    self._db.execute(f"UPDATE OR REPLACE {table} SET file_path = ? WHERE file_path = ?", (new, path))
                self._forget_file(path)
            reached = self._settle(new, state, by_person=by_person)
        self._step("committed")
        self._sweep()
        self._step("removed")
        return new, reached

    def delete(self, path: str, scene: str, *, with_title: bool = False) -> None:
        """Remove a picture and the text read on it; its rows stay, with a description of the scene.

        Args:
            path: the picture.
            scene: the description for rows that have none.
            with_title: remove the window's title too, of these rows and of events that have it.
        """
        with self._transaction():
            if with_title:
                titles = "SELECT DISTINCT window_title FROM screenshots WHERE file_path = ?"
                self._db.execute(f"UPDATE events SET window_title = NULL WHERE window_title IN ({titles})", (path,))
                self._db.execute("UPDATE screenshots SET window_title = NULL WHERE file_path = ?", (path,))
            for table in _BY_PATH:
                self._db.execute(f"DELETE FROM {table} WHERE file_path = ?", (path,))
            self._db.execute(
                "UPDATE screenshots SET file_path = NULL, file_hash = NULL, pixels_hash = NULL, file_size = NULL,"
                " text = NULL, scene_description = COALESCE(scene_description, ?), privacy_action = ?"
                " WHERE file_path = ?",
                (scene, State.DELETED, path),
            )
            self._forget_file(path)
        self._step("committed")
        self._sweep()
        self._step("removed")

    def n_texts(self) -> int:
        """How many rows have a text read by OCR."""
        return int(self._db.execute("SELECT COUNT(*) FROM screenshots WHERE text IS NOT NULL").fetchone()[0])

    def drop_texts(self, paths: Iterable[str] | None = None) -> None:
        """Remove every text that OCR read, or those of some pictures."""
        with self._transaction():
            if paths is None:
                self._db.execute("UPDATE screenshots SET text = NULL WHERE text IS NOT NULL")
            else:
                sql = "UPDATE screenshots SET text = NULL WHERE file_path = ?"
                self._db.executemany(sql, [(path,) for path in paths])

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Whatever is changed in the tables within is taken back at its end: for counting what would be."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def rewrite(self, change: Callable[[str], str], texts: Sequence[tuple[str, str]] = TEXTS) -> int:
        """Put every text of these columns through a function, each distinct one once; how many changed."""
        n = 0
        with self._transaction():
            for table, column in texts:
                if column not in self._columns(table):
                    continue
                sql = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
                for (old,) in self._db.execute(sql).fetchall():
                    if isinstance(old, str) and (new := rewritten(old, change)) != old:
                        self._db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))
                        n += 1
        return n

    def decisions(self) -> list[tuple[int, str, str, list[tuple[int, int, int, int]]]]:
        """What people decided and what is not carried out yet: number, path, decision, boxes; in order."""
        sql = "SELECT id, file_path, decision, boxes FROM privacy_decisions ORDER BY id"
        with told(self.file):
            return [
                (n, path, word, [tuple(b) for b in json.loads(boxes)]) for n, path, word, boxes in self._db.execute(sql)
            ]

    def decide(self, path: str, decision: str, boxes: Sequence[Sequence[int]] = ()) -> None:
        """Note a decision; nothing is carried out."""
        given = (path, decision, json.dumps([list(box) for box in boxes]))
        self._db.execute("INSERT INTO privacy_decisions (file_path, decision, boxes) VALUES (?, ?, ?)", given)

    def undo(self, numbers: Iterable[int]) -> None:
        """Take decisions back."""
        self._db.executemany("DELETE FROM privacy_decisions WHERE id = ?", [(n,) for n in numbers])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        rehearsed = self._db.in_transaction
        if rehearsed:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:  # something failed, or the disk had no room for the COMMIT
                self._db.execute("ROLLBACK")

    def _add_boxes(self, path: str, boxes: Iterable[Box], *, done: bool = False) -> None:
        self._db.executemany(
            "INSERT INTO privacy_boxes (file_path, x, y, width, height, kind, sure, filled) VALUES (?,?,?,?,?,?,?,?)",
            [(path, b.x, b.y, b.width, b.height, b.kind, int(b.sure), int(done)) for b in boxes],
        )

    def _add_flags(self, path: str, flags: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO privacy_flags VALUES (?, ?)", [(path, why) for why in flags])

    def _set_state(self, path: str, state: State) -> None:
        self._db.execute("UPDATE screenshots SET privacy_action = ? WHERE file_path = ?", (state, path))

    def _settle(self, path: str, state: State, *, by_person: bool) -> State:
        if by_person:
            self._db.execute("DELETE FROM privacy_flags WHERE file_path = ?", (path,))
            self._db.execute("DELETE FROM privacy_boxes WHERE file_path = ? AND filled = 0", (path,))
            self._db.execute("INSERT OR REPLACE INTO privacy_looks VALUES (?, ?)", (path, BY_PERSON))
        elif self._db.execute("SELECT 1 FROM privacy_flags WHERE file_path = ? LIMIT 1", (path,)).fetchone():
            state = State.UNREVIEWED
        self._set_state(path, state)
        return state

    def _forget_file(self, path: str) -> None:
        if inside(path):
            self._db.execute("INSERT OR IGNORE INTO privacy_removals VALUES (?)", (path,))

    def _sweep(self) -> int:
        """Remove the old files that are noted, unless a row names one; then the notes."""
        noted = [path for (path,) in self._db.execute("SELECT file_path FROM privacy_removals ORDER BY file_path")]
        n = 0
        for path in noted:
            named = self._db.execute("SELECT 1 FROM screenshots WHERE file_path = ? LIMIT 1", (path,)).fetchone()
            if named is None and inside(path):
                n += (self.folder / path).is_file()
                remove(self.folder / path)
            self._db.execute("DELETE FROM privacy_removals WHERE file_path = ?", (path,))
        return n
