"""Figures of cells from the sums of their units, and of pairs of cells over the units that both have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorers.pooling import Pooled, Reader
from scorers.statistics.clusters import Clusters
from scorers.statistics.interval import Interval, intervals
from simulator.sweep.results import CellRuns, Results

__all__ = ["Figure", "Rows", "both", "figures", "unfit"]

Rows = NDArray[np.int64]
"""Which units of a cell, by place."""
NO_RUN = "no unit was played and scored yet"


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric of a cell.

    Attributes:
        value: None with a ``reason``.
        interval: or why there is none.
        n: sessions that it rests on; ``n_events``: windows, offers, decisions, whatever its scorer counts.
    """

    value: float | None
    interval: Interval | str
    n: int
    n_events: int
    reason: str | None = None


def figures(results: Results, cell: CellRuns, metrics: Sequence[str]) -> dict[str, Figure]:
    """The figures of a cell over all its scored units, its seeds together.

    Of one seed they are those of ``scores.json``; of several, and where a unit erred halfway, the sums of the units
    that came to their end are added, as ``proact compare`` does it.
    """
    if len(cell.runs) == 1 and not cell.runs[0].torn:
        return {metric: _of_one(cell, metric) for metric in metrics}
    found: dict[str, Figure] = {}
    groups: dict[tuple[int, ...], list[str]] = {}
    for metric in metrics:
        if (why := unfit(results, cell, metric)) is not None:
            found[metric] = Figure(None, why, 0, _events(cell, metric), why)
        else:
            rows = np.flatnonzero(cell.tables[results.like[metric].table].has)
            groups.setdefault(tuple(rows.tolist()), []).append(metric)
    for listed, group in groups.items():
        rows = np.array(listed, np.int64)
        clusters = Clusters.group([cell.units[i].cluster for i in listed])
        pooled = [cell.tables[results.like[m].table].of(results.like[m], rows) for m in group]
        of = intervals(pooled, clusters)
        for m in pooled:
            value: float | None = m.value
            reason = None
            if value != value:  # a number that is not itself: NaN, no figure
                value, reason = None, _reason(cell, m.metric) or "its denominator is 0"
            interval = of[m.metric]
            if value is not None:
                value = float(f"{value:.12g}")  # sums in another order differ in the sixteenth digit
                interval = interval.holding(value) if isinstance(interval, Interval) else interval
            found[m.metric] = Figure(value, interval, clusters.n_sessions, _events(cell, m.metric), reason)
    return {metric: found[metric] for metric in metrics}


def _of_one(cell: CellRuns, metric: str) -> Figure:
    (run,) = cell.runs
    detail = run.details.get(metric)
    n_sessions = len({unit.recording for unit in cell.units})
    if detail is None:
        why = "the scorers of the run do not give it"
        return Figure(None, why, 0, 0, why)
    if detail["value"] is None:
        return Figure(None, detail["reason"], n_sessions, detail["n"], detail["reason"])
    told = detail.get("interval")
    if told is None:
        return Figure(detail["value"], detail.get("no_interval", "none was made"), n_sessions, detail["n"])
    unit, n = ("user", told["n_users"]) if "n_users" in told else ("session", told["n_sessions"])
    interval = Interval(told["low"], told["high"], told["method"], told["n_sessions"], unit, n)
    return Figure(detail["value"], interval, told["n_sessions"], detail["n"])


def unfit(results: Results, cell: CellRuns, metric: str) -> str | None:
    """Why the units of a cell cannot be pooled to this metric; None where they can."""
    if not cell.runs:
        return "all its units erred" if cell.unscored else NO_RUN
    if not cell.units:
        return "all its units erred"
    if cell.detail(metric) is None:
        return "the scorers of the run do not give it"
    like = results.like.get(metric)
    if like is None:
        why = next((run.details[metric].get("no_interval") for run in cell.runs if metric in run.details), None)
        return f"{why or 'not a function of sums over sessions'}: see its runs"
    table = cell.tables.get(like.table)
    if table is None or not table.has.any():
        return _reason(cell, metric) or "what sessions add was not kept"
    if not table.has.all():
        return _reason(cell, metric) or f"{int((~table.has).sum())} units do not know what they add"
    return None


def _reason(cell: CellRuns, metric: str) -> str | None:
    return next((r.details[metric]["reason"] for r in cell.runs if r.details.get(metric, {}).get("reason")), None)


def _events(cell: CellRuns, metric: str) -> int:
    return sum(int(run.details[metric]["n"]) for run in cell.runs if metric in run.details)


def both(like: Pooled, first: CellRuns, rows: Rows, second: CellRuns, others: Rows) -> tuple[Pooled, Pooled]:
    """A metric over units of two cells, in the same columns."""
    one, two = first.tables[like.table], second.tables[like.table]
    if not isinstance(like.formula, Reader):
        return one.of(like, rows), two.of(like, others)
    joined = like.of([*(one.parts[i] for i in rows), *(two.parts[i] for i in others)])
    n = len(rows)
    return replace(joined, columns=joined.columns[:n]), replace(joined, columns=joined.columns[n:])


def pairs(first: CellRuns, second: CellRuns, *, by_recording: bool = False) -> tuple[Rows, Rows]:
    """The places of units of the same session and seed in both cells.

    Args:
        first: a cell.
        second: another.
        by_recording: units are the same session where they are of one recording, whatever they are called: noise twins
            of what they were made of. Recordings that several units of a side are of are left out.
    """
    if not by_recording and _names(first) == _names(second):
        every = np.arange(len(first.units))
        return every, every
    here, there = (_places(cell, by_recording=by_recording) for cell in (first, second))
    common = sorted(here.keys() & there.keys())
    return np.array([here[k] for k in common], np.int64), np.array([there[k] for k in common], np.int64)


def _names(cell: CellRuns) -> list[tuple[str, int]]:
    return [(unit.key, unit.seed) for unit in cell.units]


def _places(cell: CellRuns, *, by_recording: bool) -> dict[tuple[str, int], int]:
    names: Iterator[tuple[str, int]] = ((u.recording if by_recording else u.key, u.seed) for u in cell.units)
    found: dict[tuple[str, int], int] = {}
    twice: set[Any] = set()
    for place, name in enumerate(names):
        if name in found:
            twice.add(name)
        found[name] = place
    return {name: place for name, place in found.items() if name not in twice}
