"""Responsiveness and its price, from the stamps alone: latency, age of information, coverage, load, tokens and money.

Needs no truth. Latencies run from the *scheduled* hand-over of the newest snapshot seen, so that waiting counts:
service time alone says "2 s" while a queue grows to hours (coordinated omission).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorers.base import PROTOCOLS, Context, Metric, Score, Unit, scorers
from scorers.figures import Sheet, percentile, ratio
from scorers.pooling import Floats, Pooled, Sums, over
from scorers.spans import covered, merged
from scorers.spending import TOKENS, spent, usage
from scorers.statistics.power import samples_needed
from scorers.statistics.spread import Quantile, quantiles
from simulator.core.types import HOUR, MS, SECOND
from simulator.runs.records import Ints, Kind, RunLog
from simulator.session.truth import Span, active_spans

__all__ = ["USAGE_COLUMNS", "Serving"]

P99_NEEDS = samples_needed(99, 0.99)
"""Samples that show a p99 with 99 % confidence (459); fewer give "n too small"."""
_LATENCIES = {
    "scheduled_latency": "actionable - released",
    "service_time": "actionable - started",
    "dispatch_delay": "started - released",
    "first_token_latency": "first token - released, where reported",
}
_POINTS = ("mean", "p50", "p90", "p95", "p99", "max")
_FAILED = (
    "; nearest rank; a failed call's charge (actionable - started) is raised to the timeout where it is less, its wait "
    "before the start is added as to any other; a superseded or cancelled one counts until it was stopped (censored)"
)
_AGE = "of t - newest capture delivered by t, over active time; counts from 0 or the end of a gap while there is none"
_KEEPS_UP = (
    "1 unless, in some session, the waiting time (dispatch delay) grows: least-squares slope over 0.01 s/s, and growth "
    "over the run beyond two periods and one mean service time"
)


USAGE_COLUMNS = ("hours", "reports", *(f"tokens_{kind}" for kind in TOKENS), "images")
"""What the table ``usage`` of a unit's parts holds."""
_NOT_POOLED = {
    **{f"{name}@max": "the greatest of a sample: resamples cannot exceed it" for name in _LATENCIES},
    "keeps_up": "a verdict",
}
"""Why metrics that are left out have no interval."""


def _latency_metrics() -> list[Metric]:
    return [
        Metric(f"{name}@{point}", f"{point} of {formula}{_FAILED}", "ms", ">= 0", "down", PROTOCOLS)
        for name, formula in _LATENCIES.items()
        for point in _POINTS
    ]


def _load_metrics() -> list[Metric]:
    reflected = "distinct snapshots reflected in a delivered decision / snapshots released"
    return [
        Metric("age_of_information", f"time average {_AGE}", "s", ">= 0", "down"),
        Metric("age_of_information@p95_peak", f"p95 of the peaks {_AGE}", "s", ">= 0", "down"),
        Metric("coverage", reflected, "0-1", "0-1", "up"),
        Metric("dropped", "snapshots released and seen by no decision", "count", ">= 0", "down"),
        Metric("utilisation", "time with a decision in flight / active time", "0-1", "0-1", "-"),
        Metric("keeps_up", _KEEPS_UP, "yes/no", "0 or 1", "up"),
    ]


def _cost_metrics() -> list[Metric]:
    money = "money / hour of active session; unknown unless every model call has a price"
    used = [(f"tokens_{kind}", f"tokens ({kind})") for kind in TOKENS] + [("images", "images")]
    return [
        Metric("cost", money, "1/h", ">= 0", "down", PROTOCOLS),
        *(
            Metric(f"cost@{name}", f"{what} / hour of active session, where reported", "1/h", ">= 0", "down", PROTOCOLS)
            for name, what in used
        ),
        Metric("failed_share", "decisions that ended in an error / decisions", "0-1", "0-1", "down", PROTOCOLS),
        Metric("unparsed_share", "decisions that could not be read / decisions", "0-1", "0-1", "down", PROTOCOLS),
    ]


