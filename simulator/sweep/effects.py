"""What a value of an axis is worth: its gain over the baseline, all else the same.

Cells are paired that differ in this axis alone, units of the same session and seed in them; one to which another axis
says nothing is paired with each value of that one. The gain is the mean over
the pairs of cells of the difference between their figures, so that an agent that talks much weighs no more than one
that talks little. A session is drawn and swapped with all its seeds and cells as one.

Where a study has several data sets, each has effects of its own: a mean over recorded and made-up people, or over two
recipes, speaks of nobody. Twins, sets of the same recordings, are taken together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorers.headlines import OF_THE_TRUTH
from scorers.pooling import Floats, Formula, Pooled
from scorers.statistics.clusters import Clusters
from scorers.statistics.interval import Interval, rounded
from scorers.statistics.paired import Difference, differences
from scorers.statistics.significance import holm
from scorers.statistics.spread import Quantile
from simulator.sweep.pooling import Rows, both, pairs
from simulator.sweep.ranking import Group, knowing
from simulator.sweep.results import CellRuns, Results

__all__ = ["Effect", "alike", "effects"]

Values = tuple[tuple[str, str], ...]

NOTHING = "-"
"""The value of an axis in cells to which it says nothing."""
DATA = "data"
"""The axis whose values are data sets: sessions are paired there by what they are recordings of."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The marginal effect of a value.

    Attributes:
        first: the mean figure of the baseline over the paired cells; ``second`` that of the value.
        data: the data set that it is of, twins joined by `` + ``; None where the study has only one, or twins alone,
            and of the axis ``data`` itself.
        gain: second - first, in the unit of the metric; None with a ``reason``.
        n: sessions (of many users: users) that were paired; ``n_cells``: pairs of cells.
        adjusted: p by Holm over all effects on the same metric.
    """

    axis: str
    value: str
    against: str
    metric: str
    first: float | None
    second: float | None
    gain: float | None
    interval: Interval | str
    p: float | None
    adjusted: float | None
    n: int
    n_cells: int
    reason: str | None = None
    data: str | None = None

    def told(self) -> dict[str, Any]:
        """JSON-ready."""
        ends = (self.interval.low, self.interval.high) if isinstance(self.interval, Interval) else (None, None)
        said: dict[str, Any] = {
            "axis": self.axis, "value": self.value, "against": self.against, "metric": self.metric,
            "gain": self.gain, "low": ends[0], "high": ends[1], "p": self.p, "adjusted": self.adjusted, "n": self.n,
            "n_cells": self.n_cells, "first": self.first, "second": self.second, "reason": self.reason,
            "data": self.data,
        }  # fmt: skip
        if isinstance(self.interval, str) and self.reason is None:
            said["no_interval"] = self.interval
        elif isinstance(self.interval, Interval) and self.interval.few:
            said["few"] = True
        return said


@dataclass(frozen=True, slots=True)
class _Pair:
    """A cell of the baseline, one of the value, and the units that both have; ``of``: the cluster of each."""

    first: CellRuns
    second: CellRuns
    rows: Rows
    others: Rows
    of: Rows


def effects(results: Results, grouped: Sequence[Group], metrics: Sequence[str]) -> list[Effect]:
    """The effects of all values of all axes that vary, in the order of the study.

    Args:
        results: of the sweep.
        grouped: cells that may be held against each other.
        metrics: of which; those that have no better have effects too, but for those of the truth alone.
    """
    wanted = [m for m in metrics if m not in OF_THE_TRUTH]
    found: list[Effect] = []
    sets = _twins(results.cells)
    for axis, values in results.study.axes.items():
        used = [v for v in values if v != NOTHING and any(cell.values.get(axis) == v for cell in results.cells)]
        if len(used) < 2:
            continue
        against = results.study.baseline.get(axis, used[0])
        for value in used:
            if value != against:
                for names in [()] if axis == DATA else sets:
                    some = [c for c in results.cells if not names or c.data in names]
                    if names and len(sets) > 1 and not any(c.values.get(axis) == value for c in some):
                        continue
                    said = " + ".join(names) if names and len(sets) > 1 else None
                    of = _effect(some, results.like, grouped, wanted, axis, value, against)
                    found += [replace(e, data=said) for e in of]
    adjusted: dict[str, float] = {}
    for metric in wanted:
        adjusted |= holm({str(n): e.p for n, e in enumerate(found) if e.metric == metric and e.p is not None})
    return [replace(e, adjusted=adjusted.get(str(n))) for n, e in enumerate(found)]


def _twins(cells: Sequence[CellRuns]) -> list[tuple[str, ...]]:
    """The names of data sets, those of the same recordings together, in the order of the study."""
    of: dict[str, set[str]] = {}
    for cell in cells:
        of.setdefault(cell.data, set()).update(unit.recording for unit in cell.units)
    found: dict[tuple[str, ...], list[str]] = {}
    for name, recordings in of.items():
        found.setdefault(tuple(sorted(recordings)) or (name,), []).append(name)
    return [tuple(names) for names in found.values()]


def _effect(cells: Sequence[CellRuns], likes: Mapping[str, Pooled], grouped: Sequence[Group], metrics: Sequence[str],
            axis: str, value: str, against: str) -> list[Effect]:  # fmt: skip
    paired, why = _cells(cells, grouped, axis, value, against)

    def none(metric: str, reason: str, n: int = 0) -> Effect:
        return Effect(axis, value, against, metric, None, None, None, reason, None, None, n, 0, reason)

    if not paired:
        return [none(metric, why) for metric in metrics]
    clusters, paired = _clusters(paired)
    made: dict[str, Effect] = {}
    blocks: dict[str, list[_Block]] = {}
    for metric in metrics:
        if (like := likes.get(metric)) is None:
            made[metric] = none(metric, "not a function of sums over sessions")
        else:
            blocks[metric] = _blocks(like, paired, clusters)
            if not blocks[metric]:
                made[metric] = none(metric, "no pair of cells in which both have a figure", len(clusters))
    sides = [_joined(metric, of) for metric, of in blocks.items() if of]
    whole = replace(clusters, of=np.arange(len(clusters)))
    for d in differences([a for a, _ in sides], [b for _, b in sides], whole) if sides else ():
        made[d.metric] = _of(d, axis, value, against, len(clusters), len(blocks[d.metric]))
    return [made[metric] for metric in metrics]


def _of(d: Difference, axis: str, value: str, against: str, n: int, n_cells: int) -> Effect:
    gain = None if d.difference is None else rounded(d.difference)
    reason = None if gain is not None else str(d.interval)
    interval = d.interval
    if isinstance(interval, Interval) and gain is not None:
        interval = interval.holding(gain)
    first, second = (None if x is None else rounded(x) for x in (d.first, d.second))
    return Effect(axis, value, against, d.metric, first, second, gain, interval, d.p, None, n, n_cells, reason)


def _cells(cells: Sequence[CellRuns], grouped: Sequence[Group], axis: str, value: str,
           against: str) -> tuple[list[_Pair], str]:  # fmt: skip
    """The cells that differ in the axis alone, with the units that both have; or why there are none."""
    group_of = {cell.id: n for n, group in enumerate(grouped) for cell in group.cells}
    bases = {_others(cell, axis): cell for cell in cells if cell.values.get(axis) == against}
    sides = [(base, cell) for cell in cells if cell.values.get(axis) == value
             for base in alike(_others(cell, axis), bases)]  # fmt: skip
    found, why = [], f"no cell with {axis} {value} has one that differs from it only in being {against}"
    for base, cell in sides:
        if base.id not in group_of or cell.id not in group_of:
            why = "a cell without figures that could be used stands on one side"
            continue
        if axis != DATA and group_of[base.id] != group_of[cell.id]:
            why = "figures of these cells must not be compared: data, truth, protocol or source of latencies differ"
            continue
        rows, others = pairs(base, cell)
        if axis == DATA:
            rows, others = _of_one_recording(base, cell, rows, others)
        if len(rows):
            found.append(_Pair(base, cell, rows, others, rows))
        else:
            why = "they have no session in common"
    return found, why


def _of_one_recording(base: CellRuns, cell: CellRuns, rows: Rows, others: Rows) -> tuple[Rows, Rows]:
    """Of units called alike those of one recording: made-up users of two recipes have the same names. Where there are
    none, units by what they are recordings of.
    """
    same = [base.units[i].recording == cell.units[j].recording for i, j in zip(rows, others, strict=True)]
    return (rows[same], others[same]) if any(same) else pairs(base, cell, by_recording=True)


def alike(values: Values, cells: Mapping[Values, CellRuns]) -> list[CellRuns]:
    """The cells of these values; where there is none those that differ only in axes that say nothing to one side.

    An agent that reads no window is played once, and stands beside those that do with each of their windows.
    """
    if (found := cells.get(values)) is not None:
        return [found]
    return [cell for others, cell in cells.items()
            if all(a == b or (a[0] == b[0] and NOTHING in (a[1], b[1])) for a, b in zip(values, others, strict=True))
            ]  # fmt: skip


def _others(cell: CellRuns, axis: str) -> Values:
    return tuple((k, v) for k, v in cell.values.items() if k != axis)


def _clusters(paired: Sequence[_Pair]) -> tuple[Clusters, list[_Pair]]:
    """Of all units on the baselines' side; and the pairs with the number of the cluster of each of their units."""
    units = {(u.key, u.seed): u.cluster for pair in paired for u in (pair.first.units[i] for i in pair.rows)}
    names = sorted(units)
    clusters = Clusters.group([units[name] for name in names])
    number = dict(zip(names, clusters.of.tolist(), strict=True))
    return clusters, [
        replace(pair, of=np.array([number[_name(pair.first, i)] for i in pair.rows], np.int64)) for pair in paired
    ]


