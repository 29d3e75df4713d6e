"""The Numenta Anomaly Benchmark's score: a need is an anomaly window, a surfaced offer is a detection, of any content.

Source: Lavin and Ahmad 2015 (arXiv 1510.03336); numenta/NAB at ea702d7, ``nab/sweeper.py`` (positions, sigmoid, false
positives), ``nab/runner.py`` (normalization), ``config/profiles.json`` (weights). Where theirs is silent or breaks:
windows may overlap (an offer then counts in each), a window of one row divides by 1 and not by 0, and nothing is left
out as probation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.compat.twice import ENDS, FiguresOnly, instants, put_pooled, twice
from scorers.figures import Sheet
from scorers.pooling import Floats, Pooled, Sums, over
from simulator.runs.gate import surface
from simulator.runs.records import Ints
from simulator.session.truth import Opportunity

__all__ = ["PROFILES", "Nab", "Rows", "rows", "sigma", "worth"]

PROFILES: Mapping[str, tuple[float, float, float]] = {
    "standard": (1.0, 0.11, 1.0),
    "reward_low_FP": (1.0, 0.22, 1.0),
    "reward_low_FN": (1.0, 0.11, 2.0),
}
"""Weights of true positives, false positives and false negatives."""
_FAR = 3.0
"""So many window widths after a window a false positive costs as much as before all windows."""


def sigma(y: float) -> float:
    """``2 / (1 + e^(5y)) - 1``; below -1 at no y, and -1 beyond three widths, as published.

    >>> round(sigma(-1), 5), sigma(0), sigma(3.1)
    (0.98661, 0.0, -1.0)
    """
    return -1.0 if y > _FAR else 2 / (1 + math.exp(5 * y)) - 1


def worth(row: int, width: int) -> float:
    """Of a detection in row 0 … width - 1 of a window: 1 in the first row.

    >>> [round(worth(row, 20), 3) for row in (0, 10, 19)]
    [1.0, 0.86, 0.126]
    """
    return sigma(-(width - row) / width) / sigma(-1)


@dataclass(frozen=True, slots=True)
class Rows:
    """One session: Σ worth of the first detection of each window, windows with one, windows; Σ σ of false positives
    (negative), and in how many rows there were any.
    """

    gain: float
    detected: int
    windows: int
    alarms: float
    n_alarms: int


def rows(times_ns: Ints, needs: Sequence[Opportunity], period_ns: int) -> Rows:
    """Count a session. The rows of a window count from its opening, those outside from the session's start.

    Args:
        times_ns: of the detections, in any order; many in one row count once.
        needs: the windows.
        period_ns: length of a row.
    """
    times = np.sort(times_ns)
    outside = np.ones(len(times), bool)
    gains = []
    for need in needs:
        low, high = np.searchsorted(times, [need.opens_ns, need.closes_ns])
        outside[low:high] = False
        if high > low:
            gains.append(worth((int(times[low]) - need.opens_ns) // period_ns, _width(need, period_ns)))
    false = times[outside]
    _, first = np.unique(false // period_ns, return_index=True)
    costs = _costs(false[first], sorted(needs, key=lambda n: (n.closes_ns, n.opens_ns)), period_ns)
    return Rows(math.fsum(gains), len(gains), len(needs), math.fsum(costs), len(costs))


def _width(need: Opportunity, period_ns: int) -> int:
    return -(-(need.closes_ns - need.opens_ns) // period_ns)


def _costs(times: Ints, by_close: Sequence[Opportunity], period_ns: int) -> list[float]:
    """σ of each false positive: by its rows past the last row of the window that closed last, -1 before any."""
    before = np.searchsorted(np.array([n.closes_ns for n in by_close], np.int64), times, side="right") - 1
    costs = []
    for t, i in zip(times.tolist(), before.tolist(), strict=True):
        if i < 0:
            costs.append(-1.0)
            continue
        last = _width(by_close[i], period_ns) - 1
        past = max(1, (t - by_close[i].opens_ns) // period_ns - last)
        costs.append(sigma(past / max(1, last)))
    return costs


def _metrics() -> tuple[Metric, ...]:
    said = (
        "100 (raw - silent) / (perfect - silent); raw = A_TP sum over windows of sigma(y) / sigma(-1) at the first "
        "offer in them - A_FN windows without one + A_FP sum of sigma(y) over rows with an offer outside all windows; "
        "sigma(y) = 2/(1 + e^(5y)) - 1; y = -(W - row)/W inside, (rows past the last) / max(1, W - 1) after, "
        "sigma = -1 beyond 3 and before all windows; any content; a row is one period: those of a window (W of them) "
        "count from its opening, 0 first, others from the session's start; an offer is in the row in which it arrives"
    )
    weighed = "{}; A_TP {:g}, A_FP {:g}, A_FN {:g}"
    return twice(
        Metric(
            f"nab@{name}",
            weighed.format(said if name == "standard" else "nab@standard", *weights),
            "points",
            "<= 100",
            "up",
        )
        for name, weights in PROFILES.items()
    )


@scorers.register("nab")
class Nab(FiguresOnly):
    """NAB's three profiles, at arrival and at capture: silent is 0, an offer at each opening and no other is 100."""

    protocols = ("stream",)
    needs_truth = True
    metrics = _metrics()

    def tally(self, unit: Unit, context: Context) -> dict[str, Rows]:
        """Count one session's surfaced offers, by ending."""
        times = instants(surface(unit.log, unit.truth, context.gate))
        return {end: rows(times[end], unit.truth.servable, unit.truth.period_ns) for end in ENDS}

    def pooled(self, tallies: Sequence[Mapping[str, Rows]]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        found = []
        for end in ENDS:
            parts = [(r.gain, r.detected, r.windows, r.alarms) for r in (t[end] for t in tallies)]
            table = Sums(f"nab{end}", ("gain", "detected", "windows", "alarms"), parts)
            found += [table.metric(f"nab@{name}{end}", _formula(*weights)) for name, weights in PROFILES.items()]
        return found

    def figures(self, tallies: Sequence[Mapping[str, Rows]]) -> list[Score]:
        """Pool rows over sessions, as NAB does over files."""
        sheet = Sheet(self.metrics)
        n = sum(t[""].windows for t in tallies)
        for end in ENDS:
            listed = [p for p in self.pooled(tallies) if p.table == f"nab{end}"]
            told = {"detected": sum(t[end].detected for t in tallies), "alarms": sum(t[end].n_alarms for t in tallies)}
            put_pooled(sheet, listed, {p.metric: n for p in listed}, "no opportunities", told)
        return sheet.scores()


def _formula(tp: float, fp: float, fn: float) -> Any:
    def score(sums: Mapping[str, Floats]) -> Floats:
        above_silent = tp * sums["gain"] + fn * sums["detected"] + fp * sums["alarms"]
        return over(100 * above_silent, (tp + fn) * sums["windows"])

    return score