@dataclass(frozen=True, slots=True)
class Load:
    """One session's stamps, as needed for the figures. Latencies in ns; ``waits`` is the slope of the waiting time."""

    latencies: Mapping[str, Ints]
    censored: int
    failed: int
    unparsed: int
    decisions: int
    age_ns2: int
    peaks_ns: Ints
    covered: int
    unseen: int
    released: int | None
    busy_ns: int
    active_ns: int
    keeps_up: bool | None
    slope: float | None
    usage: Mapping[str, int]
    cost: float | None
    cost_unknown: str | None


@scorers.register("serving")
class Serving:
    """Latency, age of information, coverage, load and cost."""

    protocols = PROTOCOLS
    needs_truth = False
    metrics = (*_latency_metrics(), *_load_metrics(), *_cost_metrics())
    not_pooled = _NOT_POOLED

    def tally(self, unit: Unit, context: Context) -> Load:
        """Reduce a log to its stamps."""
        log, truth = unit.log, unit.truth
        spans = active_spans(truth)
        delivered = (log.kind == Kind.SILENT) | (log.kind == Kind.OFFER)
        censored = (log.kind == Kind.SUPERSEDED) | (log.kind == Kind.CANCELLED)
        age, peaks = _age(log.captured_ns[delivered], log.actionable_ns[delivered], spans)
        released = None if log.end is None else int(log.end["released"])
        keeps_up, slope = _keeps_up(log, truth.period_ns)
        cost, unknown = spent(log)
        return Load(
            latencies=_latencies(log),
            censored=int(censored.sum()),
            failed=int((log.kind == Kind.ERROR).sum()),
            unparsed=int((log.kind == Kind.UNPARSED).sum()),
            decisions=len(log),
            age_ns2=age,
            peaks_ns=peaks,
            covered=len(np.unique(log.snapshot[delivered])),
            unseen=0 if released is None else max(0, released - len(np.unique(log.snapshot))),
            released=released,
            busy_ns=covered(merged(log.started_ns, log.actionable_ns), spans),
            active_ns=truth.active_ns,
            keeps_up=keeps_up,
            slope=slope,
            usage=usage(log),
            cost=cost,
            cost_unknown=unknown,
        )

    def figures(self, tallies: Sequence[Load]) -> list[Score]:
        """Pool stamps over sessions."""
        sheet = Sheet(self.metrics)
        _put_latencies(sheet, tallies)
        _put_load(sheet, tallies)
        _put_cost(sheet, tallies)
        n = sum(t.decisions for t in tallies)
        sheet.put("failed_share", ratio(sum(t.failed for t in tallies), n, "decisions"))
        sheet.put("unparsed_share", ratio(sum(t.unparsed for t in tallies), n, "decisions"))
        return sheet.scores()

    def pooled(self, tallies: Sequence[Load]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        found = [m for name in _LATENCIES for m in _pooled_latency(name, tallies)]
        return found + _pooled_load(tallies) + _pooled_cost(tallies)

    def explain(self, tally: Load) -> Mapping[str, Any]:
        """Nothing beyond the figures."""
        return {}

    def reference(self, tallies: Sequence[Load]) -> Mapping[str, Any]:
        """None."""
        return {}


def _latencies(log: RunLog) -> dict[str, Ints]:
    """Per kind of latency, one value a decision, sorted; failed calls at no less than the timeout."""
    dispatch = log.started_ns - log.released_ns
    service = log.actionable_ns - log.started_ns
    timeout = log.header.get("timeout_ns")
    failed = log.kind == Kind.ERROR
    if timeout is not None:
        service = np.where(failed, np.maximum(service, int(timeout)), service)
    first = np.full(len(log), -1, np.int64)
    seen = log.reported().first_token_ns
    rows = np.searchsorted(log.seq, np.array(list(seen), np.int64))
    first[rows] = np.array(list(seen.values()), np.int64) - log.released_ns[rows]
    reported = first >= 0
    if reported.any():  # a call that failed before its first token counts its full time, as everywhere
        first = np.where(failed & ~reported, dispatch + service, first)
    columns = (dispatch + service, service, dispatch, first[first >= 0])
    return {name: np.sort(column) for name, column in zip(_LATENCIES, columns, strict=True)}


def _pooled(parts: Iterable[Ints]) -> Ints:
    return np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))


