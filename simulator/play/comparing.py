"""Two runs or more, session by session: what differs, how sure that is, and which sessions make it so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scorers.base import scorers
from scorers.headlines import HEADLINES, OF_THE_TRUTH
from scorers.pooling import Pooled
from scorers.resampled import cluster_of, pooled_of
from scorers.statistics.clusters import Clusters
from scorers.statistics.paired import Difference, differences
from scorers.statistics.significance import holm
from simulator.core.errors import UsageError, nearest, quote
from simulator.play.flips import Flips, Pair, flips
from simulator.play.sides import Run, Side, sides

__all__ = ["Comparison", "Row", "compare"]

SAME = ("dataset", "truth", "protocol", "policy", "gate", "memory_mode", "latency_source")
"""Fields of a unit's header without which two figures say nothing about each other."""
Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A metric of both sides.

    Attributes:
        metric: its name; ``unit`` and ``direction`` as in the catalogue.
        found: the difference and its test; None with ``reason`` where the figures cannot be compared.
        clusters: what the difference was paired by.
        adjusted: p by Holm over all rows of the table, all comparisons with the baseline together.
    """

    metric: str
    unit: str
    direction: str
    found: Difference | None
    clusters: Clusters
    reason: str | None = None
    adjusted: float | None = None

    @property
    def standing(self) -> dict[str, int]:
        """In how many clusters the second side is better, equal, worse; and how many have no figure on both sides.

        Empty for a metric that has no better.
        """
        if self.found is None or self.direction not in ("up", "down"):
            return {}
        first, second = self.found.by_cluster
        gain = (second - first) * (1 if self.direction == "up" else -1)
        known = ~(gain != gain)
        tie = 1e-9 * abs(first).clip(1e-300)
        better, worse = int((gain > tie).sum()), int((gain < -tie).sum())
        equal = int(known.sum()) - better - worse
        return {"better": better, "equal": equal, "worse": worse, "no_figure": int((~known).sum())}

    def drivers(self, most: int = 5) -> list[dict[str, Any]]:
        """The clusters that make the difference: how much of it goes away without each, the greatest first."""
        if self.found is None:
            return []
        pulls, (first, second) = self.found.pulls, self.found.by_cluster
        order = sorted(range(len(pulls)), key=lambda i: (-abs(pulls[i]), self.clusters.names[i]))
        return [
            {
                self.clusters.unit: self.clusters.names[i],
                "contribution": float(pulls[i]),
                "first": _known(first[i]),
                "second": _known(second[i]),
            }
            for i in order[:most]
            if pulls[i]
        ]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A side against the baseline.

    Attributes:
        n_sessions: paired sessions; ``n_units`` pairs of units.
        left_out: units on one side only, left out with ``common``.
        forced: what speaks against comparing, where it was compared all the same.
    """

    first: Side
    second: Side
    rows: tuple[Row, ...]
    flips: Flips | None
    n_sessions: int
    n_units: int
    n_seeds: int
    left_out: int
    forced: tuple[str, ...]


def compare(paths: Sequence[str | Path], metrics: Sequence[str] | None = None, *, force: bool = False,
            common: bool = False) -> list[Comparison]:  # fmt: skip
    """Hold each side against the first.

    Args:
        paths: runs, or folders of runs; see ``simulator.play.sides``.
        metrics: names; None takes the headlines of the protocol.
        force: compare what should not be compared, and say so.
        common: leave out sessions that only one side has.

    Raises:
        UsageError: sides that cannot be compared, or an unknown metric.
        InputError: not a run folder.
    """
    first, *others = sides(paths)
    made = [_compared(first, second, metrics, force, common) for second in others]
    p = {f"{i} {r.metric}": r.found.p for i, c in enumerate(made) for r in c.rows if r.found and r.found.p is not None}
    adjusted = holm(p)
    return [
        replace(c, rows=tuple(replace(r, adjusted=adjusted.get(f"{i} {r.metric}")) for r in c.rows))
        for i, c in enumerate(made)
    ]


def _compared(first: Side, second: Side, metrics: Sequence[str] | None, force: bool, common: bool) -> Comparison:
    pairs, alone = _pairs(first, second)
    who = f"cannot compare {first.name} with {second.name}"
    if not pairs:
        raise UsageError(f"{who}: they have no session in common")
    against = [*first.faults, *second.faults, *_differ(first, second, pairs)]
    if against and not force:
        raise UsageError(f"{who}: {against[0]}; --force compares all the same, and marks it")
    if alone and not common:
        name, key = alone[0]
        of = f"{len(alone)} unit{'s' if len(alone) > 1 else ''} of one side only, such as {quote(key)} of {name}"
        if not force:
            raise UsageError(f"{who}: {of}; --common leaves them out")
        against.append(f"{of}: left out")
    rows = _rows(first, second, pairs, metrics)
    clusters = Clusters.group([cluster_of(key, a.units[key]) for key, a, _ in pairs])
    n_seeds = max(len(first.runs), len(second.runs))
    return Comparison(
        first, second, tuple(rows), flips(pairs), clusters.n_sessions, len(pairs), n_seeds, len(alone), tuple(against)
    )


