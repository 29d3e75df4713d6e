"""One session written anew with noise between its rows; without any, its clean twin.

Both twins go through the same code: the clean one is the session with nothing put in, so that a pair differs in noise
and in nothing else. All times after a place move (``Shift``): rows, gaps, events, needs, labels, annotations, masks,
notes, and the session's end. The anchor in the calendar stays, for time 0 does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from PIL import Image

from simulator.core.rng import below
from simulator.core.types import MS
from simulator.session.noise.donors import Donor, Rows
from simulator.session.noise.marking import DDL, TABLE
from simulator.session.noise.plan import Stretch
from simulator.session.noise.shift import Shift
from simulator.session.reader import Reader
from simulator.session.recording_id import RECORDING
from simulator.session.schema import COLUMNS, KINDS
from simulator.session.store import Writer, image_path

__all__ = ["Copy"]

_TICKS = {"gaps": ("from_tick", "to_tick"), "events": ("start_tick", "end_tick"), "masks": ("tick",),
          "notes": ("tick",)}  # fmt: skip
_TIMES = {"events": ("start_ns", "end_ns"), "opportunities": ("opens_ns", "closes_ns", "acted_ns"),
          "labels": ("at_ns", "closes_ns", "acted_ns"), "annotations": ("start_ns", "end_ns")}  # fmt: skip
_TABLES = ("gaps", "events", "opportunities", "labels", "masks", "notes", "annotations")
_PICTURE = ("file_path", "file_hash", "pixels_hash", "file_size", "width", "height")
_SEEN = (*_PICTURE, "scale", "app_name", "window_title", "window_class", "window_x", "window_y", "window_w", "window_h",
         "focus_changed", "change_score", "text", "scene_description", "privacy_level", "privacy_action")  # fmt: skip
_STATES = frozenset({"privacy_level", "privacy_action"})  # go with a picture wherever it goes
_DESKTOPS = ((38, 50, 56), (0, 99, 113), (46, 52, 64), (60, 60, 60))  # empty desktops, each of one colour

_Row = dict[str, Any]


class Copy:
    """A session on its way into a new folder.

    Args:
        reader: the session, which is only read.
        recording: what it is a recording of, which the copy will say too.
        stretches: what comes in, in order of place; none for the clean twin.
        rows: where it is drawn from.
        seed: of the draws.
        twin: the folder of a copy made before; its pictures are linked to where they are wanted here as well.
    """

    def __init__(
        self,
        reader: Reader,
        recording: str,
        stretches: Sequence[Stretch],
        rows: Rows,
        seed: int,
        twin: Path | None = None,
    ) -> None:
        self._recording = recording
        self._reader, self._rows, self._seed, self._twin = reader, rows, seed, twin
        self._session, self._period = reader.header.session, reader.header.period_ns
        self._at: dict[int, list[Stretch]] = {}
        for stretch in stretches:
            self._at.setdefault(stretch.place, []).append(stretch)
        known = reader.rows(("captured_ns", "tick"))
        moves = [(t, tick, sum(s.n_rows for s in self._at[i])) for i, (t, tick) in enumerate(known) if i in self._at]
        self.times = Shift((t, n * self._period) for t, _, n in moves)
        self.ticks = Shift((tick, n) for _, tick, n in moves)
        self.stream = Shift((t - reader.header.zero_ns, n * self._period) for t, _, n in moves)
        self.n_marked = 0
        self.by_kind: dict[str, int] = {}
        self._pictures: dict[str, tuple[str | None, int | None]] = {}  # by path in the new folder: hash and size
        self._filled = frozenset[str]()
        self._last: _Row = {}

    def write(self, folder: Path) -> None:
        """Write it whole.

        Raises:
            OSError: no room, or a picture that cannot be read.
        """
        header, meta = self._reader.header, dict(self._reader.header.meta)
        end = meta.pop("end_ns", None)
        meta.pop("state", None)
        meta[RECORDING] = self._recording
        with Writer(folder, meta=meta) as writer:
            columns = self._columns("screenshots")
            self._filled = self._ever_filled(columns)
            marked: list[tuple[Any, ...]] = []
            writer.add_rows(columns, ([row[c] for c in columns] for row in self._all(columns, writer, marked)))
            for table in _TABLES:
                self._table(table, writer)
            writer.set_profile(header.profile)
            self._privacy(writer)
            if self._at:
                writer.beside(DDL, TABLE, marked)
            writer.close(end_ns=None if end is None else self.times(int(end)))
        self.n_marked = len(marked)

    def _columns(self, table: str) -> list[str]:
        have = {r[1] for r in self._reader.fetch(f"PRAGMA table_info({table})")}
        return [c for c in KINDS[table] if c in have and (table != "screenshots" or c in COLUMNS)]

    def _ever_filled(self, columns: Sequence[str]) -> frozenset[str]:
        """Columns that the session fills somewhere: noise fills no others, which would give it away."""
        asked = ", ".join(f"MAX({c} IS NOT NULL)" for c in columns)
        (told,) = self._reader.fetch(f"SELECT {asked} FROM screenshots")
        return frozenset(c for c, filled in zip(columns, told, strict=True) if filled)

    def _all(self, columns: Sequence[str], writer: Writer, marked: list[tuple[Any, ...]]) -> Iterator[_Row]:
        """All rows of the new session in order."""
        monitor = self._reader.header.monitor
        place = number = 0
        sql = f"SELECT {', '.join(columns)} FROM screenshots ORDER BY id"
        for values in self._reader.stream(sql):
            row = dict(zip(columns, values, strict=True))
            if monitor is None or row["monitor"] == monitor:
                for noise in self._before(place, row, columns, writer, marked):
                    number += 1
                    yield noise | {"id": number}
                place += 1
            number += 1
            self._own_picture(row, writer)
            moved = {"id": number, "tick": self.ticks(row["tick"]), "captured_ns": self.times(row["captured_ns"]),
                     "wall_utc_ms": self.times.wall_ms(row["wall_utc_ms"], row["captured_ns"])}  # fmt: skip
            row |= moved
            if monitor is None or row["monitor"] == monitor:
                self._last = row
            yield row

    def _before(
        self, place: int, row: _Row, columns: Sequence[str], writer: Writer, marked: list[tuple[Any, ...]]
    ) -> Iterator[_Row]:
        """The noise that comes before a row, as rows."""
        at, tick = row["captured_ns"], row["tick"]
        since = self.times.before(at)
        n = 0
        for stretch in self._at.get(place, ()):
            for seen, donor, donor_tick in self._shown(stretch, writer):
                t = at + since + n * self._period
                made = dict.fromkeys(columns) | {
                    c: v for c, v in seen.items() if c in self._filled or (c in _STATES and c in columns)
                }
                made |= {"monitor": row["monitor"], "tick": tick + self.ticks.before(tick) + n, "captured_ns": t}
                if row["wall_utc_ms"] is not None:
                    made["wall_utc_ms"] = row["wall_utc_ms"] + (t - at) // MS
                made["tz_offset_min"] = row["tz_offset_min"]
                if "late_ms" in self._filled:
                    made["late_ms"] = 0.0
                marked.append((made["tick"], made["monitor"], t, stretch.number, stretch.kind, donor, donor_tick))
                self.by_kind[stretch.kind] = self.by_kind.get(stretch.kind, 0) + 1
                self._last = made
                n += 1
                yield made

    def _shown(self, stretch: Stretch, writer: Writer) -> Iterator[tuple[_Row, str | None, int | None]]:
        """What a stretch shows, row by row, and where it is from."""
        if stretch.kind == "idle":
            for seen in self._idle(stretch, writer):
                yield seen, None, None
            return
        for donor, taken in self._rows.stretch(stretch.kind, stretch.number, stretch.n_rows):
            seen = {c: taken.get(c) for c in _SEEN}
            seen |= self._donor_picture(donor, taken, writer)
            yield seen, donor.header.session, taken["tick"]

    def _idle(self, stretch: Stretch, writer: Writer) -> Iterator[_Row]:
        """The last screen stands still, or an empty desktop is shown; where there are no pictures, always the first."""
        seen = {c: self._last.get(c) for c in _SEEN} | {"focus_changed": 0, "change_score": 0.0}
        width, height = self._last.get("width"), self._last.get("height")
        desktop = (
            below(2, self._seed, "noise", self._session, "desktop", stretch.number) and "file_path" in self._filled
        )
        if desktop and width and height:
            colour = _DESKTOPS[below(len(_DESKTOPS), self._seed, "noise", self._session, "colour", stretch.number)]
            seen = dict.fromkeys(_SEEN) | writer.keep(Image.new("RGB", (width, height), colour))
            seen |= {"scale": self._last.get("scale"), "focus_changed": 1}
            if "privacy_action" in self._filled:
                seen["privacy_action"] = "passed"  # nobody need look at one colour
        for i in range(stretch.n_rows):
            yield seen if i == 0 else seen | {"focus_changed": 0, "change_score": 0.0}

    # pictures

    def _own_picture(self, row: _Row, writer: Writer) -> None:
        path = row["file_path"]
        if path is not None:
            row["file_path"] = self._keep(self._reader.folder, path, row["file_hash"], row["pixels_hash"], writer)[0]

    def _donor_picture(self, donor: Donor, row: Mapping[str, Any], writer: Writer) -> _Row:
        if "file_path" not in self._filled or row.get("file_path") is None:
            return dict.fromkeys(_PICTURE)
        path, digest, size = self._keep(
            donor.header.folder, row["file_path"], row.get("file_hash"), row.get("pixels_hash"), writer
        )
        return {"file_path": path, "file_hash": digest, "file_size": size}

    def _keep(
        self, source: Path, path: str, digest: str | None, pixels: str | None, writer: Writer
    ) -> tuple[str, str | None, int | None]:
        """Copy a picture once; where it lies now, hash and size of its file. One that is not there stays named."""
        file = source / path
        if not file.is_file():
            return path, digest, None
        own = source == self._reader.folder and file.resolve().is_relative_to(source.resolve())
        if not own and not (pixels is not None and path == image_path(pixels, file.suffix)):
            path = image_path(sha256(file.read_bytes()).hexdigest(), file.suffix.lower())
        if path not in self._pictures:
            target = writer.folder / path
            if not target.exists():
                twin = None if self._twin is None else self._twin / path
                linked = twin is not None and twin.is_file()
                _place(twin if linked and twin is not None else file, target, link=linked)
            content = target.read_bytes()
            self._pictures[path] = sha256(content).hexdigest(), len(content)
        return path, *self._pictures[path]

    # what lies beside the rows

    def _table(self, table: str, writer: Writer) -> None:
        columns = self._columns(table)
        if not columns:
            return
        order = "id" if "id" in columns else "rowid"
        rows = self._reader.stream(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}")
        writer.fill(table, columns, ([moved[c] for c in columns] for moved in self._moved(table, columns, rows)))

    def _moved(self, table: str, columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> Iterator[_Row]:
        for values in rows:
            row = dict(zip(columns, values, strict=True))
            if table == "events":
                for said, at in (("start_time", "start_ns"), ("end_time", "end_ns")):
                    if row.get(at) is not None:
                        row[said] = self.times.text(row.get(said), row[at])
            for column in _TICKS.get(table, ()):
                if row.get(column) is not None:
                    row[column] = self.ticks(row[column])
            for column in _TIMES.get(table, ()):
                if row.get(column) is not None:
                    row[column] = self.times(row[column])
            yield row

    def _privacy(self, writer: Writer) -> None:
        """What was found and decided about pictures, as it stands; it is keyed by their paths, which stay."""
        tables = self._reader.fetch(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'privacy_%'"
        )
        for name, sql in sorted(tables):
            writer.beside(sql, name, self._reader.fetch(f"SELECT * FROM {name} ORDER BY rowid"))


def _place(source: Path, target: Path, *, link: bool) -> None:
    """A file at a second place: linked, or where that is not wanted or the disk knows no such thing, copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if link:
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copyfile(source, target)
