"""Arithmetic that gives the same bits on every machine: ``+ - * /``, square roots, whole numbers, and nothing else.

Logarithms and powers of a library may differ in the last bit from machine to machine, and one bit can move an event by
a second. IEEE 754 fixes the operations used here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "cut_power_law", "overlaps", "pick", "power", "quantiles", "summed"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BITS = 24  # of an exponent behind the point: 6e-8 is far below what any sample can show


def power(base: Floats, exponent: float) -> Floats:
    """``base ** exponent`` for bases of 0 or more, by multiplication and repeated square roots.

    The exponent is rounded to a multiple of 2**-24.
    """
    steps = round(abs(exponent) * (1 << _BITS))
    whole, part = steps >> _BITS, steps & ((1 << _BITS) - 1)
    out, square = np.ones_like(base), base.copy()
    while whole:
        if whole & 1:
            out = out * square
        square, whole = square * square, whole >> 1
    root = base
    for bit in range(_BITS - 1, -1, -1):
        if not part & ((1 << (bit + 1)) - 1):
            break
        root = np.sqrt(root)
        if part >> bit & 1:
            out = out * root
    return out if exponent >= 0 else 1.0 / out


def cut_power_law(u: Floats, exponent: float, xmin: float, xmax: float) -> Floats:
    """Quantiles of ``p(x) ~ x**-exponent`` on ``[xmin, xmax]``, exponent above 1, u in [0, 1)."""
    slope = exponent - 1.0
    least = power(np.array([xmin / xmax]), slope)[0]  # how much of the uncut law lies above xmax
    drawn: Floats = xmin * power(1.0 - u * (1.0 - least), -1.0 / slope)
    return np.minimum(drawn, xmax)


def quantiles(u: Floats, table: Sequence[tuple[float, float]]) -> Floats:
    """Values of a law given by ``(share, value)`` pairs, straight in between; shares rise from 0 to 1."""
    shares, values = np.array([s for s, _ in table]), np.array([v for _, v in table])
    i = np.clip(np.searchsorted(shares, u, side="right") - 1, 0, len(shares) - 2)
    return np.asarray(values[i] + (u - shares[i]) * (values[i + 1] - values[i]) / (shares[i + 1] - shares[i]))


def summed(weights: Floats) -> Floats:
    """Running sums along the last axis, scaled to end in exactly 1."""
    sums = np.cumsum(weights, axis=-1)
    out: Floats = sums / sums[..., -1:]
    return out


def pick(sums: Floats, u: Floats) -> Ints:
    """Which of n choices each u in [0, 1) falls to; `sums` from `summed`: (n,), or (len(u), n) for own ones."""
    if sums.ndim == 1:
        return np.searchsorted(sums, u, side="right").astype(np.int64)
    return np.asarray((sums <= u[:, None]).sum(axis=1), dtype=np.int64)


def overlaps(parts: Floats, others: Floats, turn: float = 0.0) -> Floats:
    """How two ways of cutting a circle of length 1 overlap, ``float64[len(parts), len(others)]``.

    Both are lengths that add up to 1; the second is turned by `turn`. Rows add up to `parts`, columns to `others`:
    a joint distribution with both marginals kept, in which most rows have one or two entries.
    """
    ends, other_ends = np.cumsum(parts), np.cumsum(others) + turn
    ends[-1], other_ends[-1] = 1.0, 1.0 + turn
    starts, other_starts = np.r_[0.0, ends[:-1]], np.r_[turn, other_ends[:-1]]
    out = np.zeros((len(parts), len(others)))
    for round_ in (-1.0, 0.0, 1.0):
        high = np.minimum(ends[:, None], other_ends[None, :] + round_)
        out += np.maximum(high - np.maximum(starts[:, None], other_starts[None, :] + round_), 0.0)
    return out