def _pairs(first: Side, second: Side) -> tuple[list[Pair], list[tuple[str, str]]]:
    """Units of the same session and seed; and those of one side only, with its name. One run each: whatever seed."""
    single = len(first.runs) == len(second.runs) == 1
    a, b = (
        {(key, 0 if single else seed): run for key, seed, run in side.units() if key in run.scores["units"]}
        for side in (first, second)
    )
    pairs = [(key, a[key, seed], b[key, seed]) for key, seed in sorted(a.keys() & b.keys())]
    alone = [
        (side.name, key) for side, x, y in ((first, a, b), (second, b, a)) for key, _ in sorted(x.keys() - y.keys())
    ]
    return pairs, alone


def _differ(first: Side, second: Side, pairs: Sequence[Pair]) -> Iterator[str]:
    """In what the sides differ that must be the same, each once."""
    for field in SAME:
        for key, a, b in pairs:
            here, there = a.units[key].get(field), b.units[key].get(field)
            if here != there:
                yield f"{field} is {quote(here)} in {first.name} and {quote(there)} in {second.name} (unit {key})"
                break
    one, other = first.runs[0].scores["details"], second.runs[0].scores["details"]
    for metric in sorted(one.keys() & other.keys()):
        for field in ("scorer", "version"):
            here, there = one[metric][field], other[metric][field]
            if here != there:
                yield f"{field} of {metric} is {quote(here)} in {first.name} and {quote(there)} in {second.name}"
                return


def _rows(first: Side, second: Side, pairs: Sequence[Pair], metrics: Sequence[str] | None) -> list[Row]:
    details = [side.runs[0].scores["details"] for side in (first, second)]
    names = _names(metrics, first, [m for m in details[0] if m in details[1]])
    specs = sorted({details[0][name]["scorer"] for name in names})
    like = {m.metric: m for spec in specs for m in pooled_of(scorers.make(spec), [])}
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        groups.setdefault(_usable(like.get(name), pairs), []).append(name)
    found: dict[str, Row] = {}
    for usable, group in groups.items():
        some = [pairs[i] for i in usable]
        clusters = Clusters.group([cluster_of(key, run.units[key]) for key, run, _ in some])
        sums = [_both(like[name], some) for name in group] if some else []
        tested = differences([x for x, _ in sums], [y for _, y in sums], clusters) if sums else []
        by_name = {d.metric: d for d in tested}
        for name in group:
            a, b = (told[name] for told in details)
            got, reason = by_name.get(name), _reason(a, b, name in like)
            if got is not None and all(_all_of(like[name].table, len(some), side) for side in (first, second)):
                got = _exact(got, a["value"], b["value"])
            found[name] = Row(name, a["unit"], a["direction"], got, clusters, None if got else reason)
    return [found[name] for name in names]


def _names(metrics: Sequence[str] | None, first: Side, known: Sequence[str]) -> list[str]:
    for metric in metrics or ():
        if metric not in known:
            raise UsageError(f"metric {quote(metric)} is not in both runs; {nearest(metric, known)}")
    wanted = metrics or [m for m in HEADLINES[str(first.runs[0].scores["protocol"])] if m not in OF_THE_TRUTH]
    return [m for m in wanted if m in known]


def _usable(like: Pooled | None, pairs: Sequence[Pair]) -> tuple[int, ...]:
    """The pairs of which both sides know what they add to the metric's sums."""
    if like is None:
        return ()
    return tuple(i for i, (key, a, b) in enumerate(pairs) if all(like.table in _parts(run, key) for run in (a, b)))


def _parts(run: Run, key: str) -> Mapping[str, list[float]]:
    parts: Mapping[str, list[float]] = run.scores["units"][key].get("parts", {})
    return parts


def _both(like: Pooled, pairs: Sequence[Pair]) -> tuple[Pooled, Pooled]:
    """The metric over the pairs' first and second units, in the same columns."""
    n = len(pairs)
    parts = [_parts(a, key) for key, a, _ in pairs] + [_parts(b, key) for key, _, b in pairs]
    joined = like.of([of_unit[like.table] for of_unit in parts])
    return replace(joined, columns=joined.columns[:n]), replace(joined, columns=joined.columns[n:])


def _all_of(table: str, n: int, side: Side) -> bool:
    """Whether n units are all that a side's figure rests on, so that it is the one in scores.json."""
    run = side.runs[0]
    return len(side.runs) == 1 and sum(table in _parts(run, key) for key in run.scores["units"]) == n


def _reason(a: Told, b: Told, has_sums: bool) -> str:
    """Why a metric cannot be compared."""
    for detail in (a, b):
        if detail["value"] is None:
            return str(detail["reason"])
    return "what sessions add was not kept" if has_sums else str(a.get("no_interval", "not a function of sums"))


def _exact(d: Difference, first: float | None, second: float | None) -> Difference:
    """With the figures themselves, where those of the sums are of a histogram, up to 0.5 % off."""
    if d.difference is None or first is None or second is None:
        return d
    return replace(d, first=first, second=second, difference=second - first)


def _known(x: float) -> float | None:
    return None if x != x else float(x)
