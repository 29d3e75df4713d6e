"""Stretches of time, asked about instants: quick for thousands of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

__all__ = ["Spans"]


class Spans:
    """Stretches ``[start, end)`` that may overlap.

    Args:
        pairs: start and end of each.
    """

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(pairs)
        self._starts = [start for start, _ in ordered]
        self._reach = list(accumulate((end for _, end in ordered), max))

    def cover(self, t: int) -> bool:
        """Whether one holds ``t``."""
        return self.touch(t, t + 1)

    def touch(self, start: int, end: int) -> bool:
        """Whether one shares an instant with ``[start, end)``."""
        n = bisect_right(self._starts, end - 1)
        return n > 0 and self._reach[n - 1] > start
