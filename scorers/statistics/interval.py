"""Intervals by the bootstrap: what a figure would be on other sessions of the same kind.

BCa, bias-corrected and accelerated (Efron 1987): percentiles of the resamples, shifted for the median bias of the
figure and for a spread that grows with it. Resamples draw whole clusters; the acceleration is by jackknife over them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from scorers.pooling import Floats, Pooled
from scorers.statistics.clusters import ENOUGH, Clusters
from scorers.statistics.resampling import drawn, leave_one_out, tables, weighed

__all__ = ["LEVEL", "Interval", "bca", "intervals", "rounded"]

LEVEL = 0.95
UNDEFINED = 0.05
"""Where more of the resamples than this have no figure there is no interval."""
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a figure lies, with the confidence ``level``.

    Attributes:
        low: end, rounded to six digits, like ``high``.
        high: see ``low``.
        method: ``BCa``, or ``percentile`` where BCa is not defined.
        n_sessions: sessions it rests on.
        unit: what was drawn: ``session`` or ``user``.
        n: how many of them.
        undefined: share of resamples without a figure, which were left out.
        differing: of a difference, in how many clusters the two sides are not alike; None of a figure.
    """

    low: float
    high: float
    method: str
    n_sessions: int
    unit: str
    n: int
    undefined: float = 0.0
    differing: int | None = None
    level: float = LEVEL

    def holding(self, value: float) -> Interval:
        """Wide enough to hold the exact figure: a percentile's resamples are of a histogram, up to 0.5 % off."""
        return replace(self, low=min(self.low, rounded(value)), high=max(self.high, rounded(value)))

    @property
    def few(self) -> bool:
        """Whether it rests on so few clusters that it is too narrow: where two sides are alike in all but three
        sessions, these three are all it knows of how they differ.
        """
        return min(self.n, self.n if self.differing is None else self.differing) < ENOUGH

    def told(self) -> dict[str, Any]:
        """All of it, JSON-ready; what is as usual is left out."""
        said: dict[str, Any] = {"low": self.low, "high": self.high, "level": self.level, "method": self.method}
        said["n_sessions"] = self.n_sessions
        if self.unit != "session":
            said[f"n_{self.unit}s"] = self.n
        if self.differing is not None:
            said[f"n_{self.unit}s_differing"] = self.differing
        if self.few:
            said["few"] = True
        if self.undefined:
            said["undefined"] = rounded(self.undefined)
        return said


def intervals(pooled: Sequence[Pooled], clusters: Clusters, seed: int = 0) -> dict[str, Interval | str]:
    """The interval of each metric, or why it has none.

    All metrics are computed from the same resamples. Nothing depends on the order of the units.
    """
    if len(clusters) < 2:
        return {m.metric: "one session: nothing to resample" for m in pooled}
    weights, found = drawn(len(clusters), seed), dict[str, Interval | str]()
    for (sums,), metrics in tables(clusters, pooled):
        some = weights[:1] if (sums == sums[0]).all() else weights  # of clusters that are alike all resamples are
        figures, without = weighed(some, sums, metrics), leave_one_out(sums, metrics)
        for m in metrics:
            found[m.metric] = bca(float(m.formula(sums.sum(axis=0))), figures[m.metric], without[m.metric], clusters)
    return {m.metric: found[m.metric] for m in pooled}


def bca(value: float, replicates: Floats, without: Floats, clusters: Clusters) -> Interval | str:
    """The interval of one figure, or why it has none.

    Args:
        value: the figure.
        replicates: of the resamples, NaN where they have none.
        without: the figure without each cluster.
        clusters: what was drawn.
    """
    if math.isnan(value):
        return "no figure"
    known = replicates[~np.isnan(replicates)]
    undefined = 1 - len(known) / len(replicates)
    if undefined > UNDEFINED:
        return f"{100 * undefined:.0f} % of resamples have no figure: too few sessions hold what it needs"
    low, high = float(known.min()), float(known.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return "no resample changes the figure, so the sessions cannot say how sure it is"
    ends = _shifted(value, known, without)
    method = "percentile" if ends is None else "BCa"
    alpha = (1 - LEVEL) / 2
    low, high = (float(x) for x in np.quantile(known, ends or (alpha, 1 - alpha)))
    sizes = clusters.n_sessions, clusters.unit, len(clusters)
    return Interval(rounded(low), rounded(high), method, *sizes, undefined)


def _shifted(value: float, known: Floats, without: Floats) -> tuple[float, float] | None:
    """Which percentiles of the resamples are the ends; None where bias or acceleration cannot be told."""
    tie = 1e-9 * max(1e-300, float(np.abs(known).max()))
    below, up_to = (known < value - tie).mean(), (known <= value + tie).mean()
    share = float(below + up_to) / 2
    pulls = without.mean() - without
    spread = float((pulls**2).sum())
    if not 0 < share < 1 or math.isnan(spread):
        return None
    bias = _NORMAL.inv_cdf(share)
    acceleration = float((pulls**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0  # 0: a percentile on the grid

    def shifted(probability: float) -> float:
        z = bias + _NORMAL.inv_cdf(probability)
        return _NORMAL.cdf(bias + z / (1 - acceleration * z))

    return shifted((1 - LEVEL) / 2), shifted((1 + LEVEL) / 2)


def rounded(x: float) -> float:
    """To six digits: sums in another order on another machine differ in the sixteenth."""
    return float(f"{x:.6g}")
