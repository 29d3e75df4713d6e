"""How far a cell is from the study's baseline, all else the same: what hatches a heat map, and what says of each data
set by itself what effects say of the mean over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scorers.headlines import OF_THE_TRUTH
from scorers.statistics.clusters import Clusters
from scorers.statistics.interval import Interval, rounded
from scorers.statistics.paired import differences
from scorers.statistics.significance import holm
from simulator.sweep.effects import alike
from simulator.sweep.pooling import both, pairs
from simulator.sweep.ranking import Group, usable
from simulator.sweep.results import CellRuns, Results

__all__ = ["MOST", "gains"]

MOST = 15_000
"""Cells times metrics times sessions (100 at least): each pair takes resamples of its own, so that a large study has
gains of its leading metrics alone, or none.
"""
_LEAST_SESSIONS = 100

_Gains = dict[tuple[str, str], dict[str, Any]]


def gains(results: Results, grouped: Sequence[Group], metrics: Sequence[str]) -> _Gains:
    """By cell id and metric, the difference to the cell that has the baseline's values: ``value``, ``low``, ``high``,
    ``p`` and ``adjusted`` (by Holm over the cells that are ranked together, on one metric), and ``detectable``, the
    difference that four of five such comparisons would find.

    Paired over the sessions and seeds of both. The baseline's own cells have none, nor have cells of another group than
    theirs, nor what is past ``MOST``.

    Args:
        results: of the sweep.
        grouped: cells that may be held against each other.
        metrics: of which, the leading ones first.
    """
    found: _Gains = {}
    baseline = results.study.baseline
    if not baseline:
        return found
    wanted = [m for m in metrics if m not in OF_THE_TRUTH and m in results.like]
    cells = [cell for group in grouped for cell in group.cells]
    n_units = max((len(cell.units) for cell in cells), default=0)
    wanted = wanted[: MOST // (max(n_units, _LEAST_SESSIONS) * max(len(cells), 1))]
    for group in grouped:
        of_group: _Gains = {}
        at = {tuple(cell.values.items()): cell for cell in group.cells}
        for cell in group.cells:
            bases = alike(tuple({**cell.values, **{a: v for a, v in baseline.items() if a in cell.values}}.items()), at)
            if len(bases) == 1 and (base := bases[0]) is not cell and wanted:
                of_group |= {(cell.id, name): gain for name, gain in _between(results, base, cell, wanted).items()}
        found |= _adjusted(of_group, wanted)
    return found


def _adjusted(gains: _Gains, metrics: Sequence[str]) -> _Gains:
    """The same with p by Holm over all gains on one metric."""
    for metric in metrics:
        of = holm({cell: gain["p"] for (cell, name), gain in gains.items() if name == metric and gain["p"] is not None})
        for cell, p in of.items():
            gains[cell, metric]["adjusted"] = p
    return gains


def _between(results: Results, base: CellRuns, cell: CellRuns, metrics: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The differences of two cells, by metric; those of one table of units are resampled together."""
    rows, others = pairs(base, cell)
    by_units: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for metric in metrics:
        table = results.like[metric].table
        if table in base.tables and table in cell.tables:
            a, b = usable(base, rows, cell, others, table)
            if len(a):
                by_units.setdefault((tuple(a.tolist()), tuple(b.tolist())), []).append(metric)
    found: dict[str, dict[str, Any]] = {}
    for (left, right), some in by_units.items():
        a, b = np.array(left, np.int64), np.array(right, np.int64)
        clusters = Clusters.group([base.units[i].cluster for i in left])
        sums = [both(results.like[m], base, a, cell, b) for m in some]
        for d in differences([x for x, _ in sums], [y for _, y in sums], clusters):
            if d.difference is None:
                continue
            value = rounded(d.difference)
            ends = d.interval.holding(value) if isinstance(d.interval, Interval) else None
            low, high = (None, None) if ends is None else (ends.low, ends.high)
            shows = None if d.detectable is None else rounded(d.detectable)
            found[d.metric] = {
                "value": value,
                "low": low,
                "high": high,
                "p": d.p,
                "adjusted": None,
                "detectable": shows,
            }
    return found