def _put_latencies(sheet: Sheet, tallies: Sequence[Load]) -> None:
    censored = sum(t.censored for t in tallies)
    failed = sum(t.failed for t in tallies)
    for name in _LATENCIES:
        values = _pooled(t.latencies[name] for t in tallies)
        n = len(values)
        none = "no decisions" if not sum(t.decisions for t in tallies) else "not reported by the agent"
        for point in _POINTS:
            extra: dict[str, Any] = {"n_censored": censored, "n_failed": failed}
            if n == 0:
                sheet.put(f"{name}@{point}", None, 0, none)
            elif point == "mean":
                sheet.put(f"{name}@mean", int(values.sum(dtype=object)) / n / MS, n, **extra)
            elif point == "p99" and n < P99_NEEDS:
                sheet.put(f"{name}@p99", None, n, f"n too small: {n} of {P99_NEEDS}")
            else:
                percent = 100 if point == "max" else int(point[1:])
                sheet.put(f"{name}@{point}", percentile(values, percent) / MS, n, **extra)


def _pooled_latency(name: str, tallies: Sequence[Load]) -> list[Pooled]:
    values = [t.latencies[name] for t in tallies]
    rows = [[float(int(v.sum(dtype=object)) / MS) if len(v) else 0.0, len(v)] for v in values]
    made = Sums(f"{name}@mean", ("total", "n"), rows)
    points = {f"{name}@{p}": Quantile(int(p[1:]), MS, P99_NEEDS if p == "p99" else 1) for p in _POINTS[1:-1]}
    return [made.metric(f"{name}@mean", lambda s: over(s["total"], s["n"])), *quantiles(name, points, values)]


def _pooled_load(tallies: Sequence[Load]) -> list[Pooled]:
    names = ("age_s2", "busy_s", "active_s", "failed", "unparsed", "decisions")
    rows = [
        [t.age_ns2 / SECOND**2, t.busy_ns / SECOND, t.active_ns / SECOND, t.failed, t.unparsed, t.decisions]
        for t in tallies
    ]
    made = Sums("load", names, rows)
    found = [
        made.metric("age_of_information", lambda s: over(s["age_s2"], s["active_s"])),
        made.metric("utilisation", lambda s: over(s["busy_s"], s["active_s"])),
        made.metric("failed_share", lambda s: over(s["failed"], s["decisions"])),
        made.metric("unparsed_share", lambda s: over(s["unparsed"], s["decisions"])),
    ]
    if all(t.released is not None for t in tallies):
        counts = [[t.covered, t.unseen, t.released or 0] for t in tallies]
        made = Sums("coverage", ("covered", "unseen", "released"), counts)
        found.append(made.metric("coverage", lambda s: over(s["covered"], s["released"])))
        found.append(made.metric("dropped", lambda s: s["unseen"]))
    peak = "age_of_information@p95_peak"
    return found + quantiles(peak, {peak: Quantile(95, SECOND)}, [t.peaks_ns for t in tallies])


def _pooled_cost(tallies: Sequence[Load]) -> list[Pooled]:
    kinds = (*(f"tokens_{kind}" for kind in TOKENS), "images")
    used = [[t.usage[kind.removeprefix("tokens_")] for kind in kinds] for t in tallies]
    rows = [[t.active_ns / HOUR, t.usage["reports"], *row] for t, row in zip(tallies, used, strict=True)]
    made = Sums("usage", USAGE_COLUMNS, rows)
    found = [made.metric(f"cost@{kind}", _an_hour(kind)) for kind in kinds]
    if all(t.cost_unknown is None for t in tallies):
        made = Sums("cost", ("money", "hours"), [[t.cost or 0.0, t.active_ns / HOUR] for t in tallies])
        found.append(made.metric("cost", lambda s: over(s["money"], s["hours"])))
    return found


def _an_hour(kind: str) -> Callable[[Mapping[str, Floats]], Floats]:
    return lambda s: np.where(s["reports"] > 0, over(s[kind], s["hours"]), np.nan)


