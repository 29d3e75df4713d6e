"""Hierarchical clustering of weighted texts, exact up to some thousands of them, behind a coarse k-means beyond.

Sums of products are taken over whole numbers that float32 holds exactly (``whole``), all others element by element: the
same vectors give the same clusters in every process, however a matrix library shares out its work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory.embed import Floats, Rows
from simulator.core.rng import below, unit

__all__ = ["UNIT", "coarse", "cut", "distances", "means", "merge_small", "merges", "products", "whole"]

Merge = tuple[float, int, int]
Labels = NDArray[np.intp]

UNIT = 2048.0
"""Length to which vectors of fractions are stretched before they are rounded: a product of two stays below 2**23."""
_BLOCK = 1024
_EXACT = 2896.0
_SMALL = 500_000_000
"""Products up to which a matrix is multiplied row by row, see ``products``."""
_BATCH = 4096


def whole(rows: Rows, norms: Floats) -> tuple[Rows, Floats]:
    """The vectors as whole numbers, with their lengths; those that are whole already stay as they are.

    Rounding at a length of 2048 moves a cosine by less than 0.001.
    """
    if not rows.size or (float(norms.max()) <= _EXACT and all((np.rint(b) == b).all() for b in _blocks(rows))):
        return rows, norms
    stretch = np.divide(UNIT, norms, out=np.zeros_like(norms), where=norms > 0).astype(np.float32)
    made = np.rint(rows * stretch[:, None])
    return made, np.sqrt(np.vecdot(made, made).astype(np.float64))


def means(rows: Rows, norms: Floats, weights: Sequence[int], groups: Sequence[Sequence[int]]) -> Floats:
    """The weighted mean of each group's unit vectors, float64 of shape (groups, d); shorter the more they differ."""
    by = np.array(weights, dtype=np.float64)
    scale = np.divide(by, norms, out=np.zeros_like(by), where=norms > 0)
    out = np.zeros((len(groups), rows.shape[1]))
    for place, group in enumerate(groups):
        for i in range(0, len(group), _BLOCK):
            part = list(group[i : i + _BLOCK])
            out[place] += (scale[part, None] * rows[part]).sum(axis=0)  # not a matrix product: see the module
        out[place] /= by[list(group)].sum()
    return out


def products(rows: Rows, others: Rows) -> Rows:
    """Of all pairs, float32 of shape (len(rows), len(others)); exact for whole numbers.

    Small ones row by row, as ``likeness``: a library's threads wait for one another on a busy machine (92 ms instead of
    1 ms for 180 texts, measured), and go on spinning beside the decisions that follow.
    """
    if len(rows) * len(others) * rows.shape[1] > _SMALL:
        found: Rows = rows @ others.T
        return found
    return np.array([np.vecdot(others, row) for row in rows], dtype=np.float32).reshape(len(rows), len(others))


def distances(rows: Rows, norms: Floats, weights: Sequence[int], *, ward: bool = False) -> Rows:
    """All pairs, float32 of shape (n, n), infinite on the diagonal, as ``merges`` starts from.

    Args:
        rows: whole numbers, shape (n, d).
        norms: what a row is divided by: its length, or ``UNIT`` where it is a group's mean of unit vectors. With means
            the average of all pairs of two groups is exact: it is the product of the two.
        weights: how many equal texts each row stands for.
        ward: else the cosine distance, averaged.
    """
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    squares = np.vecdot(rows, rows).astype(np.float64) * inverse * inverse
    size = np.array(weights, dtype=np.float64)
    out = np.empty((len(rows), len(rows)), dtype=np.float32)
    for i in range(0, len(rows), _BLOCK):
        at = slice(i, i + _BLOCK)
        block = products(rows[at], rows) * inverse[at, None] * inverse
        if ward:  # squared distances of weighted points, as if each copy had been merged at height 0
            block = np.maximum(squares[at, None] + squares - 2.0 * block, 0.0)
            block *= 2.0 * (size[at, None] * size) / (size[at, None] + size)
        else:
            block = np.maximum(1.0 - block, 0.0)
        out[at] = block
    np.fill_diagonal(out, np.inf)
    return out


def merges(distance: Rows, weights: Sequence[int], *, ward: bool = False) -> list[Merge]:
    """The whole tree by nearest-neighbour chain: O(n²) time, and no memory but the matrix, which is used up.

    New distances are computed in float64 and kept in float32. Rounding is monotone, so no mean falls below what it is
    a mean of, and the chain never meets a nearer neighbour behind it.

    Returns:
        n - 1 merges ``(height, a, b)`` in order of height; a and b are members of the two clusters merged.
    """
    d, n = distance, len(weights)
    size = np.array(weights, dtype=np.float64)
    gone = np.zeros(n, dtype=np.float32)  # infinite for what was merged away: cheaper than a column of the matrix
    out: list[Merge] = []
    chain: list[int] = []
    first = 0
    for _ in range(n - 1):
        if not chain:
            while gone[first]:
                first += 1
            chain.append(first)
        while True:
            a = chain[-1]
            b = int((d[a] + gone).argmin())
            if len(chain) > 1 and d[a, chain[-2]] <= d[a, b]:  # on a tie go back, or the chain may never end
                b = chain[-2]
                break
            chain.append(b)
        del chain[-2:]
        height = float(d[a, b])
        to_a, to_b = d[a].astype(np.float64), d[b].astype(np.float64)
        if ward:
            row = ((size[a] + size) * to_a + (size[b] + size) * to_b - size * height) / (size[a] + size[b] + size)
        else:
            row = (size[a] * to_a + size[b] * to_b) / (size[a] + size[b])
        keep, lost = min(a, b), max(a, b)
        row[keep] = np.inf
        d[keep], d[:, keep] = row, row
        gone[lost] = np.inf
        size[keep] += size[lost]
        out.append((math.sqrt(height) if ward else height, keep, lost))
    return sorted(out, key=lambda m: m[0])


