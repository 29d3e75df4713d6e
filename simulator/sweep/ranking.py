"""Which cells may be held against each other, which is best, and which are not significantly worse.

Every cell of a group is tested against the best of it, paired over the sessions of both, with Holm's adjustment over
the cells of that metric. The best is chosen by looking at the same figures: that makes it look a little better than it
is, so a cell close to significance is not to be written off.

Where sessions are so few, and comparisons so many, that no p could get below 5 %, nobody is told to be like the best:
all would be, whatever they did. A cell that is given the truth is a ceiling: it has no rank, and nobody is held
against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scorers.headlines import OF_THE_TRUTH
from scorers.statistics.clusters import ENOUGH, Clusters
from scorers.statistics.paired import differences
from scorers.statistics.power import ALPHA
from scorers.statistics.resampling import least_p
from scorers.statistics.significance import holm
from simulator.sweep.pooling import Figure, Rows, both, pairs
from simulator.sweep.results import CellRuns, Results

__all__ = ["HOPELESS", "PARTIAL", "Group", "Standing", "groups", "rank"]

HOPELESS = "no difference could be shown"
"""How the reason ends where no p could get below 5 %, whatever the figures are."""

PARTIAL = "it has no rank beside cells of more"
"""How the reason ends where a cell lacks units that others have."""

_TIE = 1e-9
"""Figures closer than this share of the greater one are one."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a cell stands in its group by one metric.

    Attributes:
        rank: 1 is best; equals share a rank. None where it has no figure, lacks units that others have, sees the truth,
            or the metric has no better.
        like_best: not significantly worse than the best; None where nobody can tell; ``no_test`` says why.
        p: adjusted by Holm; None of the best itself, or where there is no test.
    """

    rank: int | None = None
    best: bool = False
    like_best: bool | None = None
    p: float | None = None
    no_test: str | None = None


@dataclass(slots=True)
class Group:
    """Cells whose figures were made under the same rules.

    Attributes:
        cells: in the order of the study.
        rules: data set, protocol, source of latencies, whether measured beside others.
    """

    rules: tuple[str, ...]
    cells: list[CellRuns] = field(default_factory=list)
    _played: dict[tuple[str, int], str] = field(default_factory=dict)
    _true: dict[tuple[str, int, int], str] = field(default_factory=dict)
    _versions: dict[str, tuple[object, object]] = field(default_factory=dict)

    def takes(self, cell: CellRuns) -> bool:
        """Add a cell, unless it was played on other data, against another truth, or scored by other formulas."""
        played = {(u.key, u.seed): u.dataset for u in cell.units}
        true = {(u.key, u.seed, u.period_ns): u.truth for u in cell.units}
        versions = {m: (d["scorer"], d["version"]) for run in cell.runs for m, d in run.details.items()}
        fits = (
            all(self._played.get(k, v) == v for k, v in played.items())
            and all(self._true.get(k, v) == v for k, v in true.items())
            and all(self._versions.get(k, v) == v for k, v in versions.items())
        )
        if fits:
            self.cells.append(cell)
            self._played |= played
            self._true |= true
            self._versions |= versions
        return fits


def rules(cell: CellRuns) -> tuple[str, ...]:
    """What must be the same of cells that are ranked together.

    Policy, gate, memory mode, rate, window and the like may differ: a sweep asks which of them is best.
    """
    marked = "beside others" if cell.marked else ""
    return cell.data, cell.told("protocol"), cell.told("latency_source"), marked


def groups(cells: Sequence[CellRuns]) -> list[Group]:
    """Cells that may be ranked together, in the order of the study.

    Cells without a scored run, those with a run that is INVALID, and those of which half the decisions
    or more failed are in none.
    """
    found: list[Group] = []
    for cell in cells:
        if not cell.runs or cell.mostly_failed or any(run.invalid for run in cell.runs):
            continue
        of = rules(cell)
        if not any(group.rules == of and group.takes(cell) for group in found):
            found.append(Group(of))
            found[-1].takes(cell)
    return found


def rank(results: Results, group: Group, figures: Mapping[str, Mapping[str, Figure]],
         directions: Mapping[str, str]) -> dict[tuple[str, str], Standing]:  # fmt: skip
    """How the cells of a group stand.

    Args:
        results: of the sweep.
        group: cells that may be ranked together.
        figures: by cell id and metric.
        directions: of the metrics: ``up``, ``down`` or ``-``.

    Returns:
        By cell id and metric.
    """
    made: dict[tuple[str, str], Standing] = {}
    tests: dict[str, list[str]] = {}
    ranked, partial = _whole([cell for cell in group.cells if not cell.sees_truth])
    for metric, direction in directions.items():
        values = {c.id: v for c in ranked if (v := figures[c.id][metric].value) is not None}
        if direction not in ("up", "down") or metric in OF_THE_TRUTH or not values:
            continue
        ranks = _ranks(values, 1 if direction == "up" else -1)
        made |= {(i, metric): Standing(r, r == 1, True if r == 1 else None) for i, r in ranks.items()}
        tests.setdefault(next(i for i, r in ranks.items() if r == 1), []).append(metric)
    by_id = {cell.id: cell for cell in ranked}
    for best, metrics in tests.items():
        made |= _against(results, by_id[best], [c for c in ranked if c.id != best], metrics, made)
    for cell, n in partial:
        said = f"{len(cell.units)} of {n} units: {PARTIAL}"
        made |= {(cell.id, metric): Standing(no_test=said) for metric in directions}
    return made


def _whole(cells: Sequence[CellRuns]) -> tuple[list[CellRuns], list[tuple[CellRuns, int]]]:
    """Cells that have every unit that any of them has; the others, each with how many those are.

    Whoever fails on what is hard for all would look better by it. What all lack is no matter.
    """
    units = {cell.id: {(unit.key, unit.seed) for unit in cell.units} for cell in cells}
    every = set[tuple[str, int]]().union(*units.values())
    whole = [cell for cell in cells if len(units[cell.id]) == len(every)]
    return whole, [(cell, len(every)) for cell in cells if len(units[cell.id]) < len(every)]


def _ranks(values: Mapping[str, float], sign: int) -> dict[str, int]:
    """1 for the greatest (of those times ``sign``), equals alike."""
    ordered = sorted(values, key=lambda i: -sign * values[i])
    found: dict[str, int] = {}
    for place, i in enumerate(ordered):
        before = ordered[place - 1] if place else None
        tied = before is not None and abs(values[i] - values[before]) <= _TIE * max(abs(values[i]), abs(values[before]))
        found[i] = found[before] if tied and before is not None else place + 1
    return {i: found[i] for i in values}


def _against(results: Results, best: CellRuns, others: Sequence[CellRuns], metrics: Sequence[str],
             standing: Mapping[tuple[str, str], Standing]) -> dict[tuple[str, str], Standing]:  # fmt: skip
    p: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    least: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    n_of: dict[tuple[str, str], str] = {}
    why: dict[tuple[str, str], str] = {}
    for cell in others:
        ranked = [m for m in metrics if (cell.id, m) in standing]
        for (rows, places), some in _by_units(results, best, cell, ranked, why).items():
            a, b = np.array(rows, np.int64), np.array(places, np.int64)
            clusters = Clusters.group([best.units[i].cluster for i in rows])
            if len(clusters) < ENOUGH:
                said = f"{len(clusters)} {clusters.unit}{'' if len(clusters) == 1 else 's'}: a test needs {ENOUGH}"
                why |= {(cell.id, m): said for m in some}
                continue
            sums = [both(results.like[m], best, a, cell, b) for m in some]
            for d in differences([x for x, _ in sums], [y for _, y in sums], clusters, only_tests=True):
                if d.p is None:
                    why[cell.id, d.metric] = d.no_test or "no test"
                else:
                    p[d.metric][cell.id] = d.p
                    least[d.metric][cell.id] = least_p(len(clusters))
                    n_of[cell.id, d.metric] = f"{len(clusters)} {clusters.unit}s"
    found: dict[tuple[str, str], Standing] = {}
    for metric in metrics:
        adjusted, at_least = holm(p[metric]), holm(least[metric])
        for cell in others:
            if (old := standing.get((cell.id, metric))) is None:
                continue
            value = adjusted.get(cell.id)
            if value is not None and at_least[cell.id] >= ALPHA:
                said = f"{n_of[cell.id, metric]} and {len(adjusted)} comparisons: {HOPELESS}"
                found[cell.id, metric] = Standing(old.rank, old.best, True if old.best else None, value, said)
            elif value is not None:
                found[cell.id, metric] = Standing(old.rank, old.best, old.best or value >= ALPHA, value)
            else:
                like = True if old.best else None
                found[cell.id, metric] = Standing(old.rank, old.best, like, None, why.get((cell.id, metric)))
    return found


def _by_units(results: Results, best: CellRuns, cell: CellRuns, metrics: Sequence[str],
              why: dict[tuple[str, str], str]) -> dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]]:  # fmt: skip
    """Metrics by the units, of both cells, that can be paired for them."""
    rows, places = pairs(best, cell)
    made: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for metric in metrics:
        like = results.like.get(metric)
        if like is None or like.table not in best.tables or like.table not in cell.tables:
            why[cell.id, metric] = "not a function of sums over sessions"
            continue
        a, b = usable(best, rows, cell, places, like.table)
        if len(a) == 0:
            why[cell.id, metric] = "no session in common with the best"
            continue
        made.setdefault((tuple(a.tolist()), tuple(b.tolist())), []).append(metric)
    return made


def usable(first: CellRuns, rows: Rows, second: CellRuns, others: Rows, table: str) -> tuple[Rows, Rows]:
    """The pairs of units of which both know what they add to a table."""
    known = knowing(first, rows, second, others, table)
    return rows[known], others[known]


def knowing(first: CellRuns, rows: Rows, second: CellRuns, others: Rows, table: str) -> NDArray[np.bool_]:
    """Whether both know it, pair by pair."""
    return first.tables[table].has[rows] & second.tables[table].has[others]
