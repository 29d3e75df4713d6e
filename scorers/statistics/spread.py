"""Distributions that can be added: histograms on one fixed grid, for the intervals of percentiles.

A percentile itself is exact, by nearest rank. Its interval needs the distribution of each session in a form that can be
re-weighted and summed: counts in bins 1 % wide, the same everywhere. Columns are cumulative, so that a sum of them is
the distribution of the whole, and bins that no session uses have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from scorers.pooling import Floats, Formula, Parts, Pooled
from simulator.runs.records import Ints

__all__ = ["Quantile", "quantiles"]

_STEP = np.log(1.01)


def bins(values_ns: Ints) -> Ints:
    """The bin of each value: 0 for 0, n for [1.01**(n-1), 1.01**n) ns, -n for the same below 0."""
    size = np.abs(values_ns).astype(np.float64)
    out = np.zeros(len(size), np.int64)
    some = size > 0
    out[some] = np.floor(np.log(size[some]) / _STEP + 1e-9).astype(np.int64) + 1
    return np.sign(values_ns) * out


def middles(of: Ints) -> Floats:
    """The value that stands for each bin, in ns: at most 0.5 % off."""
    size = np.abs(of)
    return np.sign(of) * np.where(size > 0, np.exp((size - 0.5) * _STEP), 0.0)


@dataclass(frozen=True, slots=True)
class Quantile:
    """The nearest-rank percentile of a distribution given by cumulative counts.

    Attributes:
        percent: which.
        per: ns in the unit of the figure.
        least: with fewer samples there is no figure.
        bins: all that are used, ascending; of the columns, where these were not narrowed.
        low: bins below the first column.
    """

    percent: int
    per: float
    least: int = 1
    bins: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    low: int = 0

    def __call__(self, sums: Floats) -> Floats:
        """See ``scorers.pooling.Formula``."""
        out: Floats = np.full(sums.shape[:-1], np.nan)
        if sums.shape[-1] == 0:
            return out
        n = np.rint(sums[..., -1])
        rank = np.maximum(np.ceil(self.percent * n / 100 - 1e-9), 1)
        at = self.low + (sums < rank[..., None] - 0.5).sum(axis=-1)
        enough = n >= self.least
        out[enough] = (middles(self.bins) / self.per)[at[enough]]
        return out

    def narrowed(self, sums: Floats) -> tuple[Ints, Quantile]:
        """The columns that matter when these rows are weighed, and the formula over them.

        The share of samples up to a bin is, of any weighed sum, an average of the rows' own shares. So a bin up to
        which each row has less than the percentile is always below it, and one up to which each has as much never is.
        """
        some = sums[sums[:, -1] > 0] if sums.shape[1] else sums[:0]
        if len(some) == 0:
            return np.arange(sums.shape[1]), self
        enough = 100 * some >= self.percent * some[:, -1:]
        low, high = int(enough.any(axis=0).argmax()), int(enough.all(axis=0).argmax())
        return np.array([*range(low, high), sums.shape[1] - 1]), replace(self, low=low)

    def parts(self, columns: Floats) -> list[Parts]:
        """Bin, count, bin, count, …, of the bins that are not empty."""
        counts = np.diff(columns, axis=1, prepend=0)
        rows = []
        for row in counts:
            used = np.flatnonzero(row)
            rows.append(np.stack([self.bins[used], row[used]], axis=1).ravel().tolist())
        return rows

    def read(self, parts: Sequence[Sequence[float]]) -> tuple[Floats, Formula]:
        """Cumulative columns over the bins that these sessions use."""
        listed = [np.asarray(row, np.int64) for row in parts]
        joined = np.concatenate([np.zeros(0, np.int64), *listed]).reshape(-1, 2)
        of = np.repeat(np.arange(len(listed)), [len(row) // 2 for row in listed])
        used, at = np.unique(joined[:, 0], return_inverse=True)
        counts: Floats = np.zeros((len(listed), len(used)))
        counts[of, at.reshape(-1)] = joined[:, 1]
        return np.cumsum(counts, axis=1), Quantile(self.percent, self.per, self.least, used)


def quantiles(table: str, metrics: Mapping[str, Quantile], values_ns: Sequence[Ints]) -> list[Pooled]:
    """Metrics that are percentiles of one distribution.

    Args:
        table: the name under which the histograms are kept.
        metrics: name to percentile (without bins).
        values_ns: the values of each session, in ns.
    """
    parts = []
    for values in values_ns:
        of, counts = np.unique(bins(np.asarray(values, np.int64)), return_counts=True)
        parts.append(np.stack([of, counts], axis=1).ravel().tolist())
    made = []
    columns: Floats | None = None
    for name, quantile in metrics.items():
        read, formula = quantile.read(parts)
        columns = read if columns is None else columns
        made.append(Pooled(name, columns, formula, table))
    return made
