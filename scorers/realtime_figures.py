"""The figures of the real-time scorer, from tallies pooled over sessions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scorers.figures import Ratio, Sheet, harmonic, percentile, ratio
from scorers.offers import Judged, Verdict
from scorers.realtime_metrics import BINS, KAPPAS, PRICED, PROFILES, USED, Rules, deadline_name
from scorers.realtime_tally import Strength, Tally
from scorers.samples import set_score
from scorers.spending import NO_USAGE
from scorers.streaming import Ticks
from simulator.core.types import HOUR, SECOND
from simulator.runs.records import Ints

__all__ = ["put_full", "put_pace", "put_said", "put_strength"]

HUMAN_B, MODEL_B = 0.787, 0.166
"""Published burstiness of when people ask an assistant, and of when models think that they would (ProAgentBench)."""

_BLOCKS = {
    "no negative samples": "no block of 10 min without a need, and it needs one",
    "no positive samples": "no block of 10 min in which a need opens, and it needs one",
}
"""Why there is no ``S_rt``, in words of the stream."""


def put_strength(sheet: Sheet, end: str, parts: Sequence[Strength], active_ns: int, ceiling: Ratio) -> None:
    """Figures that exist in both strengths; ``ceiling`` stands beside the utility, as do the offers an hour."""
    classes: Counter[Verdict] = sum((s.classes for s in parts), Counter())
    said, true, hit = classes.total(), sum(s.n_needs for s in parts), classes[Verdict.ON_TIME]

    def f1(hits: int, offers: int = said) -> tuple[Ratio, Ratio, Ratio]:
        return harmonic(hits, offers, true, said_of="surfaced offers", true_of="opportunities")

    precision, recall, now = f1(hit)
    sheet.put(f"P_rt{end}", precision, classes={v.value: classes[v] for v in Verdict})
    sheet.put(f"R_rt{end}", recall)
    sheet.put(f"F1_rt{end}", now)
    seen = f1(sum(s.seen for s in parts))[2]
    sheet.put(f"F1_seen{end}", seen)
    sheet.put(f"latency_loss{end}", _difference(seen, now))
    twins = [s.instant for s in parts if s.instant is not None]
    instant = Ratio(None, 0, "not computed: needs an instant twin of every session")
    if parts and len(twins) == len(parts):
        instant = f1(sum(h for h, _ in twins), sum(n for _, n in twins))[2]
    sheet.put(f"F1_instant{end}", instant)
    sheet.put(f"coverage_loss{end}", _difference(instant, seen))
    sheet.put(f"anticipated{end}", sum(s.ahead for s in parts), hit)
    weight = math.fsum(w for s in parts for w in s.weights)
    gain = math.fsum(j.gain for s in parts for j in s.judged)
    for profile, costs in PROFILES.items():
        cost = math.fsum(c * classes[v] for c, group in zip(costs, PRICED, strict=True) for v in group)
        name = "timely_utility" if profile == "standard" else f"timely_utility@{profile}"
        beside: dict[str, Any] = {"ceiling": ceiling.value, "offers_per_hour": _per_hour(said, active_ns).value}
        sheet.put(name + end, ratio(100 * (gain - cost), weight, "opportunities", true), **beside)
    final = set_score([sample for s in parts for sample in s.samples]).final
    reason = None if final.reason is None else _BLOCKS.get(final.reason, final.reason)
    sheet.put(f"S_rt{end}", Ratio(None if final.value is None else 100 * final.value, final.n, reason))
    sheet.put(f"unwanted_per_hour{end}", _per_hour(said - hit, active_ns))
    sheet.put(f"false_alarms_per_hour{end}", _per_hour(classes[Verdict.FALSE_ALARM], active_ns))
    sheet.put(
        f"lead_s{end}", *_point(_sorted(s.leads_ns for s in parts), 50, "offers on time with a known act of the user")
    )
    _put_stream(sheet, end, sum((s.ticks for s in parts), Ticks()))


def _put_stream(sheet: Sheet, end: str, ticks: Ticks) -> None:
    said, due = ticks.hit + ticks.wrong + ticks.vain, ticks.hit + ticks.wrong + ticks.missed
    precision, recall, f1 = harmonic(ticks.hit, said, due, said_of="ticks with an offer", true_of="ticks with a need")
    sheet.put(f"stream_f1{end}", f1, ticks_left_out=ticks.left_out)
    counted = said + ticks.missed + ticks.quiet
    sheet.put(f"stream_accuracy{end}", ratio(ticks.hit + ticks.quiet, counted, "ticks"))
    sheet.put(f"stream_precision{end}", precision)
    sheet.put(f"stream_recall{end}", recall)


def _difference(a: Ratio, b: Ratio) -> Ratio:
    if a.value is None or b.value is None:
        return Ratio(None, 0, a.reason if a.value is None else b.reason)
    return Ratio(a.value - b.value, min(a.n, b.n))


def _per_hour(count: int, active_ns: int) -> Ratio:
    return ratio(count * HOUR, active_ns, "active time", count)


def _sorted(of_sessions: Iterable[Ints]) -> Ints:
    return np.sort(np.concatenate([np.zeros(0, np.int64), *of_sessions]))


def _point(ordered: Ints, percent: int, of: str) -> tuple[float | None, int, str | None]:
    if len(ordered) == 0:
        return None, 0, f"no {of}"
    return percentile(ordered, percent) / SECOND, len(ordered), None


def _put_tolerance(sheet: Sheet, full: Sequence[Strength]) -> None:
    """F1_rt of the fixed surfaced log with every delay multiplied; a re-simulated curve is a sweep, not this."""
    area, half_life = "latency_tolerance", "latency_tolerance@half_life_s"
    judged = [j for s in full for j in s.judged]
    true = sum(s.n_needs for s in full)
    if not judged or not true:
        reason = "no opportunities" if not true else "no surfaced offers"
        sheet.put(area, None, 0, reason)
        sheet.put(half_life, None, 0, reason)
        return
    curve = [2 * sum(s.by_kappa[k] for s in full) / (len(judged) + true) for k in KAPPAS]
    points = [[float(k), f1] for k, f1 in zip(KAPPAS, curve, strict=True)]
    under = math.fsum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(points))
    sheet.put(area, under / float(KAPPAS[-1]), true, curve=points)
    age = percentile(np.sort([j.offer.actionable_ns - j.offer.captured_ns for j in judged]).astype(np.int64), 50)
    half = curve[0] / 2
    for (k, f1), (next_k, next_f1) in itertools.pairwise(points):
        if half > 0 and next_f1 <= half < f1:
            crossing = k + (next_k - k) * (f1 - half) / (f1 - next_f1)
            sheet.put(half_life, crossing * age / SECOND, true)
            return
    reason = "nothing was right even without delay" if half == 0 else f"beyond {4 * age / SECOND:g} s"
    sheet.put(half_life, None, 0, reason)


def _put_calibration(sheet: Sheet, judged: Sequence[Judged]) -> None:
    stated = [(j.offer.confidence, j.verdict is Verdict.ON_TIME) for j in judged if j.offer.confidence is not None]
    missing = len(judged) - len(stated)
    if not stated:
        for name in ("brier", "ece"):
            sheet.put(f"calibration@{name}", None, 0, "no offers with a confidence", n_without=missing)
        return
    n = len(stated)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for c, hit in stated:
        bins.setdefault(min(BINS - 1, int(c * BINS)), []).append((c, hit))
    sums = [(math.fsum(c for c, _ in b), sum(hit for _, hit in b), len(b)) for _, b in sorted(bins.items())]
    beside: dict[str, Any] = {"n_without": missing, "reliability": [[c / m, hits / m, m] for c, hits, m in sums]}
    sheet.put("calibration@brier", math.fsum((c - hit) ** 2 for c, hit in stated) / n, n, **beside)
    sheet.put("calibration@ece", math.fsum(abs(c - hits) for c, hits, _ in sums) / n, n, **beside)


def put_pace(sheet: Sheet, tallies: Sequence[Tally]) -> None:
    """Quiet minutes kept quiet, and offers at changes of window."""
    paces = [t.pace for t in tallies]
    sheet.put(
        "restraint", ratio(sum(p.quiet for p in paces), sum(p.idle for p in paces), "whole minutes without a need")
    )
    if any(p.near is None for p in paces):
        sheet.put("at_breakpoint", None, 0, "interrupted: the changes of window are unknown")
    else:
        near = sum(p.near or 0 for p in paces)
        share = ratio(sum(p.near_ns for p in paces), sum(t.active_ns for t in tallies), "active time")
        offers = ratio(near, sum(p.surfaced for p in paces), "surfaced offers")
        sheet.put("at_breakpoint", offers, share_of_time=share.value)


def _put_cost(sheet: Sheet, tallies: Sequence[Tally], on_time: int) -> None:
    """What a help on time cost: all that was used, for nothing too, over the offers on time."""
    unknown = next((reason for t in tallies if (reason := t.money[1])), None)
    if unknown:
        sheet.put("cost@per_on_time", None, 0, unknown)
    else:
        sheet.put("cost@per_on_time", ratio(math.fsum(t.money[0] or 0 for t in tallies), on_time, "offers on time"))
    reported = any(t.used["reports"] for t in tallies)
    for name in USED:
        total = sum(t.used[name.removeprefix("tokens_")] for t in tallies)
        figure = ratio(total, on_time, "offers on time") if reported else Ratio(None, 0, NO_USAGE)
        sheet.put(f"cost@{name}_per_on_time", figure)


def _put_seeds(sheet: Sheet, tallies: Sequence[Tally], n_needs: int) -> None:
    """Whether a need is served whatever the seed: in every one of k runs, and in at least one."""
    found = [t.seeds for t in tallies if t.seeds is not None]
    ks = sorted({s.k for s in found})
    if len(found) < len(tallies) or len(ks) != 1:
        why = "not computed: needs companion seeds" + (" of every session, as many of each" if found else "")
        for name in ("pass^k", "pass@k"):
            sheet.put(name, None, 0, why)
        return
    sheet.put("pass^k", ratio(sum(s.n_every for s in found), n_needs, "opportunities"), k=ks[0])
    sheet.put("pass@k", ratio(sum(s.n_any for s in found), n_needs, "opportunities"), k=ks[0])


def put_said(sheet: Sheet, tallies: Sequence[Tally]) -> None:
    """What surfaced, whatever it said: how often, and how evenly."""
    active, surfaced = sum(t.active_ns for t in tallies), sum(t.n_surfaced for t in tallies)
    sheet.put("interruptions_per_hour", _per_hour(surfaced, active))
    delivered = sum(t.n_delivered for t in tallies)
    sheet.put("held_back", delivered - surfaced, delivered)
    _put_burstiness(sheet, [t.between for t in tallies])


def _put_burstiness(sheet: Sheet, between: Sequence[tuple[int, int, int]]) -> None:
    """``B`` from whole numbers: with ``r = s/m``, the root of ``n Σt² - (Σt)²`` over ``Σt``, it is ``(r - 1)/(r + 1)``.

    For one session the same as ``simulator.session.rhythm.burstiness``.
    """
    n, total, squares = (sum(column) for column in zip(*between, strict=True)) if between else (0, 0, 0)
    if n < 2 or total == 0:
        sheet.put("burstiness_of_offers", None, n, "fewer than 2 times between surfaced offers, or all at one instant")
        return
    r = math.sqrt(n * squares - total * total) / total
    sheet.put("burstiness_of_offers", (r - 1) / (r + 1), n, people=HUMAN_B, models=MODEL_B)


def put_full(sheet: Sheet, tallies: Sequence[Tally], rules: Rules) -> None:
    """Figures that are given in strength ``full`` only."""
    full = [t.strengths[""] for t in tallies]
    n_needs = sum(s.n_needs for s in full)
    judged = [j for s in full for j in s.judged]
    on_time = [j for s in full for j in s.on_time]
    active = sum(t.active_ns for t in tallies)
    saved = sum(int(np.maximum(s.leads_ns, 0).sum()) for s in full)
    sheet.put("seconds_saved_per_hour", ratio(saved * 3600, active, "active time", len(on_time)))
    delays = _sorted(s.delays_ns for s in full)
    for name, percent in (("delay_s", 50), ("delay_s@p10", 10), ("delay_s@p90", 90)):
        sheet.put(name, *_point(delays, percent, "offers on time"))
    for deadline in rules.deadlines_ns:
        served = sum(s.by_deadline[deadline] for s in full)
        curve = _curve(full, n_needs, rules)
        sheet.put(deadline_name(deadline), ratio(served, n_needs, "opportunities"), **curve)
    quick = sum(j.offer.actionable_ns - j.offer.released_ns <= rules.slo_ns for j in on_time)
    sheet.put("assist_goodput", _per_hour(quick, active))
    _put_tolerance(sheet, full)
    _put_calibration(sheet, judged)
    _put_cost(sheet, tallies, len(on_time))
    _put_seeds(sheet, tallies, n_needs)


def _curve(full: Sequence[Strength], n_needs: int, rules: Rules) -> dict[str, Any]:
    if not n_needs:
        return {}
    return {"curve": [[d / SECOND, sum(s.by_deadline[d] for s in full) / n_needs] for d in rules.curve_ns]}
