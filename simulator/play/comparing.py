"""Two runs or more, session by session: what differs, how sure that is, and which sessions make it so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scorers.base import STANDARD_SCORERS, catalogue
from scorers.base import scorers as registry
from scorers.headlines import HEADLINES, OF_THE_TRUTH
from scorers.pooling import Pooled
from scorers.resampled import cluster_of, pooled_of
from scorers.statistics.clusters import Clusters
from scorers.statistics.paired import Difference, differences
from scorers.statistics.significance import holm
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.registry import parse_spec
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
        scorer: that gives it, with what it was told.
        adjusted: p by Holm over all rows of the table, all comparisons with the baseline together.
    """

    metric: str
    unit: str
    direction: str
    scorer: str
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
        n_sessions: paired sessions; ``n_units`` pairs of units. ``seeds``: of the runs on each side that are in a pair.
        left_out: units on one side only, left out with ``common``.
        forced: what speaks against comparing, where it was compared all the same.
        counts: what happened on each side in the paired units, each once: the ``counts`` of ``scores.json``, and
            ``units``.
    """

    first: Side
    second: Side
    rows: tuple[Row, ...]
    flips: Flips | None
    n_sessions: int
    n_units: int
    seeds: tuple[tuple[int, ...], tuple[int, ...]]
    left_out: int
    forced: tuple[str, ...]
    counts: tuple[Mapping[str, int], Mapping[str, int]]


def compare(
    paths: Sequence[str | Path],
    metrics: Sequence[str] | None = None,
    *,
    scorers: Sequence[str] | None = None,
    force: bool = False,
    common: bool = False,
) -> list[Comparison]:
    """Hold each side against the first.

    Args:
        paths: runs, or folders of runs; see ``simulator.play.sides``.
        metrics: names, each counted once; None takes the headlines of the protocol, and all that scorers in no standard
            set give.
        scorers: specs, such as ``nab`` or ``mine.py:Mine``: both sides are scored by these, in memory, from their logs.
            None takes what ``scores.json`` holds; where that lacks a metric of an installed scorer, that one too.
        force: compare what should not be compared, and say so.
        common: leave out sessions that only one side has.

    Raises:
        UsageError: sides that cannot be compared, or an unknown metric.
        InputError: not a run folder.
    """
    metrics, scorers = (None if named is None else list(dict.fromkeys(named)) for named in (metrics, scorers))
    first, *others = _scored(paths, metrics, scorers)
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
        raise UsageError(f"{who}: {_nothing_shared(first, second)}")
    against = [*first.faults, *second.faults, *_differ(first, second, pairs)]
    if against and not force:
        raise UsageError(f"{who}: {against[0]}; --force compares all the same, and marks it")
    if alone and not common:
        of = f"{len(alone)} unit{'s' if len(alone) > 1 else ''} of one side only, such as {alone[0]}"
        if not force:
            raise UsageError(f"{who}: {of}; --common leaves them out")
        against.append(f"{of}: left out")
    rows = _rows(first, second, pairs, metrics)
    clusters = Clusters.group([cluster_of(key, a.units[key]) for key, a, _ in pairs])
    a, b = (tuple(sorted({run.seed for run in runs})) for runs in ((x for _, x, _ in pairs), (y for _, _, y in pairs)))
    return Comparison(
        first, second, tuple(rows), flips(pairs), clusters.n_sessions, len(pairs), (a, b), len(alone), tuple(against),
        (_happened((key, run) for key, run, _ in pairs), _happened((key, run) for key, _, run in pairs)),
    )  # fmt: skip


def _happened(units: Iterable[tuple[str, Run]]) -> dict[str, int]:
    """The counts of these units, summed; one that is in several pairs counts once."""
    once = {(run.folder, key): run.scores["units"][key]["counts"] for key, run in units}
    total = Counter({"units": len(once)})
    for counts in once.values():
        total.update(counts)
    return dict(total)


def _scored(paths: Sequence[str | Path], metrics: Sequence[str] | None, names: Sequence[str] | None) -> list[Side]:
    """The sides with what is to be compared among their scores."""
    found = sides(paths, names)
    if names is not None:
        return found
    lacking = [m for m in metrics or () if any(m not in run.scores["details"] for side in found for run in side.runs)]
    owner = {metric.name: name for name, metric in catalogue() if metric.name in lacking}
    if not owner:
        return found
    have = dict.fromkeys(detail["scorer"] for detail in found[0].runs[0].scores["details"].values())
    return sides(paths, [*have, *dict.fromkeys(name for name in owner.values() if name not in have)])


def _pairs(first: Side, second: Side) -> tuple[list[Pair], list[str]]:
    """Units of the same session and seed, in order; and those of one side only, in words.

    A side of one run stands against each seed of the other, whatever its own: a session of it is paired with the same
    session under every seed, so its sums count as often as theirs, and its figure stays what it was.
    """
    a, b = (
        {(key, seed): run for key, seed, run in side.units() if key in run.scores["units"]} for side in (first, second)
    )
    if len(first.runs) == 1:
        a = {(key, seed): first.runs[0] for key, _ in a for seed in second.seeds}
    elif len(second.runs) == 1:
        b = {(key, seed): second.runs[0] for key, _ in b for seed in first.seeds}
    pairs = [(key, a[key, seed], b[key, seed]) for key, seed in sorted(a.keys() & b.keys())]
    alone = []
    for side, x, y in ((first, a, b), (second, b, a)):
        for key, seed in sorted(x.keys() - y.keys()):
            alone.append(f"{quote(key)}{f', seed {seed},' if len(side.runs) > 1 else ''} of {side.name}")
    return pairs, alone


def _nothing_shared(first: Side, second: Side) -> str:
    """Why there is no pair."""
    a, b = ({key for key, _, _ in side.units()} for side in (first, second))
    if a.isdisjoint(b):
        return "they have no session in common"
    told = (f"{side.name} has {', '.join(map(str, side.seeds))}" for side in (first, second))
    return f"they have no seed in common ({'; '.join(told)}); a single run stands against any seed, so name one"


def _differ(first: Side, second: Side, pairs: Sequence[Pair]) -> Iterator[str]:
    """In what the sides differ that must be the same, each once."""
    for field in SAME:
        for key, a, b in pairs:
            here, there = a.units[key].get(field), b.units[key].get(field)
            if here != there:
                said = f"{field} is {quote(here)} in {first.name} and {quote(there)} in {second.name} (unit {key})"
                drawn = field == "truth" and a.seed != b.seed and a.units[key].get("protocol") == "moments"
                yield said + (f"; what is asked is drawn by the seed, and theirs are {a.seed} and {b.seed}" * drawn)
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
    like = {m.metric: m for spec in specs for m in pooled_of(registry.make(spec), [])}
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        groups.setdefault(_usable(like.get(name), pairs), []).append(name)
    found: dict[str, Row] = {}
    for usable, group in groups.items():
        some = [pairs[i] for i in usable]
        keys = {key for key, *_ in some}
        clusters = Clusters.group([cluster_of(key, run.units[key]) for key, run, _ in some])
        sums = [_both(like[name], some) for name in group] if some else []
        tested = differences([x for x, _ in sums], [y for _, y in sums], clusters) if sums else []
        by_name = {d.metric: d for d in tested}
        for name in group:
            a, b = (told[name] for told in details)
            got, reason = by_name.get(name), _reason(a, b, name in like)
            if got is not None:
                got = _exact(got, *(
                    told["value"] if _all_of(like[name].table, keys, side) else of_sums
                    for told, side, of_sums in ((a, first, got.first), (b, second, got.second))
                ))  # fmt: skip
            found[name] = Row(name, a["unit"], a["direction"], a["scorer"], got, clusters, None if got else reason)
    return [found[name] for name in names]


def _names(metrics: Sequence[str] | None, first: Side, known: Sequence[str]) -> list[str]:
    for metric in metrics or ():
        if metric not in known:
            why = f"metric {quote(metric)} is not in both runs; {nearest(metric, known)}"
            raise UsageError(f"{why}; figures of other scorers, and of your own, come with --scorer NAME")
    if metrics:
        return list(metrics)
    protocol, details = str(first.runs[0].scores["protocol"]), first.runs[0].scores["details"]
    usual = [m for m in HEADLINES[protocol] if m not in OF_THE_TRUTH]
    asked = [m for m in known if parse_spec(details[m]["scorer"]).name not in STANDARD_SCORERS[protocol]]
    return [m for m in dict.fromkeys([*usual, *asked]) if m in known]


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


def _all_of(table: str, keys: Set[str], side: Side) -> bool:
    """Whether these units are all that a side's figure rests on, so that it is the one in scores.json."""
    run = side.runs[0]
    return len(side.runs) == 1 and {key for key in run.scores["units"] if table in _parts(run, key)} == keys


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
