"""Stretches of time as half-open pairs of nanoseconds: their union, and how much of a session they cover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.runs.records import Ints
from simulator.session.truth import Span

__all__ = ["covered", "merged"]


def merged(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The union of intervals ``[start, end)`` as disjoint ones, in order: their starts and their ends."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    if len(starts) == 0:
        return starts, ends
    reach = np.maximum.accumulate(ends)
    first = np.concatenate(([True], starts[1:] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return starts[first], reach[last]


def covered(intervals: tuple[Ints, Ints], spans: Sequence[Span]) -> int:
    """How much of the spans disjoint, ordered intervals cover."""
    starts, ends = intervals
    total = 0
    for s, e in spans:
        low, high = np.searchsorted(ends, s, side="right"), np.searchsorted(starts, e, side="left")
        total += int((np.minimum(ends[low:high], e) - np.maximum(starts[low:high], s)).sum()) if high > low else 0
    return total
