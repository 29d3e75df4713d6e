"""What a recorder hands out: each row as it becomes known, and what a recording came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

__all__ = ["FREE_FLOOR", "Budget", "Shot", "Summary"]

FREE_FLOOR = 500_000_000
"""Bytes that a recording leaves free on its disk unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One row of a session as it becomes known, before it is durable.

    Attributes:
        tick: due at ``tick * period_ns``.
        captured_ns: when the pixels were taken, since the recording's zero; equal for all monitors of a tick.
        late_ns: ``captured_ns`` less the instant at which the tick was due.
        monitor: its number, from 1.
        app: of the window in front, as recorded: None where unknown or excluded.
        title: of the window in front, as recorded.
        path: where the picture is going to lie, POSIX and relative to the session's folder.
        pixels_hash: SHA-256 of the picture's pixels (``screen.pixels.pixels_hash``).
        image: RGB pixels as stored, excluded windows filled; None when they equal those of the last shot of this
            monitor.
        width: pixels of the picture.
        height: pixels of the picture.
    """

    tick: int
    captured_ns: int
    late_ns: int
    monitor: int
    app: str | None
    title: str | None
    path: str | None
    pixels_hash: str | None
    image: Image.Image | None
    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a recording may write: ``n_bytes`` in its folder (None: no limit), leaving ``free_floor`` bytes of the
    disk free. Where either is reached, ticks become gaps ``disk_full`` until there is room again.
    """

    n_bytes: int | None = None
    free_floor: int = FREE_FLOOR


@dataclass(frozen=True, slots=True)
class Summary:
    """What a recording came to.

    Attributes:
        n_ticks: that came due; each is a row (several with several monitors) or lies in a gap.
        n_rows: rows written now, without those of a part recorded before a crash.
        n_pictures: distinct ones written.
        n_bytes: size of the session's folder.
        gaps: ticks by reason.
        events: counts of ``session.quality.Sieve``.
        recovered: what was repaired when the session was opened to be continued, as a sentence; None for a new one.
        closed: False when even the closing found no room on the disk; the rows are there all the same.
    """

    folder: Path
    n_ticks: int
    n_rows: int
    n_pictures: int
    n_bytes: int
    gaps: Mapping[str, int]
    events: Mapping[str, object]
    recovered: str | None
    closed: bool
