"""Making a recorded session smaller: each picture is encoded again by the slowest method, pixels unchanged.

Nothing is lost by a kill at any moment. Of each picture first the hash of its file is taken out of the rows (a check
then goes by the pixels), then the file is replaced, whole, then the new hash goes in; the next call goes on where this
one ended.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from PIL import Image

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.lock import FolderLock
from simulator.recorder.status import LOCK
from simulator.screen.pixels import FORMATS, decode, pixels_hash
from simulator.session.reader import connect
from simulator.session.schema import FILE_NAME
from simulator.session.store import SMALLEST, Writer, pack, replace_file

__all__ = ["Compacted", "compact"]

_DONE = "compacted_to"  # meta, until all are: the last picture, in order of paths, that was dealt with
_SMALLEST = "webp lossless, compacted"  # meta.codec, once all are


@dataclass(slots=True)
class Compacted:
    """What came of it.

    Attributes:
        n_pictures: looked at now; those of an earlier call that was interrupted are not.
        n_smaller: of them, replaced.
        n_damaged: of them, not readable, or not what their rows say: left alone (``dataset check`` names them).
        bytes_before: of the pictures looked at.
        bytes_after: of the same.
        repaired: what was repaired of a session that had not been closed, as a sentence; None for a closed one.
    """

    n_pictures: int = 0
    n_smaller: int = 0
    n_damaged: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    repaired: str | None = None


def compact(folder: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> Compacted:
    """Encode the pictures of a session again, as small as it goes: 1 to 3 s a picture of 1080p and core.

    Args:
        folder: of the session. One that a crash left is repaired and closed first.
        progress: called with pictures done and pictures to do.

    Raises:
        UsageError: another program has it open; it is no session; it cannot be written.
    """
    file = folder / FILE_NAME
    connect(file).close()
    lock = FolderLock(
        folder / LOCK, f"{folder}: another program has this session open (a recorder, say); end it, or wait for it"
    )
    try:
        with told(file):
            found = Compacted(repaired=_repaired(folder))
            with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as db:
                _all(folder, db, found, progress)
        return found
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        lock.release()


def _repaired(folder: Path) -> str | None:
    """Close a session that is not closed."""
    with contextlib.closing(connect(folder / FILE_NAME)) as db:
        state = db.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()
    if state is not None and state[0] != "recording":
        return None
    with Writer(folder) as writer:
        return None if writer.recovery is None else writer.recovery.sentence


def _all(folder: Path, db: sqlite3.Connection, found: Compacted, progress: Callable[[int, int], None]) -> None:
    if db.execute("SELECT 1 FROM meta WHERE key = 'codec' AND value = ?", (_SMALLEST,)).fetchone():
        return
    done = db.execute("SELECT value FROM meta WHERE key = ?", (_DONE,)).fetchone()
    sql = (
        "SELECT file_path, MIN(pixels_hash) FROM screenshots WHERE file_path > ? GROUP BY file_path ORDER BY file_path"
    )
    wanted = [(str(p), d) for p, d in db.execute(sql, (done[0] if done else "",)) if _ours(str(p))]
    n_threads = os.cpu_count() or 1
    with ThreadPoolExecutor(n_threads, "proact-compact") as threads:
        for i in range(0, len(wanted), 2 * n_threads):  # not all at once: what is encoded waits in memory
            some = wanted[i : i + 2 * n_threads]
            for path, content in zip(some, threads.map(lambda w: _smaller(folder / w[0], w[1]), some), strict=True):
                _replace(folder, path[0], content, db, found)
                progress(found.n_pictures, len(wanted))
    db.execute("BEGIN")
    db.execute("DELETE FROM meta WHERE key = ?", (_DONE,))
    db.execute("UPDATE meta SET value = ? WHERE key = 'codec' AND value = 'webp lossless'", (_SMALLEST,))
    db.execute("COMMIT")


def _ours(path: str) -> bool:
    """A picture inside of the session, in the format that it is kept in."""
    return path.endswith(".webp") and not path.startswith("/") and ".." not in path.split("/")


def _smaller(file: Path, digest: str | None) -> tuple[bytes, int] | None:
    """The picture encoded anew, if that is smaller, else as it is, and its size before; None if it is damaged."""
    try:
        image, before = decode(file), file.read_bytes()
    except (InputError, OSError):
        return None
    if digest is not None and pixels_hash(image) != digest:
        return None
    content = pack(image, SMALLEST)
    with Image.open(BytesIO(content), formats=FORMATS) as again:
        same = again.convert("RGB").tobytes() == image.tobytes()
    return content if same and len(content) < len(before) else before, len(before)


def _replace(folder: Path, path: str, made: tuple[bytes, int] | None, db: sqlite3.Connection, found: Compacted) -> None:
    found.n_pictures += 1
    if made is None:
        found.n_damaged += 1
    else:
        content, before = made
        found.bytes_before += before
        found.bytes_after += len(content)
        if len(content) < before:
            found.n_smaller += 1
            db.execute("UPDATE screenshots SET file_hash = NULL WHERE file_path = ?", (path,))
            replace_file(folder / path, content)
        fresh = (sha256(content).hexdigest(), len(content), path)
        db.execute("UPDATE screenshots SET file_hash = ?, file_size = ? WHERE file_path = ?", fresh)
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_DONE, path))
