"""The real-time figures as functions of sums over sessions, so that they can be resampled (``scorers.pooling``)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scorers.offers import Verdict
from scorers.pooling import Floats, Pooled, Sums, over
from scorers.realtime_metrics import BINS, KAPPAS, PRICED, PROFILES, USED, Rules, deadline_name
from scorers.realtime_tally import Strength, Tally
from scorers.samples import SUMS, set_score_of, sums
from scorers.statistics.spread import Quantile, quantiles
from scorers.streaming import Ticks
from simulator.core.types import HOUR, SECOND

__all__ = ["NOT_POOLED", "pooled"]

NOT_POOLED = {
    "latency_tolerance@half_life_s": "read off a curve at the median delay: not a function of sums over sessions",
}
"""Why metrics that are left out have no interval."""

Named = Mapping[str, Floats]
Formula = Callable[[Named], Floats]
_CLASSES = tuple(v.value for v in Verdict)
_TICKS = Ticks.__slots__


def pooled(tallies: Sequence[Tally], rules: Rules) -> list[Pooled]:
    """All that are functions of sums; of those that rest on content none where a session is unjudged."""
    found = _of_strength("@timing", tallies) + _said(tallies)
    if all(t.unjudged is None for t in tallies):
        found += _of_strength("", tallies) + _full(tallies, rules)
    return found


def _of_strength(end: str, tallies: Sequence[Tally]) -> list[Pooled]:
    parts = [t.strengths[end] for t in tallies]
    names = (*_CLASSES, "needs", "seen", "ahead", "weight", "gain", "hours", *SUMS, *(f"tick_{t}" for t in _TICKS))
    rows = [_row(s, t) for s, t in zip(parts, tallies, strict=True)]
    made = Sums(f"realtime{end}", names, rows)
    found = [made.metric(name + end, formula) for name, formula in _STRENGTH.items()]
    if all(s.instant is not None for s in parts):
        made = Sums(f"realtime_twin{end}", ("hit", "said", "needs", "seen", "own"), [_twin(s) for s in parts])
        found += [made.metric(f"F1_instant{end}", _instant), made.metric(f"coverage_loss{end}", _coverage_loss)]
    half = {f"lead_s{end}": Quantile(50, SECOND)}
    return found + quantiles(f"lead_s{end}", half, [s.leads_ns for s in parts])


def _row(s: Strength, t: Tally) -> list[float]:
    classes = s.classes
    weights, gain = math.fsum(s.weights), math.fsum(j.gain for j in s.judged)
    return [
        *(classes[v] for v in Verdict), s.n_needs, s.seen, s.ahead, weights, gain, t.active_ns / HOUR,
        *sums(s.samples), *(getattr(s.ticks, name) for name in _TICKS),
    ]  # fmt: skip


def _twin(s: Strength) -> list[float]:
    hits, said = s.instant or (0, 0)
    return [hits, said, s.n_needs, s.seen, len(s.judged)]


def _surfaced(s: Named) -> Floats:
    return np.asarray(sum(s[name] for name in _CLASSES))


def _f1(hits: Floats, said: Floats, true: Floats) -> Floats:
    return np.where(true > 0, over(2 * hits, said + true), np.nan)


def _now(s: Named) -> Floats:
    return _f1(s["on_time"], _surfaced(s), s["needs"])


def _seen(s: Named) -> Floats:
    return _f1(s["seen"], _surfaced(s), s["needs"])


def _instant(s: Named) -> Floats:
    return _f1(s["hit"], s["said"], s["needs"])


def _coverage_loss(s: Named) -> Floats:
    return _instant(s) - _f1(s["seen"], s["own"], s["needs"])


def _utility(costs: Sequence[float]) -> Formula:
    def formula(s: Named) -> Floats:
        cost = sum(c * s[v.value] for c, group in zip(costs, PRICED, strict=True) for v in group)
        return np.where(s["needs"] > 0, over(100 * (s["gain"] - cost), s["weight"]), np.nan)

    return formula


def _stream(part: str) -> Formula:
    def formula(s: Named) -> Floats:
        hit, wrong, vain, missed, quiet, _ = (s[f"tick_{t}"] for t in _TICKS)
        said, due = hit + wrong + vain, hit + wrong + missed
        return {
            "f1": lambda: _f1(hit, said, due),
            "accuracy": lambda: over(hit + quiet, said + missed + quiet),
            "precision": lambda: over(hit, said),
            "recall": lambda: over(hit, due),
        }[part]()

    return formula


_STRENGTH: dict[str, Formula] = {
    "P_rt": lambda s: over(s["on_time"], _surfaced(s)),
    "R_rt": lambda s: over(s["on_time"], s["needs"]),
    "F1_rt": _now,
    "F1_seen": _seen,
    "latency_loss": lambda s: _seen(s) - _now(s),
    "anticipated": lambda s: s["ahead"],
    **{
        "timely_utility" if profile == "standard" else f"timely_utility@{profile}": _utility(costs)
        for profile, costs in PROFILES.items()
    },
    "S_rt": lambda s: 100 * set_score_of(s)["final"],
    "unwanted_per_hour": lambda s: over(_surfaced(s) - s["on_time"], s["hours"]),
    "false_alarms_per_hour": lambda s: over(s["false_alarm"], s["hours"]),
    **{f"stream_{part}": _stream(part) for part in ("f1", "accuracy", "precision", "recall")},
}


def _said(tallies: Sequence[Tally]) -> list[Pooled]:
    """What does not ask whether content was right."""
    paced = ("idle", "quiet", "between", "between_s", "between_s2")
    names = ("delivered", "surfaced", "hours", "ceiling", "weight", "needs", *paced)
    rows = [
        [
            t.n_delivered, t.n_surfaced, t.active_ns / HOUR, t.ceiling, math.fsum(n.weight for n in t.needs),
            len(t.needs), t.pace.idle, t.pace.quiet, t.between[0], t.between[1] / SECOND, t.between[2] / SECOND**2,
        ]
        for t in tallies
    ]  # fmt: skip
    made = Sums("realtime_surfaced", names, rows)
    found = [
        made.metric("interruptions_per_hour", lambda s: over(s["surfaced"], s["hours"])),
        made.metric("held_back", lambda s: s["delivered"] - s["surfaced"]),
        made.metric("timely_utility@ceiling", _ceiling),
        made.metric("restraint", lambda s: over(s["quiet"], s["idle"])),
        made.metric("burstiness_of_offers", _burstiness),
    ]
    if all(t.pace.near is not None for t in tallies):
        made = Sums("at_breakpoint", ("near", "surfaced"), [[t.pace.near or 0, t.pace.surfaced] for t in tallies])
        found.append(made.metric("at_breakpoint", lambda s: over(s["near"], s["surfaced"])))
    return found


def _ceiling(s: Named) -> Floats:
    return np.where(s["needs"] > 0, over(100 * s["ceiling"], s["weight"]), np.nan)


def _burstiness(s: Named) -> Floats:
    r = over(np.sqrt(np.maximum(0, s["between"] * s["between_s2"] - s["between_s"] ** 2)), s["between_s"])
    return np.where(s["between"] >= 2, (r - 1) / (r + 1), np.nan)


def _full(tallies: Sequence[Tally], rules: Rules) -> list[Pooled]:
    """Figures that are given in strength ``full`` only."""
    full = [t.strengths[""] for t in tallies]
    deadlines = {deadline_name(d): d for d in rules.deadlines_ns}
    kappas = {f"kappa_{k}": k for k in KAPPAS}
    names = ("needs", "surfaced", "on_time", "hours", "saved_s", "quick", *deadlines, *kappas)
    rows = []
    for t, s in zip(tallies, full, strict=True):
        on_time = s.on_time
        quick = sum(j.offer.actionable_ns - j.offer.released_ns <= rules.slo_ns for j in on_time)
        saved = int(np.maximum(s.leads_ns, 0).sum()) / SECOND
        counts = [s.n_needs, len(s.judged), len(on_time), t.active_ns / HOUR, saved, quick]
        found_in_time = [s.by_deadline[d] for d in deadlines.values()]
        rows.append([*counts, *found_in_time, *(s.by_kappa[k] for k in kappas.values())])
    made = Sums("realtime_full", names, rows)
    found = [
        made.metric("seconds_saved_per_hour", lambda s: over(s["saved_s"], s["hours"])),
        made.metric("assist_goodput", lambda s: over(s["quick"], s["hours"])),
        made.metric("latency_tolerance", _tolerance),
        *(made.metric(name, _attainment(name)) for name in deadlines),
    ]
    points = {"delay_s": 50, "delay_s@p10": 10, "delay_s@p90": 90}
    found += quantiles(
        "delay_s", {name: Quantile(p, SECOND) for name, p in points.items()}, [s.delays_ns for s in full]
    )
    return found + _calibration(full) + _cost(tallies, full) + _seeds(tallies)


def _attainment(name: str) -> Formula:
    return lambda s: over(s[name], s["needs"])


def _tolerance(s: Named) -> Floats:
    hits = [s[f"kappa_{k}"] for k in KAPPAS]
    steps = zip(itertools.pairwise(KAPPAS), itertools.pairwise(hits), strict=True)
    under = sum(float(b - a) * (x + y) for (a, b), (x, y) in steps) / float(KAPPAS[-1])
    some = (s["surfaced"] > 0) & (s["needs"] > 0)
    return np.where(some, over(np.asarray(under), s["surfaced"] + s["needs"]), np.nan)


def _calibration(full: Sequence[Strength]) -> list[Pooled]:
    """Per bin of confidence: offers, their confidences, how many were on time; and the squared errors."""
    rows = np.zeros((len(full), 3 * BINS + 1))
    for row, s in zip(rows, full, strict=True):
        for j in s.judged:
            if (c := j.offer.confidence) is not None:
                hit = j.verdict is Verdict.ON_TIME
                at = 3 * min(BINS - 1, int(c * BINS))
                row[at : at + 3] += (1, c, hit)
                row[-1] += (c - hit) ** 2

    def n(sums: Floats) -> Floats:
        return np.asarray(sums[..., 0 : 3 * BINS : 3].sum(axis=-1))

    def ece(sums: Floats) -> Floats:
        gaps = np.abs(sums[..., 1 : 3 * BINS : 3] - sums[..., 2 : 3 * BINS : 3])
        return over(np.asarray(gaps.sum(axis=-1)), n(sums))

    brier = Pooled("calibration@brier", rows, lambda sums: over(sums[..., -1], n(sums)), "calibration")
    return [brier, Pooled("calibration@ece", rows, ece, "calibration")]


def _cost(tallies: Sequence[Tally], full: Sequence[Strength]) -> list[Pooled]:
    on_time = [s.classes[Verdict.ON_TIME] for s in full]
    names = ("on_time", "reports", *USED)
    used = [[t.used[name.removeprefix("tokens_")] for name in USED] for t in tallies]
    rows = [[n, t.used["reports"], *row] for n, t, row in zip(on_time, tallies, used, strict=True)]
    made = Sums("used", names, rows)
    found = [made.metric(f"cost@{name}_per_on_time", _spent(name)) for name in USED]
    if all(t.money[1] is None for t in tallies):
        money = [[t.money[0] or 0, n] for t, n in zip(tallies, on_time, strict=True)]
        made = Sums("cost@per_on_time", ("money", "on_time"), money)
        found.append(made.metric("cost@per_on_time", lambda s: over(s["money"], s["on_time"])))
    return found


def _spent(name: str) -> Formula:
    return lambda s: np.where(s["reports"] > 0, over(s[name], s["on_time"]), np.nan)


def _seeds(tallies: Sequence[Tally]) -> list[Pooled]:
    """None without as many companion seeds of every session."""
    found = [t.seeds for t in tallies if t.seeds is not None]
    if len(found) < len(tallies) or len({s.k for s in found}) > 1:
        return []
    rows = [[s.n_every, s.n_any, len(t.needs)] for s, t in zip(found, tallies, strict=True)]
    made = Sums("pass", ("every", "any", "needs"), rows)
    return [
        made.metric("pass^k", lambda s: over(s["every"], s["needs"])),
        made.metric("pass@k", lambda s: over(s["any"], s["needs"])),
    ]
