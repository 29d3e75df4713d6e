"""Lists of like rows inside one sealed stretch of time: a search looks into the likeliest lists and leaves the rest.

A stretch of rows is split once into lists around centres (spherical k-means), and inside a list rows stay in
order of time. A stretch that lies wholly before the moment of asking is searched without any filter, so what is found
is never cut afterwards: that is what makes shared indexes with a filter behind them answer with nothing.

Why lists and not a graph of near rows are the default: docs/decisions/014; graphs are ``hnsw``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.embed import Floats, Rows

__all__ = ["Lists", "split"]

_SAMPLE = 16_384
_ROUNDS = 6
_AT_ONCE = 8_192

Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Lists:
    """How a stretch is split.

    Attributes:
        centres: float32 of shape (n lists, d), unit rows.
        starts: int32 of shape (n lists + 1,): list i is the slots ``starts[i]`` to ``starts[i + 1]``.
        order: int32 of shape (n rows,): which row, counted in order of time, lies in a slot.
    """

    centres: Rows
    starts: Places
    order: Places


def split(rows: Rows, norms: Floats, n_lists: int) -> Lists:
    """Split rows around centres; the same rows give the same lists.

    Args:
        rows: float32 of shape (n, d).
        norms: their lengths; a row of length 0 may lie anywhere.
        n_lists: how many lists at most.
    """
    n = len(rows)
    step = max(1, n // _SAMPLE)
    lengths = np.where(norms[::step] > 0, norms[::step], 1.0)
    sample: Rows = (rows[::step] / lengths[:, None]).astype(np.float32)
    centres: Rows = sample[:: max(1, len(sample) // n_lists)][:n_lists].copy()
    for _ in range(_ROUNDS):
        centres = _means(sample, _nearest(sample, centres), centres)
    found = _nearest(rows, centres)
    order = np.argsort(found, kind="stable").astype(np.int32)
    sizes = np.bincount(found, minlength=len(centres))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return Lists(centres, starts, order)


def _nearest(rows: Rows, centres: Rows) -> NDArray[np.intp]:
    parts = [(rows[i : i + _AT_ONCE] @ centres.T).argmax(axis=1) for i in range(0, len(rows), _AT_ONCE)]
    return np.concatenate(parts)


def _means(rows: Rows, found: NDArray[np.intp], centres: Rows) -> Rows:
    """Directions of the means of the rows around each centre; a centre that lost all its rows stays."""
    order = np.argsort(found, kind="stable")
    used, first = np.unique(found[order], return_index=True)
    sums = np.add.reduceat(rows[order], first, axis=0)
    lengths = np.linalg.norm(sums, axis=1)
    kept = lengths > 0
    made = centres.copy()
    made[used[kept]] = sums[kept] / lengths[kept, None]
    return made
