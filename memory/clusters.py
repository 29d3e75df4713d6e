"""Hierarchical clustering of weighted texts, and a choice of items that are typical and different (PersonaX).

All sums here are taken element by element or over exact integers, so the same texts give the same clusters on every
machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from memory.embed import Floats, Rows, likeness

__all__ = ["allot", "cosines", "cut", "leaders", "merges", "typical_and_different"]

Merge = tuple[float, int, int]


def cosines(rows: Rows, norms: Floats, others: Rows, other_norms: Floats) -> Floats:
    """Cosines of all pairs, float64 of shape (len(rows), len(others)); 0 where a text says nothing."""
    dots = np.vecdot(rows[:, None, :], others[None, :, :]).astype(np.float64)  # see ``likeness``: no threads
    lengths = norms[:, None] * other_norms[None, :]
    found: Floats = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    return found


def leaders(rows: Rows, norms: Floats, weights: Sequence[int], limit: int, least: float = 0.8) -> list[int]:
    """Greedy pre-clustering where there are too many texts for a matrix of all pairs.

    The heaviest texts come first; each joins the nearest leader at a cosine of at least ``least``, else becomes a
    leader while there are fewer than ``limit``, else joins the nearest one.

    Returns:
        For each row the row that leads it (leaders lead themselves).
    """
    order = sorted(range(len(weights)), key=lambda i: -weights[i])
    heads: list[int] = []
    head_rows, head_norms = np.zeros((limit, rows.shape[1]), dtype=np.float32), np.zeros(limit)
    led_by = [0] * len(weights)
    for i in order:
        n = len(heads)
        near = likeness(head_rows[:n], head_norms[:n], rows[i], float(norms[i]))
        place = int(near.argmax()) if n else 0
        if n < limit and (n == 0 or near[place] < least):
            head_rows[n], head_norms[n] = rows[i], norms[i]
            heads.append(i)
            place = n
        led_by[i] = heads[place]
    return led_by


def merges(cosine: Floats, weights: Sequence[int], *, ward: bool = False) -> list[Merge]:
    """The whole tree by nearest-neighbour chain, O(n²) time and one n x n matrix.

    Args:
        cosine: of all pairs, shape (n, n).
        weights: how many equal texts each row stands for.
        ward: Ward linkage on Euclidean distances of unit vectors (as PersonaX); else average linkage on cosine
            distance.

    Returns:
        n - 1 merges ``(height, a, b)`` in order of height; a and b are members of the two clusters merged.
    """
    size = np.array(weights, dtype=np.float64)
    d = np.maximum(1.0 - cosine, 0.0)
    if ward:  # squared distances of weighted points, as if each copy had been merged at height 0
        d *= 4.0 * (size[:, None] * size[None, :]) / (size[:, None] + size[None, :])
    np.fill_diagonal(d, np.inf)
    alive = np.ones(len(size), dtype=np.bool_)
    out: list[Merge] = []
    chain: list[int] = []
    for _ in range(len(size) - 1):
        if not chain:
            chain.append(int(alive.argmax()))
        while True:
            a = chain[-1]
            b = int(d[a].argmin())
            if len(chain) > 1 and d[a, chain[-2]] <= d[a, b]:  # on a tie go back, or the chain may never end
                b = chain[-2]
                break
            chain.append(b)
        del chain[-2:]
        height = float(d[a, b])
        if ward:
            row = ((size[a] + size) * d[a] + (size[b] + size) * d[b] - size * height) / (size[a] + size[b] + size)
        else:
            row = (size[a] * d[a] + size[b] * d[b]) / (size[a] + size[b])
        keep, gone = min(a, b), max(a, b)
        row[keep] = np.inf
        d[keep], d[:, keep] = row, row
        d[gone], d[:, gone] = np.inf, np.inf
        size[keep] += size[gone]
        alive[gone] = False
        out.append((math.sqrt(height) if ward else height, keep, gone))
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


def allot(sizes: Sequence[int], ratio: float, most: int) -> list[int]:
    """How many items each cluster may show: the PersonaX budget, small clusters first, then a limit for each.

    Of ``ceil(ratio x all items)`` each cluster in ascending size gets an even part of what remains, at most its size;
    what is left goes to the largest. ``most`` then limits each: .6 of a month's events would be thousands.
    """
    left = math.ceil(ratio * sum(sizes))
    given = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    for place, i in enumerate(order):
        given[i] = min(sizes[i], left // (len(sizes) - place))
        left -= given[i]
    if order:
        given[order[-1]] = min(sizes[order[-1]], given[order[-1]] + left)
    return [min(max(g, 1), most) for g in given]


def typical_and_different(to_centre: Floats, between: Floats, n: int, alpha: float = 1.06) -> list[int]:
    """Pick n items greedily by prototypicality and diversity (ProAgentBench eq. 11, PersonaX algorithm 2).

    ``J(S) = w_p Σ 1/(1 + ‖v - μ‖) + w_d (2/|S|) Σ ‖v_a - v_b‖`` with ``w_p = alpha**-10`` (literally, as printed) and
    ``w_d = 1 - w_p``. The pair sum is kept up to date, so a pick costs O(items).

    Args:
        to_centre: distance of each item to the cluster's centre, shape (m,).
        between: distances of all pairs, shape (m, m).
        n: how many to pick.
        alpha: balance; 1 is typicality only.

    Returns:
        Positions in order of picking; the first is the most typical one. Ties go to the earlier item.
    """
    tenth = 1.0
    for _ in range(10):  # repeated products, not pow(): the same bits everywhere
        tenth = tenth * alpha
    w_p = 1.0 / tenth
    typical = 1.0 / (1.0 + to_centre)
    spread = np.zeros_like(typical)
    free = np.ones(len(typical), dtype=np.bool_)
    picked: list[int] = []
    for _ in range(min(n, len(typical))):
        gain = w_p * typical + 2.0 * (1.0 - w_p) / (len(picked) + 1) * spread
        choice = int(np.where(free, gain, -np.inf).argmax())
        picked.append(choice)
        free[choice] = False
        spread += between[choice]
    return picked
