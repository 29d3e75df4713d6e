"""A recorded session as a stream of snapshots, with held snapshots where the screen stood still.

After a snapshot released at t, the last content is repeated at t + period, t + 2 periods, … as long as the next row is
at least half a period further away and no gap covers the instant. Behind a gap nothing is repeated until something
was seen again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from simulator.core.errors import InputError
from simulator.core.protocols import SnapshotSource
from simulator.core.taxonomy import DEFAULT, Taxonomy
from simulator.core.types import ImageRef, Snapshot
from simulator.session.reader import Header, Reader
from simulator.session.schema import FAR_NS, KINDS, LONGEST_PATH
from simulator.timing.aside import aside

__all__ = ["Recording", "header_of"]

_COLUMNS = ("captured_ns", "app_name", "window_title", "file_path", "pixels_hash", "width", "height", "text", "id")
_new = partial(tuple.__new__, Snapshot)  # a named tuple's own constructor takes twice the time
_BLOCK = 8192  # rows a thread hop: big enough that the hop costs nothing, small enough for flat memory


class Recording:
    """A ``SnapshotSource`` over a native session. Reads its head at once and opens the file for each pass.

    Args:
        folder: the session's folder.
        period_ns: the stream's period; None for the recording's own. A longer one leaves rows out (a row is kept when
            it lies at least a period, less half a recorded one, after the last kept); a shorter one holds more.
        monitor: see ``Reader``.
        taxonomy: fills the category of a snapshot.

    Raises:
        InputError: at the start for faults of the file's head, in mid-stream for rows whose time is not an integer,
            runs backwards or lies days ahead, and for values that are not of their column's kind.
    """

    def __init__(
        self, folder: Path, *, period_ns: int | None = None, monitor: int | None = None, taxonomy: Taxonomy = DEFAULT
    ) -> None:
        with Reader(folder, monitor=monitor) as reader:
            self.header: Header = reader.header
        self.period_ns = period_ns or self.header.period_ns
        self._category = taxonomy.category
        self.session, self.user = self.header.session, self.header.user
        self.gaps: Sequence[tuple[int, int, str]] = tuple((g.start_ns, g.end_ns, g.reason) for g in self.header.gaps)
        self.end_ns: int | None = self.header.end_ns
        self.utc_anchor_ns = self.header.utc_anchor_ns

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        """Each snapshot once, held ones filled in; a fresh pass at every call."""
        header, period = self.header, self.period_ns
        folder, zero, half = header.folder, header.zero_ns, self.period_ns // 2
        spacing = period - header.period_ns // 2 if period > header.period_ns else 0
        covered = _Gaps(self.gaps)
        category = self._category
        index, last, t, content = 0, zero, 0, 0
        app = title = kind = path = text = None
        image: ImageRef | None = None
        reader = await aside(Reader, folder, known=header)
        try:
            cursor = await aside(reader.cursor, _COLUMNS)
            while rows := await aside(_block, reader, cursor):
                for captured, new_app, new_title, new_path, pixels, width, height, new_text, row in rows:
                    if type(captured) is not int or not 0 <= captured - last <= FAR_NS:
                        header.check_time(row, captured, last)
                    if new_text.__class__ is not str and new_text is not None:
                        raise _bad_kind(reader.file, row, "text")
                    last = captured
                    now = captured - zero
                    if index:
                        if spacing and now - t < spacing:
                            continue
                        while now - (t + period) >= half and not covered(t + period):
                            t += period
                            yield _new((index, t, content, app, title, kind, image, text, True))
                            index += 1
                    if new_app != app or new_title != title:
                        _check(reader.file, row, app_name=new_app, window_title=new_title)
                        app, title = new_app, new_title
                        kind = category(app, title)
                    if new_path != path:
                        _check(reader.file, row, file_path=new_path, pixels_hash=pixels, width=width, height=height)
                        path = new_path
                        image = None if path is None else _image(folder, path, pixels, width, height)
                    t = content = now
                    text = new_text
                    yield _new((index, now, now, app, title, kind, image, text, False))
                    index += 1
        finally:
            reader.close()
        while header.end_ns - (t + period) >= half and not covered(t + period):
            t += period
            yield _new((index, t, content, app, title, kind, image, text, True))
            index += 1


class _Gaps:
    """Whether an instant lies in a gap; instants are asked in ascending order, so each gap is passed once."""

    __slots__ = ("_gaps", "_i", "_reach")

    def __init__(self, gaps: Sequence[tuple[int, int, str]]) -> None:
        self._gaps, self._i, self._reach = sorted(gaps), 0, 0

    def __call__(self, t_ns: int) -> bool:
        gaps = self._gaps
        while self._i < len(gaps) and gaps[self._i][0] <= t_ns:
            self._reach = max(self._reach, gaps[self._i][1])
            self._i += 1
        return self._i > 0 and t_ns < self._reach


def _block(reader: Reader, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
    try:
        return cursor.fetchmany(_BLOCK)
    except (sqlite3.Error, UnicodeError) as error:
        raise reader.damaged(error) from None


def _image(folder: Path, path: str, pixels: str | None, width: int | None, height: int | None) -> ImageRef:
    return ImageRef(folder / PurePosixPath(path), pixels, width, height)


def _check(file: Path, row: object, **values: object) -> None:
    """Refuse values of a row that are not of their column's kind, and paths that no system takes."""
    for column, value in values.items():
        if not KINDS["screenshots"][column].fits(value):
            raise _bad_kind(file, row, column)
        if column == "file_path" and isinstance(value, str) and (len(value) > LONGEST_PATH or "\0" in value):
            want = f"a path without NUL, of at most {LONGEST_PATH} characters"
            raise InputError(file, want, field=f"screenshots row {row}, {column}")


def _bad_kind(file: Path, row: object, column: str) -> InputError:
    return InputError(file, KINDS["screenshots"][column].words, field=f"screenshots row {row}, {column}")


def header_of(source: SnapshotSource) -> Header:
    """The head of the session that is played; of every play that ``simulator.session.scenario.plays`` finds.

    Raises:
        TypeError: what is played is no recording.
    """
    if not isinstance(source, Recording):
        raise TypeError(f"a {type(source).__name__} has no header of a session")
    return source.header
