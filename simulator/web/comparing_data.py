"""What the page of comparisons shows: differences, figures, and what one side alone got right, each with its way to the
timeline. Numbers and refusals are those of ``proact compare``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scorers.explaining import seconds
from scorers.statistics.interval import Interval
from simulator.cli.comparison import amiss, missing
from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.play.comparing import Comparison, Row, compare
from simulator.play.scoring import open_folder
from simulator.play.sides import Side
from simulator.report.against import changes_of
from simulator.report.charts import Point, curves, ecdf, forest, pareto
from simulator.report.curves import f1_by_deadline, f1_of_units, latencies
from simulator.report.facts import QUALITY, RunFacts, read_facts
from simulator.report.quality import point_of
from simulator.runs.lock import status_now
from simulator.web.place import Place

__all__ = ["MOST_RUNS", "compared", "known"]

MOST_RUNS = 8
"""Runs of one page: more cannot be told apart in a figure."""
_MOST_FLIPS = 300


def known(place: Place) -> dict[str, Any]:
    """The runs that there are to choose from."""
    return {"known": [{"id": one.id, "name": one.name} for one in place.all("run")]}


def compared(place: Place, ids: Sequence[str], *, force: bool, common: bool) -> dict[str, Any]:
    """Runs held against the first of them.

    Args:
        place: where they are looked up.
        ids: of the runs, the baseline first.
        force: compare what should not be compared, and say so.
        common: leave out sessions that only one side has.

    Raises:
        UsageError: fewer than two runs, too many, or one twice.
        NotHere: no such run.
    """
    ids = list(dict.fromkeys(ids))
    if not 2 <= len(ids) <= MOST_RUNS:
        raise UsageError(f"a comparison takes 2 to {MOST_RUNS} runs, and {len(ids)} were named")
    facts = read_facts([place.run(id_) for id_ in ids], logs=False)
    told: dict[str, Any] = {
        "runs": [_run(id_, f) for id_, f in zip(ids, facts, strict=True)],
        "refused": None,
        "comparisons": [],
    }
    try:
        found = compare([f.folder for f in facts], force=force, common=common)
    except UsageError as error:
        said = str(error)
        return {**told, "refused": said, "can_force": "--force" in said, "can_common": "--common" in said}
    names = [f.name for f in facts]
    told["comparisons"] = [_told(c, names[0], name, ids[0], id_)
                           for c, name, id_ in zip(found, names[1:], ids[1:], strict=True)]  # fmt: skip
    return told | _figures(facts)


def _run(id_: str, f: RunFacts) -> dict[str, Any]:
    run = f.scores.get("run", {})
    counts = f.scores["counts"]
    return {
        "id": id_,
        "name": f.name,
        "run": ", ".join(str(run[key]) for key in ("agent", "memory", "latency") if key in run),
        "protocol": f.scores["protocol"],
        "latency_source": f.scores["latency_source"],
        "status": status_now(str(f.told["status"]), f.folder),
        "n_units": f.scores["n_units"],
        "failed": counts["error"] + counts["unparsed"],
        "decisions": counts["decisions"],
        "sees_truth": bool(f.scores.get("sees_truth")),
    }


def _figures(facts: Sequence[RunFacts]) -> dict[str, Any]:
    """The pictures that are of all runs together; curves over the units that all of them have."""
    keys = frozenset.intersection(*(frozenset(f.scores["units"]) for f in facts))
    agents = {str(f.scores.get("run", {}).get("agent", "")) for f in facts}
    points = [p for f in facts if (p := _point(f, several=len(agents) > 1)) is not None]
    deadline = {f.name: _deadline(f, keys) for f in facts}
    shares = {f.name: latencies(f.scores, keys) for f in facts}
    quality = QUALITY[str(facts[0].scores["protocol"])]
    drawn = any(ms > 0 for of_run in shares.values() for ms, _ in of_run)
    within = ("τ: seconds after a need opened", "F1")
    label = "F1 if only help within τ counts"
    return {
        "quality": quality,
        "colour": "agent" if len(agents) > 1 else "run",
        "pareto": pareto(points, quality, f"{quality} against latency").told() if points else None,
        "deadline": curves(deadline, within, label).told() if any(deadline.values()) else None,
        "ecdf": ecdf(shares, "how long decisions took").told() if drawn else None,
        "deadline_table": {name: points for name, points in deadline.items() if points},
    }


def _deadline(f: RunFacts, keys: frozenset[str]) -> list[tuple[float, float]]:
    """From the scores where all units count; logs are read where only some do."""
    return f1_by_deadline(f.scores) if keys == f.scores["units"].keys() else f1_of_units(open_folder(f.folder), keys)


def _point(f: RunFacts, *, several: bool) -> Point | None:
    """With a colour for each agent and a shape for each memory; of one agent, a colour for each run."""
    run = f.scores.get("run", {})
    return point_of(f.name, f.scores, str(run.get("agent", "")) if several else "", str(run.get("memory", "")))


def _told(c: Comparison, first: str, second: str, a: str, b: str) -> dict[str, Any]:
    label = f"differences of {second} from {first}, with 95 % intervals"
    return {
        "first": a,
        "second": b,
        "forced": list(c.forced),
        "n_sessions": c.n_sessions,
        "n_units": c.n_units,
        "left_out": c.left_out,
        "forest": forest(changes_of(c), label, first=first, second=second).told(),
        "rows": [_row(row) for row in c.rows],
        "amiss": ["; ".join(amiss(counts)) for counts in c.counts],
        "missing": list(missing(c)),
        "drivers": _drivers(c, a, b),
        "flips": _flips(c, a, b),
    }


def _row(row: Row) -> dict[str, Any]:
    told = {"metric": row.metric, "unit": row.unit, "better": row.direction, "reason": row.reason}
    if (d := row.found) is None:
        return told
    ends = d.interval if isinstance(d.interval, Interval) else None
    return told | {
        "a": d.first,
        "b": d.second,
        "difference": d.difference,
        "low": None if ends is None else ends.low,
        "high": None if ends is None else ends.high,
        "few": ends is not None and ends.few,
        "p": row.adjusted,
        "standing": row.standing,
        "detectable": d.detectable,
    }


def _drivers(c: Comparison, a: str, b: str) -> dict[str, Any] | None:
    """What makes the first difference that has such sessions, with ways to their timelines."""
    for row in c.rows:
        if found := row.drivers():
            unit, units = row.clusters.unit, _units(c.first)
            items = [
                {
                    "name": one[unit],
                    "contribution": one["contribution"],
                    "a": one["first"],
                    "b": one["second"],
                    "href": _way(a, b, one[unit], 0) if one[unit] in units else None,
                }
                for one in found
            ]
            return {"metric": row.metric, "unit": unit, "items": items}
    return None


def _flips(c: Comparison, a: str, b: str) -> dict[str, Any] | None:
    if (f := c.flips) is None:
        return None
    at = dict(_instants(c.first))
    only = {
        side: [_flip(name, at, a, b) for name in names[:_MOST_FLIPS]]
        for side, names in (("only_first", f.only_first), ("only_second", f.only_second))
    }
    counts = {"both": f.both, "neither": f.neither, "n_first": len(f.only_first), "n_second": len(f.only_second)}
    return {"of": f.of, **counts, "p": f.test.p, **only}


def _flip(name: str, at: Mapping[tuple[str, str], int], a: str, b: str) -> dict[str, Any]:
    """An item that one side alone got right; ``simulator.play.flips`` names it ``KEY[, seed N]: ITEM``."""
    where, _, item = name.partition(": ")
    key = where.partition(", seed ")[0]
    t_ns = at.get((key, item))
    way = _way(a, b, key, t_ns or 0) | ({} if t_ns is None else {"need": item})
    return {"name": name, "href": way, "t_s": None if t_ns is None else t_ns / SECOND}


def _way(a: str, b: str, key: str, t_ns: int) -> dict[str, Any]:
    """To the timeline of a unit, with both runs in its lanes; the page makes an address of it. Where a need is named
    the timeline goes to the snapshot that shows it first, which may be some time after its opening.
    """
    return {"run": a, "unit": key, "t": round(t_ns / SECOND, 6), "runs": [a, b]}


def _units(side: Side) -> frozenset[str]:
    return frozenset(key for run in side.runs for key in run.scores["units"])


def _instants(side: Side) -> Iterator[tuple[tuple[str, str], int]]:
    """When each item of a unit was: a need at its opening, a moment at its instant."""
    for run in side.runs:
        for key, unit in run.scores["units"].items():
            for need in unit.get("opportunities", ()):
                yield (key, str(need["id"])), int(need["opens_ns"])
            for moment in unit.get("moments", ()):
                yield (key, seconds(moment["t_ns"])), int(moment["t_ns"])
