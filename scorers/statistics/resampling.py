"""Resamples as weights: how often each cluster is drawn, and the figures that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from scorers.pooling import Floats, Pooled
from scorers.statistics.clusters import Clusters
from scorers.statistics.spread import Quantile
from simulator.core.rng import block, block_below

__all__ = ["RESAMPLES", "Figures", "drawn", "flips", "least_p", "leave_one_out", "tables", "weighed"]

RESAMPLES = 10_000
_EXACT = 13
"""With up to so many clusters every way to swap is gone through (2**13 of them)."""
_CELLS = 1 << 22
"""Sums held at once; more are worked off in portions."""
_ALONE = 1 << 18
"""Multiplications up to which a product is made in this thread. Of more, the BLAS would have helpers do a part, which
spin for a while when they have done it: for products as small as those of a few sessions that takes ten times the
processor, from whoever works beside.
"""
_LEAST_ROWS = 32
_KEPT = 1 << 20
"""Draws up to so many are kept (8 MB): the scorers of a run, and the runs of a sweep, all take the same."""

Figures = dict[str, Floats]
"""By metric."""


def drawn(n: int, seed: int, b: int = RESAMPLES) -> Floats:
    """How often each of n clusters is in each of b resamples of n, with replacement; shape (b, n). Read only."""
    return _drawn_before(n, seed, b) if n * b <= _KEPT else _drawn(n, seed, b)


@lru_cache(maxsize=2)
def _drawn_before(n: int, seed: int, b: int) -> Floats:
    found = _drawn(n, seed, b)
    found.setflags(write=False)
    return found


def _drawn(n: int, seed: int, b: int) -> Floats:
    picked = block_below(n, b * n, seed, "bootstrap", n).reshape(b, n)
    counts = np.bincount((picked + np.arange(b)[:, None] * n).ravel(), minlength=b * n)
    return counts.reshape(b, n).astype(np.float64)


def flips(n: int, seed: int, b: int = RESAMPLES) -> tuple[Floats, bool]:
    """Which of n clusters have their two logs swapped, 0 or 1; shape (ways, n).

    Returns:
        All 2**n ways, and True; with more than 13 clusters b random ones, and False.
    """
    if n <= _EXACT:
        ways = np.arange(1 << n, dtype=np.uint64)[:, None] >> np.arange(n, dtype=np.uint64)
        return (ways & np.uint64(1)).astype(np.float64), True
    words = -(-n // 64)
    bits = np.unpackbits(block(b * words, seed, "flip", n).astype(">u8").view(np.uint8))
    return bits.reshape(b, words * 64)[:, :n].astype(np.float64), False


def least_p(n: int, b: int = RESAMPLES) -> float:
    """The smallest p that swapping n clusters can give: two of all ways, or what b random ones can tell.

    >>> least_p(8) == 2 / 256
    True
    """
    return 2 / 2**n if n <= _EXACT else 1 / (1 + b)


def tables(clusters: Clusters, *sides: Sequence[Pooled]) -> list[tuple[list[Floats], list[Pooled]]]:
    """The metrics by table, each table as what clusters add on each side, so that it is summed once.

    Percentiles are tables of their own, with the columns that matter to them.
    """
    first = {m.metric: m for m in sides[0]}
    found: dict[str, list[str]] = {}
    for m in sides[0]:
        found.setdefault(m.metric if isinstance(m.formula, Quantile) else m.table, []).append(m.metric)
    by_name = [{m.metric: m for m in side} for side in sides]
    made = []
    for names in found.values():
        sums, metrics = [clusters.sums(side[names[0]].columns) for side in by_name], [first[name] for name in names]
        if isinstance(formula := metrics[0].formula, Quantile):
            keep, narrow = formula.narrowed(np.concatenate(sums))
            sums, metrics = [s[:, keep] for s in sums], [replace(metrics[0], formula=narrow)]
        made.append((sums, metrics))
    return made


def weighed(weights: Floats, sums: Floats, metrics: Sequence[Pooled]) -> Figures:
    """The figures of each resample: weights (b, n) times what clusters add (n, k)."""
    step = max(1, _CELLS // max(1, sums.shape[1]))
    portions = [_product(weights[at : at + step], sums) for at in range(0, len(weights), step)]
    return {m.metric: np.concatenate([np.atleast_1d(m.formula(p)) for p in portions]) for m in metrics}


def _product(weights: Floats, sums: Floats) -> Floats:
    """``weights @ sums``; a small one without helpers."""
    step = _ALONE // max(1, sums.size)
    if step < _LEAST_ROWS:
        found: Floats = weights @ sums
        return found
    out: Floats = np.empty((len(weights), sums.shape[1]))
    for at in range(0, len(weights), step):
        np.matmul(weights[at : at + step], sums, out=out[at : at + step])
    return out


def leave_one_out(sums: Floats, metrics: Sequence[Pooled]) -> Figures:
    """The figures without each cluster in turn."""
    rest = sums.sum(axis=0) - sums
    return {m.metric: m.formula(rest) for m in metrics}
