"""Figures from counts: shares, precision and recall, percentiles; each with what it rests on, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scorers.base import Metric, Score
from simulator.runs.records import Ints

__all__ = ["Ratio", "Sheet", "harmonic", "percentile", "ratio"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A value with what it rests on, or the reason for having none."""

    value: float | None
    n: int
    reason: str | None = None


def ratio(part: float, whole: float, of: str, n: int | None = None) -> Ratio:
    """``part / whole``, or None without a whole.

    Args:
        part: the numerator.
        whole: the denominator.
        of: what the whole counts, for the reason "no …".
        n: what the figure rests on, the whole where not given.
    """
    if whole == 0:
        return Ratio(None, 0, f"no {of}")
    return Ratio(part / whole, int(whole) if n is None else n)


def harmonic(hits: int, said: int, true: int, *, said_of: str, true_of: str) -> tuple[Ratio, Ratio, Ratio]:
    """Precision, recall and F1 from counts.

    Something to find and nothing said gives P null, R = 0, F1 = 0: the one exception to "an empty denominator gives
    null". Something said with nothing to find gives P = 0 and null for the others.
    """
    precision, recall = ratio(hits, said, said_of), ratio(hits, true, true_of)
    if true == 0:
        return precision, recall, Ratio(None, 0, f"no {true_of}")
    return precision, recall, Ratio(2 * hits / (said + true), true)


class Sheet:
    """Collects the scores of one scorer and checks that each metric is given once, in order."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = {m.name: m for m in metrics}
        self._scores: dict[str, Score] = {}

    def put(self, name: str, figure: Ratio | float | None, n: int = 0, reason: str | None = None, **extra: Any) -> None:
        """Enter a figure: a ``Ratio``, or a value with its n, or None with a reason."""
        if name in self._scores:
            raise ValueError(f"{name} is given twice")
        if not isinstance(figure, Ratio):
            figure = Ratio(None if figure is None else float(figure), n, reason)
        self._scores[name] = Score(self._metrics[name], figure.value, figure.n, figure.reason, extra)

    def rest(self, reason: str) -> None:
        """All that were not entered have no value, for this reason."""
        for name in self._metrics:
            if name not in self._scores:
                self.put(name, None, 0, reason)

    def scores(self) -> list[Score]:
        """All of them, in the order of the metrics.

        Raises:
            ValueError: one is missing.
        """
        missing = [name for name in self._metrics if name not in self._scores]
        if missing:
            raise ValueError(f"not given: {', '.join(missing)}")
        return [self._scores[name] for name in self._metrics]


def percentile(ordered: Ints, percent: int) -> int:
    """The nearest-rank percentile of sorted whole numbers: the smallest value that ``percent`` % do not exceed."""
    if len(ordered) == 0:
        raise ValueError("no percentile of nothing")
    return int(ordered[max(0, -(-percent * len(ordered) // 100) - 1)])
