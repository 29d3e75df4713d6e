"""Where a user's recorded time is cut: at a share of it, but inside no event, no stated need, and before no request.

What spans the cut goes whole to the earlier side, so nothing that was going on is known to both. A request that would
begin right at the cut goes there too: the event before it carries its question as a label, and would bring a question
of the later side into the history.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

__all__ = ["Blocks", "located"]

Span = tuple[int, int]


def located(lengths: Sequence[int], share: float) -> Span:
    """In which of consecutive stretches, and how far into it, that share of their whole length ends.

    >>> located([10, 30], 0.7), located([10, 30], 0.25), located([10, 30], 1)
    ((1, 18), (1, 0), (2, 0))
    """
    left = round(share * sum(lengths))
    for i, length in enumerate(lengths):
        if left < length:
            return i, left
        left -= length
    return len(lengths), 0


class Blocks:
    """Stretches that are not cut.

    Args:
        whole: pairs (start, end) inside which no cut may lie.
        from_start: of these the ones before whose start none may lie either: requests.
    """

    def __init__(self, whole: Iterable[Span], from_start: Iterable[Span] = ()) -> None:
        # A request reaches one instant further ahead, so that a cut at its start lies inside.
        spans = [*((a, b) for a, b in whole if b > a), *((a - 1, b) for a, b in from_start if b >= a)]
        self._joined: list[list[int]] = []
        for start, end in sorted(spans):
            if self._joined and start < self._joined[-1][1]:
                self._joined[-1][1] = max(self._joined[-1][1], end)
            else:
                self._joined.append([start, end])
        self._starts = [start for start, _ in self._joined]

    def first_cut(self, at: int) -> int:
        """The first instant from ``at`` on at which may be cut."""
        while (k := bisect_right(self._starts, at - 1) - 1) >= 0 and at < self._joined[k][1]:
            at = self._joined[k][1]
        return at

    def first_of(self, at: int, starts: Iterable[int]) -> int:
        """The first of these instants from ``at`` on at which may be cut; where there is none, the first cut."""
        free = self.first_cut(at)
        return next((start for start in sorted(starts) if start >= free and self.first_cut(start) == start), free)
