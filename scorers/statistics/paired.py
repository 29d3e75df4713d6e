"""How two sides differ on the same sessions: difference, interval, p, and which sessions make it.

Paired by session: what is hard for one side is hard for the other, and cancels. The test swaps the two logs of a
session (both sides are equally good there under the null hypothesis, so either could have been the first's), recomputes
both pooled figures and asks how often the difference is as great. No distribution is assumed, rates need not add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scorers.pooling import Floats, Pooled
from scorers.statistics.clusters import ENOUGH, Clusters
from scorers.statistics.interval import Interval, bca, rounded
from scorers.statistics.power import detectable
from scorers.statistics.resampling import RESAMPLES, drawn, flips, leave_one_out, tables, weighed

__all__ = ["Difference", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two sides.

    Attributes:
        first: the figure of the baseline over the compared sessions, None where there is none; ``second`` likewise.
        difference: second - first.
        interval: of the difference, or why there is none.
        p: of the sign-flip test, two-sided, None without a test; ``no_test`` says why.
        exact: whether all ways to swap were gone through.
        detectable: see ``scorers.statistics.power``; None without a test.
        by_cluster: figures of each cluster on both sides, shape (2, n), NaN where it has none.
        pulls: how much of the difference goes away without the cluster, shape (n,).
    """

    metric: str
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | str
    p: float | None
    no_test: str | None
    exact: bool
    detectable: float | None
    by_cluster: Floats
    pulls: Floats


def differences(
    first: Sequence[Pooled],
    second: Sequence[Pooled],
    clusters: Clusters,
    seed: int = 0,
    resamples: int = RESAMPLES,
    *,
    only_tests: bool = False,
) -> list[Difference]:
    """Compare metric by metric.

    Args:
        first: the baseline's metrics over the paired units.
        second: the other's, the same metrics and tables, unit by unit the same sessions.
        clusters: of those units.
        seed: of resamples and swaps; the same for all metrics.
        resamples: how many, and as many swaps where there are too many ways to go through all.
        only_tests: leave out intervals and what is detectable, where only p is asked for.
    """
    n = len(clusters)
    weights = drawn(n, seed, resamples) if n > 1 and not only_tests else np.ones((1, n))
    swaps, exact = flips(n, seed, resamples) if n >= ENOUGH else (np.zeros((1, n)), False)
    made = {}
    for (a, b), metrics in tables(clusters, first, second):
        drawn_a, drawn_b = weighed(weights, a, metrics), weighed(weights, b, metrics)
        # Linear in the swaps: what the first side's sums become, and the second gets the rest.
        swapped_a = weighed(swaps, b - a, [_moved(m, a.sum(axis=0), 1) for m in metrics])
        swapped_b = weighed(swaps, b - a, [_moved(m, b.sum(axis=0), -1) for m in metrics])
        without_a, without_b = leave_one_out(a, metrics), leave_one_out(b, metrics)
        for m in metrics:
            name = m.metric
            figures = float(m.formula(a.sum(axis=0))), float(m.formula(b.sum(axis=0)))
            rest = without_b[name] - without_a[name]
            made[name] = _difference(
                name, figures, drawn_b[name] - drawn_a[name], rest, swapped_b[name] - swapped_a[name],
                np.stack([m.formula(a), m.formula(b)]), exact, int((a != b).any(axis=1).sum()), clusters,
            )  # fmt: skip
            if only_tests:
                made[name] = replace(made[name], interval="not asked for", detectable=None)
    return [made[m.metric] for m in first]


def _moved(metric: Pooled, start: Floats, sign: int) -> Pooled:
    """The metric as a function of how far its sums moved."""
    formula = metric.formula
    return Pooled(metric.metric, metric.columns, lambda sums: formula(start + sign * sums), metric.table)


def _difference(
    name: str,
    figures: tuple[float, float],
    replicates: Floats,
    without: Floats,
    swapped: Floats,
    by_cluster: Floats,
    exact: bool,
    differing: int,
    clusters: Clusters,
) -> Difference:
    first, second = (None if math.isnan(x) else x for x in figures)
    pulls = np.zeros(len(clusters))
    if first is None or second is None:
        why = "no figure on both sides"
        return Difference(name, first, second, None, why, None, why, False, None, by_cluster, pulls)
    gap = second - first
    if len(clusters) > 1:
        pulls = np.where(np.isnan(without), 0.0, gap - without)
    interval = _interval(gap, replicates, without, differing, clusters)
    if len(clusters) < ENOUGH:
        why = f"{len(clusters)} {clusters.unit}{'s' if len(clusters) > 1 else ''}: a test needs {ENOUGH}"
        return Difference(name, first, second, gap, interval, None, why, False, None, by_cluster, pulls)
    # A swap after which a side has no figure counts as great: it must not help anybody to significance.
    extreme = int((~(np.abs(swapped) < abs(gap) - _tie(figures))).sum())
    p = extreme / len(swapped) if exact else (1 + extreme) / (1 + len(swapped))
    known = replicates[~np.isnan(replicates)]
    error = float(known.std()) * math.sqrt(len(clusters) / (len(clusters) - 1))
    least = rounded(detectable(error, len(clusters))) if error > 0 else None
    return Difference(name, first, second, gap, interval, p, None, exact, least, by_cluster, pulls)


def _interval(gap: float, replicates: Floats, without: Floats, differing: int, clusters: Clusters) -> Interval | str:
    if len(clusters) < 2:
        return "one session: nothing to resample"
    if differing == 0:
        return f"no {clusters.unit} differs, and what others would do cannot be told from that"
    found = bca(gap, replicates, without, clusters)
    return found if isinstance(found, str) else replace(found, differing=differing)


def _tie(figures: tuple[float, float]) -> float:
    """Differences closer than this are one, as sums in another order make them."""
    return 1e-9 * max(abs(figures[0]), abs(figures[1]))