def _put_load(sheet: Sheet, tallies: Sequence[Load]) -> None:
    n = sum(t.decisions for t in tallies)
    active = sum(t.active_ns for t in tallies)
    sheet.put("age_of_information", ratio(sum(t.age_ns2 for t in tallies), active * SECOND, "active time", n))
    peaks = _pooled(t.peaks_ns for t in tallies)
    if len(peaks):
        sheet.put("age_of_information@p95_peak", percentile(peaks, 95) / SECOND, len(peaks))
    else:
        sheet.put("age_of_information@p95_peak", None, 0, "no active time")
    if any(t.released is None for t in tallies):
        reason = "interrupted: the number of snapshots released is unknown"
        sheet.put("coverage", None, 0, reason)
        sheet.put("dropped", None, 0, reason)
    else:
        released = sum(t.released or 0 for t in tallies)
        sheet.put("coverage", ratio(sum(t.covered for t in tallies), released, "snapshots released"))
        sheet.put("dropped", sum(t.unseen for t in tallies), released)
    sheet.put("utilisation", ratio(sum(t.busy_ns for t in tallies), active, "active time", n))
    judged = [t for t in tallies if t.keeps_up is not None]
    if judged:
        good = all(t.keeps_up for t in judged)
        slope = max(t.slope for t in judged if t.slope is not None)
        sheet.put("keeps_up", good, n, verdict="keeps up" if good else "saturated", slope=slope)
    else:
        sheet.put("keeps_up", None, n, "fewer than 3 decisions")


def _age(captured: Ints, arrived: Ints, spans: Sequence[Span]) -> tuple[int, Ints]:
    """Integral and peaks of the age of information over the active spans.

    The age at t is t less the newest capture among what was delivered by t; a result of an older snapshot that comes
    late changes nothing. At the start of a span (the session's, or after a gap) the age is 0.

    Returns:
        The integral in ns², and the age just before each fall and at the end of each span, in ns, sorted.
    """
    order = np.lexsort((captured, arrived))
    arrived, newest = arrived[order], np.maximum.accumulate(captured[order]) if len(order) else captured
    total, peaks = 0, [np.zeros(0, np.int64)]
    for start, end in spans:
        low, high = np.searchsorted(arrived, [start, end], side="right")
        first = max(start, int(newest[low - 1])) if low else start
        base = np.maximum(np.concatenate(([first], newest[low:high])), start)
        since = np.concatenate(([start], arrived[low:high]))
        until = np.concatenate((arrived[low:high], [end]))
        base = np.minimum(base, since)
        young, old = since - base, until - base
        # Exact in integers: the area of a trapezoid is (young + old) / 2 · width; sums pass 2**63 on long sessions.
        total += int(((young + old).astype(object) * (until - since).astype(object)).sum()) // 2
        falls = np.concatenate((np.diff(base) > 0, [True]))
        peaks.append(old[falls & (until > since)])
    return total, np.sort(np.concatenate(peaks))


def _keeps_up(log: RunLog, period_ns: int) -> tuple[bool | None, float | None]:
    """Whether the waiting time stays bounded, and its slope in s/s; None for fewer than 3 decisions."""
    if len(log) < 3:
        return None, None
    released = (log.released_ns - log.released_ns[0]).astype(np.float64)
    wait = (log.started_ns - log.released_ns).astype(np.float64)
    spread: NDArray[np.float64] = released - released.mean()
    if not spread.any():
        return None, None
    slope = float((spread * (wait - wait.mean())).sum() / (spread * spread).sum())
    service = float((log.actionable_ns - log.started_ns).mean())
    grown = slope * float(released[-1])
    return not (slope > 0.01 and grown > 2 * period_ns + service), slope


def _put_cost(sheet: Sheet, tallies: Sequence[Load]) -> None:
    hours = sum(t.active_ns for t in tallies) / HOUR
    n = sum(t.usage["reports"] for t in tallies)
    unknown = next((t.cost_unknown for t in tallies if t.cost_unknown), None)
    if unknown is not None or hours == 0:
        sheet.put("cost", None, 0, unknown or "no active time")
    else:
        sheet.put("cost", sum(t.cost or 0.0 for t in tallies) / hours, n)
    for name in (*(f"tokens_{kind}" for kind in TOKENS), "images"):
        total = sum(t.usage[name.removeprefix("tokens_")] for t in tallies)
        if n == 0 or hours == 0:
            sheet.put(f"cost@{name}", None, 0, "unknown: no usage was reported" if n == 0 else "no active time")
        else:
            sheet.put(f"cost@{name}", total / hours, n)
