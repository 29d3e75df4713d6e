"""Which rows of a session are noise: a table beside the rows that no stream of snapshots reads.

It exists so that results can be told apart by noise and by the rest. Nothing of it reaches an agent: ``Recording``
selects columns of ``screenshots`` by name, and this is another table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simulator.session.reader import Reader

__all__ = ["DDL", "TABLE", "Mark", "in_noise", "marks"]

TABLE = "noise"
DDL = f"""
CREATE TABLE {TABLE} (
  tick INTEGER NOT NULL, monitor INTEGER NOT NULL, captured_ns INTEGER NOT NULL, stretch INTEGER NOT NULL,
  kind TEXT NOT NULL, donor TEXT, donor_tick INTEGER)
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """One row that is noise.

    Attributes:
        t_ns: when it is shown, in stream time.
        stretch: the number of the stretch that it belongs to, from 0 in order of time.
        kind: ``switch``, ``idle`` or ``browse``.
        donor: the session that it was taken from, None for a screen that stands still or an empty desktop.
    """

    t_ns: int
    stretch: int
    kind: str
    donor: str | None


def marks(session: Path) -> tuple[Mark, ...]:
    """The noise of a session in order of time; none where nothing was put in.

    Args:
        session: the session's folder.

    Raises:
        InputError: the session cannot be read.
    """
    with Reader(session) as reader:
        if not reader.fetch("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (TABLE,)):
            return ()
        zero = reader.header.zero_ns
        rows = reader.stream(f"SELECT captured_ns, stretch, kind, donor FROM {TABLE} ORDER BY captured_ns, tick")
        return tuple(Mark(captured - zero, stretch, kind, donor) for captured, stretch, kind, donor in rows)


def in_noise(found: Sequence[Mark], times_ns: NDArray[np.int64], period_ns: int) -> NDArray[np.bool_]:
    """Which instants lie in a stretch of noise: from its first row until a period after its last.

    Args:
        found: the marks of a session.
        times_ns: instants of its stream, shape (n,).
        period_ns: of its rows.

    Returns:
        Shape (n,).
    """
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for mark in found:
        starts.setdefault(mark.stretch, mark.t_ns)
        ends[mark.stretch] = mark.t_ns + period_ns
    if not starts:
        return np.zeros(len(times_ns), dtype=np.bool_)
    order = sorted(starts)
    start, end = np.array([starts[s] for s in order], np.int64), np.array([ends[s] for s in order], np.int64)
    at = np.searchsorted(start, times_ns, side="right") - 1
    inside: NDArray[np.bool_] = (at >= 0) & (times_ns < end[np.maximum(at, 0)])
    return inside
