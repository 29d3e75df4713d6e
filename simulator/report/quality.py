"""How good runs of a report were, and how quick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulator.report.charts import Point, curves, ecdf, pareto
from simulator.report.curves import f1_by_deadline, latencies
from simulator.report.facts import QUALITY, RunFacts
from simulator.report.svg import figure

__all__ = ["point_of", "quality_and_time"]


def quality_and_time(facts: Sequence[RunFacts]) -> Iterator[str]:
    """Quality against latency and against the deadline, and how latencies are distributed, as far as each is known."""
    points = [p for f in facts if (p := point_of(f.name, f.scores)) is not None]
    if points:
        quality = QUALITY[facts[0].scores["protocol"]]
        said = f"{quality} against the 95th percentile of latency, with 95 % intervals; dashed: one second."
        yield figure(pareto(points, quality, f"{quality} against latency"), said)
    lines = {f.name: f1_by_deadline(f.scores) for f in facts}
    if any(lines.values()):
        yield figure(
            curves(lines, ("τ: seconds after a need opened", "F1"), "F1 if only help within τ counts"),
            "Quality against the deadline: F1 if only help that came within τ of a need's opening counts.",
        )
    shares = {f.name: latencies(f.scores) for f in facts}
    if shares and all(ms <= 0 for of_run in shares.values() for ms, _ in of_run):
        shares = {}  # an instant model: there is nothing to draw
    if any(shares.values()):
        yield figure(
            ecdf(shares, "how long decisions took"), "Latency: the share of decisions that took at most so long."
        )


def point_of(name: str, scores: Mapping[str, Any], colour: str = "", shape: str = "") -> Point | None:
    """A run as a point of quality against latency; None where one of the two is unknown."""
    quality = scores["details"].get(QUALITY[scores["protocol"]])
    latency = scores["details"].get("scheduled_latency@p95")
    if quality is None or latency is None or quality["value"] is None or latency["value"] is None:
        return None
    ends = [(i["low"], i["high"]) if (i := d.get("interval")) else None for d in (latency, quality)]
    return Point(name, latency["value"], quality["value"], ends[0], ends[1], colour or name, shape)
