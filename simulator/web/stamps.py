"""What tells that files changed: their size and date. All that pages keep or follow goes by it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from simulator.play.kept import SOURCES

__all__ = ["Stamp", "sources", "stamp"]

Stamp = tuple[int, int] | None
"""Date and size of a file; None for one that is not there."""


def stamp(file: Path | str) -> Stamp:
    """Of one file, as it is now."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def sources(run: Path, names: Sequence[str] = SOURCES) -> tuple[tuple[str, tuple[Stamp, ...]], ...]:
    """Of all files that the scores of a run are made of, or of some of them, by the key of their unit. Takes some
    microseconds a file.
    """
    units = f"{run}/units"
    try:
        keys = sorted(os.listdir(units))
    except OSError:  # no unit has begun
        return ()
    return tuple((key, tuple(stamp(f"{units}/{key}/{name}") for name in names)) for key in keys)