def cut(
    tree: Sequence[Merge], n: int, *, height: float | None = None, n_clusters: int | None = None
) -> list[list[int]]:
    """Clusters at a height, or as many as asked for; largest first, then by first member. Members in order."""
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for done, (at, a, b) in enumerate(tree):
        if (height is not None and at > height) or (n_clusters is not None and n - done <= n_clusters):
            break
        first, second = sorted((find(a), find(b)))
        root[second] = first
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(find(i), []).append(i)
    return sorted(groups.values(), key=lambda g: (-len(g), g[0]))


def merge_small(groups: Sequence[Sequence[int]], centres: Floats, sizes: Sequence[int], cap: int) -> list[list[int]]:
    """The ``cap`` heaviest groups, each of the others joined to the one that is nearest on the average of all pairs.

    Args:
        groups: members of each.
        centres: mean of each group's unit vectors, see ``means``.
        sizes: how many moments each group holds.
        cap: how many to keep.
    """
    order = sorted(range(len(groups)), key=lambda i: (-sizes[i], i))
    kept = sorted(order[:cap])
    out = [list(groups[i]) for i in kept]
    for i in sorted(order[cap:]):
        near = int(np.vecdot(centres[kept], centres[i]).argmax())
        out[near].extend(groups[i])
    return [sorted(group) for group in out]


def coarse(rows: Rows, norms: Floats, weights: Sequence[int], k: int, passes: int = 2) -> list[list[int]]:
    """At most k groups of like texts by k-means in small batches (Sculley 2010), on the unit sphere.

    For texts too many for a matrix of all pairs. Seeds are spread out (k-means++ on a sample); chance comes from
    ``simulator.core.rng`` by the number of texts, so the same texts give the same groups.

    Returns:
        Members of each group, none empty; texts without a letter in common with any (zero vectors) are one of them.
    """
    n = len(rows)
    some = np.flatnonzero(norms > 0)
    if len(some) == 0:
        return [list(range(n))]
    by = np.array(weights, dtype=np.float64)
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    step = max(1, len(some) // (2 * _BATCH))
    centres = _spread(rows[some[::step]], norms[some[::step]], min(k, len(some[::step])))
    held = np.zeros(len(centres))
    # A stride that shares no factor with n visits every text once, in a well mixed order.
    stride = next(s for s in range(int(len(some) * 0.618) | 1, 2 * len(some) + 2) if math.gcd(s, len(some)) == 1)
    order = some[(np.arange(len(some), dtype=np.int64) * stride) % len(some)]
    for _ in range(passes):
        for i in range(0, len(order), _BATCH):
            batch = order[i : i + _BATCH]
            found = _nearest(rows[batch], centres)
            for c in np.unique(found):
                members = batch[found == c]
                share = by[members].sum()
                held[c] += share
                mean = ((by[members] * inverse[members])[:, None] * rows[members]).sum(axis=0) / share
                centres[c] = _stretched(centres[c] / UNIT + (mean - centres[c] / UNIT) * (share / held[c]))
    labels: Labels = np.full(n, len(centres), dtype=np.intp)
    labels[some] = _nearest(rows[some], centres)
    by_label = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[by_label])) + 1
    return [[int(i) for i in group] for group in np.split(by_label, edges)]


def _spread(rows: Rows, norms: Floats, k: int) -> Rows:
    """k-means++: each seed drawn by its squared distance to the nearest one so far; whole numbers of length 2048."""
    unit_rows = np.rint(rows * (UNIT / norms)[:, None]).astype(np.float32)
    chosen = [below(len(rows), len(rows), "personas", 0)]
    apart = np.full(len(rows), np.inf)
    while True:
        near = np.vecdot(unit_rows, unit_rows[chosen[-1]]) / (UNIT * UNIT)
        apart = np.minimum(apart, np.maximum(2.0 - 2.0 * near.astype(np.float64), 0.0))
        apart[chosen[-1]] = 0.0
        reach = np.cumsum(apart)
        if len(chosen) == k or reach[-1] <= 0:
            found: Rows = unit_rows[chosen]
            return found
        at = unit(len(rows), "personas", len(chosen)) * float(reach[-1])
        chosen.append(min(int(np.searchsorted(reach, at, side="right")), len(rows) - 1))


def _nearest(rows: Rows, centres: Rows) -> Labels:
    return np.concatenate([(block @ centres.T).argmax(axis=1) for block in _blocks(rows)])


def _stretched(centre: Floats) -> Rows:
    length = float(np.sqrt(np.vecdot(centre, centre)))
    made: Rows = np.rint(centre * (UNIT / length if length else 0.0)).astype(np.float32)
    return made


def _blocks(rows: Rows) -> list[Rows]:
    return [rows[i : i + 8 * _BLOCK] for i in range(0, len(rows), 8 * _BLOCK)]