@dataclass(frozen=True, slots=True)
class _Block:
    """One pair of cells: what each cluster adds on both sides, and the formula over it."""

    first: Floats
    second: Floats
    formula: Formula
    table: str


def _blocks(like: Pooled, paired: Sequence[_Pair], clusters: Clusters) -> list[_Block]:
    """Of each pair of cells that has a figure on both sides."""
    found = []
    for n, pair in enumerate(paired):
        if like.table not in pair.first.tables or like.table not in pair.second.tables:
            continue
        known = knowing(pair.first, pair.rows, pair.second, pair.others, like.table)
        if not known.any():
            continue
        a, b = both(like, pair.first, pair.rows[known], pair.second, pair.others[known])
        of = replace(clusters, of=pair.of[known])
        sums, formula = [of.sums(a.columns), of.sums(b.columns)], a.formula
        if isinstance(formula, Quantile):
            keep, formula = formula.narrowed(np.concatenate(sums))
            sums = [s[:, keep] for s in sums]
        figures = [float(formula(s.sum(axis=0))) for s in sums]
        if not any(x != x for x in figures):
            own = f" {like.metric}" if isinstance(formula, Quantile) else ""
            found.append(_Block(sums[0], sums[1], formula, f"{like.table}{own} {n}"))
    return found


def _name(cell: CellRuns, place: int) -> tuple[str, int]:
    unit = cell.units[place]
    return unit.key, unit.seed


def _joined(metric: str, blocks: Sequence[_Block]) -> tuple[Pooled, Pooled]:
    """The mean over pairs of cells, as a metric over the columns of all of them side by side."""
    ends = np.cumsum([block.first.shape[1] for block in blocks]).tolist()
    places = [slice(end - block.first.shape[1], end) for end, block in zip(ends, blocks, strict=True)]
    formulas = [block.formula for block in blocks]

    def mean(sums: Floats) -> Floats:
        of = [formula(sums[..., place]) for formula, place in zip(formulas, places, strict=True)]
        return np.asarray(np.mean(np.stack(of), axis=0))

    table = " + ".join(block.table for block in blocks)
    a, b = (np.concatenate(sides, axis=1) for sides in ([x.first for x in blocks], [x.second for x in blocks]))
    return Pooled(metric, a, mean, table), Pooled(metric, b, mean, table)
